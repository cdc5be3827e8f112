"""What an edge weighs: 3 × links (at most 2) + 4 × shared sources + 1.5 × Adamic-Adar + type affinity.

Pure. A weight depends on nothing but its arguments, down to the last bit: an edge kept up to date and an edge
made anew are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, log
from typing import Final

LINK_WEIGHT: Final = 3.0
MAX_LINKS: Final = 2
SOURCE_WEIGHT: Final = 4.0
ADAMIC_ADAR_WEIGHT: Final = 1.5
TYPE_WEIGHT: Final = 1.0

OTHER_PAIR: Final = 1.0
UNKNOWN_TYPE: Final = 0.5
AFFINITY: Final = {
    ("concept", "entity"): 1.2,
    ("concept", "synthesis"): 1.2,
    ("entity", "entity"): 0.8,
    ("concept", "concept"): 0.8,
    ("synthesis", "synthesis"): 0.8,
    ("source", "source"): 0.5,
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What of a page itself weighs: its type and its sources."""

    type: str | None
    sources: frozenset[str]


def facts(page_type: str | None, sources: Sequence[object]) -> Facts:
    """Facts of a page from its row; blank sources don't count, and the same source twice counts once."""
    return Facts(page_type, frozenset([name for source in sources if (name := str(source).strip())]))


def affinity(one: str | None, other: str | None) -> float:
    """How well two types go together, 0.5 to 1.2."""
    if not one or not other:
        return UNKNOWN_TYPE
    return AFFINITY.get((one, other) if one < other else (other, one), OTHER_PAIR)


@lru_cache(maxsize=65_536)
def neighbour_term(degree: int) -> float:
    """What a common neighbour of that degree adds to Adamic-Adar; it has at least the two pages it is common to."""
    return 1.0 / log(degree)


def weight(*, links: int, one: Facts, other: Facts, terms: Sequence[float]) -> float:
    """The weight of one edge with ``links`` resolved links, both ways together.

    ``terms`` are the :func:`neighbour_term` of the common neighbours; their order does not matter, since fsum rounds
    the exact sum.
    """
    return (
        LINK_WEIGHT * min(links, MAX_LINKS)
        + SOURCE_WEIGHT * len(one.sources & other.sources)
        + ADAMIC_ADAR_WEIGHT * (fsum(terms) if terms else 0.0)
        + TYPE_WEIGHT * affinity(one.type, other.type)
    )
