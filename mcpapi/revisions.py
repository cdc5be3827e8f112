"""The revisions of the protocol that are spoken here, and server/discover, which names them to a client."""

from __future__ import annotations

from typing import Any, Final

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

# Structured results came with this revision; what is older gets the same JSON as text only.
_OLDEST: Final = "2025-06-18"
REVISIONS: Final = tuple(known for known in reversed(KNOWN_PROTOCOL_VERSIONS) if known >= _OLDEST)
"""Newest first. Those before 2026-07-28 are agreed upon by ``initialize``."""


def name_all_revisions(server: Server[Any]) -> None:
    """Let server/discover name the older revisions too, as the specification has it; the SDK leaves them out."""

    async def discover(ctx: ServerRequestContext[Any, Any], params: types.RequestParams | None) -> types.DiscoverResult:
        return types.DiscoverResult(
            supported_versions=list(REVISIONS),
            capabilities=server.get_capabilities(protocol_version=ctx.protocol_version),
            instructions=server.instructions,
        )

    server.add_request_handler("server/discover", types.RequestParams, discover)
