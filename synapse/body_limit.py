"""An end to request bodies: Django spools a whole body to the disk before any view, or any token, is looked at."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings

from vault.errors import ErrorCode, SynapseError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def with_body_limit(application: Application) -> Application:
    """The application, refusing (``payload_too_large``) bodies above DATA_UPLOAD_MAX_MEMORY_SIZE as they come in.

    A length that is announced is enough to refuse; one that is not is counted, and beyond the limit the application
    is told that the caller has gone.
    """

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if _announced(scope) > limit:
            await _refuse(send, limit)
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
            await _refuse(send, limit)

    return limited


def _announced(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return max((int(value) for value in lengths if value.isdigit()), default=0)


async def _refuse(send: Send, limit: int) -> None:
    error = SynapseError(
        ErrorCode.PAYLOAD_TOO_LARGE, f"The body is larger than {limit} bytes. Send less at a time.", limit_bytes=limit
    )
    body = json.dumps(error.envelope()).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
