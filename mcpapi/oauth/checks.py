"""``manage.py check``: where sign-in can't work, or lets in whom nobody chose."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register

from mcpapi.oauth.addresses import is_loopback, origin_of


@register("synapse")
def check_sign_in(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """SYNAPSE_PUBLIC_URL is https, and an origin; SYNAPSE_OAUTH_CLIENT_HOSTS names hosts."""
    if not settings.SYNAPSE_OAUTH_ENABLED:
        return []
    found: list[CheckMessage] = []
    public = settings.SYNAPSE_PUBLIC_URL
    origin = origin_of(public) if public else None
    if origin and origin.startswith("http:") and not is_loopback(urlsplit(origin).hostname or ""):
        found.append(
            Warning(
                "SYNAPSE_PUBLIC_URL is http: agents can't sign in (OAuth), and passwords can be read on the way.",
                hint="Put a proxy with a certificate in front and give its https address.",
                id="synapse.W110",
            )
        )
    if origin and urlsplit(public).path.strip("/"):
        found.append(
            Warning(
                "SYNAPSE_PUBLIC_URL has a path: clients that sign in (OAuth) look for this server at the root.",
                hint="Give the server a host name of its own: https://wiki.example.org",
                id="synapse.W111",
            )
        )
    if any(host in ("*", ".") or "/" in host or ":" in host for host in settings.SYNAPSE_OAUTH_CLIENT_HOSTS):
        found.append(
            Warning(
                "SYNAPSE_OAUTH_CLIENT_HOSTS names every host, or something that is not a host.",
                hint="List the hosts whose client-id metadata documents are read: claude.ai,claude.com",
                id="synapse.W112",
            )
        )
    return found
