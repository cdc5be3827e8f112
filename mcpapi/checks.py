"""``manage.py check``: the static token, and settings that name tools."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from mcpapi.oauth.addresses import is_loopback
from mcpapi.registry import BY_NAME, TOOLS, require_bounded

_SHORTEST_TOKEN = 20


def is_weak(token: str) -> bool:
    """Is MCP_AUTH_TOKEN set, and can be guessed or not be sent?"""
    if not token:
        return False
    return len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token


@register("synapse")
def check_static_token(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """MCP_AUTH_TOKEN, if set, can't be guessed: W101 on this machine, E104 where others reach the server."""
    if not is_weak(settings.MCP_AUTH_TOKEN):
        return []
    is_open = bool(settings.SYNAPSE_PUBLIC_URL) or not is_loopback(settings.SYNAPSE_HOST)
    kind, number = (Error, "E104") if is_open else (Warning, "W101")
    return [
        kind(
            f"MCP_AUTH_TOKEN is shorter than {_SHORTEST_TOKEN} characters, or holds what a header can't carry.",
            hint="Unset it and use `manage.py token create`, or set a long random value.",
            id=f"synapse.{number}",
        )
    ]


@register("synapse")
def check_tools(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """E101 to E103: not too many tools are visible, and the settings that name tools name some that exist."""
    found: list[CheckMessage] = []
    try:
        require_bounded(TOOLS)
    except RuntimeError as error:
        found.append(Error(str(error), hint="docs/tools.md says how a tool is hidden or retired.", id="synapse.E101"))
    unknown = sorted(set(settings.SYNAPSE_HIDDEN_TOOLS or ()) - set(BY_NAME))
    if unknown:
        found.append(_unknown("SYNAPSE_HIDDEN_TOOLS names", unknown, "E102"))
    unknown = sorted(set(settings.SYNAPSE_TIMEOUTS) - set(BY_NAME))
    if unknown:
        found.append(_unknown("A SYNAPSE_TIMEOUT_ variable names", unknown, "E103"))
    return found


def _unknown(where: str, names: list[str], number: str) -> Error:
    return Error(
        f"{where} tools that do not exist: {', '.join(names)}.",
        hint=f"These exist: {', '.join(BY_NAME)}.",
        id=f"synapse.{number}",
    )
