"""Real connections to the real server: broken framing, and clients that hang up while their page is written."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest

from tests.mcpapi.hostile import BROKEN, TOKEN, call, talk
from tests.mcpapi.processes import World, make_world, web_server

pytestmark = pytest.mark.slow
BIG = "A line of text.\n" * 20_000


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def base(world: World) -> Iterator[str]:
    settings = {"MCP_AUTH_TOKEN": TOKEN, "MCP_REMOTE_WRITE_ENABLED": "true", "SYNAPSE_BODY_SECONDS": "2"}
    with web_server(world, **settings) as address:
        yield address


def hang_up(base: str, sent: bytes, after: float) -> None:
    """Send a request, wait, and reset the connection."""
    address = urlsplit(base)
    with socket.create_connection((address.hostname, address.port)) as line:
        line.sendall(sent)
        time.sleep(after)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_no_request_is_taken_for_two_and_the_server_goes_on(base: str) -> None:
    for name, sent in BROKEN.items():
        got = talk(base, sent)
        assert got.count(b"HTTP/1.1 ") <= 1, name
        assert not got or 400 <= int(got.split()[1]) < 500, (name, got[:200])
    assert httpx.get(f"{base}/mcp/info").status_code == 200


def test_a_body_a_byte_at_a_time_ends_in_an_answer(base: str) -> None:
    address = urlsplit(base)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer {TOKEN}\r\n"
    )
    head += "Accept: application/json, text/event-stream\r\nContent-Length: 100000\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=0.1) as line:
        line.sendall(head.encode())
        got = b""
        for _ in range(600):
            with suppress(TimeoutError):
                got += line.recv(65_536)
            if b"malformed_body" in got:
                break
            with suppress(OSError):
                line.sendall(b" ")
    assert got.startswith(b"HTTP/1.1 400 ")


def test_two_hundred_connections_at_once_are_each_answered(base: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}

    async def go() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=200)
        async with httpx.AsyncClient(headers=headers, timeout=120, limits=limits) as client:
            calls = [call("get_page", number, title="Alan Turing") for number in range(200)]
            return await asyncio.gather(*(client.post(f"{base}/mcp", json=message) for message in calls))

    answers = asyncio.run(go())
    assert {answer.status_code for answer in answers} == {200}
    for number, answer in enumerate(answers):
        assert f'"id":{number},' in answer.text.replace(" ", "")
        assert "universal machine" in answer.text


def test_clients_that_hang_up_leave_whole_pages_or_none(base: str, world: World) -> None:
    """A129, at every moment of a write."""
    front = {"type": "concept", "sources": ["raw/sources/lives.txt"], "lang": "en"}
    head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n"
    head += f"Accept: application/json, text/event-stream\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    titles = [f"Left {number}" for number in range(12)]
    for number, title in enumerate(titles):
        body = json.dumps(call("write_page", title=title, content=BIG, frontmatter={**front, "title": title})).encode()
        whole = head.format(length=len(body)).encode() + body
        hang_up(base, whole if number else whole[:-10], after=0.01 * number * number)
    ask = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
    last = httpx.post(f"{base}/mcp", json=call("get_page", title="Alan Turing"), headers=ask, timeout=60)
    assert "universal machine" in last.text

    there = {title: world.vault / "wiki" / "concepts" / f"{title.lower().replace(' ', '-')}.md" for title in titles}
    until = time.monotonic() + 120  # what has been begun ends, though nobody waits for it
    while True:
        written = {title for title, file in there.items() if file.exists()}
        indexed = {row.get("title") for row in map(json.loads, world.dump())} & set(titles)
        left = [path for path in world.vault.rglob("*") if ".synapse-" in path.name]
        if (indexed == written and not left) or time.monotonic() > until:
            break
    assert (indexed, left) == (written, [])
    assert titles[0] not in written
    assert titles[-1] in written
    assert all(there[title].read_text(encoding="utf-8").endswith(BIG) for title in written)
