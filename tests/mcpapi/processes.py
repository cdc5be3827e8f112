"""The real processes that serve a vault of their own: ``manage.py serve``, and ``manage.py mcp`` over pipes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

ROOT = Path(__file__).resolve().parents[2]
MANAGE = [sys.executable, str(ROOT / "manage.py")]
TURING = """---
type: entity
title: Alan Turing
sources: [raw/sources/lives.txt]
lang: en
---
Alan Turing described the universal machine. See [[Ghost]].
"""
HELLO = {
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@dataclass
class World:
    """A vault on disk with its index, and the environment of the processes that serve it."""

    vault: Path
    environment: dict[str, str]

    def manage(self, *arguments: str, **more: str) -> str:
        done = subprocess.run(
            [*MANAGE, *arguments],
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def token(self, name: str, scope: str) -> str:
        """A new token."""
        made: str = json.loads(self.manage("token", "create", name, "--scope", scope, "--json"))["token"]
        return made

    def dump(self, **more: str) -> list[str]:
        """The index as lines; ``more`` may name another data folder."""
        return self.manage("dump_index", **more).splitlines()


def make_world(home: Path, given: Mapping[str, str] = os.environ) -> World:
    """A scanned vault with a page and a source below ``home``, with the built-in database."""
    vault = home / "vault"
    (vault / "raw" / "sources").mkdir(parents=True)
    (vault / "raw" / "sources" / "lives.txt").write_text("Alan Turing was born in 1912.\n")
    (vault / "wiki" / "entities").mkdir(parents=True)
    (vault / "wiki" / "entities" / "alan-turing.md").write_text(TURING)
    kept = {name: value for name, value in given.items() if not name.startswith(("SYNAPSE_", "MCP_"))}
    kept.pop("DATABASE_URL", None)
    made = World(
        vault,
        {
            **kept,
            "SYNAPSE_VAULT": str(vault),
            "SYNAPSE_DATA": str(home / "data"),
            "SYNAPSE_SECRET_KEY": "only-for-tests-only-for-tests-only-for-tests",
            "SYNAPSE_LOG_LEVEL": "WARNING",
        },
    )
    made.manage("rescan")
    return made


@contextmanager
def web_server(world: World, *, out: Path | None = None, err: Path | None = None, **settings: str) -> Iterator[str]:
    """``manage.py serve`` with these settings; gives its address once it answers, and ends it by SIGTERM.

    ``out`` and ``err`` are files for what it prints.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    environment = {**world.environment, "SYNAPSE_PORT": str(port), **settings}
    with (
        open(out or os.devnull, "wb") as stdout,
        open(err, "wb") if err else open(os.dup(2), "wb") as stderr,
        subprocess.Popen([*MANAGE, "serve"], env=environment, cwd=ROOT, stdout=stdout, stderr=stderr) as process,
    ):
        try:
            until = time.monotonic() + 180
            while time.monotonic() < until and process.poll() is None:
                if _answers(base):
                    break
                time.sleep(0.05)
            assert process.poll() is None and _answers(base), "the server did not start"
            yield base
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=15) in (0, -signal.SIGTERM)


def _answers(base: str) -> bool:
    try:
        return httpx.get(f"{base}/mcp/info").status_code == 200
    except httpx.TransportError:
        return False


@asynccontextmanager
async def over_stdio(world: World) -> AsyncIterator[ClientSession]:
    """The official client on a process of its own."""
    server = StdioServerParameters(command=MANAGE[0], args=[MANAGE[1], "mcp"], env=world.environment)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        yield session


@asynccontextmanager
async def over_http(url: str, token: str) -> AsyncIterator[ClientSession]:
    """The official client at an address, with a token."""
    async with AsyncExitStack() as stack:
        # Without it a client gives up after five seconds, which a busy machine may need.
        patient = httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=120)
        client = await stack.enter_async_context(patient)
        read, write = await stack.enter_async_context(streamable_http_client(url, http_client=client))
        yield await stack.enter_async_context(ClientSession(read, write))


def start_stdio(world: World, **settings: str) -> subprocess.Popen[bytes]:
    """``manage.py mcp`` with pipes, in a process group of its own."""
    return subprocess.Popen(
        [*MANAGE, "mcp"],
        env=world.environment | settings,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def lines(*messages: dict[str, Any]) -> bytes:
    """JSON-RPC messages as stdio takes them."""
    return b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)
