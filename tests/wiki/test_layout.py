"""The map: communities and places are a function of the vault, made by a job and only read by look-ups."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.indexed import indexed
from wiki import jobs
from wiki.binding import bump_data_version
from wiki.graph.communities import communities, joined, modularity
from wiki.graph.layout import is_stale, make_map, map_state, run_job
from wiki.graph.placing import place, place_among
from wiki.models import Edge, Page, PagePlace

Edges = list[tuple[int, int, float]]


def cliques(*sizes: int) -> Edges:
    """Groups in which everybody knows everybody, one edge from each group to the next."""
    edges, start = [], 0
    for size in sizes:
        edges += [(a, b, 1.0) for a, b in combinations(range(start, start + size), 2)]
        if start:
            edges.append((start - 1, start, 0.5))
        start += size
    return edges


def test_cliques_are_communities_the_largest_first() -> None:
    found = communities(cliques(4, 9, 6))
    assert [found.of[node] for node in range(19)] == [2] * 4 + [0] * 9 + [1] * 6
    assert 0.3 < found.modularity < 1


def test_the_order_of_edges_says_nothing() -> None:
    edges = cliques(5, 7, 4, 6)
    mixed = random.Random(7).sample(edges, len(edges))
    assert communities(mixed) == communities(edges)


def test_no_edges_no_communities() -> None:
    assert communities([]) == ({}, 0.0)


def test_who_belongs_together_stands_together() -> None:
    edges = cliques(12, 12, 12)
    places = place(36, edges, communities(edges).of).at
    group = [node // 12 for node in range(36)]
    near = [math.dist(places[a], places[b]) for a, b in combinations(range(36), 2) if group[a] == group[b]]
    far = [math.dist(places[a], places[b]) for a, b in combinations(range(36), 2) if group[a] != group[b]]
    assert sum(near) / len(near) < 0.6 * sum(far) / len(far)
    assert len(set(places)) == 36  # nobody stands on another


def test_places_are_within_bounds_and_the_same_every_time() -> None:
    dice = random.Random(3)
    pairs = {tuple(sorted(dice.sample(range(400), 2))) for _ in range(900)}
    edges = [(a, b, 1 + dice.random()) for a, b in sorted(pairs)]
    of = communities(edges).of
    places = place(450, edges, of).at  # fifty have no edge
    assert len(places) == 450
    assert all(math.isfinite(x) and math.isfinite(y) and abs(x) <= 1 and abs(y) <= 1 for x, y in places)
    assert place(450, edges, of).at == places


@pytest.mark.parametrize(("nodes", "edges"), [(0, []), (1, []), (5, []), (2, [(0, 1, 1.0)]), (3, [(0, 2, 0.1)])])
def test_tiny_graphs_have_places_too(nodes: int, edges: Edges) -> None:
    places = place(nodes, edges, communities(edges).of).at
    assert len(set(places)) == len(places) == nodes


def random_graph(nodes: int, ties: int, seed: int) -> Edges:
    dice = random.Random(seed)
    pairs = {tuple(sorted(dice.sample(range(nodes), 2))) for _ in range(ties)}
    return [(a, b, 1 + dice.random()) for a, b in sorted(pairs)]


def closest(places: list[tuple[float, float]]) -> float:
    return min(math.dist(one, other) for one, other in combinations(places, 2))


@pytest.mark.parametrize("seed", range(3))
def test_who_stands_keeps_the_place_and_who_comes_stands_by_neighbours(seed: int) -> None:
    edges = random_graph(120, 260, seed)
    old = [edge for edge in edges if edge[1] < 110]
    made = place(110, old, communities(old).of)
    stand = dict(enumerate(made.at))
    places = place_among(stand, 120, edges, reach=made.reach)
    assert places[:110] == made.at
    assert place_among(stand, 120, edges, reach=made.reach) == places
    assert closest(places) * made.reach > 0.2  # nobody stands on another
    anywhere = sum(math.dist(one, other) for one, other in combinations(made.at, 2)) / math.comb(110, 2)
    near = [math.dist(places[a], places[b]) for a, b, _ in edges if b >= 110]
    assert sum(near) / len(near) < anywhere


def test_a_first_island_and_a_page_without_ties_find_room() -> None:
    edges = [*cliques(6), (6, 7, 1.0)]
    made = place(6, edges[:-1], dict.fromkeys(range(6), 0))
    places = place_among(dict(enumerate(made.at)), 9, edges, reach=made.reach)
    assert places[:6] == made.at
    assert closest(places) * made.reach > 0.2
    assert math.dist(places[6], places[7]) < 1


def test_a_map_made_anew_lies_as_the_one_before() -> None:
    edges = random_graph(80, 160, 4)
    made = place(80, edges, communities(edges).of).at
    turned = {node: (-y, x) for node, (x, y) in enumerate(made)}
    mirrored = {node: (x, -y) for node, (x, y) in enumerate(made)}
    for like in (turned, mirrored):
        again = place(80, edges, communities(edges).of, like=like).at
        size = max(max(abs(x), abs(y)) for x, y in like.values())
        assert all(math.dist(again[node], (x / size, y / size)) < 0.02 for node, (x, y) in like.items())


def test_who_comes_joins_those_tied_most() -> None:
    of = {0: 0, 1: 0, 2: 1}
    edges = [(0, 3, 1.0), (1, 3, 1.0), (2, 3, 1.5), (3, 4, 1.0), (5, 6, 1.0)]
    assert joined(of, edges) == {0: 0, 1: 0, 2: 1, 3: 0, 4: 0, 5: 2, 6: 2}


def test_modularity_is_what_leiden_says_it_is() -> None:
    edges = random_graph(60, 120, 5)
    found = communities(edges)
    assert modularity(found.of, edges) == pytest.approx(found.modularity)


@pytest.fixture
def vault_of_two_topics(db: Any, vault_folder: Path) -> list[Page]:
    pages = [indexed(f"Page {number:02}") for number in range(12)]
    for a, b in [*combinations(pages[:6], 2), *combinations(pages[6:11], 2)]:
        Edge.objects.create(a=a, b=b, links=1, weight=3.0)
    indexed("Index", path="wiki/index.md", reserved=True)
    bump_data_version()
    return pages


def test_the_map_is_kept_and_made_again_only_when_the_index_changed(vault_of_two_topics: list[Page]) -> None:
    assert is_stale()
    assert run_job({}) == {"made": True, "pages": 12, "edges": 25, "communities": 2}
    rows = list(PagePlace.objects.order_by("page").values_list("page__title", "community", "x", "y"))
    assert [community for _, community, _, _ in rows] == [0] * 6 + [1] * 5 + [None]
    assert not is_stale()
    assert run_job({}) == {"made": False}
    bump_data_version()
    assert run_job({})["made"]
    assert list(PagePlace.objects.order_by("page").values_list("page__title", "community", "x", "y")) == rows


def test_pages_that_are_gone_leave_the_map(vault_of_two_topics: list[Page]) -> None:
    make_map()
    gone = vault_of_two_topics[3]
    Edge.objects.filter(a=gone).delete()
    Edge.objects.filter(b=gone).delete()
    Page.objects.filter(pk=gone.pk).update(deleted_at="2030-01-01T00:00:00Z")
    bump_data_version()
    state = make_map()
    assert state.pages == 11 == PagePlace.objects.count()
    assert not PagePlace.objects.filter(page=gone).exists()


def places_of(pages: list[Page]) -> dict[str, tuple[float, float]]:
    return {place.page.title: (place.x, place.y) for place in PagePlace.objects.filter(page__in=pages)}


def test_a_new_page_moves_nobody(vault_of_two_topics: list[Page]) -> None:
    make_map()
    before = places_of(vault_of_two_topics)
    new = indexed("New one")
    Edge.objects.create(a=vault_of_two_topics[7], b=new, links=1, weight=3.0)
    bump_data_version()
    state = make_map()
    assert (state.pages, state.moved) == (13, 1)
    assert places_of(vault_of_two_topics) == before
    assert PagePlace.objects.get(page=new).community == 1


def test_when_much_has_come_the_map_is_made_anew(vault_of_two_topics: list[Page]) -> None:
    make_map()
    new = [indexed(f"New {number}") for number in range(6)]
    for one, other in combinations(new, 2):
        Edge.objects.create(a=one, b=other, links=1, weight=3.0)
    bump_data_version()
    state = make_map()
    assert (state.communities, state.moved) == (3, 0)


def test_when_ties_say_something_else_the_map_is_made_anew(vault_of_two_topics: list[Page]) -> None:
    make_map()
    Edge.objects.all().delete()
    pages = vault_of_two_topics[:10]
    for a, b in [*combinations(pages[::2], 2), *combinations(pages[1::2], 2)]:
        Edge.objects.create(a=a, b=b, links=1, weight=3.0)
    bump_data_version()
    make_map()
    kept = dict(PagePlace.objects.values_list("page__title", "community"))
    assert len({kept[page.title] for page in pages[::2]}) == 1


def test_only_who_moved_is_written(vault_of_two_topics: list[Page], django_assert_max_num_queries: Any) -> None:
    make_map()
    bump_data_version()
    with django_assert_max_num_queries(12) as asked:
        make_map()
    assert not [one for one in asked.captured_queries if 'INTO "wiki_pageplace"' in one["sql"]]


def test_an_empty_vault_has_an_empty_map(db: Any, vault_folder: Path) -> None:
    state = make_map()
    assert (state.pages, state.edges, state.communities, PagePlace.objects.count()) == (0, 0, 0, 0)


def test_the_job_is_asked_for_and_run_like_any_other(vault_of_two_topics: list[Page]) -> None:
    jobs.ask_for_map()
    jobs.ask_for_map()
    jobs.run_due()
    state = map_state()
    assert state is not None
    assert state.communities == 2


def test_the_command_says_what_is_on_the_map(
    vault_of_two_topics: list[Page], capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("layout")
    assert "Made the map: 12 pages, 25 edges, 2 communities" in capsys.readouterr().out
    call_command("layout", "--json")
    assert '"made": false' in capsys.readouterr().out


def test_a_process_that_makes_no_map_does_not_pay_for_one() -> None:
    """Invariant I2: look-ups never compute a layout; they do not even load what computes it."""
    code = (
        "import django; django.setup(); import wiki.graph, wiki.graph.layout, sys; "
        "print(sorted({'numpy', 'graspologic_native'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
