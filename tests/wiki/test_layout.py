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
from wiki.graph.communities import communities
from wiki.graph.layout import is_stale, make_map, map_state, run_job
from wiki.graph.placing import place
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
