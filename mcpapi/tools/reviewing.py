"""Tools of the review queue: what waits for a decision, deciding, and asking for one."""

from __future__ import annotations

from typing import Any

from mcpapi.callers import Caller
from reviews import services
from wiki import throttling
from wiki.throttling import Kind


def list_reviews(
    caller: Caller, *, status: str | None, limit: int, item_type: str | None, cursor: str | None
) -> dict[str, Any]:
    """Items of the queue, oldest first."""
    return services.list_items(status=status, item_type=item_type, limit=limit, cursor=cursor)


def resolve_review(caller: Caller, *, id: str, action: str, note: str) -> dict[str, Any]:
    """Decide about one item."""
    throttling.check(caller.name, Kind.DECISIONS)
    resolved = services.resolve(item_id=id, action=action, note=note, author=caller.author())
    return {"item": services.item_as_dict(resolved.item), "changed": resolved.changed, "warnings": resolved.warnings}


def propose_review(caller: Caller, *, items: list[Any]) -> dict[str, Any]:
    """File what the caller thinks a person should decide."""
    return services.propose(items=items, author=caller.author())


def stage_page(
    caller: Caller,
    *,
    title: str,
    content: str,
    frontmatter: dict[str, Any],
    origin_source: str,
    base_hash: str | None,
    path: str | None,
) -> dict[str, Any]:
    """File the write of a page for a person to decide on; nothing is written."""
    item = services.stage_write(
        title=title,
        content=content,
        frontmatter=frontmatter,
        origin_source=origin_source,
        base_hash=base_hash,
        path=path,
        author=caller.author(),
    )
    return {
        "staged": True,
        "review_id": str(item.pk),
        "title": item.proposed_title,
        "type": item.proposed_page_type,
        "path": item.target,
        "base_hash": item.base_hash or None,
    }
