"""What lies around a page: rows read, nothing computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from wiki.models import Edge, Page
from wiki.rows import chunks

MAX_NODES: Final = 200
MAX_EDGES: Final = 1_000
MAX_DEPTH: Final = 2


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
        reached = _reached(depths)
        room = limit - len(depths)
        truncated = truncated or len(reached) > room
        depths.update(dict.fromkeys(reached[: max(0, room)], level))
    pages = _pages(depths)
    edges = list(
        Edge.objects.filter(a__in=pages, b__in=pages)
        .order_by("-weight", "pk")
        .values_list("a_id", "b_id", "weight", "links")[: MAX_EDGES + 1]
    )
    return {
        "center": str(page.uid),
        "nodes": [
            {"id": str(pages[pk][0]), "title": pages[pk][1], "type": pages[pk][2], "depth": level}
            for pk, level in depths.items()
            if pk in pages
        ],
        "edges": [
            {"source": str(pages[a][0]), "target": str(pages[b][0]), "weight": round(weight, 4), "links": links}
            for a, b, weight, links in edges[:MAX_EDGES]
        ],
        "truncated": truncated or len(edges) > MAX_EDGES,
    }


def _reached(known: Collection[int]) -> list[int]:
    """Pages that an edge of a known page leads to, heaviest edge first, ties by path."""
    best: dict[int, float] = {}
    edges = Edge.objects.filter(Q(a__in=known) | Q(b__in=known)).values_list("a_id", "b_id", "weight")
    for a, b, weight in edges:
        other = b if a in known else a
        if other not in known and weight > best.get(other, -1.0):
            best[other] = weight
    paths = {
        pk: path for chunk in chunks(best) for pk, path in Page.objects.filter(pk__in=chunk).values_list("pk", "path")
    }
    return sorted(best, key=lambda pk: (-best[pk], paths[pk]))


def _pages(pks: Iterable[int]) -> dict[int, tuple[UUID, str, str | None]]:
    rows = Page.objects.live().filter(pk__in=list(pks)).order_by().values_list("pk", "uid", "title", "type")
    return {pk: (uid, title, page_type) for pk, uid, title, page_type in rows}
