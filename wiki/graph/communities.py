"""Which pages belong together: communities of the graph by the Leiden method.

Source: Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected communities", 2019.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

# Any number does, as long as it stays: the same graph has the same communities.
_SEED: Final = 20190326
_RESOLUTION: Final = 1.0
_RANDOMNESS: Final = 0.001


class Communities(NamedTuple):
    """``of``: a node's community, numbered by size from 0; nodes without edges have none. ``modularity``: -0.5 to 1."""

    of: dict[int, int]
    modularity: float


def communities(edges: Sequence[tuple[int, int, float]]) -> Communities:
    """Divide the nodes of weighted edges (a, b, weight); the same edges in any order give the same answer."""
    if not edges:
        return Communities({}, 0.0)
    from graspologic_native import leiden

    named = [(str(a), str(b), weight) for a, b, weight in sorted(edges)]
    quality, found = leiden(
        edges=named,
        starting_communities=None,
        resolution=_RESOLUTION,
        randomness=_RANDOMNESS,
        iterations=1,
        use_modularity=True,
        seed=_SEED,
        trials=1,
    )
    sizes = Counter(found.values())
    first: dict[int, int] = {}
    for node, community in sorted((int(node), community) for node, community in found.items()):
        first.setdefault(community, node)
    order = sorted(sizes, key=lambda community: (-sizes[community], first[community]))
    number = {community: at for at, community in enumerate(order)}
    return Communities({int(node): number[community] for node, community in found.items()}, float(quality))


def joined(of: Mapping[int, int], edges: Sequence[tuple[int, int, float]]) -> dict[int, int]:
    """The communities ``of`` standing nodes, and those of all others that have edges: where they are tied most.

    Who is tied to nobody that has a community begins one, with the next number. The same input gives the same answer.
    """
    beside: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for a, b, weight in sorted(edges):
        for one, other in ((a, b), (b, a)):
            if one not in of:
                beside[one].append((other, weight))
    found = dict(of)
    waiting = sorted(beside)
    while waiting:
        later = []
        for node in waiting:
            pulls: dict[int, float] = defaultdict(float)
            for other, weight in beside[node]:
                if other in found:
                    pulls[found[other]] += weight
            if pulls:
                found[node] = max(pulls, key=lambda community: (pulls[community], -community))
            else:
                later.append(node)
        if len(later) == len(waiting):
            found[later.pop(0)] = max(found.values(), default=-1) + 1
        waiting = later
    return found


def modularity(of: Mapping[int, int], edges: Sequence[tuple[int, int, float]]) -> float:
    """How well ``of`` divides the graph, -0.5 to 1. Source: Newman and Girvan, 2004."""
    inside: dict[int, float] = defaultdict(float)
    ends: dict[int, float] = defaultdict(float)
    for a, b, weight in edges:
        ends[of[a]] += weight
        ends[of[b]] += weight
        if of[a] == of[b]:
            inside[of[a]] += weight
    total = sum(weight for _, _, weight in edges)
    if not total:
        return 0.0
    return sum(inside[one] / total - (ends[one] / (2 * total)) ** 2 for one in sorted(ends))
