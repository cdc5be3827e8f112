"""An end to request bodies, in bytes and in time.

Django takes a whole body in, and spools it to the disk, before any view, or any token, is looked at.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, Final

from django.conf import settings

from vault.errors import ErrorCode, SynapseError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

#: A body shorter than this is in the server's hands by the time that it is answered.
_SHORT: Final = 1 << 16
#: More digits of a length say nothing more, and of thousands Python makes no number.
_DIGITS: Final = 19
#: How much, and how long, is read of a body that has been answered already.
_READ_OUT_BYTES: Final = 1 << 26
_READ_OUT_SECONDS: Final = 5.0


def with_body_limit(application: Application) -> Application:
    """The application, refusing (``payload_too_large``) bodies above DATA_UPLOAD_MAX_MEMORY_SIZE as they come in.

    A length that is announced is enough to refuse; one that is not is counted, and beyond the limit the application
    is told that the caller has gone.
    """

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if _announced(scope) > limit:
            await refuse(send, _too_large(limit))
            return
        received, beyond = 0, False

        async def counted() -> MutableMapping[str, Any]:
            nonlocal received, beyond
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                beyond = True
                return {"type": "http.disconnect"}
            return message

        await application(scope, counted, send)
        if beyond:
            await refuse(send, _too_large(limit))

    return limited


def with_timely_bodies(application: Application) -> Application:
    """The application, refusing (``malformed_body``) bodies that take longer than SYNAPSE_BODY_SECONDS to come in.

    What counts is the time that the caller is waited for, all pieces together: neither a piece now and then nor a
    server that is busy makes a difference. The application is told that the caller has gone, and what it makes of half
    a body is not sent.
    """

    async def timely(scope: Scope, receive: Receive, send: Send) -> None:
        seconds: float = settings.SYNAPSE_BODY_SECONDS
        if scope["type"] != "http" or seconds <= 0:
            await application(scope, receive, send)
            return
        loop = asyncio.get_running_loop()
        left, more, late, answered = seconds, True, False, False

        async def waiting() -> MutableMapping[str, Any]:
            nonlocal left, more, late
            if not more:
                return await receive()
            began = loop.time()
            try:
                async with asyncio.timeout(left):
                    message = await receive()
            except TimeoutError:
                more, late = False, True
                return {"type": "http.disconnect"}
            left -= loop.time() - began
            more = message["type"] == "http.request" and message.get("more_body", False)
            return message

        async def answering(message: MutableMapping[str, Any]) -> None:
            nonlocal answered
            if answered or not late:
                answered = True
                await send(message)

        await application(scope, waiting, answering)
        if late and not answered:
            await refuse(send, _too_slow(seconds))

    return timely


def with_bodies_read_out(application: Application) -> Application:
    """The application; what is left of a long body when its answer has been sent is read and dropped.

    A connection that is closed with bytes unread is reset, and the reset can overtake the answer: the caller would see
    a broken connection instead of the reason for the refusal.
    """

    async def patient(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _may_be_long(scope):
            await application(scope, receive, send)
            return
        more = True

        async def noting() -> MutableMapping[str, Any]:
            nonlocal more
            message = await receive()
            more = message["type"] == "http.request" and message.get("more_body", False)
            return message

        async def ending(message: MutableMapping[str, Any]) -> None:
            if more and message["type"] == "http.response.body" and not message.get("more_body", False):
                await send({**message, "more_body": True})
                await _read_out(receive)
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        await application(scope, noting, ending)

    return patient


async def _read_out(receive: Receive) -> None:
    taken, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(_READ_OUT_SECONDS):
            while more and taken < _READ_OUT_BYTES:
                message = await receive()
                more = message["type"] == "http.request" and message.get("more_body", False)
                taken += len(message.get("body", b""))


def _may_be_long(scope: Scope) -> bool:
    return _announced(scope) > _SHORT or any(name == b"transfer-encoding" for name, _ in scope["headers"])


def _announced(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return max((int(value[:_DIGITS]) for value in lengths if value.isdigit()), default=0)


def _too_large(limit: int) -> SynapseError:
    return SynapseError(
        ErrorCode.PAYLOAD_TOO_LARGE, f"The body is larger than {limit} bytes. Send less at a time.", limit_bytes=limit
    )


def _too_slow(seconds: float) -> SynapseError:
    return SynapseError(
        ErrorCode.MALFORMED_BODY,
        f"The body took too long: it was not there after {seconds:g} seconds. Send it again, or less at a time.",
    )


async def refuse(send: Send, error: SynapseError) -> None:
    """Answer the envelope and close the connection, whose rest of a body nobody will read."""
    body = json.dumps(error.envelope()).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if "retry_after" in error.repair:
        headers.append((b"retry-after", str(error.repair["retry_after"]).encode()))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
