"""The record of who changed what: one row an action, written in the transaction of the action itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from vault.history import Author
from wiki.models import Audit


def record(
    *,
    action: str,
    author: Author,
    page_uid: UUID | None = None,
    path: str = "",
    before_hash: str | None = None,
    after_hash: str | None = None,
    detail: dict[str, Any] | None = None,
) -> Audit:
    """Add one row. ``before_hash`` and ``after_hash`` are sha256 of the file's bytes, hex; never page content."""
    return Audit.objects.create(
        actor=author.name[:120],
        door=author.door[:12],
        action=action,
        page_uid=page_uid,
        path=path,
        before_hash=before_hash or "",
        after_hash=after_hash or "",
        detail=detail or {},
    )


#: Who acts where nobody is at the other end: the first start, and work that is done by the hour.
SYNAPSE: Final = Author("synapse", "job")
MOST_LISTED: Final = 1_000


def listed(
    *,
    actor: str = "",
    door: str = "",
    action: str = "",
    path: str = "",
    since: datetime | None = None,
    limit: int = 100,
) -> list[dict[str, Any]]:
    """The rows that all filters fit, newest first, at most ``limit`` (1 to 1,000). ``path`` is the begin of one."""
    exactly = {name: value for name, value in (("actor", actor), ("door", door), ("action", action)) if value}
    rows = Audit.objects.filter(**exactly)
    if path:
        rows = rows.filter(path__startswith=path)
    if since:
        rows = rows.filter(at__gte=since)
    names = ("id", "at", "actor", "door", "action", "page_uid", "path", "before_hash", "after_hash", "detail")
    found = rows.order_by("-pk")[: max(1, min(limit, MOST_LISTED))].values(*names)
    return [
        {**row, "at": row["at"].isoformat(), "page_uid": str(row["page_uid"]) if row["page_uid"] else None}
        for row in found
    ]
