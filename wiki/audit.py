"""The record of who changed what: one row an action, written in the transaction of the action itself."""

from __future__ import annotations

from typing import Any
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
