"""Tools that change the vault, or have it looked through."""

from __future__ import annotations

from typing import Any

from mcpapi.callers import Caller
from wiki.services import rescan, writing


def write_page(
    caller: Caller,
    *,
    title: str,
    content: str,
    frontmatter: dict[str, Any],
    origin_source: str,
    base_hash: str | None,
    path: str | None,
) -> dict[str, Any]:
    """Create or update a page by the one write path."""
    written = writing.write_page(
        title=title,
        content=content,
        frontmatter=frontmatter,
        origin_source=origin_source,
        base_hash=base_hash,
        path=path,
        author=caller.author(),
    )
    return {
        "id": str(written.page.uid),
        "title": written.page.title,
        "type": written.page.type,
        "relevance_score": 0.0,
        "path": written.page.path,
        "content_hash": written.content_hash,
        "created": written.created,
        "warnings": written.warnings,
    }


def trigger_source_rescan(caller: Caller) -> dict[str, Any]:
    """Enqueue the incremental scan."""
    return rescan.request_rescan()
