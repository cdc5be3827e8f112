"""A Content-Type that can't be read, answered before Django reads it: there it would end in a bare failure."""

from __future__ import annotations

from django.http import JsonResponse
from django.utils.http import parse_header_parameters

from synapse.body_limit import Application, Receive, Scope, Send
from vault.errors import ErrorCode, SynapseError


def with_readable_content_type(application: Application) -> Application:
    """The application, refusing (``unsupported_media_type``) a type whose parameters no reader can make out."""

    async def careful(scope: Scope, receive: Receive, send: Send) -> None:
        types = [value.decode("latin-1") for name, value in scope["headers"] if name == b"content-type"]
        if all(_is_readable(value) for value in types):
            await application(scope, receive, send)
            return
        error = SynapseError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, "Send the body as plain application/json.")
        answer = JsonResponse(error.envelope())
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(answer.content)).encode()),
        ]
        await send({"type": "http.response.start", "status": error.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.content})

    return careful


def _is_readable(content_type: str) -> bool:
    try:
        parse_header_parameters(content_type)
    except (ValueError, LookupError):  # too long, or in an encoding that does not exist
        return False
    return True
