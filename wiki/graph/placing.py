"""Places for the nodes of a graph on a plane: pure, deterministic, and linear in nodes and edges.

Edges pull as springs. All nodes push each other away as charges do; that force is taken from a grid, as in
particle-mesh methods: the charges of a cell act from its middle, and one convolution by FFT gives the field of them
all. Source: Fruchterman and Reingold, "Graph drawing by force-directed placement", 1991, for the forces and the
cooling; Hockney and Eastwood, "Computer simulation using particles", 1988, for the mesh.

A map is known by sight: who comes later is placed among those who stand (:func:`place_among`), and one that is made
anew is turned as the one before lay (Schönemann, "A generalized solution of the orthogonal Procrustes problem", 1966).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
else:
    Array = Any

_STEPS: Final = 150
_STEPS_AMONG: Final = 40
_CELLS: Final = 128  # a side of the grid
_GOLDEN: Final = 2.399963229728653  # the angle by which seeds of a sunflower follow each other
_GRAVITY: Final = 0.15  # keeps parts that nothing joins on one map
_RING: Final = 1.12  # where nodes without edges begin, beside the outermost of the others
_ABROAD: Final = 0.15  # of a spring's pull between communities: what belongs together is seen to
_APART: Final = 0.9  # what two nodes keep between them; a spring by itself comes to rest at about 1

Place = tuple[float, float]
Edge = tuple[int, int, float]


class Places(NamedTuple):
    """``at``: a place a node, in -1..1. ``reach``: what 1 is in lengths of a spring."""

    at: list[Place]
    reach: float


def place(
    nodes: int,
    edges: Sequence[Edge],
    of: Mapping[int, int],
    *,
    like: Mapping[int, Place] | None = None,
    steps: int = _STEPS,
) -> Places:
    """Places for nodes 0 … ``nodes`` - 1, of which ``edges`` are (a, b, weight) and ``of`` the communities.

    Communities begin as discs beside each other, so that few steps settle them. Nodes without edges stand around. The
    whole is turned, and mirrored, so that it lies as far as it can as ``like``, places of nodes on a map before.
    """
    import numpy as np

    if not nodes:
        return Places([], 1.0)
    tied = _tied(nodes, edges)
    inner = np.flatnonzero(tied)
    places = np.zeros((nodes, 2))
    if len(inner):
        number = np.full(nodes, -1)
        number[inner] = np.arange(len(inner))
        community = np.array([of.get(int(node), 0) for node in inner])
        ends = np.array([(a, b) for a, b, _ in edges], dtype=np.int64)
        pull = _pull(number[ends], edges, community)
        begun = _discs(community)
        free = np.ones(len(inner), dtype=bool)
        settled = _settled(begun, number[ends], pull, free, steps, heat=np.sqrt(len(inner)) * 0.08)
        places[inner] = _apart(settled - settled.mean(axis=0), free)
    outer = np.flatnonzero(~tied)
    if len(outer):
        inside = float(np.hypot(*places[inner].T).max()) if len(inner) else 0.0
        places[outer] = _around(len(outer), inside)
    if like:
        places = _turned(places, like)
    reach = float(np.abs(places).max()) or 1.0
    return Places(_rounded(places / reach), reach)


def place_among(stand: Mapping[int, Place], nodes: int, edges: Sequence[Edge], *, reach: float) -> list[Place]:
    """Places for all nodes 0 … ``nodes`` - 1: those that ``stand`` keep theirs, the others go to their neighbours.

    ``reach`` is that of the map on which they stand.
    """
    import numpy as np

    free = np.array([node not in stand for node in range(nodes)], dtype=bool)
    places = np.zeros((nodes, 2))
    for node, at in stand.items():
        places[node] = np.array(at) * reach
    if not free.any():
        return _rounded(places / reach)
    tied = _tied(nodes, edges)
    _begin(places, free, edges)
    comers = free & tied
    if comers.any():
        ends = np.array([(a, b) for a, b, _ in edges], dtype=np.int64)
        pull = _pull(ends, edges, np.zeros(nodes, dtype=np.int64))
        near = comers[ends[:, 0]] | comers[ends[:, 1]]
        places = _settled(places, ends[near], pull[near], comers, _STEPS_AMONG, heat=1.0)
    return _rounded(_apart(places, free) / reach)


def _begin(places: Array, free: Any, edges: Sequence[Edge]) -> None:
    """Put nodes that are ``free`` in the middle of those neighbours that have a place; outside, if none has one."""
    import numpy as np

    known = ~free
    waiting = [int(node) for node in np.flatnonzero(free)]
    beside: dict[int, list[tuple[int, float]]] = {node: [] for node in waiting}
    for a, b, weight in edges:
        for one, other in ((a, b), (b, a)):
            if free[one]:
                beside[one].append((other, weight))
    rim = float(np.hypot(*places[known].T).max()) if known.any() else 0.0
    ring = iter(_around(len(waiting), rim))
    while waiting:
        later = []
        for at, node in enumerate(waiting):
            placed = [(other, weight) for other, weight in beside[node] if known[other]]
            if not placed:
                later.append(node)
                continue
            weights = np.array([weight for _, weight in placed])
            middle = (places[[other for other, _ in placed]] * weights[:, None]).sum(axis=0) / weights.sum()
            places[node] = middle + 0.3 * np.array([np.cos(at * _GOLDEN), np.sin(at * _GOLDEN)])
            known[node] = True
        if len(later) == len(waiting):
            node = later.pop(0)
            places[node] = next(ring)
            known[node] = True
        waiting = later


def _rounded(places: Array) -> list[Place]:
    import numpy as np

    return [(float(x), float(y)) for x, y in np.round(places, 5)]


def _tied(nodes: int, edges: Sequence[Edge]) -> Any:
    """Which nodes have an edge."""
    import numpy as np

    tied = np.zeros(nodes, dtype=bool)
    for a, b, _ in edges:
        tied[a] = tied[b] = True
    return tied


def _pull(ends: Any, edges: Sequence[Edge], community: Any) -> Any:
    """What each spring pulls. One between hubs is weak, or each hub would draw all that it knows into one point."""
    import numpy as np

    weights = np.array([weight for _, _, weight in edges])
    degree = np.bincount(ends.ravel()).astype(float)
    pull = weights / weights.mean() / np.sqrt(np.minimum(degree[ends[:, 0]], degree[ends[:, 1]]))
    return pull * np.where(community[ends[:, 0]] == community[ends[:, 1]], 1.0, _ABROAD)


def _turned(places: Array, like: Mapping[int, Place]) -> Array:
    """The places, turned and mirrored about the middle so that they lie as ``like`` does."""
    import numpy as np

    nodes = [node for node in like if node < len(places)]
    if len(nodes) < 2:
        return places
    before = np.array([like[node] for node in nodes])
    left, _, right = np.linalg.svd(places[nodes].T @ before)
    return np.asarray(places @ (left @ right))


def _sunflower(count: int) -> Array:
    """Places as dense in the middle as at the rim, one a unit of area."""
    import numpy as np

    at = np.arange(count)
    radius = np.sqrt((at + 0.5) / np.pi)
    return np.stack([radius * np.cos(at * _GOLDEN), radius * np.sin(at * _GOLDEN)], axis=1)


def _discs(community: Any) -> Array:
    """Each community a disc of its size; the middles of the discs on a sunflower of their areas."""
    import numpy as np

    sizes = np.bincount(community)
    before = np.cumsum(sizes) - sizes
    distance = np.sqrt((before + sizes / 2) / np.pi) * 1.2
    distance[0] = 0.0
    angle = np.arange(len(sizes)) * _GOLDEN
    middles = np.stack([distance * np.cos(angle), distance * np.sin(angle)], axis=1)
    places = np.zeros((len(community), 2))
    for number, size in enumerate(sizes):
        places[community == number] = middles[number] + _sunflower(int(size))
    return places


def _settled(places: Array, ends: Any, pull: Any, free: Any, steps: int, *, heat: float) -> Array:
    """Where springs and charges bring the nodes that are ``free``; ``heat`` is how far one goes in the first step."""
    import numpy as np

    count = len(places)
    kernel = _kernel()
    for step in range(steps):
        force = _push(places, kernel)
        along = (places[ends[:, 1]] - places[ends[:, 0]]) * pull[:, None]
        for axis in (0, 1):
            force[:, axis] += np.bincount(ends[:, 0], along[:, axis], count)
            force[:, axis] -= np.bincount(ends[:, 1], along[:, axis], count)
        force -= _GRAVITY * places
        length = np.maximum(np.hypot(force[:, 0], force[:, 1]), 1e-9)
        most = heat * (1 - step / steps) ** 2 + 0.01
        places = places + force * (free * np.minimum(length, most) / length)[:, None]
    return places


def _apart(places: Array, free: Any, steps: int = 30) -> Array:
    """The places, with those that are ``free`` moved off whom they stand on. Found by cells of the distance kept."""
    import numpy as np

    places = places.copy()
    for _ in range(steps):
        one, other = _close(places)
        between = places[one] - places[other]
        length = np.hypot(between[:, 0], between[:, 1])
        alike = length < 1e-9  # on one point: each goes its own way
        between[alike] = np.stack([np.cos(one[alike] * _GOLDEN), np.sin(one[alike] * _GOLDEN)], axis=1)
        length[alike] = 1.0
        much = np.where(alike, _APART, _APART - length)
        much = np.maximum(much, 0.0) * 0.5 / length
        if not (much > 1e-4).any():
            break
        for axis in (0, 1):
            step_of = between[:, axis] * much
            move = np.bincount(one, step_of, len(places)) - np.bincount(other, step_of, len(places))
            places[:, axis] += move * free
    return places


def _close(places: Array) -> tuple[Any, Any]:
    """Pairs of nodes that may stand closer than :data:`_APART`: those of one cell and of cells beside each other."""
    import numpy as np

    cells = np.floor((places - places.min(axis=0)) / _APART).astype(np.int64) + 1
    wide = int(cells[:, 0].max()) + 2
    key = cells[:, 1] * wide + cells[:, 0]
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    ones, others = [], []
    for beside in (0, 1, wide - 1, wide, wide + 1):
        first = np.searchsorted(ordered, ordered + beside, side="left")
        if beside == 0:
            first = np.arange(len(ordered)) + 1
        last = np.searchsorted(ordered, ordered + beside, side="right")
        many = np.maximum(last - first, 0)
        ones.append(np.repeat(np.arange(len(ordered)), many))
        start = np.repeat(first - (np.cumsum(many) - many), many)
        others.append(start + np.arange(int(many.sum())))
    return order[np.concatenate(ones)], order[np.concatenate(others)]


def _kernel() -> Any:
    """The field of one charge over the grid, for both directions, as Fourier transforms of twice the grid's side."""
    import numpy as np

    at = np.fft.fftfreq(2 * _CELLS, 1 / (2 * _CELLS))
    y, x = np.meshgrid(at, at, indexing="ij")
    square = x**2 + y**2
    square[0, 0] = 1.0
    return np.stack([np.fft.rfft2(x / square), np.fft.rfft2(y / square)])


def _push(places: Array, kernel: Any) -> Array:
    """The force of all nodes on each, away from them and falling with the distance."""
    import numpy as np

    low = places.min(axis=0)
    cell = float((places.max(axis=0) - low).max()) / (_CELLS - 1) or 1.0
    at = ((places - low) / cell).astype(np.int64)
    charge = np.zeros((2 * _CELLS, 2 * _CELLS))
    np.add.at(charge, (at[:, 1], at[:, 0]), 1.0)
    field = np.fft.irfft2(np.fft.rfft2(charge)[None] * kernel, s=charge.shape, axes=(1, 2))
    return np.stack([field[0, at[:, 1], at[:, 0]], field[1, at[:, 1], at[:, 0]]], axis=1) / cell


def _around(count: int, inside: float) -> Array:
    """Places in rings around a disc of the radius ``inside``."""
    import numpy as np

    at = np.arange(count)
    radius = np.sqrt((inside * _RING) ** 2 + (at + 0.5) * _RING / np.pi)
    return np.stack([radius * np.cos(at * _GOLDEN), radius * np.sin(at * _GOLDEN)], axis=1)
