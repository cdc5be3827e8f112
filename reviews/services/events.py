"""What happened to items: lines that are appended, and the audit of decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from reviews.actions import Action
from reviews.models import ReviewEvent, ReviewItem, Status
from vault.history import Author
from wiki.models import Audit
from wiki.rows import chunks, insert

#: Of refreshes by one hand within this time the first is told of: what rests on many pages changes with each write.
REFRESHES_TOLD_EVERY: Final = timedelta(days=1)

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


def refreshed(items: Sequence[UUID], *, author: Author, at: datetime) -> None:
    """Append an event to those of the items that the author has not refreshed within the last day."""
    told: set[UUID] = set()
    # An event of a later time was written by a clock that has been set back since, and says nothing.
    within = (at - REFRESHES_TOLD_EVERY, at)
    known = ReviewEvent.objects.filter(what="refreshed", who=who(author), door=door(author), at__range=within)
    for chunk in chunks(items):
        told.update(known.filter(item__in=chunk).order_by().values_list("item_id", flat=True))
    append([item for item in items if item not in told], what="refreshed", author=author, at=at)


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
