"""JSON-RPC messages from outside, judged before the SDK reads them.

What the SDK can't follow it answers in its reader's own words over HTTP, and not at all over stdio, where a client
would wait for ever.
"""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from mcp.types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter
from pydantic import ValidationError

from vault.errors import ErrorCode, SynapseError
from vault.strict_json import loads_object


def protocol_error(code: int, error: SynapseError, number: Any = None) -> dict[str, Any]:
    """What a JSON-RPC client understands, with our envelope inside; ``number`` is the id of its request, if known."""
    detail = {"code": code, "message": error.message, "data": error.envelope()}
    return {"jsonrpc": "2.0", "id": number, "error": detail}


def fault_in(message: dict[str, Any], body: bytes) -> SynapseError | None:
    """``malformed_body`` for an object that is no JSON-RPC message as the SDK reads its ``body``, else None."""
    if "id" not in message or _number(message) is not None:
        try:
            jsonrpc_message_adapter.validate_json(body, by_name=False)
        except ValidationError:
            pass
        else:
            return None
    # An id of another type the SDK would drop, take the request for a notification, and never answer it.
    return SynapseError(ErrorCode.MALFORMED_BODY, "The body is not one JSON-RPC 2.0 message, or is nested too deeply.")


def longest_line() -> int:
    """Bytes of the longest message over stdio: room for a page over the limit, so that its own refusal can name it."""
    return 4 * int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def complaint(body: bytes) -> dict[str, Any] | None:
    """The JSON-RPC error that answers a body which is not one message; None for one that is."""
    if len(body) > longest_line():
        limit = longest_line()
        text = f"The message is longer than {limit} bytes. Send less at a time."
        return protocol_error(PARSE_ERROR, SynapseError(ErrorCode.PAYLOAD_TOO_LARGE, text, limit_bytes=limit))
    try:
        message = loads_object(body)
    except SynapseError as error:
        return protocol_error(PARSE_ERROR, error, _number_in(body))
    fault = fault_in(message, body)
    return protocol_error(INVALID_REQUEST, fault, _number(message)) if fault else None


def _number(message: Any) -> str | int | None:
    number = message.get("id") if isinstance(message, dict) else None
    return number if isinstance(number, str | int) and not isinstance(number, bool) else None


def _number_in(body: bytes) -> str | int | None:
    """The id in a body that is JSON to a reader less strict, so that the one who waits for the answer hears it."""
    try:
        return _number(json.loads(body))
    except (ValueError, RecursionError):
        return None
