"""A connection that does not say what it wants is closed, before the first request and after any."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
import uvicorn

from synapse.slow_headers import TimelyProtocol

WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
PART = b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[Any]]


async def hello(scope: Any, receive: Any, send: Any) -> None:
    body = b""
    message = await receive()
    while message.get("more_body"):
        body += message["body"]
        message = await receive()
    await hello_at_once(send)


async def hello_at_once(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


def talk(words: Talk, application: Any = hello) -> Any:
    """Run the words of a client against a server on a port of its own."""

    async def run() -> Any:
        config = uvicorn.Config(
            application, http=TimelyProtocol, lifespan="off", log_config=None, timeout_keep_alive=60
        )
        server = uvicorn.Server(config)
        config.load()
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(
            lambda: TimelyProtocol(config=config, server_state=server.server_state, app_state={}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        try:
            return await asyncio.wait_for(words(reader, writer), 20)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            listening.close()

    return asyncio.run(run())


async def answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    return head.split()[1] + b" " + await reader.readexactly(5)


async def rest(reader: asyncio.StreamReader) -> bytes:
    """What comes until the connection ends. Where the server had not read all of ours yet, it ends by a reset."""
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


@pytest.mark.parametrize("said", [b"", b"G", PART])
def test_a_connection_that_asks_nothing_is_closed(said: bytes, settings: Any) -> None:
    settings.SYNAPSE_BODY_SECONDS = 0.05

    async def words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(said)
        return await rest(reader)

    assert talk(words) == b""


def test_a_header_a_byte_at_a_time_does_not_keep_it_open(settings: Any) -> None:
    settings.SYNAPSE_BODY_SECONDS = 0.05

    async def words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(PART)
        closed = asyncio.ensure_future(reader.read())
        while not closed.done():
            with suppress(ConnectionError):
                writer.write(b"x")
                await writer.drain()
            await asyncio.sleep(0.01)
        try:
            return closed.result()
        except ConnectionError:
            return b""

    assert talk(words) == b""


def test_nor_after_a_request_that_was_answered(settings: Any) -> None:
    settings.SYNAPSE_BODY_SECONDS = 30.0

    async def words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(WHOLE)
        assert await answer(reader) == b"200 hello"
        settings.SYNAPSE_BODY_SECONDS = 0.05
        writer.write(PART)
        return await rest(reader)

    assert talk(words) == b""


@pytest.mark.parametrize("seconds", [30.0, 0.0])
def test_requests_that_come_whole_are_answered_on_one_connection(seconds: float, settings: Any) -> None:
    settings.SYNAPSE_BODY_SECONDS = seconds

    async def words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        answers = []
        for piece in (WHOLE, WHOLE + WHOLE):
            writer.write(piece)
            answers += [await answer(reader) for _ in range(piece.count(b"GET"))]
        return answers

    assert talk(words) == [b"200 hello"] * 3


def test_a_request_that_has_begun_is_not_cut_off_by_this(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its body has a limit of its own, which answers."""
    settings.SYNAPSE_BODY_SECONDS = 30.0
    waiting: list[bool] = []
    received = TimelyProtocol.data_received

    def noting(protocol: TimelyProtocol, data: bytes) -> None:
        waiting.append(protocol._late is not None)
        received(protocol, data)
        waiting.append(protocol._late is not None)

    monkeypatch.setattr(TimelyProtocol, "data_received", noting)

    async def words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")  # the application waits for the body now
        writer.write(b"ab")
        return await answer(reader)

    assert talk(words) == b"200 hello"
    assert waiting == [True, False, False, False]


def test_what_is_no_http_is_refused_with_the_headers_of_every_answer() -> None:
    async def words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"no http at all\r\n\r\n")
        return await reader.read()

    head, _, body = talk(words).partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    assert lines[0] == b"http/1.1 400 bad request"
    assert {b"x-content-type-options: nosniff", b"cache-control: no-store", b"connection: close"} <= set(lines)
    assert b"content-length: %d" % len(body) in lines


@pytest.mark.parametrize("all_of_it", [False, True], ids=["in the middle", "at its end"])
def test_nothing_is_written_into_an_answer_that_has_begun(all_of_it: bool) -> None:
    """What comes of the body turns out to be no HTTP while the answer is on its way."""

    async def early(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"10")]})
        await send({"type": "http.response.body", "body": b"hello" * (1 + all_of_it), "more_body": not all_of_it})
        while (await receive())["type"] != "http.disconnect":
            pass

    async def words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"no length\r\n")
        return await rest(reader)

    assert talk(words, early) == b"hello" * (1 + all_of_it)


def test_a_refused_request_has_no_second_answer() -> None:
    """Its application is told that nobody listens any more, and what it says all the same is not sent."""
    told: list[str] = []

    async def late(scope: Any, receive: Any, send: Any) -> None:
        while not told or told[-1] == "http.request":
            told.append((await receive())["type"])
        await hello_at_once(send)

    async def words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nno length\r\n")
        return await rest(reader)

    said = talk(words, late)
    assert said.count(b"HTTP/1.1 ") == 1 and said.startswith(b"HTTP/1.1 400 ")
    assert told[-1] == "http.disconnect"
