"""What changed lately: the pages by the time of their files, with who wrote what stands there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from wiki.models import Audit, Page

SHOWN: Final = 12
_LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Change:
    """A page as it stands: since when, and by whom; ``who`` is "" for an edit made outside of Synapse."""

    page: Page
    at: datetime
    who: str = ""
    door: str = ""
    action: str = ""


def lately(limit: int = SHOWN) -> list[Change]:
    """The pages that changed last, newest first."""
    fields = ("pk", "uid", "title", "path", "type", "mtime_ns", "content_hash")
    pages = list(Page.objects.listed().order_by("-mtime_ns", "pk").only(*fields)[:limit])
    written = _written(pages)
    return [_change(page, written.get((page.uid, page.content_hash))) for page in pages]


def _written(pages: Sequence[Page]) -> dict[tuple[object, str], Audit]:
    """Of each page the record of the write that left it as it is, if it was one of ours."""
    uids, hashes = [page.uid for page in pages], [page.content_hash for page in pages]
    rows = Audit.objects.filter(page_uid__in=uids, after_hash__in=hashes).order_by("pk")
    return {(row.page_uid, row.after_hash): row for row in rows}


def _change(page: Page, row: Audit | None) -> Change:
    at = moment(page.mtime_ns)
    return Change(page, at, row.actor, row.door, row.action) if row is not None else Change(page, at)


def moment(nanoseconds: int) -> datetime:
    """A file's time; the last that there is for one that no calendar has."""
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return _LATEST
