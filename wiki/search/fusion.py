"""Several ranked lists as one: reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Final, TypeVar

Item = TypeVar("Item", bound=Hashable)

#: How little the first ranks stand out. Most have measured with 60; here 15 is better (docs/benchmarks-search.md).
K: Final = 15


def reciprocal_rank(lists: Sequence[Sequence[Item]], *, unjudged: Collection[Item] = ()) -> dict[Item, float]:
    """Every item of the lists with its score in 0..1: the sum of 1 / (15 + rank) over the lists, by the best sum.

    1 is the first of every list; what stands in one list of two has at most a half. An empty list is one in which
    nothing is first. A list that names an item twice counts its first place. ``unjudged``: items that not every list
    could have had, which are scored by the lists that they are in.

    >>> reciprocal_rank([["a", "b"], ["a"]])["a"]
    1.0
    """
    scores: dict[Item, float] = {}
    counts: dict[Item, int] = {}
    for ranked in lists:
        for rank, item in enumerate(dict.fromkeys(ranked), 1):
            scores[item] = scores.get(item, 0.0) + (K + 1) / (K + rank)
            counts[item] = counts.get(item, 0) + 1
    return {
        item: min(1.0, score / (counts[item] if item in unjudged else len(lists))) for item, score in scores.items()
    }
