"""The map of the vault: made by a job, kept as rows, never computed by a look-up.

A person knows a map by sight. So pages that stand on it keep their places and communities; those that came since are
placed by their neighbours. All places are made anew only when much has changed, and are then turned as they lay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from wiki.data_version import data_version
from wiki.graph.communities import communities, joined, modularity
from wiki.graph.picture import Spot, picture
from wiki.graph.placing import Place, place, place_among
from wiki.models import Edge, MapState, Page, PagePlace
from wiki.rows import chunks

_ROWS_AT_ONCE: Final = 2_000  # a transaction that others wait for a few hundredths of a second
_STATE: Final = 1
#: All places are made anew when more of the pages have come, gone or moved since it was last done,
_MOVED: Final = 0.2
#: or when the communities fit the ties by so much less than then.
_WORSE: Final = 0.05

_Edges = Sequence[tuple[int, int, float]]


@dataclass(frozen=True, slots=True)
class Map:
    """Where each page stands (by its number) and to which community it belongs."""

    at: list[Place]
    of: dict[int, int]
    reach: float
    modularity: float
    moved: int


def map_state() -> MapState | None:
    """Of which version of the index the map is; None if it was never made. Its picture is not read along."""
    return MapState.objects.filter(pk=_STATE).defer("picture").first()


def drawn_map() -> bytes:
    """What draws the map as it was last made (:mod:`wiki.graph.picture`); nothing if it was never made."""
    kept = MapState.objects.filter(pk=_STATE).values_list("picture", flat=True).first()
    return bytes(kept or b"")


def is_stale() -> bool:
    """Whether the index has changed since the map was made, or the map is one of before it could be drawn."""
    state = map_state()
    return state is None or state.data_version != data_version() or not state.reach


def make_map(*, anew: bool = False) -> MapState:
    """Place the listed pages, and keep the outcome; ``anew`` moves those that stand, too.

    A function of the vault and of the map before: pages are taken in the order of their ids, not of their rows. Runs
    its own short transactions; running twice gives the same rows.
    """
    version = data_version()
    rows = list(Page.objects.listed().order_by("uid").values_list("pk", "title", "path", "type"))
    number = {pk: at for at, (pk, *_) in enumerate(rows)}
    edges = _edges(number)
    before = map_state()
    stood = {place.page_id: place for place in PagePlace.objects.all() if before is not None and before.reach}
    made = (None if anew or before is None else _grown(before, stood, number, edges)) or _anew(stood, number, edges)
    _keep_all(made, stood, [pk for pk, *_ in rows])
    spots = [
        Spot(title, path, type_ or "", made.of.get(at), *made.at[at]) for at, (_, title, path, type_) in enumerate(rows)
    ]
    state, _ = MapState.objects.update_or_create(
        pk=_STATE,
        defaults={
            "data_version": version,
            "pages": len(rows),
            "edges": len(edges),
            "communities": len(set(made.of.values())),
            "modularity": round(made.modularity, 4),
            "reach": made.reach,
            "moved": made.moved,
            "made_at": timezone.now(),
            "picture": picture(spots, edges),
        },
    )
    return state


def _edges(number: Mapping[int, int]) -> _Edges:
    rows = Edge.objects.order_by().values_list("a_id", "b_id", "weight")
    return sorted(
        (min(number[a], number[b]), max(number[a], number[b]), weight)
        for a, b, weight in rows.iterator()
        if a in number and b in number
    )


def _anew(stood: Mapping[int, PagePlace], number: Mapping[int, int], edges: _Edges) -> Map:
    """All places, from nothing but the graph; turned as those before lay."""
    found = communities(edges)
    like = {number[pk]: (old.x, old.y) for pk, old in stood.items() if pk in number}
    places = place(len(number), edges, found.of, like=like)
    return Map(places.at, found.of, places.reach, found.modularity, 0)


def _grown(before: MapState, stood: Mapping[int, PagePlace], number: Mapping[int, int], edges: _Edges) -> Map | None:
    """The map before, with those placed that came and without those that went; None if it is to be made anew."""
    tied = {node for a, b, _ in edges for node in (a, b)}
    stand: dict[int, Place] = {}
    of: dict[int, int] = {}
    for pk, old in stood.items():
        at = number.get(pk)
        if at is None or (at in tied and old.community is None):  # went, or stood at the rim and is tied now
            continue
        stand[at] = (old.x, old.y)
        if at in tied and old.community is not None:
            of[at] = old.community
    went = sum(pk not in number for pk in stood)
    moved = before.moved + went + len(number) - len(stand)
    if not before.reach or moved > _MOVED * len(number):
        return None
    of = joined(of, edges)
    if modularity(of, edges) < before.modularity - _WORSE:
        return None
    places = place_among(stand, len(number), edges, reach=before.reach)
    return Map(places, of, before.reach, before.modularity, moved)


def _keep_all(made: Map, stood: Mapping[int, PagePlace], pks: Sequence[int]) -> None:
    """Write the rows that differ from those that are kept, and take away those of pages that are gone."""
    changed = []
    for at, (pk, (x, y)) in enumerate(zip(pks, made.at, strict=True)):
        old = stood.get(pk)
        if old is None or (old.community, old.x, old.y) != (made.of.get(at), x, y):
            changed.append(PagePlace(page_id=pk, community=made.of.get(at), x=x, y=y))
    for some in chunks(changed, _ROWS_AT_ONCE):
        with transaction.atomic():
            _keep(some)
    PagePlace.objects.exclude(page__deleted_at__isnull=True, page__reserved=False).delete()


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
