"""GET /mcp/info: what is served here, for people and programs that set up a client. Open, and without secrets."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import DatabaseError

from mcpapi.callers import LOCAL
from mcpapi.profiles import Profile, listed
from mcpapi.revisions import REVISIONS
from mcpapi.server import SERVER_NAME
from mcpapi.write_mode import remote_write_mode
from wiki.tokens import any_usable


def describe() -> dict[str, Any]:
    """The document. Reads the database, for whether any token exists."""
    mode = remote_write_mode()
    tools = [tool.name for tool in listed(Profile.HTTP, mode, LOCAL)]
    return {
        "server_name": SERVER_NAME,
        "version": settings.VERSION,
        "revisions": list(REVISIONS),
        "transport": "streamable-http",
        "http_enabled": True,
        "remote_write_enabled": mode == "true",
        "remote_write_mode": mode,
        "token_configured": _token_configured(),
        "mount_path": "/mcp",
        "entry_point_command": "python manage.py mcp",
        "tool_count": len(tools),
        "tools": tools,
    }


def _token_configured() -> bool:
    if settings.MCP_AUTH_TOKEN:
        return True
    try:
        return any_usable()
    except DatabaseError:
        return False
