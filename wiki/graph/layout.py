"""The map of the vault: made by a job, kept as rows, never computed by a look-up."""

from __future__ import annotations

from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from wiki.data_version import data_version
from wiki.graph.communities import communities
from wiki.graph.placing import place
from wiki.models import Edge, MapState, Page, PagePlace
from wiki.rows import chunks

_ROWS_AT_ONCE: Final = 2_000  # a transaction that others wait for a few hundredths of a second
_STATE: Final = 1


def map_state() -> MapState | None:
    """Of which version of the index the map is; None if it was never made."""
    return MapState.objects.filter(pk=_STATE).first()


def is_stale() -> bool:
    """Whether the index has changed since the map was made."""
    state = map_state()
    return state is None or state.data_version != data_version()


def make_map() -> MapState:
    """Divide the listed pages into communities, place them, and keep the outcome.

    A function of the vault: pages are taken in the order of their ids, not of their rows. Runs its own short
    transactions; running twice gives the same rows.
    """
    version = data_version()
    pks = list(Page.objects.listed().order_by("uid").values_list("pk", flat=True))
    number = {pk: at for at, pk in enumerate(pks)}
    rows = Edge.objects.order_by().values_list("a_id", "b_id", "weight")
    edges = sorted(
        (min(number[a], number[b]), max(number[a], number[b]), weight)
        for a, b, weight in rows.iterator()
        if a in number and b in number
    )
    found = communities(edges)
    places = place(len(pks), edges, found.of)
    made = [
        PagePlace(page_id=pk, community=found.of.get(at), x=x, y=y)
        for at, (pk, (x, y)) in enumerate(zip(pks, places, strict=True))
    ]
    for some in chunks(made, _ROWS_AT_ONCE):
        with transaction.atomic():
            _keep(some)
    PagePlace.objects.exclude(page__deleted_at__isnull=True, page__reserved=False).delete()
    state, _ = MapState.objects.update_or_create(
        pk=_STATE,
        defaults={
            "data_version": version,
            "pages": len(pks),
            "edges": len(edges),
            "communities": len(set(found.of.values())),
            "modularity": round(found.modularity, 4),
            "made_at": timezone.now(),
        },
    )
    return state


def _keep(places: list[PagePlace]) -> None:
    """Write the places of pages that are still there; one that was removed meanwhile has no row to belong to."""
    there = set(Page.objects.filter(pk__in=[place.page_id for place in places]).values_list("pk", flat=True))
    PagePlace.objects.bulk_create(
        [place for place in places if place.page_id in there],
        update_conflicts=True,
        unique_fields=["page"],
        update_fields=["community", "x", "y"],
    )


def run_job(payload: dict[str, Any]) -> dict[str, Any]:
    """The handler of ``layout`` jobs; nothing is done while the map is of today's index."""
    del payload
    if not is_stale():
        return {"made": False}
    state = make_map()
    return {"made": True, "pages": state.pages, "edges": state.edges, "communities": state.communities}
