"""How much of what waits in the queue: worked out once a request, for the views, the filters and the sidebar."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from django.db.models import Count
from django.http import HttpRequest

from reviews.models import ReviewItem, Status
from reviews.services.diff import conflicting

_KEPT: Final = "_review_counts"
_FIELDS: Final = ("item_type", "origin", "rule")


@dataclass(frozen=True, slots=True)
class Counts:
    """Items by view, and the pending ones by the values of each field that they are filtered by.

    ``crossed`` counts the pending ones by type and origin together.
    """

    inbox: int
    conflicts: int
    done: int
    pending: dict[str, Counter[str]]
    crossed: Counter[tuple[str, str]]


def queue_counts(request: HttpRequest) -> Counts:
    """The counts for this request: three queries the first time it is asked for."""
    known: Counts | None = getattr(request, _KEPT, None)
    if known is None:
        known = _counted()
        setattr(request, _KEPT, known)
    return known


def pending_badge(request: HttpRequest) -> str:
    """How many decisions wait, for the sidebar."""
    known: Counts | None = getattr(request, _KEPT, None)
    return f"{known.inbox if known else ReviewItem.objects.filter(status=Status.PENDING).count():,}"


def _counted() -> Counts:
    waiting = ReviewItem.objects.filter(status=Status.PENDING)
    pending: dict[str, Counter[str]] = {field: Counter() for field in _FIELDS}
    crossed: Counter[tuple[str, str]] = Counter()
    inbox = 0
    for *values, count in waiting.order_by().values_list(*_FIELDS).annotate(Count("pk")):
        inbox += count
        for field, value in zip(_FIELDS, values, strict=True):
            pending[field][value] += count
        crossed[values[0], values[1]] += count
    done = ReviewItem.objects.exclude(status=Status.PENDING).count()
    return Counts(inbox, conflicting(waiting).count(), done, pending, crossed)
