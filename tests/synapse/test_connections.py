"""What a request has opened is closed in the thread that opened it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import connections

from synapse.connections import with_own_connections


async def never(*_: Any) -> Any:
    raise AssertionError("nothing is received or sent")


@pytest.mark.parametrize("fails", [False, True], ids=["answered", "failed"])
def test_the_thread_of_a_request_closes_what_it_opened(monkeypatch: pytest.MonkeyPatch, fails: bool) -> None:
    used: list[int] = []
    closed: list[int] = []
    monkeypatch.setattr(connections, "close_all", lambda: closed.append(threading.get_ident()))

    async def application(*_: Any) -> None:
        async with ThreadSensitiveContext():  # as Django's handler does
            await sync_to_async(lambda: used.append(threading.get_ident()))()
            if fails:
                raise LookupError("a view")

    async def request() -> None:
        await with_own_connections(application)({}, never, never)

    if fails:
        with pytest.raises(LookupError):
            asyncio.run(request())
    else:
        asyncio.run(request())
    assert used == closed and used[0] != threading.get_ident()


def test_rest_is_served_so_and_what_is_refused_before_django_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    from synapse.asgi import application

    closed: list[int] = []
    monkeypatch.setattr(connections, "close_all", lambda: closed.append(threading.get_ident()))
    answers: list[Any] = []

    def request(content_type: bytes) -> int:
        scope = {
            "type": "http", "method": "GET", "path": "/health/live", "raw_path": b"/health/live", "query_string": b"",
            "headers": [(b"host", b"127.0.0.1"), (b"content-type", content_type)], "client": ("127.0.0.1", 1),
            "scheme": "http", "http_version": "1.1", "server": ("127.0.0.1", 8000), "root_path": "",
        }  # fmt: skip

        sent = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> Any:
            if (message := next(sent, None)) is None:
                await asyncio.sleep(60)  # the client stays
            return message

        async def send(message: Any) -> None:
            answers.append(message)

        answers.clear()
        asyncio.run(application(scope, receive, send))
        return int(answers[0]["status"])

    assert request(b"application/json") == 200 and len(closed) == 1
    assert request(b"text/plain; charset*=nonsense''x") == 415 and len(closed) == 1
