"""What an HTTP request must be before the protocol sees it: for this host, from an allowed origin, one JSON object."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import parse_header_parameters
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    decode_header_value,
)
from mcp.types import PROTOCOL_VERSION_META_KEY
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from mcpapi.aliases import target_of
from mcpapi.callers import Caller
from mcpapi.registry import BY_NAME
from mcpapi.revisions import REVISIONS
from vault.errors import ErrorCode, SynapseError
from vault.strict_json import halves_as_nul, loads_object
from wiki import throttling
from wiki.throttling import Kind

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_ANY_ADDRESS: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  (recognised here, not listened on)
_SHOWN_CHARACTERS: Final = 40
_DIGITS: Final = 19  # of a length; of thousands of digits Python makes no number
_ANSWERS: Final = ("application/json", "text/event-stream")


class HeaderMismatchError(SynapseError):
    """The headers say one thing and the message another; JSON-RPC has a code of its own for that."""

    def __init__(self, header: str) -> None:
        super().__init__(
            ErrorCode.INVALID_PARAM_VALUE,
            f"The header {header} does not say what the message says. Send both alike, and the header once.",
            header=header,
        )


class UnknownRevisionError(SynapseError):
    """A revision of the protocol that nobody has heard of; JSON-RPC has a code of its own for that too."""

    def __init__(self, requested: str) -> None:
        super().__init__(
            ErrorCode.INVALID_PARAM_VALUE,
            "This revision of the protocol is not spoken here. `supported` lists those that are.",
            supported=list(REVISIONS),
            requested=requested[:_SHOWN_CHARACTERS],
        )


class HostNotServedError(SynapseError):
    """The Host header names a host that is not served here; HTTP has a status of its own for that, 421."""

    def __init__(self) -> None:
        super().__init__(
            ErrorCode.FORBIDDEN,
            "This host is not served here. The operator can add it to SYNAPSE_ALLOWED_HOSTS, "
            "or set SYNAPSE_PUBLIC_URL.",
        )

    @property
    def status(self) -> int:
        return 421


def headers_of(scope: Scope, name: bytes) -> list[str]:
    """All values of a header, by its name in lower case."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def require_host_and_origin(scope: Scope) -> None:
    """Refuse what a page of another site could send through somebody's browser.

    Raises HostNotServedError (421) for a Host that is not one of ours, which stops DNS rebinding, and
    ``forbidden`` for an Origin that is neither this server's own nor listed. No Origin at all is no browser.
    """
    hosts = headers_of(scope, b"host")
    if len(hosts) != 1 or not _is_ours(hosts[0]):
        raise HostNotServedError
    allowed = {f"{scope.get('scheme', 'http')}://{hosts[0].lower()}", *settings.CSRF_TRUSTED_ORIGINS}
    if any(origin not in allowed for origin in headers_of(scope, b"origin")):
        raise SynapseError(
            ErrorCode.FORBIDDEN,
            "Pages of this origin may not call. The operator can add it to SYNAPSE_ALLOWED_ORIGINS.",
        )


def _is_ours(host: str) -> bool:
    domain, _ = split_domain_port(host)
    listening = settings.SYNAPSE_HOST
    own = [] if listening in _ANY_ADDRESS else [f"[{listening}]" if ":" in listening else listening]
    return bool(domain) and validate_host(domain, [*settings.ALLOWED_HOSTS, *own])


def require_json(scope: Scope) -> None:
    """Raises ``unsupported_media_type`` unless the body is plain application/json in UTF-8."""
    types = headers_of(scope, b"content-type")
    encodings = headers_of(scope, b"content-encoding")
    plain = not encodings or [value.lower() for value in encodings] == ["identity"]
    if len(types) != 1 or not plain or not _is_json(types[0]):
        raise SynapseError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, "Send the body as plain application/json.")
    # The kind is the same in any case (RFC 9110, 8.3.1), which not every reader knows.
    scope["headers"] = [
        (name, b"application/json" if name == b"content-type" else value) for name, value in scope["headers"]
    ]


def _is_json(content_type: str) -> bool:
    try:
        kind, parameters = parse_header_parameters(content_type)
    except (ValueError, LookupError):  # too long, or a parameter in an encoding that does not exist
        return False
    return kind == "application/json" and parameters.get("charset", "utf-8").lower() in ("utf-8", "utf8")


def require_readable_answer(scope: Scope) -> None:
    """Raises ``not_acceptable`` unless the client takes both forms of an answer, which the protocol asks of it."""
    accepted = {
        part.split(";")[0].strip().lower() for value in headers_of(scope, b"accept") for part in value.split(",")
    }
    if not all(accepted & {"*/*", kind, f"{kind.split('/')[0]}/*"} for kind in _ANSWERS):
        raise SynapseError(ErrorCode.NOT_ACCEPTABLE, f"Send `Accept: {', '.join(_ANSWERS)}`.")


def require_agreement(scope: Scope, message: dict[str, Any]) -> None:
    """Refuse a message that its headers contradict, whatever the revision: what lies in between may go by them.

    Raises HeaderMismatchError and UnknownRevisionError. A header that must be there and is not, is the SDK's to miss.
    """
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    stated = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
    version = _once(scope, MCP_PROTOCOL_VERSION_HEADER)
    if stated is not None and version != stated:
        raise HeaderMismatchError(MCP_PROTOCOL_VERSION_HEADER)
    if version is not None and version not in KNOWN_PROTOCOL_VERSIONS:
        raise UnknownRevisionError(version)
    method = _once(scope, MCP_METHOD_HEADER)
    if method is not None and method != message.get("method"):
        raise HeaderMismatchError(MCP_METHOD_HEADER)
    name = _once(scope, MCP_NAME_HEADER)
    key = NAME_BEARING_METHODS.get(str(message.get("method")))
    if name is not None and key is not None and decode_header_value(name) != params.get(key):
        raise HeaderMismatchError(MCP_NAME_HEADER)


def _once(scope: Scope, header: str) -> str | None:
    values = headers_of(scope, header.encode())
    if len(values) > 1:
        raise HeaderMismatchError(header)
    return values[0] if values else None


def require_pace(scope: Scope, caller: Caller) -> None:
    """Count a request of somebody who has been let in. Raises ``rate_limited``."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            throttling.known.add(value)
    throttling.check(caller.name, Kind.REQUESTS)


def require_pace_of_writes(message: dict[str, Any], caller: Caller) -> None:
    """Count a call of a tool that changes something. Raises ``rate_limited``."""
    params = message.get("params")
    tool = BY_NAME.get(target_of(str(params.get("name")))) if isinstance(params, dict) else None
    if message.get("method") == "tools/call" and tool is not None and tool.writes:
        throttling.check(caller.name, Kind.WRITES)


async def read_object(scope: Scope, receive: Receive) -> tuple[dict[str, Any], bytes]:
    """The JSON object in the body, and its bytes as any reader takes them, at most twice the largest page.

    Raises ``payload_too_large`` as soon as the limit is passed, and ``malformed_body``, also for a body that breaks
    off: what came of it may read like a whole message.
    """
    limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    body = bytearray()
    more = True
    _refuse_over(limit, *(int(value[:_DIGITS]) for value in headers_of(scope, b"content-length") if value.isdecimal()))
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise SynapseError(ErrorCode.MALFORMED_BODY, "The body broke off. Send it whole.")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        _refuse_over(limit, len(body))
    readable = halves_as_nul(bytes(body))
    return loads_object(readable), readable


def _refuse_over(limit: int, *sizes: int) -> None:
    if any(size > limit for size in sizes):
        raise SynapseError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The body is larger than {limit} bytes. Send less at a time.",
            limit_bytes=limit,
        )


def replay(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives this body first, and then what the connection says (that it closed)."""
    given = False

    async def next_message() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message
