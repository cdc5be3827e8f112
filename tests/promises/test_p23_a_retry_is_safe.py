"""P23: a retry is safe: one key, however often and wherever it is sent, is one effect and one answer.

Over real HTTP, against processes that share nothing but the vault and the database.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2 as httpx
import pytest

from benchmarks.scan import ROOT, own_place, run

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
AGE = """
import django; django.setup()
from datetime import timedelta
from django.utils import timezone
from wiki.models import IdempotencyKey
IdempotencyKey.objects.filter(status=None).update(alive_at=timezone.now() - timedelta(seconds=61))
"""


@dataclass
class Server:
    """One process that serves the vault, and dies, or waits, where it is told to."""

    environment: dict[str, str]
    where: str = "nowhere"
    port: int = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [sys.executable, "-c", SERVER, str(self.port), self.where]
        self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment)

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
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


@dataclass
class House:
    """Two servers of one vault, and a token that may write."""

    environment: dict[str, str]
    servers: list[Server]
    token: str

    @property
    def signs(self) -> Path:
        return Path(self.environment["SYNAPSE_VAULT"]).parent

    def send(self, server: Server, method: str, path: str, body: Any = None, key: str = "", **more: str) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", **({"Idempotency-Key": key} if key else {})}
        headers |= {name.replace("_", "-"): value for name, value in more.items()}
        content = None if body is None else json.dumps(body).encode()
        headers["Content-Type"] = "application/json"
        return httpx.request(method, f"{server.base}{path}", content=content, headers=headers, timeout=60)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer = self.send(self.servers[0], method, path, body, **headers)
        assert answer.status_code < 300, answer.text
        return answer

    def five_times(self, *request: Any, **headers: str) -> list[Any]:
        """The answers to the same request, one after the other, each by another server than the one before."""
        servers = cycle(self.servers)
        return [self.send(next(servers), *request, **headers) for _ in range(5)]

    def at_once(self, *request: Any, **headers: str) -> list[Any]:
        """The answers to the same request sent AT_ONCE times; whoever is told to wait sends it again."""
        start = threading.Barrier(AT_ONCE)

        def one(server: Server) -> Any:
            start.wait()
            while True:
                answer = self.send(server, *request, **headers)
                if "Retry-After" not in answer.headers:
                    return answer
                assert (answer.status_code, answer.json()["error_code"]) == (409, "conflict")
                time.sleep(0.02)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(one, (self.servers * AT_ONCE)[:AT_ONCE]))

    def versions(self, page_id: str) -> int:
        return len(self.ask("GET", f"/pages/{page_id}/history").json()["result"])


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with own_place() as environment:
        run(environment, "manage.py", "init_vault")
        run(environment, "manage.py", "rescan", "--json")
        command = [sys.executable, "manage.py", "token", "create", "agent", "--scope", "write", "--json"]
        made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        servers = [Server(environment), Server(environment)]
        try:
            for server in servers:
                server.wait()
            yield House(environment, servers, json.loads(made.stdout)["token"])
        finally:
            for server in servers:
                server.process.terminate()
            for server in servers:
                server.process.wait(timeout=20)


REPEATS = ["five_times", "at_once"]


def the_one(answers: list[Any], status: int) -> Any:
    """The answer that all of them are: one is the first, the others are copies of it, byte for byte."""
    told = {(one.status_code, one.content, one.headers.get("ETag"), one.headers.get("Location")) for one in answers}
    assert len(told) == 1, told
    assert len([one for one in answers if "Idempotency-Replayed" not in one.headers]) == 1
    assert answers[0].status_code == status, answers[0].text
    return answers[0]


def a_page(title: str, content: str = "Text.\n") -> dict[str, Any]:
    known = {"type": "concept", "title": title, "sources": ["raw/sources/a.md"], "lang": "en"}
    return {"title": title, "content": content, "frontmatter": known}


def refused(answer: Any, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)


@pytest.mark.parametrize("repeat", REPEATS)
def test_a_page_is_created_once(house: House, repeat: str) -> None:
    title, key = f"Created {repeat}", str(uuid4())
    answers = getattr(house, repeat)("POST", "/pages", a_page(title), key)
    created = the_one(answers, 201)
    assert house.versions(created.json()["id"]) == 1
    assert created.headers["Location"] == f"/pages/{created.json()['id']}"
    for server in house.servers:
        refused(house.send(server, "POST", "/pages", a_page(title, "Other.\n"), key), 422, "idempotency_conflict")
    assert house.versions(created.json()["id"]) == 1


@pytest.mark.parametrize("repeat", REPEATS)
def test_a_page_is_replaced_once(house: House, repeat: str) -> None:
    page = house.ask("POST", "/pages", a_page(f"Replaced {repeat}"))
    path, key = page.headers["Location"], str(uuid4())
    answers = getattr(house, repeat)("PUT", path, {"text": "Mine.\n"}, key, If_Match=page.headers["ETag"])
    put = the_one(answers, 200)
    assert house.versions(page.json()["id"]) == 2
    other = house.send(house.servers[1], "PUT", path, {"text": "Mine.\n"}, key, If_Match=put.headers["ETag"])
    refused(other, 422, "idempotency_conflict")
    assert house.versions(page.json()["id"]) == 2


@pytest.mark.parametrize("repeat", REPEATS)
def test_a_refusal_is_the_same_refusal_and_keeps_one_draft(house: House, repeat: str) -> None:
    page = house.ask("POST", "/pages", a_page(f"Refused {repeat}"))
    stale = f'"{"0" * 64}"'
    answers = getattr(house, repeat)("PUT", page.headers["Location"], {"text": f"{repeat}\n"}, "r", If_Match=stale)
    the_one(answers, 412)
    drafts = subprocess.run(
        [sys.executable, "manage.py", "drafts", "list", "--json"],
        cwd=ROOT,
        env=house.environment,
        capture_output=True,
        check=True,
    )
    found = [draft for draft in json.loads(drafts.stdout) if draft["path"] == page.json()["path"]]
    assert len(found) == 1


@pytest.mark.parametrize("repeat", REPEATS)
def test_reviews_are_decided_once(house: House, repeat: str) -> None:
    asked = [{"item_type": "suggestion", "title": f"{repeat} {number}"} for number in range(4)]
    ids = [item["id"] for item in house.ask("POST", "/review/queue", {"items": asked}).json()["result"]]
    answers = getattr(house, repeat)("POST", "/review/queue/bulk-resolve", {"ids": ids, "action": "skip"}, repeat)
    decided = the_one(answers, 200).json()
    assert (sorted(decided["resolved"]), decided["already"]) == (sorted(ids), [])
    for one in ids:
        item = house.ask("GET", f"/review/queue/{one}").json()
        assert [event["what"] for event in item["events"]] == ["filed", "decided"]


@pytest.mark.parametrize("where", ["before the effect", "before the answer is kept"])
def test_a_run_that_was_killed_is_retaken_by_one(house: House, where: str) -> None:
    """What it had done stands; nobody does it a second time, and all are told the same."""
    title, key = f"Killed {where}", str(uuid4())
    dying = Server(house.environment, where).wait()
    with pytest.raises(httpx.TransportError):
        house.send(dying, "POST", "/pages", a_page(title), key)
    assert dying.process.wait(timeout=20) == -signal.SIGKILL
    early = house.send(house.servers[0], "POST", "/pages", a_page(title), key)
    refused(early, 409, "conflict")
    assert early.headers["Retry-After"] == "1"
    subprocess.run([sys.executable, "-c", AGE], cwd=ROOT, env=house.environment, check=True)
    answers = house.at_once("POST", "/pages", a_page(title), key)
    the_one(answers, 201 if where == "before the effect" else 409)
    (page,) = [page for page in house.ask("GET", "/pages?limit=100").json()["result"] if page["title"] == title]
    assert house.versions(page["id"]) == 1
    refused(house.send(house.servers[1], "POST", "/pages", a_page(title, "Other.\n"), key), 422, "idempotency_conflict")


def test_an_answer_that_was_lost_is_given_to_the_retry(house: House) -> None:
    """The connection breaks while the page is being written: that goes on, and what came of it is not lost."""
    slow, key, body = Server(house.environment, "slow").wait(), str(uuid4()), json.dumps(a_page("Lost")).encode()
    try:
        head = (
            f"POST /pages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {house.token}\r\n"
            f"Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", slow.port)) as connection:
            connection.sendall(head.encode() + body)
            wait_for((house.signs / "begun").exists)
        answers: list[Any] = []

        def retry() -> bool:
            answers.append(house.send(house.servers[0], "POST", "/pages", json.loads(body), key))
            return "Retry-After" not in answers[-1].headers

        assert not retry()
        refused(answers[0], 409, "conflict")
        (house.signs / "go").touch()
        wait_for(retry)
        assert (answers[-1].status_code, answers[-1].headers["Idempotency-Replayed"]) == (201, "true")
        assert house.versions(answers[-1].json()["id"]) == 1
    finally:
        slow.process.terminate()
        slow.process.wait(timeout=20)
