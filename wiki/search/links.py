"""The second phase: pages that are tied to what was found, by the rows of edges; no weight is computed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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


def linked_pages(seeds: Mapping[int, float], depth: int, filters: Filters) -> list[Linked]:
    """At most 200 listed pages that pass the filters and are no seeds, best first, equals by path.

    ``seeds``: page key to score, best first. A step leaves of a score: edge weight / the heaviest edge of the page
    it starts from, halved; so everything is below its seed. A page that is reached several ways has its best score,
    from the better seed. The way may lead over a page that the filters leave out.
    """
    reached: dict[int, _Reached] = {}
    frontier = {pk: _Reached(score, pk, 0) for pk, score in seeds.items()}
    for _ in range(max(0, min(depth, MAX_DEPTH))):
        found = _step(frontier, seeds)
        frontier = {pk: way for pk, way in found.items() if pk not in reached or way.score > reached[pk].score}
        reached.update(frontier)
        frontier = {pk: reached[pk] for pk in _best(frontier, _FRONTIER)}
    return _shown(reached, filters)


def _step(frontier: Mapping[int, _Reached], seeds: Mapping[int, float]) -> dict[int, _Reached]:
    """The pages one edge away from those of the frontier."""
    ties: dict[int, list[tuple[int, float]]] = {pk: [] for pk in frontier}
    for pk, other, weight in select(_INCIDENT, frontier):
        ties[pk].append((other, weight))
    found: dict[int, _Reached] = {}
    for pk, way in frontier.items():
        heaviest = max((weight for _, weight in ties[pk]), default=0.0)
        for other, weight in ties[pk]:
            if other in seeds or weight <= 0:
                continue
            score = way.score * weight / heaviest * DECAY
            if other not in found or score > found[other].score:
                found[other] = _Reached(score, way.seed, way.steps + 1)
    return found


def _best(reached: Mapping[int, _Reached], count: int) -> list[int]:
    return nlargest(count, reached, key=lambda pk: (reached[pk].score, -pk))


def _shown(reached: Mapping[int, _Reached], filters: Filters) -> list[Linked]:
    found = [Linked(pk, path, *reached[pk]) for pk, path in _listed(_best(reached, _LOOKED_UP), filters)]
    return sorted(found, key=lambda linked: (-linked.score, linked.path))[:MAX_LINKED]


def _listed(pks: Collection[int], filters: Filters) -> list[tuple[int, str]]:
    """Those of the pages that may be shown, with their paths."""
    found: list[tuple[int, str]] = []
    for some in chunks(pks):
        found += filters.pages().filter(pk__in=some).values_list("pk", "path")
    return found
