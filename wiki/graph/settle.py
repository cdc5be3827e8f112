"""Working off the pages whose edges wait: a few at a time, or the whole graph at once when many do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Final

from django.db import transaction

from wiki.graph.edges import Pair, StoredEdge, linked_pairs, load_facts, recompute_edges, write_changes
from wiki.graph.weights import neighbour_term, weight
from wiki.models import Edge, Page, VaultState
from wiki.rows import chunks, index_lock

#: More waiting pages than this, and than a twentieth of all, and the whole graph is the cheaper way.
FEW: Final = 200
#: Pages and edges of one transaction: ≤ 100 ms on SQLite.
PAGES_AT_ONCE: Final = 20
EDGES_AT_ONCE: Final = 2_500
ATTEMPTS: Final = 3

Progress = Callable[[str, int, int], None]


def settle_edges(progress: Progress | None = None) -> int:
    """Compute the edges of all pages marked ``graph_dirty`` and clear the marks; returns how many pages those were.

    Runs its own transactions. What it leaves after a crash is found by the next call.
    """
    waiting = list(Page.objects.filter(graph_dirty=True).order_by("pk").values_list("pk", flat=True))
    if len(waiting) > FEW and len(waiting) * 20 > Page.objects.live().count():
        for _ in range(ATTEMPTS):
            if _settle_whole(waiting, progress):
                return len(waiting)
    done = 0
    for chunk in chunks(waiting, PAGES_AT_ONCE):
        with transaction.atomic():
            recompute_edges(chunk, pivots=chunk)
            Page.objects.filter(pk__in=chunk).update(graph_dirty=False)
        done += len(chunk)
        if progress:
            progress("edges", done, len(waiting))
    return done


def _settle_whole(waiting: list[int], progress: Progress | None) -> bool:
    """All edges from all links, in memory; False if a write came between and the result is stale."""
    version = _version()
    wanted = whole_graph()
    stored = {(a, b): StoredEdge(pk, links, kept) for pk, a, b, links, kept in _stored()}
    ends = sorted(wanted.keys() | stored.keys())
    for at, part in enumerate(chunks(ends, EDGES_AT_ONCE)):
        with transaction.atomic():
            index_lock()
            if _version() != version:
                return False
            write_changes(
                {pair: wanted[pair] for pair in part if pair in wanted},
                {pair: stored[pair] for pair in part if pair in stored},
            )
        if progress:
            progress("edges", min((at + 1) * EDGES_AT_ONCE, len(ends)), len(ends))
    for chunk in chunks(waiting):
        with transaction.atomic():
            index_lock()
            if _version() != version:
                return False
            Page.objects.filter(pk__in=chunk).update(graph_dirty=False)
    return True


def whole_graph() -> dict[Pair, tuple[int, float]]:
    """(links, weight) of every pair of linked pages, from the links alone."""
    links = linked_pairs()
    neighbours: dict[int, set[int]] = defaultdict(set)
    for a, b in links:
        neighbours[a].add(b)
        neighbours[b].add(a)
    known = load_facts(neighbours)
    term = {page: neighbour_term(len(others)) if len(others) > 1 else 0.0 for page, others in neighbours.items()}
    found: dict[Pair, tuple[int, float]] = {}
    for (a, b), count in links.items():
        terms = [term[page] for page in neighbours[a] & neighbours[b]]
        found[a, b] = count, weight(links=count, one=known[a], other=known[b], terms=terms)
    return found


def _stored() -> Iterator[tuple[int, int, int, int, float]]:
    yield from Edge.objects.values_list("pk", "a_id", "b_id", "links", "weight").iterator(chunk_size=5_000)


def _version() -> int:
    return VaultState.objects.values_list("data_version", flat=True).first() or 0


def run_job(payload: dict[str, Any]) -> dict[str, Any]:
    """The handler of ``edges`` jobs: what a write left to be weighed around pages with many neighbours."""
    del payload
    return {"pages": settle_edges()}
