"""Edges kept up to date: a change of some pages touches their edges and those of their neighbours, no others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from wiki.graph.weights import Facts, facts, neighbour_term, weight
from wiki.models import Edge
from wiki.rows import all_rows, chunks, from_json, index_lock, insert, select, update

Pair = tuple[int, int]

_INCIDENT: Final = (
    "SELECT id, a_id, b_id, links, weight FROM {edge} WHERE a_id IN {items} "
    "UNION ALL SELECT id, a_id, b_id, links, weight FROM {edge} WHERE b_id IN {items}"
)
_FROM: Final = "SELECT id, a_id, b_id, links, weight FROM {edge} WHERE a_id IN {items}"
_DEGREES: Final = (
    "SELECT a_id, COUNT(*) FROM {edge} WHERE a_id IN {items} GROUP BY a_id "
    "UNION ALL SELECT b_id, COUNT(*) FROM {edge} WHERE b_id IN {items} GROUP BY b_id"
)
# Both ends live and not reserved, and not a link to the page itself.
_LINKS: Final = (
    "SELECT link.source_id, link.target_id, COUNT(*) FROM {link} link "
    "JOIN {page} source ON source.id = link.source_id AND source.deleted_at IS NULL AND NOT source.reserved "
    "JOIN {page} target ON target.id = link.target_id AND target.deleted_at IS NULL AND NOT target.reserved "
    "WHERE link.target_id <> link.source_id"
)
_GROUP: Final = " GROUP BY link.source_id, link.target_id"
_LINKS_AT: Final = (
    f"{_LINKS} AND link.source_id IN {{items}}{_GROUP} UNION ALL {_LINKS} AND link.target_id IN {{items}}{_GROUP}"
)

#: So many page numbers are written into one statement.
FEW: Final = 2_000


@dataclass(slots=True)
class StoredEdge:
    """An edge as its row has it."""

    pk: int
    links: int
    weight: float


def pair(one: int, other: int) -> Pair:
    """The two pages in the order in which an edge names them."""
    return (one, other) if one < other else (other, one)


@dataclass(slots=True)
class Neighbours:
    """Neighbours of pages, loaded when asked for; ``edges`` are rows that may have to be written."""

    of: dict[int, set[int]] = field(default_factory=dict)
    edges: dict[Pair, StoredEdge] = field(default_factory=dict)
    _degrees: dict[int, int] = field(default_factory=dict)

    def load(self, pages: Iterable[int], *, edges: bool = False) -> None:
        """Have the neighbours of these pages, and with ``edges`` the rows that say so."""
        missing = {page for page in pages if page not in self.of}
        of = self.of
        of.update((page, set()) for page in missing)
        for pk, a, b, links, stored in select(_INCIDENT, missing):
            if a in missing:
                of[a].add(b)
            if b in missing:
                of[b].add(a)
            if edges:
                self.edges[a, b] = StoredEdge(pk, links, stored)

    def change(self, added: Iterable[Pair], removed: Iterable[Pair]) -> None:
        """Take over changes that the rows don't have yet, as far as their ends are loaded."""
        for a, b in removed:
            self._discard(a, b)
            self._discard(b, a)
        for a, b in added:
            self.of.setdefault(a, set()).add(b)
            self.of.setdefault(b, set()).add(a)

    def _discard(self, page: int, neighbour: int) -> None:
        if page in self.of:
            self.of[page].discard(neighbour)

    def load_degrees(self, pages: Iterable[int]) -> None:
        """Have the degrees of these pages, without their neighbours."""
        missing = [page for page in pages if page not in self.of and page not in self._degrees]
        self._degrees.update(dict.fromkeys(missing, 0))
        for page, count in select(_DEGREES, missing):
            self._degrees[page] += count

    def degree(self, page: int) -> int:
        """The number of distinct neighbours."""
        loaded = self.of.get(page)
        return self._degrees[page] if loaded is None else len(loaded)


def recompute_edges(
    page_ids: Collection[int],
    *,
    facts_of: Collection[int] | None = None,
    pivots: Collection[int] = (),
    at_once: int | None = None,
) -> set[int]:
    """Bring the edges up to date after these pages changed. Call it inside the transaction of that change.

    A page changed when its links lead elsewhere, or its type, its sources, or whether it is in the graph
    (neither deleted nor reserved). The targets of its links need not be named. ``facts_of`` are those of the pages
    whose type or sources may have changed; without it, all. ``pivots`` are pages that have gained or lost a
    neighbour before, without the edges around them having been weighed since.

    With ``at_once``, edges around pages that have more neighbours than that together are left as they are, and
    those pages are returned, to be the ``pivots`` of a later call; else the empty set is.
    """
    changed = set(page_ids)
    if not changed:
        return set()
    index_lock()
    wanted = linked_pairs(changed)
    graph = Neighbours()
    graph.load(changed, edges=True)
    stored = dict(graph.edges)
    added, removed = wanted.keys() - stored.keys(), stored.keys() - wanted.keys()
    turned = {page for ends in [*added, *removed] for page in ends} | set(pivots)
    graph.load(turned)
    waiting = turned if at_once is not None and sum(len(graph.of[page]) for page in turned) > at_once else set()
    near = _around(graph, turned - waiting, added, removed)
    links = {ends: graph.edges[ends].links for ends in near}
    facts_changed = changed if facts_of is None else set(facts_of)
    for ends, count in wanted.items():
        old = stored.get(ends)
        if old is None or old.links != count or ends in links or not facts_changed.isdisjoint(ends):
            links[ends] = count
    graph.load({page for ends in links for page in ends})
    graph.change(added, removed)
    kept = {ends: graph.edges[ends] for ends in [*links, *removed] if ends in graph.edges}
    write_changes(dict(weigh(graph, links)), kept)
    return waiting


def _around(graph: Neighbours, pivots: set[int], added: Collection[Pair], removed: Collection[Pair]) -> set[Pair]:
    """Edges whose Adamic-Adar changes with the topology: both ends are neighbours, before or after, of one page
    that gains or loses a neighbour."""
    if not pivots:
        return set()
    around = {pivot: set(graph.of[pivot]) for pivot in pivots}
    for a, b in added:
        if a in around:
            around[a].add(b)
        if b in around:
            around[b].add(a)
    pivots_of: dict[int, set[int]] = defaultdict(set)
    for pivot, neighbours in around.items():
        for neighbour in neighbours:
            pivots_of[neighbour].add(pivot)
    found: set[Pair] = set()
    for pk, a, b, links, stored in _within(pivots_of):
        if b in pivots_of and not pivots_of[a].isdisjoint(pivots_of[b]) and (a, b) not in removed:
            graph.edges[a, b] = StoredEdge(pk, links, stored)
            found.add((a, b))
    return found


def _within(pages: Collection[int]) -> Iterator[tuple[Any, ...]]:
    """The edges that begin at one of the pages; of few pages, only those that also end at one."""
    if len(pages) > FEW:
        return select(_FROM, pages)
    # The plus keeps SQLite from looking up each pair: it walks the rows of one end and checks the other.
    return select(f"{_FROM} AND +b_id IN ({', '.join(map(str, pages))})" if pages else _FROM, pages)


def linked_pairs(pages: Collection[int] | None = None) -> dict[Pair, int]:
    """Pairs with resolved links between them, and how many; with ``pages``, pairs that have one of them in it.

    A link counts for the page it led to last while it waits to be resolved again.
    """
    counted: dict[Pair, int] = defaultdict(int)
    if pages is None:
        for source, target, count in all_rows(_LINKS + _GROUP):
            counted[pair(source, target)] += count
        return counted
    # A link between two of the pages is found from both its ends, and by two chunks.
    directed = {(source, target): count for source, target, count in select(_LINKS_AT, set(pages))}
    for (source, target), count in directed.items():
        counted[pair(source, target)] += count
    return counted


def load_facts(pages: Iterable[int]) -> dict[int, Facts]:
    """Type and sources of these pages."""
    rows = select("SELECT id, type, sources FROM {page} WHERE id IN {items}", pages)
    return {pk: facts(page_type, from_json(sources)) for pk, page_type, sources in rows}


def weigh(graph: Neighbours, links: dict[Pair, int]) -> Iterator[tuple[Pair, tuple[int, float]]]:
    """(pair, (links, weight)) of each pair given with its links; the neighbours of both ends are loaded."""
    common = {(a, b): graph.of[a] & graph.of[b] for a, b in links}
    graph.load_degrees(page for pages in common.values() for page in pages)
    known = load_facts({page for ends in links for page in ends})
    for (a, b), count in links.items():
        terms = [neighbour_term(graph.degree(page)) for page in common[a, b]]
        yield (a, b), (count, weight(links=count, one=known[a], other=known[b], terms=terms))


def write_changes(wanted: dict[Pair, tuple[int, float]], stored: dict[Pair, StoredEdge]) -> int:
    """Make the rows of ``stored`` equal to ``wanted``; returns how many that changed."""
    gone = [edge.pk for ends, edge in stored.items() if ends not in wanted]
    for chunk in chunks(gone):
        Edge.objects.filter(pk__in=chunk).delete()
    new = [(*ends, *values) for ends, values in wanted.items() if ends not in stored]
    insert(Edge, ["a", "b", "links", "weight"], new)
    changed = [
        (*values, stored[ends].pk)
        for ends, values in wanted.items()
        if ends in stored and values != (stored[ends].links, stored[ends].weight)
    ]
    update(Edge, ["links", "weight"], changed)
    return len(gone) + len(new) + len(changed)
