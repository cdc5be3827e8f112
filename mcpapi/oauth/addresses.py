"""What this server is called: the issuer of its tokens, and the resources they can be for.

Both are origins and paths as clients see them, so they come from SYNAPSE_PUBLIC_URL; without it from the Host header,
which has been compared with the allowed names before.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

#: The paths that are the protected resource, each with and without a slash at its end.
RESOURCE_PATHS: Final = ("/mcp", "/mcp/server")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """Does a host name mean the machine itself: localhost, 127.0.0.0/8 or ::1?"""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=256)  # every request to /mcp asks for its own
def origin_of(url: str) -> str | None:
    """Scheme, host and port of an http(s) address, in one spelling; None if it is none or carries a user."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}")


def issuer(scheme: str, host: str) -> str | None:
    """The issuer for a request that came in by this scheme and Host; None where nobody may sign in.

    That is where SYNAPSE_OAUTH_ENABLED is false, and over http on any other machine than this: tokens and passwords
    would be readable on the way (OAuth 2.1, section 1.5).
    """
    if not settings.SYNAPSE_OAUTH_ENABLED:
        return None
    own = origin_of(settings.OAUTH2_PROVIDER["OIDC_ISS_ENDPOINT"] or f"{scheme}://{host}")
    if own is None or (own.startswith("http:") and not is_loopback(urlsplit(own).hostname or "")):
        return None
    return own


def issuer_of(request: HttpRequest) -> str | None:
    """:func:`issuer` for a request that Django answers."""
    return issuer(request.scheme or "http", request.get_host())


def is_own_resource(resource: str, own: str) -> bool:
    """Is this the /mcp of the issuer ``own`` (RFC 8707)? Without a query, a fragment or dots that lead elsewhere."""
    if "?" in resource or "#" in resource or origin_of(resource) != own:
        return False
    return urlsplit(resource).path.removesuffix("/") in RESOURCE_PATHS


def resource_metadata(own: str, path: str) -> str:
    """Where the metadata of the resource at ``path`` is (RFC 9728, section 3.1)."""
    bare = path.removesuffix("/")
    return f"{own}/.well-known/oauth-protected-resource{bare if bare in RESOURCE_PATHS else RESOURCE_PATHS[0]}"


def registration_endpoint(own: str) -> str:
    """Where a client registers (RFC 7591)."""
    return own + reverse("oauth2_provider:dcr-register")
