"""What lies around a page is read from rows, bounded, heaviest first."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.wiki.test_edges import make_page
from wiki.graph import neighborhood
from wiki.models import Edge, Page

pytestmark = pytest.mark.django_db


def join(one: Page, other: Page, weight: float, links: int = 1) -> None:
    first, second = sorted((one, other), key=lambda page: page.pk)
    Edge.objects.create(a=first, b=second, weight=weight, links=links)


def titles(found: dict) -> list[tuple[str, int]]:  # type: ignore[type-arg]
    return [(node["title"], node["depth"]) for node in found["nodes"]]


def test_it_works() -> None:
    center, near, far, beyond = (make_page(number, type="entity") for number in range(4))
    join(center, near, 4.25, links=2)
    join(near, far, 3)
    join(far, beyond, 9)
    found = neighborhood(center, depth=2)
    assert found["center"] == str(center.uid)
    assert found["nodes"][1] == {"id": str(near.uid), "title": "p1", "type": "entity", "depth": 1}
    assert titles(found) == [("p0", 0), ("p1", 1), ("p2", 2)]
    assert found["edges"] == [
        {"source": str(center.uid), "target": str(near.uid), "weight": 4.25, "links": 2},
        {"source": str(near.uid), "target": str(far.uid), "weight": 3.0, "links": 1},
    ]
    assert found["truncated"] is False
    assert titles(neighborhood(center)) == [("p0", 0), ("p1", 1)]


def test_a_page_without_edges() -> None:
    page = make_page(1)
    assert neighborhood(page, depth=2) == {
        "center": str(page.uid),
        "nodes": [{"id": str(page.uid), "title": "p1", "type": None, "depth": 0}],
        "edges": [],
        "truncated": False,
    }


@pytest.mark.parametrize(("depth", "expected"), [(-3, 1), (0, 1), (1, 1), (2, 2), (99, 2)])
def test_depth_is_clamped(depth: int, expected: int) -> None:
    pages = [make_page(number) for number in range(5)]
    for one, other in pairwise(pages):
        join(one, other, 1)
    assert len(neighborhood(pages[0], depth=depth)["nodes"]) == expected + 1


def test_edges_among_neighbours_are_shown() -> None:
    center, one, other = (make_page(number) for number in range(3))
    join(center, one, 1)
    join(center, other, 2)
    join(one, other, 3)
    found = neighborhood(center)
    assert titles(found) == [("p0", 0), ("p2", 1), ("p1", 1)]
    assert [edge["weight"] for edge in found["edges"]] == [3, 2, 1]


def test_the_heaviest_are_kept_and_the_rest_is_owned_up_to() -> None:
    center, *others = [make_page(number) for number in range(260)]
    Edge.objects.bulk_create(Edge(a=center, b=page, links=1, weight=number) for number, page in enumerate(others))
    found = neighborhood(center, depth=2)
    assert len(found["nodes"]) == 200
    assert found["truncated"] is True
    assert titles(found)[1] == ("p259", 1)
    assert titles(found)[-1] == ("p61", 1)
    assert len(neighborhood(center, limit=10_000)["nodes"]) == 200
    assert len(neighborhood(center, limit=5)["nodes"]) == 5


def test_equal_weights_are_ordered_by_path() -> None:
    center = make_page(0)
    for number in (3, 1, 2):
        join(center, make_page(number), 3.5)
    assert titles(neighborhood(center)) == [("p0", 0), ("p1", 1), ("p2", 1), ("p3", 1)]


def test_few_queries_whatever_the_size(django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    pages = [make_page(number) for number in range(120)]
    for number, page in enumerate(pages[1:], 1):
        join(pages[number // 3], page, number)
    with django_assert_max_num_queries(6):
        neighborhood(pages[0], depth=2)
