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


def test_rest_is_served_so() -> None:
    from synapse import asgi

    assert asgi._django.__qualname__.startswith(with_own_connections.__name__)  # type: ignore[attr-defined]
