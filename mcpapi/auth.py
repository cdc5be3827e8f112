"""Who is calling over HTTP: a bearer token, always; nothing anonymous, this machine included.

A token is the static one of the settings, one that `manage.py token` made, or one that a person granted to a client
that signed in (OAuth); each is found by its digest.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import Final

from django.conf import settings

from mcpapi.callers import HTTP_DOOR, Caller, granted_caller
from mcpapi.oauth.tokens import find, is_access_token
from mcpapi.write_mode import remote_write_mode
from vault.errors import ErrorCode, SynapseError
from wiki.models import Scope
from wiki.tokens import find_token, last_used, scope_in_force

_STATIC_SCOPE: Final = {"false": Scope.READ, "staged": Scope.PROPOSE, "true": Scope.WRITE}


def bearer_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The token of the one Authorization header; None if there is none, several, or another scheme."""
    values = [value for name, value in headers if name == b"authorization"]
    if len(values) != 1:
        return None
    scheme, _, raw = values[0].partition(b" ")
    return raw.strip().decode("latin-1") if scheme.lower() == b"bearer" else None


def authenticate(raw: str | None, own: str | None = None) -> Caller:
    """The caller that shows this token. Reads the database.

    ``own`` is the issuer (:mod:`mcpapi.oauth.addresses`) whose /mcp is being called: tokens of clients that signed in
    are for that alone. Raises ``unauthenticated``, alike for a token that is unknown, expired or revoked.
    """
    if not raw:
        sign_in = "or sign in where WWW-Authenticate says" if own else "which `manage.py token create` makes"
        raise SynapseError(ErrorCode.UNAUTHENTICATED, f"Send a token as `Authorization: Bearer …`, {sign_in}.")
    if _is_static(raw):
        return Caller(name="token:MCP_AUTH_TOKEN", scope=_STATIC_SCOPE[remote_write_mode()], door=HTTP_DOOR)
    if is_access_token(raw):
        granted = find(raw, own)
        if granted is None:
            raise SynapseError(
                ErrorCode.UNAUTHENTICATED,
                "The token has expired, was revoked or is for another server. Refresh it, or sign in again."
                if own
                else "Nobody can sign in at this address. Use a token that `manage.py token create` makes.",
            )
        return granted_caller(granted.client, granted.username, granted.scope, HTTP_DOOR)
    token = find_token(raw)
    if token is None:
        raise SynapseError(
            ErrorCode.UNAUTHENTICATED,
            "The token is not known, has expired or was revoked. Make one with `manage.py token create`.",
        )
    last_used.note(token)
    return Caller(name=f"token:{token.name}", scope=scope_in_force(token), door=HTTP_DOOR)


def _is_static(raw: str) -> bool:
    known = settings.MCP_AUTH_TOKEN
    # Digests, so that the comparison takes the same time for a token of any length.
    return bool(known) and hmac.compare_digest(_digest(raw), _digest(known))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
