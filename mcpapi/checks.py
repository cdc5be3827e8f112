"""``manage.py check``: the static token."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register

_SHORTEST_TOKEN = 20


@register("synapse")
def check_static_token(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """MCP_AUTH_TOKEN, if set, can't be guessed."""
    token = settings.MCP_AUTH_TOKEN
    if not token or (len(token) >= _SHORTEST_TOKEN and token.isascii() and token.isprintable() and " " not in token):
        return []
    return [
        Warning(
            f"MCP_AUTH_TOKEN is shorter than {_SHORTEST_TOKEN} characters, or holds what a header can't carry.",
            hint="Unset it and use `manage.py token create`, or set a long random value.",
            id="synapse.W101",
        )
    ]
