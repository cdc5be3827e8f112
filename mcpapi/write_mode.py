"""What the operator lets agents change over HTTP: nothing, proposals, or pages."""

from __future__ import annotations

from typing import Final

from django.conf import settings

REMOTE_WRITE_MODES: Final = ("false", "true", "staged")


def remote_write_mode() -> str:
    """MCP_REMOTE_WRITE_ENABLED; a value that means nothing counts as ``false`` (`manage.py check` names it)."""
    mode: str = settings.MCP_REMOTE_WRITE_ENABLED
    return mode if mode in REMOTE_WRITE_MODES else "false"
