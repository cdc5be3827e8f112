"""P26: whoever sends a byte at a time, however many they are, holds up nobody else and is not waited for."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest

from tests.mcpapi.processes import World, make_world, web_server
from tests.promises.figures import Measured, figure

SLOW = figure(40, 200)
ASKED = figure(15, 60)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def token(world: World) -> str:
    return world.token("slow", "write")


@pytest.fixture(scope="module")
def base(world: World, token: str) -> Iterator[str]:
    with web_server(world, SYNAPSE_BODY_SECONDS="3") as address:
        yield address


def test_many_slow_bodies_hold_up_nobody_and_are_ended(base: str, token: str, measured: Measured) -> None:
    """Each drips one byte whenever the others have had theirs; the server ends all of them, and answers all others."""
    address = urlsplit(base)
    head = (
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: 100000\r\n\r\n"
    )
    with ExitStack() as stack:
        lines = []
        for number in range(SLOW):
            line = stack.enter_context(socket.create_connection((address.hostname, address.port), timeout=30))
            line.sendall(head.format(path=("/pages", "/mcp", "/review/queue", "/admin/login/")[number % 4]).encode())
            lines.append(line)
        client = stack.enter_context(httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60))
        asked, open_ = 0, set(lines)
        until = time.monotonic() + 120
        while (open_ or asked < ASKED) and time.monotonic() < until:
            if asked < ASKED:
                assert client.get(f"{base}/pages/by-title", params={"title": "Alan Turing"}).status_code == 200
                asked += 1
            ended, _, _ = select.select(list(open_), [], [], 0)
            open_ -= set(ended)
            for line in open_:
                try:
                    line.sendall(b" ")
                except OSError:
                    open_ = open_ - {line}
            time.sleep(0.02)
        assert asked == ASKED
        assert not open_, f"{len(open_)} are still waited for"
        answers = [_answer(line) for line in lines]
    assert all(answer in (b"", b"400", b"403") for answer in answers), set(answers)
    assert httpx.get(f"{base}/health/live").status_code == 200
    measured(
        "P26",
        f"{SLOW} bodies of a byte at a time: all ended by the server, {asked} of {asked} others answered meanwhile",
    )


def _answer(line: socket.socket) -> bytes:
    """The status that was answered before the end; nothing if the connection was only closed."""
    try:
        got = line.recv(65_536)
    except OSError:
        return b""
    return got.split()[1] if got else b""
