"""A body above the limit, or too slow, is refused while it comes in, whoever sends it, and never spooled."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.asgi import get_asgi_application

from mcpapi import gate
from synapse import body_limit
from synapse.body_limit import with_bodies_read_out, with_body_limit, with_timely_bodies
from vault.errors import ErrorCode, SynapseError

LIMIT = 1_000


class Caller:
    """A client that sends its body in pieces and remembers what it is answered."""

    def __init__(self, pieces: list[bytes], *, announce: bool = False, path: str = "/pages") -> None:
        self.scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"",
            "http_version": "1.1",
            "server": ("127.0.0.1", 8000),
            "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        }
        if announce:
            self.scope["headers"].append((b"content-length", str(sum(map(len, pieces))).encode()))  # type: ignore[attr-defined]
        self._left: Iterator[bytes] = iter(pieces)
        self._count = len(pieces)
        self.taken = 0
        self.answers: list[Any] = []

    async def receive(self) -> dict[str, Any]:
        if self.taken == self._count:
            await asyncio.sleep(3_600)  # connected still, with nothing to say
        self.taken += 1
        return {"type": "http.request", "body": next(self._left), "more_body": self.taken < self._count}

    async def send(self, message: Any) -> None:
        self.answers.append(message)

    def call(self, application: Any) -> tuple[int, dict[str, Any]]:
        asyncio.run(application(self.scope, self.receive, self.send))
        starts = [message for message in self.answers if message["type"] == "http.response.start"]
        assert len(starts) == 1
        body = b"".join(message.get("body", b"") for message in self.answers)
        return starts[0]["status"], json.loads(body)


@pytest.fixture
def application(settings: Any) -> Any:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = LIMIT
    return with_body_limit(get_asgi_application())


def test_an_announced_length_is_refused_before_anything_is_read(application: Any) -> None:
    caller = Caller([b"x" * (LIMIT + 1)], announce=True)
    status, envelope = caller.call(application)
    assert (status, envelope["error_code"], envelope["limit_bytes"]) == (413, "payload_too_large", LIMIT)
    assert caller.taken == 0


def test_a_length_that_is_not_announced_is_counted(application: Any) -> None:
    caller = Caller([b"x" * 400] * 1_000)
    assert caller.call(application)[0] == 413
    assert caller.taken == 3


def test_a_body_at_the_limit_comes_through(application: Any) -> None:
    status, envelope = Caller([b"x" * 500, b"x" * 500]).call(application)
    assert (status, envelope["error_code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("length", [b"", b"-1", b"abc", b"1e9", "²".encode()])
def test_lengths_that_are_none_are_left_to_the_server(application: Any, length: bytes) -> None:
    caller = Caller([b"{}"])
    caller.scope["headers"].append((b"content-length", length))  # type: ignore[attr-defined]
    assert caller.call(application)[0] in (400, 401)


async def refusing(scope: Any, receive: Any, send: Any) -> None:
    """An application that does not care for bodies."""
    await send({"type": "http.response.start", "status": 413, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


@pytest.mark.parametrize("announce", [True, False])
def test_the_rest_of_a_refused_body_is_read_after_the_answer_has_gone(announce: bool) -> None:
    caller = Caller([b"x" * 100_000] * 5, announce=announce)
    if not announce:
        caller.scope["headers"].append((b"transfer-encoding", b"chunked"))  # type: ignore[attr-defined]
    assert caller.call(with_bodies_read_out(refusing)) == (413, {})
    assert caller.taken == 5
    assert [message.get("more_body", False) for message in caller.answers] == [False, True, False]


def test_a_body_that_never_ends_is_left_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limit, "_READ_OUT_BYTES", 1_000_000)
    caller = Caller([b"x" * 100_000] * 50, announce=True)
    assert caller.call(with_bodies_read_out(refusing))[0] == 413
    assert caller.taken == 10


def test_a_caller_that_stops_sending_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limit, "_READ_OUT_SECONDS", 0.05)
    caller = Caller([], announce=False)
    caller.scope["headers"].append((b"content-length", b"1000000"))  # type: ignore[attr-defined]
    assert caller.call(with_bodies_read_out(refusing))[0] == 413


def test_a_body_that_was_read_is_answered_as_ever(application: Any) -> None:
    caller = Caller([b"x" * 500, b"x" * 500])
    caller.scope["headers"].append((b"transfer-encoding", b"chunked"))  # type: ignore[attr-defined]
    assert caller.call(with_bodies_read_out(application))[0] == 401
    assert caller.taken == 2


class Stalling(Caller):
    """A client that goes silent before it has sent the last piece."""

    async def receive(self) -> dict[str, Any]:
        return {**await super().receive(), "more_body": True}


class Dripping(Caller):
    """A client that sends a byte a second, by the clock of the loop, and never the last one."""

    async def receive(self) -> dict[str, Any]:
        skip(1)
        await asyncio.sleep(0)
        self.taken += 1
        return {"type": "http.request", "body": b" ", "more_body": True}


class Prompt(Caller):
    """A client whose pieces are there as soon as they are asked for."""

    async def receive(self) -> dict[str, Any]:
        await asyncio.sleep(0)
        return await super().receive()


def skip(seconds: float) -> None:
    """Let so much time have passed for the running loop."""
    loop: Any = asyncio.get_running_loop()
    loop.ahead = getattr(loop, "ahead", 0) + seconds
    loop.time = lambda: time.monotonic() + loop.ahead


def slow(caller: Caller, application: Any) -> None:
    """The answer is a refusal of a slow body, and the connection is closed after it."""
    status, envelope = caller.call(application)
    assert (status, envelope["error_code"]) == (400, "malformed_body")
    assert "took too long" in envelope["error"]
    assert (b"connection", b"close") in caller.answers[0]["headers"]


async def application_as_served(scope: Any, receive: Any, send: Any) -> None:
    """What `serve` serves."""
    from synapse.asgi import application

    await application(scope, receive, send)


@pytest.mark.parametrize("path", ["/pages", "/mcp", "/mcp/server/", "/admin/login/"])
@pytest.mark.parametrize("kind", [Stalling, Dripping])
def test_a_body_that_takes_too_long_is_refused(settings: Any, path: str, kind: type[Caller]) -> None:
    settings.SYNAPSE_BODY_SECONDS = 30.0 if kind is Dripping else 0.05
    settings.MCP_AUTH_TOKEN = "a-static-token-of-sufficient-length"
    caller = kind([], path=path)
    caller.scope["headers"] += [  # type: ignore[operator]
        (b"content-length", b"99"),
        (b"authorization", f"Bearer {settings.MCP_AUTH_TOKEN}".encode()),
        (b"accept", b"application/json, text/event-stream"),
    ]
    slow(caller, application_as_served)
    assert caller.taken in ((0,) if kind is Stalling else (29, 30, 31))


def test_half_a_message_that_reads_like_a_whole_one_is_not_carried_out(settings: Any) -> None:
    settings.SYNAPSE_BODY_SECONDS = 0.05
    served: list[bytes] = []

    async def reading(scope: Any, receive: Any, send: Any) -> None:
        try:
            served.append((await gate.read_object(scope, receive))[1])
        except SynapseError as error:
            assert error.code is ErrorCode.MALFORMED_BODY
            await send({"type": "http.response.start", "status": 418, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})

    slow(Stalling([b'{"jsonrpc": "2.0"}', b" "]), with_timely_bodies(reading))
    assert served == []


def test_only_the_time_that_the_caller_takes_counts(settings: Any) -> None:
    """A server that is slow to ask for the next piece finds it there."""
    settings.SYNAPSE_BODY_SECONDS = 30.0

    async def busy(scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            skip(100)
            more = (await receive())["more_body"]
        await refusing(scope, receive, send)

    assert Prompt([b"x"] * 3).call(with_timely_bodies(busy))[0] == 413


@pytest.mark.parametrize("seconds", [0, 30.0])
def test_what_comes_after_the_body_is_waited_for_without_an_end(settings: Any, seconds: float) -> None:
    """An answer that is a stream waits for the caller to go: that may be hours. 0 is without a limit for bodies too."""
    settings.SYNAPSE_BODY_SECONDS = seconds

    async def streaming(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        for _ in range(100):
            await receive()
        await refusing(scope, receive, send)

    caller = Caller([b"{}"])
    given = caller.receive
    dripping = Dripping([])

    async def first_the_body() -> dict[str, Any]:
        return await (given() if caller.taken == 0 and seconds else dripping.receive())

    caller.receive = first_the_body  # type: ignore[method-assign]
    assert caller.call(with_timely_bodies(streaming))[0] == 413


def test_an_answer_that_has_begun_is_not_answered_twice(settings: Any) -> None:
    settings.SYNAPSE_BODY_SECONDS = 30.0

    async def hasty(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 202, "headers": []})
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.body", "body": b"{}"})

    assert Dripping([]).call(with_timely_bodies(hasty)) == (202, {})
