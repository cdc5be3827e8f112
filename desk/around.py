"""A page's neighbourhood as a picture: places in a small drawing, made on the server."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from desk.rendering.leads import page_address
from wiki.graph import neighborhood
from wiki.models import Page

#: Neighbours in the picture, and in the list beside it.
IN_PICTURE: Final = 12
IN_LIST: Final = 30
_WIDTH: Final = 340
_ROW: Final = 30
_LABEL: Final = 15


@dataclass(frozen=True, slots=True)
class Node:
    """A neighbour: where it is drawn, and where its label begins or ends."""

    title: str
    label: str
    type: str
    address: str
    x: float
    y: float
    label_x: float
    anchor: str
    radius: float


@dataclass(frozen=True, slots=True)
class Line:
    """A tie. ``own``: one of the page itself."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    own: bool


@dataclass(frozen=True, slots=True)
class Around:
    """The picture and the list; ``more`` are neighbours that the list leaves out, or there may be."""

    width: int
    height: int
    x: float
    y: float
    nodes: list[Node]
    lines: list[Line]
    listed: list[Node]
    more: bool


def around(page: Page) -> Around | None:
    """What lies around a page, the strongest ties first; None where nothing does. Rows are read, nothing computed."""
    found = neighborhood(page, depth=1, limit=IN_LIST + 1)
    others = [node for node in found["nodes"] if node["id"] != found["center"]]
    if not others:
        return None
    paths = dict(Page.objects.filter(uid__in=[node["id"] for node in others]).values_list("uid", "path"))
    known = {str(uid): path for uid, path in paths.items()}
    weights = {}
    for edge in found["edges"]:
        if found["center"] in (edge["source"], edge["target"]):
            other = edge["target"] if edge["source"] == found["center"] else edge["source"]
            weights[other] = edge["weight"]
    drawn = others[:IN_PICTURE]
    height = max(3, (len(drawn) + 1) // 2) * _ROW + 30
    nodes = _placed(drawn, known, weights, height)
    at = {node["id"]: place for node, place in zip(drawn, nodes, strict=True)}
    centre = (_WIDTH / 2, height / 2)
    lines = _lines(found["edges"], found["center"], at, centre, max(weights.values(), default=1.0))
    listed = [_node(node, known) for node in others]
    return Around(_WIDTH, height, *centre, nodes, lines, listed, found["truncated"])


def _placed(
    others: Sequence[dict[str, Any]], paths: dict[str, str], weights: dict[str, float], height: int
) -> list[Node]:
    """Neighbours on two arcs, left and right in turn, so that each label has a line of its own."""
    heaviest = max(weights.values(), default=1.0) or 1.0
    sides = (len(others) + 1) // 2, len(others) // 2
    nodes = []
    for at, other in enumerate(others):
        side, row = at % 2, at // 2
        share = (row + 0.5) / sides[side] - 0.5
        reach = 26 * math.cos(share * math.pi * 0.85)
        x = _WIDTH / 2 + (24 + reach) * (1 if side else -1)
        y = height / 2 + share * (height - 16)
        radius = 3.5 + 2.5 * weights.get(other["id"], 0.0) / heaviest
        nodes.append(_node(other, paths, (x, y), anchor="start" if side else "end", radius=radius))
    return nodes


def _node(
    node: dict[str, Any],
    paths: dict[str, str],
    place: tuple[float, float] = (0, 0),
    *,
    anchor: str = "start",
    radius: float = 0,
) -> Node:
    x, y = place
    title = node["title"]
    label = title if len(title) <= _LABEL else title[: _LABEL - 1].rstrip() + "…"
    path = paths.get(node["id"], "")
    beside = x + (radius + 4) * (1 if anchor == "start" else -1)
    address = page_address(path) if path else ""
    return Node(
        title, label, node["type"] or "", address, round(x, 1), round(y, 1), round(beside, 1), anchor, round(radius, 1)
    )


def _lines(
    edges: Sequence[dict[str, Any]], centre: str, at: dict[str, Node], place: tuple[float, float], heaviest: float
) -> list[Line]:
    lines = []
    for edge in edges:
        own = centre in (edge["source"], edge["target"])
        ends = [place if end == centre else (at[end].x, at[end].y) if end in at else None for end in _ends(edge)]
        if ends[0] is None or ends[1] is None:
            continue
        width = round(0.8 + 1.8 * min(1.0, edge["weight"] / (heaviest or 1.0)), 1) if own else 0.7
        lines.append(Line(*ends[0], *ends[1], width, own))
    return sorted(lines, key=lambda line: line.own)


def _ends(edge: dict[str, Any]) -> tuple[str, str]:
    return edge["source"], edge["target"]
