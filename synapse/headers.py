"""What every answer tells a browser to do and to leave, whoever answered: Django, the MCP endpoint or a refusal.

The policy of contents (CSP, level 3) allows what lies on this server and nothing inline. Parts of a page that can't lie
in a file of their own, those of the admin's theme, carry a nonce that :mod:`synapse.templates` gives them.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

from django.conf import settings

from synapse.body_limit import Application, Receive, Scope, Send

#: Where a request keeps its nonce.
NONCE: Final = "synapse.nonce"

_NOTHING: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_PAGE: Final = (
    "default-src 'none'; script-src 'self'{scripts}; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
#: The theme of the admin (Alpine) makes functions of attributes of its pages.
_ADMIN: Final = ("/admin", " 'unsafe-eval'")
_STATIC: Final = "/static/"

_ALWAYS: Final = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": (
        b"accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), "
        b"magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=(), xr-spatial-tracking=()"
    ),
}


def with_safe_headers(application: Application) -> Application:
    """The application, whose every answer has the headers that keep a browser from lending itself to others.

    What an answer says itself stands, with one exception: outside of static files an answer that leaves it open
    whether it may be kept is kept nowhere.
    """

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        nonce = scope[NONCE] = secrets.token_urlsafe(16)

        async def answering(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *missing(scope["path"], nonce, message)]}
            await send(message)

        await application(scope, receive, answering)

    return guarded


def missing(path: str, nonce: str, message: Scope) -> list[tuple[bytes, bytes]]:
    """The headers that an answer to ``path`` (an ASGI message of its start) still lacks."""
    given = {name.lower(): value for name, value in message.get("headers", ())}
    wanted = dict(_ALWAYS)
    wanted[b"referrer-policy"] = settings.SECURE_REFERRER_POLICY.encode()
    wanted[b"content-security-policy"] = _policy(path, nonce, given.get(b"content-type", b""))
    if not path.startswith(_STATIC) or message["status"] >= 400:
        wanted[b"cache-control"] = b"no-store"
    if settings.SECURE_HSTS_SECONDS:  # over http browsers pass it over
        wanted[b"strict-transport-security"] = f"max-age={settings.SECURE_HSTS_SECONDS}".encode()
    return [(name, value) for name, value in wanted.items() if name not in given]


def _policy(path: str, nonce: str, content_type: bytes) -> bytes:
    if not content_type.lower().startswith(b"text/html"):
        return _NOTHING.encode()
    prefix, scripts = _ADMIN
    is_admin = path == prefix or path.startswith(f"{prefix}/")
    return _PAGE.format(nonce=nonce, scripts=scripts if is_admin else "").encode()
