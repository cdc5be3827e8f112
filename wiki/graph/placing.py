"""Places for the nodes of a graph on a plane: pure, deterministic, and linear in nodes and edges.

Edges pull as springs. All nodes push each other away as charges do; that force is taken from a grid, as in
particle-mesh methods: the charges of a cell act from its middle, and one convolution by FFT gives the field of them
all. Source: Fruchterman and Reingold, "Graph drawing by force-directed placement", 1991, for the forces and the
cooling; Hockney and Eastwood, "Computer simulation using particles", 1988, for the mesh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
else:
    Array = Any

_STEPS: Final = 120
_CELLS: Final = 128  # a side of the grid
_GOLDEN: Final = 2.399963229728653  # the angle by which seeds of a sunflower follow each other
_GRAVITY: Final = 0.02  # keeps parts that nothing joins on one map
_RING: Final = 1.12  # where nodes without edges begin, beside the outermost of the others


def place(
    nodes: int,
    edges: Sequence[tuple[int, int, float]],
    of: Mapping[int, int],
    *,
    steps: int = _STEPS,
) -> list[tuple[float, float]]:
    """Places in -1..1 for nodes 0 … ``nodes`` - 1, of which ``edges`` are (a, b, weight) and ``of`` the communities.

    Communities begin as discs beside each other, so that few steps settle them. Nodes without edges stand around.
    """
    import numpy as np

    if not nodes:
        return []
    tied = np.zeros(nodes, dtype=bool)
    if edges:
        ends = np.array([(a, b) for a, b, _ in edges], dtype=np.int64)
        tied[ends.ravel()] = True
    inner = np.flatnonzero(tied)
    places = np.zeros((nodes, 2))
    if len(inner):
        number = np.full(nodes, -1)
        number[inner] = np.arange(len(inner))
        community = np.array([of.get(int(node), 0) for node in inner])
        weights = np.array([weight for _, _, weight in edges])
        places[inner] = _settled(_discs(community), number[ends], weights, steps)
    outer = np.flatnonzero(~tied)
    if len(outer):
        places[outer] = _around(len(outer), len(inner))
    reach = float(np.abs(places).max()) or 1.0
    return [(float(x), float(y)) for x, y in np.round(places / reach, 5)]


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


def _settled(places: Array, ends: Any, weights: Array, steps: int) -> Array:
    import numpy as np

    count = len(places)
    degree = np.bincount(ends.ravel(), minlength=count).astype(float)
    # A spring between hubs is weak, or each hub would draw all that it knows into one point.
    pull = weights / weights.mean() / np.sqrt(np.minimum(degree[ends[:, 0]], degree[ends[:, 1]]))
    kernel = _kernel()
    for step in range(steps):
        force = _push(places, kernel)
        along = (places[ends[:, 1]] - places[ends[:, 0]]) * pull[:, None]
        for axis in (0, 1):
            force[:, axis] += np.bincount(ends[:, 0], along[:, axis], count)
            force[:, axis] -= np.bincount(ends[:, 1], along[:, axis], count)
        force -= _GRAVITY * places
        length = np.maximum(np.hypot(force[:, 0], force[:, 1]), 1e-9)
        heat = np.sqrt(count) * 0.08 * (1 - step / steps) ** 2 + 0.01
        places = places + force * (np.minimum(length, heat) / length)[:, None]
    return places


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


def _around(count: int, inside: int) -> Array:
    """Places in rings around a disc of ``inside`` nodes."""
    import numpy as np

    at = np.arange(count)
    radius = np.sqrt((inside * 1.6 * _RING + at) / np.pi) * _RING
    return np.stack([radius * np.cos(at * _GOLDEN), radius * np.sin(at * _GOLDEN)], axis=1)
