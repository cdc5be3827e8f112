"""Which pages wait for their vectors, and in which order they get them.

First the lead of every page that has no vector at all, so that meaning works for all pages early; then pages that
have changed since, of which only what is new is embedded; then the rest of the others.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When

from wiki.models import Chunk, Page


class Waiting(NamedTuple):
    """A page that waits, as it was when it was looked up."""

    pk: int
    uid: UUID
    title: str
    content_hash: str


def waiting_pages() -> QuerySet[Page]:
    """The listed pages whose vectors are not all of what they say now."""
    return Page.objects.listed().exclude(vectors_hash=F("content_hash"))


def anything_waits() -> bool:
    """Whether there is work: one look at a partial index, and at the few pages that are not listed."""
    return waiting_pages().exists() or bool(gone(1))


def leads(limit: int, *, besides: Collection[int] = ()) -> list[Waiting]:
    """Pages without any vector, oldest number first."""
    return _rows(waiting_pages().filter(lead_hash="").order_by("pk"), limit, besides)


def wholes(limit: int, *, besides: Collection[int] = ()) -> list[Waiting]:
    """Pages with a vector for their lead, those that changed since first."""
    changed = Case(When(lead_hash=F("content_hash"), then=Value(1)), default=Value(0))
    return _rows(waiting_pages().exclude(lead_hash="").order_by(changed, "pk"), limit, besides)


def gone(limit: int) -> list[tuple[int, UUID]]:
    """Pages that have vectors and are not listed any more."""
    unlisted = Page.objects.filter(Q(deleted_at__isnull=False) | Q(reserved=True))
    having = unlisted.filter(Exists(Chunk.objects.filter(page=OuterRef("pk"))))
    return list(having.order_by("pk").values_list("pk", "uid")[:limit])


def _rows(pages: QuerySet[Page], limit: int, besides: Collection[int]) -> list[Waiting]:
    rows = pages.values_list("pk", "uid", "title", "content_hash")[: limit + len(besides)]
    return [Waiting(*row) for row in rows if row[0] not in besides][:limit]
