"""What happened to items: lines that are appended, and the audit of decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from reviews.actions import Action
from reviews.models import ReviewEvent, ReviewItem, Status
from vault.history import Author
from wiki.models import Audit
from wiki.rows import insert

_COLUMNS = ("item", "at", "what", "who", "door", "from_status", "to_status", "note")


def who(author: Author) -> str:
    """An author's name as long as rows hold it."""
    return author.name[:120]


def door(author: Author) -> str:
    """An author's door as long as rows hold it."""
    return author.door[:12]


def append(
    items: Iterable[UUID],
    *,
    what: str,
    author: Author,
    at: datetime,
    from_status: str = "",
    to_status: str = "",
    note: str = "",
) -> None:
    """Append one event to each item, in the transaction of the change itself."""
    rows = [(item, at, what, who(author), door(author), from_status, to_status, note) for item in items]
    insert(ReviewEvent, _COLUMNS, rows)


def decided(items: Sequence[ReviewItem], action: Action, *, author: Author, at: datetime, note: str) -> None:
    """Append the events of one decision about these items, and an audit row each.

    An item need only have its page, page_path, created_page and created_path.
    """
    append(
        [item.pk for item in items],
        what="decided",
        author=author,
        at=at,
        from_status=Status.PENDING,
        to_status=action.status,
        note=note,
    )
    rows = [
        (at, who(author), door(author), "decide", *_concerned(item), "", "", _detail(item, action)) for item in items
    ]
    names = ("at", "actor", "door", "action", "page_uid", "path", "before_hash", "after_hash", "detail")
    insert(Audit, names, rows)


def _concerned(item: ReviewItem) -> tuple[UUID | None, str]:
    page = item.created_page or item.page
    return (page.uid if page else None), item.created_path or item.page_path


def _detail(item: ReviewItem, action: Action) -> dict[str, Any]:
    return {"review": str(item.pk), "decision": action.name}
