"""A body above the limit is refused while it comes in, whoever sends it, and never spooled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.asgi import get_asgi_application

from synapse import body_limit
from synapse.body_limit import with_bodies_read_out, with_body_limit

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
