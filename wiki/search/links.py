"""The second phase: pages that are tied to what was found, by the rows of edges; no weight is computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from heapq import nlargest
from typing import Final, NamedTuple

from wiki.rows import chunks, select
from wiki.search.filters import Filters

MAX_DEPTH: Final = 2
#: Of its seed's score what one step leaves for the page with the strongest tie.
DECAY: Final = 0.5
MAX_LINKED: Final = 200
# Pages whose own edges are read for the second step, and pages looked up to see whether they may be shown.
_FRONTIER: Final = 16
_LOOKED_UP: Final = 2_000

_INCIDENT: Final = (
    "SELECT a_id, b_id, weight FROM {edge} WHERE a_id IN {items} "
    "UNION ALL SELECT b_id, a_id, weight FROM {edge} WHERE b_id IN {items}"
)
_LISTED: Final = "SELECT id, path FROM {page} WHERE id IN {items} AND deleted_at IS NULL AND NOT reserved"


class Linked(NamedTuple):
    """A page that was reached: its score, the seed that it has it from, and the steps from there."""

    pk: int
    path: str
    score: float
    seed: int
    steps: int


class _Reached(NamedTuple):
    score: float
    seed: int
    steps: int


def linked_pages(seeds: Mapping[int, float], depth: int, filters: Filters, limit: int = MAX_LINKED) -> list[Linked]:
    """At most ``limit`` (up to 200) listed pages that pass the filters and are no seeds, best first, equals by path.

    ``seeds``: page key to score. A step leaves of a score: edge weight / the heaviest edge of the page it starts
    from, halved; so everything is below its seed. A page that is reached several ways has its best score, from the
    better seed. The way may lead over a page that the filters leave out.
    """
    if limit < 1:
        return []
    reached: dict[int, _Reached] = {}
    frontier = {pk: _Reached(score, pk, 0) for pk, score in seeds.items()}
    for _ in range(max(0, min(depth, MAX_DEPTH))):
        found = _step(frontier, seeds)
        better = {pk: way for pk, way in found.items() if pk not in reached or way.score > reached[pk].score}
        reached.update(better)
        frontier = {pk: better[pk] for pk in nlargest(_FRONTIER, better, key=lambda pk: (reached[pk].score, -pk))}
    return _shown(reached, filters, min(limit, MAX_LINKED))


def _step(frontier: Mapping[int, _Reached], seeds: Mapping[int, float]) -> dict[int, _Reached]:
    """The pages one edge away from those of the frontier, each by its best way; of equal ways, from the first."""
    ties: dict[int, list[tuple[int, float]]] = {pk: [] for pk in frontier}
    for pk, other, weight in select(_INCIDENT, frontier):
        ties[pk].append((other, weight))
    best: dict[int, float] = {}
    start: dict[int, int] = {}
    for pk, way in frontier.items():
        heaviest = max((weight for _, weight in ties[pk]), default=0.0)
        share = way.score * DECAY / heaviest if heaviest > 0 else 0.0
        for other, weight in ties[pk]:
            if (score := share * weight) > best.get(other, 0.0) and other not in seeds:
                best[other], start[other] = score, pk
    return {pk: _Reached(score, (way := frontier[start[pk]]).seed, way.steps + 1) for pk, score in best.items()}


def _shown(reached: Mapping[int, _Reached], filters: Filters, limit: int) -> list[Linked]:
    """The best that may be shown. Paths are read as far down as they can decide."""
    found: list[Linked] = []
    order = sorted(reached, key=lambda pk: (-reached[pk].score, pk))[:_LOOKED_UP]
    for some in chunks(order):
        if len(found) >= limit and reached[some[0]].score < found[limit - 1].score:
            break
        found += [Linked(pk, path, *reached[pk]) for pk, path in _listed(some, filters)]
        found.sort(key=lambda linked: (-linked.score, linked.path))
    return found[:limit]


def _listed(pks: Collection[int], filters: Filters) -> Iterable[tuple[int, str]]:
    """Those of the pages that may be shown, with their paths."""
    if filters:
        return filters.pages().filter(pk__in=pks).values_list("pk", "path")
    return select(_LISTED, pks)
