"""Edges kept up to date: a change of some pages touches their edges and those of their neighbours, no others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from django.db.models import Count, F, Q

from wiki.graph.weights import Facts, facts, weight
from wiki.models import Edge, Link, Page
from wiki.rows import chunks, index_lock, insert, update

Pair = tuple[int, int]
_ROW = ("pk", "a_id", "b_id", "links", "weight")


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
    """Neighbours of pages, loaded when asked for; ``edges`` are the rows seen on the way."""

    of: dict[int, set[int]] = field(default_factory=dict)
    edges: dict[Pair, StoredEdge] = field(default_factory=dict)
    _degrees: dict[int, int] = field(default_factory=dict)

    def load(self, pages: Iterable[int]) -> None:
        """Have the neighbours of these pages."""
        missing = {page for page in pages if page not in self.of}
        self.of.update((page, set()) for page in missing)
        for pk, a, b, links, stored in _incident(missing):
            self.edges[a, b] = StoredEdge(pk, links, stored)
            if a in missing:
                self.of[a].add(b)
            if b in missing:
                self.of[b].add(a)

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
        for chunk in chunks(missing):
            for end in ("a_id", "b_id"):
                counted = Edge.objects.filter(**{f"{end}__in": chunk}).values_list(end).annotate(Count("pk"))
                for page, count in counted.order_by():
                    self._degrees[page] += count

    def degree(self, page: int) -> int:
        """The number of distinct neighbours."""
        loaded = self.of.get(page)
        return self._degrees[page] if loaded is None else len(loaded)


def recompute_edges(page_ids: Collection[int]) -> int:
    """Bring the edges up to date after these pages changed; returns how many rows that wrote.

    A page changed when its links lead elsewhere, or its type, its sources, or whether it is in the graph
    (neither deleted nor reserved). The targets of its links need not be named. Call it inside the transaction
    of that change.
    """
    changed = set(page_ids)
    if not changed:
        return 0
    index_lock()
    wanted = linked_pairs(changed)
    graph = Neighbours()
    graph.load(changed)
    stored = {ends: edge for ends, edge in graph.edges.items() if ends[0] in changed or ends[1] in changed}
    added, removed = wanted.keys() - stored.keys(), stored.keys() - wanted.keys()
    touched = _around(graph, added, removed)
    graph.load({page for ends in [*wanted, *touched] for page in ends})
    graph.change(added, removed)
    links = {**{ends: graph.edges[ends].links for ends in touched}, **wanted}
    return write_changes(dict(weigh(graph, links)), {**{e: graph.edges[e] for e in touched}, **stored})


def _around(graph: Neighbours, added: Collection[Pair], removed: Collection[Pair]) -> set[Pair]:
    """Edges whose Adamic-Adar changes with the topology: both ends are neighbours, before or after, of one page
    that gains or loses a neighbour."""
    pivots = {page for ends in [*added, *removed] for page in ends}
    if not pivots:
        return set()
    graph.load(pivots)
    around = {pivot: set(graph.of[pivot]) for pivot in pivots}
    for a, b in added:
        around[a].add(b)
        around[b].add(a)
    pivots_of: dict[int, set[int]] = defaultdict(set)
    for pivot, neighbours in around.items():
        for neighbour in neighbours:
            pivots_of[neighbour].add(pivot)
    found: set[Pair] = set()
    for chunk in chunks(pivots_of):
        for pk, a, b, links, stored in Edge.objects.filter(a__in=chunk).values_list(*_ROW):
            if b in pivots_of and not pivots_of[a].isdisjoint(pivots_of[b]) and (a, b) not in removed:
                graph.edges[a, b] = StoredEdge(pk, links, stored)
                found.add((a, b))
    return found


def _incident(pages: Collection[int]) -> Iterator[tuple[int, int, int, int, float]]:
    for chunk in chunks(pages):
        for end in ("a__in", "b__in"):
            yield from Edge.objects.filter(**{end: chunk}).values_list(*_ROW)


def linked_pairs(pages: Collection[int] | None = None) -> dict[Pair, int]:
    """Pairs with resolved links between them, and how many; with ``pages``, pairs that have one of them in it.

    A link counts for the page it led to last while it waits to be resolved again.
    """
    counted: dict[Pair, int] = defaultdict(int)
    if pages is None:
        for source, target, count in _links(Q()):
            counted[pair(source, target)] += count
        return counted
    named = set(pages)
    for chunk in chunks(named):
        for source, target, count in _links(Q(source__in=chunk)):
            counted[pair(source, target)] += count
        for source, target, count in _links(Q(target__in=chunk)):
            if source not in named:  # those were counted from their other end
                counted[pair(source, target)] += count
    return counted


def _links(condition: Q) -> Iterator[tuple[int, int, int]]:
    """(source, target, number) of resolved links that meet the condition, both ends in the graph."""
    links = Link.objects.filter(
        condition,
        source__deleted_at__isnull=True,
        source__reserved=False,
        target__deleted_at__isnull=True,
        target__reserved=False,
    ).exclude(target=F("source"))
    yield from links.order_by().values_list("source_id", "target_id").annotate(Count("pk"))


def load_facts(pages: Iterable[int]) -> dict[int, Facts]:
    """Type and sources of these pages."""
    found: dict[int, Facts] = {}
    for chunk in chunks(pages):
        for pk, page_type, sources in Page.objects.filter(pk__in=chunk).order_by().values_list("pk", "type", "sources"):
            found[pk] = facts(page_type, sources)
    return found


def weigh(graph: Neighbours, links: dict[Pair, int]) -> Iterator[tuple[Pair, tuple[int, float]]]:
    """(pair, (links, weight)) of each pair given with its links; the neighbours of both ends are loaded."""
    common = {(a, b): graph.of[a] & graph.of[b] for a, b in links}
    graph.load_degrees(page for pages in common.values() for page in pages)
    known = load_facts({page for ends in links for page in ends})
    for (a, b), count in links.items():
        degrees = [graph.degree(page) for page in common[a, b]]
        yield (a, b), (count, weight(links=count, one=known[a], other=known[b], common_degrees=degrees))


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
