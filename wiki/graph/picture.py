"""What a browser draws the map from: one answer of text and numbers, made with the map and kept beside it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from typing import Final, NamedTuple

#: Places are whole numbers of this part of 1, as exact as they are kept.
SCALE: Final = 100_000
#: Characters of a title; a longer one would not fit on the map.
_TITLE: Final = 120


class Spot(NamedTuple):
    """A page on the map."""

    title: str
    path: str
    type: str
    community: int | None
    x: float
    y: float


def picture(spots: Sequence[Spot], edges: Sequence[tuple[int, int, float]]) -> bytes:
    """The map as gzipped JSON, columns instead of rows. ``edges`` are (a, b, weight) by the places of ``spots``.

    ``ties`` has both ends of each edge, one after the other, sorted; a first end is told by how much it is more than
    the one before. The same map has the same bytes.
    """
    types = sorted({spot.type for spot in spots})
    number = {name: at for at, name in enumerate(types)}
    ties: list[int] = []
    before = 0
    for a, b, _ in sorted(edges):
        ties += (a - before, b)
        before = a
    drawn = {
        "scale": SCALE,
        "types": types,
        "titles": [spot.title[:_TITLE] for spot in spots],
        "paths": [spot.path for spot in spots],
        "type": [number[spot.type] for spot in spots],
        "community": [-1 if spot.community is None else spot.community for spot in spots],
        "x": [round(spot.x * SCALE) for spot in spots],
        "y": [round(spot.y * SCALE) for spot in spots],
        "ties": ties,
    }
    text = json.dumps(drawn, ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=6, mtime=0)
