"""The rows of links above the list: its views, and the Inbox by type and by origin; each is an address with a count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, QueryDict

from reviews.admin.counts import Counts, queue_counts
from reviews.admin.filters import CONFLICTS, DONE, INBOX, current_view
from reviews.admin.navigating import list_address
from reviews.models import ItemType, Origin

_TYPE: Final = "item_type"
_ORIGIN: Final = "origin"


@dataclass(frozen=True, slots=True)
class View:
    """A link with how many items it leads to; ``current`` when its items are those that are shown."""

    name: str
    address: str
    count: int
    current: bool


def rows(request: HttpRequest) -> dict[str, list[View]]:
    """The rows of links by what they say they are."""
    counts = queue_counts(request)
    return {
        "Views": list(_views(request, counts)),
        "By type": list(_choices(request, counts, _TYPE, ItemType.values)),
        "By origin": list(_choices(request, counts, _ORIGIN, Origin.values)),
    }


def _views(request: HttpRequest, counts: Counts) -> Iterator[View]:
    current = current_view(request)
    for view, name, count in (
        (INBOX, "Inbox", counts.inbox),
        (CONFLICTS, "Conflicts", counts.conflicts),
        (DONE, "Done", counts.done),
    ):
        yield View(name, _address({} if view == INBOX else {"view": view}), count, view == current)


def _choices(request: HttpRequest, counts: Counts, field: str, values: list[str]) -> Iterator[View]:
    """What waits by one field, within what is chosen of the other; no links where there is nothing to choose."""
    other = _ORIGIN if field == _TYPE else _TYPE
    in_inbox = current_view(request) == INBOX
    chosen, kept = (request.GET.get(name, "") if in_inbox else "" for name in (field, other))
    within = {other: kept} if kept else {}
    waiting = {value: _waiting(counts, {field: value, **within}) for value in values}
    shown = [value for value in values if waiting[value] or value == chosen]
    if not shown:
        return
    yield View("all", _address(within), sum(waiting.values()), in_inbox and not chosen)
    for value in shown:
        yield View(value, _address({**within, field: value}), waiting[value], value == chosen)


def _waiting(counts: Counts, chosen: Mapping[str, str]) -> int:
    return sum(
        count
        for (item_type, origin), count in counts.crossed.items()
        if chosen.get(_TYPE, item_type) == item_type and chosen.get(_ORIGIN, origin) == origin
    )


def _address(query: Mapping[str, str]) -> str:
    made = QueryDict(mutable=True)
    for name in sorted(query):
        made[name] = query[name]
    return list_address(made.urlencode())
