"""Which pages belong together: communities of the graph by the Leiden method.

Source: Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected communities", 2019.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
