"""What lies around a page: rows read, nothing computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from heapq import nsmallest
from typing import Any, Final, NamedTuple
from uuid import UUID

from wiki.models import Page
from wiki.rows import select

MAX_NODES: Final = 200
MAX_EDGES: Final = 1_000
MAX_DEPTH: Final = 2

_INCIDENT: Final = (
    "SELECT a_id, b_id, weight FROM {edge} WHERE a_id IN {items} "
    "UNION ALL SELECT a_id, b_id, weight FROM {edge} WHERE b_id IN {items}"
)


class _Node(NamedTuple):
    uid: str
    title: str
    type: str | None


def neighborhood(page: Page, *, depth: int = 1, limit: int = MAX_NODES) -> dict[str, Any]:
    """The pages around a page, heaviest edges first, and the edges among them.

    ``depth`` is clamped to 1..2 and ``limit`` (nodes, the centre among them) to 1..200. Returns ``center`` (page
    id), ``nodes`` ({id, title, type, depth}, by depth, then by the heaviest edge that leads there), ``edges``
    ({source, target, weight, links}, heaviest first) and ``truncated`` (there is more within that depth).
    """
    limit = max(1, min(limit, MAX_NODES))
    depths = {page.pk: 0}
    truncated = False
    for level in range(1, max(1, min(depth, MAX_DEPTH)) + 1):
        room = limit - len(depths)
        if truncated and not room:
            break  # that there is more is known
        reached, more = _reached(depths, room)
        truncated = truncated or more
        depths.update(dict.fromkeys(reached, level))
    nodes = _nodes(depths)
    edges = _among(nodes)
    return {
        "center": str(page.uid),
        "nodes": [
            {"id": nodes[pk].uid, "title": nodes[pk].title, "type": nodes[pk].type, "depth": level}
            for pk, level in depths.items()
            if pk in nodes
        ],
        "edges": [
            {"source": nodes[a].uid, "target": nodes[b].uid, "weight": round(weight, 4), "links": links}
            for weight, a, b, links in edges[:MAX_EDGES]
        ],
        "truncated": truncated or len(edges) > MAX_EDGES,
    }


def _reached(known: Collection[int], room: int) -> tuple[list[int], bool]:
    """At most ``room`` pages that an edge of a known page leads to, heaviest edge first, ties by path; and whether
    there are more."""
    best: dict[int, float] = {}
    for a, b, weight in select(_INCIDENT, known):
        other = b if a in known else a
        if other not in known and weight > best.get(other, -1.0):
            best[other] = weight
    if room < len(best):
        # Only pages as heavy as the last that still has room can need their paths to decide.
        lightest = sorted(best.values(), reverse=True)[max(room - 1, 0)]
        candidates = [pk for pk, weight in best.items() if weight >= lightest]
    else:
        candidates = list(best)
    paths = dict(select("SELECT id, path FROM {page} WHERE id IN {items}", candidates))
    chosen = nsmallest(max(room, 0), paths, key=lambda pk: (-best[pk], paths[pk]))
    return chosen, len(best) > room


def _nodes(pks: Iterable[int]) -> dict[int, _Node]:
    rows = select("SELECT id, uid, title, type FROM {page} WHERE deleted_at IS NULL AND id IN {items}", pks)
    return {pk: _Node(str(uid if isinstance(uid, UUID) else UUID(uid)), title, kind) for pk, uid, title, kind in rows}


def _among(nodes: dict[int, _Node]) -> list[tuple[float, int, int, int]]:
    """(weight, a, b, links) of the edges between two of the pages, heaviest first, ties by the pages' ids; as many
    as may be shown and one more."""
    # Asking for both ends in SQL makes SQLite look at each pair; one end is an index look-up for each page.
    rows = select("SELECT a_id, b_id, weight, links FROM {edge} WHERE a_id IN {items}", nodes)
    found = [(weight, a, b, links) for a, b, weight, links in rows if b in nodes]
    return nsmallest(MAX_EDGES + 1, found, key=lambda edge: (-edge[0], nodes[edge[1]].uid, nodes[edge[2]].uid))


def near_pages(pk: int, *, depth: int, limit: int = MAX_NODES) -> list[int]:
    """The page itself and the pages within ``depth`` edges of it, heaviest edges first, at most ``limit``."""
    known = [pk]
    for _ in range(depth):
        known += _reached(dict.fromkeys(known), limit - len(known))[0]
    return known
