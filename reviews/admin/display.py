"""How items and their diffs are shown: as text, in which nothing can pass for something else or run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from reviews.comparing import Row, Segment
from reviews.models import ReviewItem
from wiki.admin.display import page_link, visible

_BREAKS: Final = re.compile(r"([\n\t])")
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60))


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line as it is shown; ``left_out`` tells how many characters stand in its place."""

    text: str
    changed: bool
    left_out: int


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row of the diff: both sides in pieces, and on which the file ends without a line break."""

    kind: str
    old_line: int | None
    new_line: int | None
    old: list[Piece]
    new: list[Piece]
    count: int
    old_unended: bool
    new_unended: bool


def visible_text(text: str) -> str:
    """A text of several lines: as :func:`wiki.admin.display.visible`, but for its line breaks and tabs."""
    return "".join(part if part in ("\n", "\t") else visible(part) for part in _BREAKS.split(text))


def shown_row(row: Row) -> ShownRow:
    """A row without its line breaks, what is not seen in it written out."""
    return ShownRow(
        kind=row.kind,
        old_line=row.old_line,
        new_line=row.new_line,
        old=_pieces(row.old),
        new=_pieces(row.new),
        count=row.count,
        old_unended=_unended(row.old),
        new_unended=_unended(row.new),
    )


def age(moment: datetime) -> SafeString:
    """How long ago that was, in the largest unit that fits; the moment itself on demand."""
    seconds = max(0.0, (timezone.now() - moment).total_seconds())
    name, size = next(((name, size) for name, size in _UNITS if seconds >= size), ("min", 60))
    exact, count = moment.isoformat(timespec="seconds"), int(seconds // size)
    return format_html('<time class="review-age" datetime="{}" title="{}">{} {}</time>', exact, exact, count, name)


def page_of(item: ReviewItem) -> str | SafeString:
    """The page that the item is about, as a link, or the path it had."""
    if item.page is not None:
        return page_link(item.page)
    return visible(item.page_path or item.file_path) or "-"


def item_link(item: ReviewItem, query: str = "") -> SafeString:
    """A link to the item's own page."""
    address = reverse("admin:reviews_reviewitem_change", args=[item.pk])
    return format_html('<a href="{}{}">{}</a>', address, query, visible(item.title))


def _pieces(segments: tuple[Segment, ...]) -> list[Piece]:
    return [Piece(visible_text(part.text.removesuffix("\n")), part.changed, part.left_out) for part in segments]


def _unended(segments: tuple[Segment, ...]) -> bool:
    return bool(segments) and not segments[-1].text.endswith("\n")
