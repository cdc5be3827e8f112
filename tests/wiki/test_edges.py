"""Edges weigh what the formula says, and stay right through every change."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest

from wiki.graph import recompute_edges, settle_edges
from wiki.graph.edges import linked_pairs
from wiki.graph.settle import whole_graph
from wiki.graph.weights import affinity, facts, neighbour_term, weight
from wiki.models import Edge, Link, Page

# --- the formula ---


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("entity", "concept", 1.2),
        ("concept", "entity", 1.2),
        ("concept", "synthesis", 1.2),
        ("entity", "entity", 0.8),
        ("concept", "concept", 0.8),
        ("synthesis", "synthesis", 0.8),
        ("source", "source", 0.5),
        ("comparison", "comparison", 1.0),
        ("entity", "source", 1.0),
        ("entity", "synthesis", 1.0),
        ("entity", None, 0.5),
        (None, None, 0.5),
    ],
)
def test_affinity_of_types(one: str | None, other: str | None, expected: float) -> None:
    assert affinity(one, other) == affinity(other, one) == expected


def test_weight_adds_links_sources_common_neighbours_and_types() -> None:
    one = facts("entity", ["a", "b", " b ", ""])
    other = facts("concept", ["b", "c", ""])
    expected = 3 * 2 + 4 * 1 + 1.5 * (1 / math.log(2) + 1 / math.log(5)) + 1.2
    terms = [neighbour_term(5), neighbour_term(2)]
    assert weight(links=7, one=one, other=other, terms=terms) == pytest.approx(expected)


def test_the_order_of_neighbours_changes_no_bit() -> None:
    chance = random.Random(1)
    terms = [neighbour_term(chance.randint(2, 5_000)) for _ in range(300)]
    page = facts(None, [])
    found = set()
    for _ in range(20):
        chance.shuffle(terms)
        found.add(weight(links=1, one=page, other=page, terms=terms))
    assert len(found) == 1


# --- rows ---


def make_page(number: int, **values: object) -> Page:
    name = f"p{number}"
    defaults = {"path": f"{name}.md", "path_key": name, "name_key": name, "title": name, "title_key": name}
    return Page.objects.create(**{**defaults, "content_hash": "", **values})


WRITTEN = {"kind": "wikilink", "text": "x", "name_key": "x", "text_key": "x", "state": "resolved"}


def link(source: Page, target: Page | None) -> None:
    Link.objects.create(source=source, target=target, order=Link.objects.filter(source=source).count(), **WRITTEN)


def stored() -> dict[tuple[int, int], tuple[int, float]]:
    return {(a, b): (links, kept) for a, b, links, kept in Edge.objects.values_list("a", "b", "links", "weight")}


@pytest.mark.django_db
def test_reserved_and_deleted_pages_and_links_to_oneself_have_no_edges() -> None:
    plain, other = make_page(1), make_page(2)
    reserved, deleted = make_page(3, reserved=True), make_page(4, deleted_at="2026-01-01T00:00:00Z")
    for target in (plain, other, other, reserved, deleted, None):
        link(plain, target)
    link(reserved, other)
    recompute_edges({page.pk for page in (plain, other, reserved, deleted)})
    assert stored() == {(plain.pk, other.pk): (2, 3 * 2 + 0.5)}


@pytest.mark.django_db
def test_common_neighbours_count_by_their_degree() -> None:
    pages = [make_page(number) for number in range(4)]
    for one, other in ((0, 1), (0, 2), (1, 2), (2, 3)):
        link(pages[one], pages[other])
    recompute_edges({pages[0].pk, pages[1].pk, pages[2].pk})
    assert stored()[pages[0].pk, pages[1].pk][1] == 3 + 1.5 / math.log(3) + 0.5
    link(pages[3], pages[0])
    recompute_edges({pages[3].pk})
    assert stored()[pages[0].pk, pages[2].pk][1] == 3 + 1.5 * (1 / math.log(2) + 1 / math.log(2)) + 0.5


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(5))
def test_edges_kept_up_to_date_equal_edges_made_anew(seed: int) -> None:
    chance = random.Random(seed)
    types = ["entity", "concept", "source", None]
    pages = [make_page(number, type=chance.choice(types)) for number in range(14)]
    for _ in range(40):
        changed, facts_of = set(), set()
        for _ in range(chance.randint(1, 3)):
            page = chance.choice(pages)
            act = chance.random()
            if act < 0.55:
                link(page, chance.choice(pages))
            elif act < 0.8:
                found = Link.objects.filter(source=page).first()
                if found:
                    found.delete()
            elif act < 0.9:
                page.sources = [f"s{chance.randrange(3)}"]
                page.type = chance.choice(types)
                page.save()
                facts_of.add(page.pk)
            else:
                page.reserved = not page.reserved
                page.save()
            changed.add(page.pk)
        recompute_edges(changed, facts_of=facts_of if chance.random() < 0.7 else None)
        assert stored() == whole_graph()


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(5))
def test_edges_left_for_later_equal_edges_made_anew_once_they_are_worked_off(seed: int) -> None:
    chance = random.Random(seed)
    pages = [make_page(number) for number in range(14)]
    left = 0
    for _ in range(12):
        for _ in range(4):
            page = chance.choice(pages)
            found = Link.objects.filter(source=page).first()
            if found and chance.random() < 0.4:
                found.delete()
            else:
                link(page, chance.choice(pages))
            waiting = recompute_edges({page.pk}, at_once=chance.choice([0, 6, 1_000]))
            Page.objects.filter(pk__in=waiting).update(graph_dirty=True)
            left += len(waiting)
            own = {ends: count for ends, (count, _) in stored().items()}
            assert own == linked_pairs(), "the edges of the page itself do not wait"
        settle_edges()
        assert stored() == whole_graph()
    assert left


@pytest.mark.django_db
@pytest.mark.parametrize("few", [0, 10_000], ids=["whole", "in parts"])
def test_marked_pages_are_worked_off(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr("wiki.graph.settle.FEW", few)
    chance = random.Random(3)
    pages = [make_page(number, graph_dirty=True) for number in range(50)]
    for _ in range(200):
        link(chance.choice(pages), chance.choice(pages))
    assert settle_edges() == 50
    assert stored() == whole_graph()
    assert not Page.objects.filter(graph_dirty=True).exists()
    assert settle_edges() == 0


@pytest.mark.django_db
def test_a_change_at_a_hub_reads_few_rows_for_each_edge(django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    hub, *others = [make_page(number) for number in range(300)]
    Link.objects.bulk_create(Link(source=page, target=hub, order=0, **WRITTEN) for page in others[:-1])
    for one, other in combinations(others[:20], 2):
        link(one, other)
    recompute_edges({page.pk for page in others})
    link(others[-1], hub)
    with django_assert_max_num_queries(20):
        recompute_edges({others[-1].pk})
    assert stored() == whole_graph()
