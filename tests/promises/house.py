"""Two web servers of one vault, processes that share nothing but it and its database, and requests to them at once."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2 as httpx

from benchmarks.scan import ROOT, run
from tests.promises.doors import content_of
from tests.promises.engines import UNLIMITED, place_on, said

#: How many send the same request at once, where nothing else is said.
AT_ONCE = 12
SERVER = """
import os, signal, sys, time
from pathlib import Path
import uvicorn
from synapse.asgi import application
from wiki import idempotency, services

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

where = sys.argv[2]
if where == "before the effect":
    services.create_page = services.put_page = die
if where == "before the answer is kept":
    idempotency.finish = die
if where == "slow":
    create_page, signs = services.create_page, Path(os.environ["SYNAPSE_VAULT"]).parent

    def slow(**given):
        (signs / "begun").touch()
        while not (signs / "go").exists():
            time.sleep(0.01)
        return create_page(**given)

    services.create_page = slow
uvicorn.run(application, port=int(sys.argv[1]), log_config=None, access_log=False)
"""


@dataclass
class Server:
    """One process that serves the vault, and dies, or waits, where it is told to."""

    environment: dict[str, str]
    where: str = "nowhere"
    port: int = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)
    log: Path = field(init=False)

    def __post_init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [sys.executable, "-c", SERVER, str(self.port), self.where]
        self.log = Path(self.environment["SYNAPSE_VAULT"]).parent / f"server-{self.port}.err"
        with open(self.log, "wb") as err:
            self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stderr=err)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def wait(self) -> Server:
        wait_for(self._answers)
        return self

    def _answers(self) -> bool:
        assert self.process.poll() is None, "the server did not start"
        try:
            return httpx.get(f"{self.base}/health/live").status_code == 200
        except httpx.TransportError:
            return False


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


@dataclass
class House:
    """Two servers of one vault, and a token that may write."""

    environment: dict[str, str]
    servers: list[Server]
    token: str
    engine: str

    @property
    def signs(self) -> Path:
        return Path(self.environment["SYNAPSE_VAULT"]).parent

    def send(self, server: Server, method: str, path: str, body: Any = None, key: str = "", **more: str) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", **({"Idempotency-Key": key} if key else {})}
        headers |= {name.replace("_", "-"): value for name, value in more.items()}
        content = None if body is None else json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
        return httpx.request(method, f"{server.base}{path}", content=content, headers=headers, timeout=60)

    def call(self, server: Server, tool: str, **arguments: Any) -> Any:
        """What a tool answers over HTTP."""
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        accepts = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
        return content_of(self.send(server, "POST", "/mcp", asked, **accepts))

    def said(self) -> Counter[str]:
        """What the servers had to complain of."""
        return said(*(server.log for server in self.servers))

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer = self.send(self.servers[0], method, path, body, **headers)
        assert answer.status_code < 300, answer.text
        return answer

    def five_times(self, *request: Any, **headers: str) -> list[Any]:
        """The answers to the same request, one after the other, each by another server than the one before."""
        servers = cycle(self.servers)
        return [self.send(next(servers), *request, **headers) for _ in range(5)]

    def at_once(self, *request: Any, count: int = AT_ONCE, **headers: str) -> list[Any]:
        """The answers to the same request sent ``count`` times; whoever is told to wait sends it again."""

        def one(server: Server) -> Any:
            while True:
                answer = self.send(server, *request, **headers)
                if "Retry-After" not in answer.headers:
                    return answer
                assert (answer.status_code, answer.json()["error_code"]) == (409, "conflict")
                time.sleep(0.02)

        return self.together([partial(one, server) for server in (self.servers * count)[:count]])

    def together(self, work: list[Callable[[], Any]]) -> list[Any]:
        """What each answers, all begun at one moment."""
        start = threading.Barrier(len(work))

        def one(each: Callable[[], Any]) -> Any:
            start.wait()
            return each()

        with ThreadPoolExecutor(len(work)) as pool:
            return list(pool.map(one, work))

    def versions(self, page_id: str) -> int:
        return len(self.ask("GET", f"/pages/{page_id}/history").json()["result"])


@contextmanager
def house_on(kind: str) -> Iterator[House]:
    """A vault on ``sqlite`` or ``postgresql`` with two servers that answer; they end with the block."""
    with place_on(kind) as place:
        # A folder of static files is made by `serve`, not here; nobody needs to hear that.
        environment = place | UNLIMITED | {"PYTHONWARNINGS": "ignore"}
        run(environment, "manage.py", "init_vault")
        run(environment, "manage.py", "rescan", "--json")
        command = [sys.executable, "manage.py", "token", "create", "agent", "--scope", "write", "--json"]
        made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        servers = [Server(environment), Server(environment)]
        try:
            for server in servers:
                server.wait()
            yield House(environment, servers, json.loads(made.stdout)["token"], kind)
        finally:
            for server in servers:
                server.process.terminate()
            for server in servers:
                server.process.wait(timeout=20)
