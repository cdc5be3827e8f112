"""What an HTTP request must be before the protocol sees it: for this host, from an allowed origin, one JSON object."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from vault.errors import ErrorCode, SynapseError
from vault.strict_json import halves_as_nul, loads_object

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_ANY_ADDRESS: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  (recognised here, not listened on)


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
    """Raises ``unsupported_media_type`` unless the body is plain application/json."""
    types = headers_of(scope, b"content-type")
    encodings = headers_of(scope, b"content-encoding")
    plain = not encodings or [value.lower() for value in encodings] == ["identity"]
    if len(types) != 1 or types[0].split(";")[0].strip().lower() != "application/json" or not plain:
        raise SynapseError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, "Send the body as plain application/json.")


async def read_object(scope: Scope, receive: Receive) -> tuple[dict[str, Any], bytes]:
    """The JSON object in the body, and its bytes as any reader takes them, at most twice the largest page.

    Raises ``payload_too_large`` as soon as the limit is passed, and ``malformed_body``.
    """
    limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    body = bytearray()
    more = True
    _refuse_over(limit, *(int(value) for value in headers_of(scope, b"content-length") if value.isdecimal()))
    while more:
        message = await receive()
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
