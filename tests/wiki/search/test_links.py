"""Pages that links lead to: when they come in, and that they stay below where they come from."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.indexed import indexed
from wiki.models import Edge, Page
from wiki.search import Retrieval, retrieve, search
from wiki.search.filters import Filters
from wiki.search.links import DECAY, MAX_LINKED, linked_pages

pytestmark = pytest.mark.django_db


def tie(one: Page, other: Page, weight: float = 3.0) -> None:
    a, b = sorted((one, other), key=lambda page: page.pk)
    Edge.objects.create(a=a, b=b, links=1, weight=weight)


def titles(answer: Retrieval) -> list[str]:
    return [hit.page.title for hit in answer.hits]


@pytest.fixture
def harbour() -> dict[str, Page]:
    """Twenty pages that have a word of the query; the answer has none, and is one link from the best of them."""
    pages = {f"Ship {number}": indexed(f"Ship {number}", "a harbour " + "and ships " * number) for number in range(20)}
    pages["Pilot"] = indexed("Pilot", "who guides them in, the harbour master says")
    pages["Answer"] = indexed("Answer", "Anna Berg has done it since 1999.")
    pages["Beyond"] = indexed("Beyond", "She was born in Bergen.")
    tie(pages["Pilot"], pages["Answer"])
    tie(pages["Answer"], pages["Beyond"])
    return pages


QUERY = "who is the harbour pilot"


def test_what_is_one_link_away_is_found_with_depth_1_and_not_with_0(harbour: dict[str, Page]) -> None:
    assert "Answer" not in titles(retrieve(QUERY, depth=0))
    answer = retrieve(QUERY, depth=1)
    assert "Answer" in titles(answer)
    assert "Beyond" not in titles(answer)
    hit = answer.hits[titles(answer).index("Answer")]
    assert (hit.phase, hit.why) == ("link", "linked from Pilot")
    assert hit.snippet == "Anna Berg has done it since 1999."
    assert answer.context is not None
    assert "Anna Berg has done it since 1999." in answer.context.text


def test_two_links_away(harbour: dict[str, Page]) -> None:
    answer = retrieve(QUERY, depth=2)
    assert titles(answer)[-2:] == ["Answer", "Beyond"]
    assert answer.hits[-1].why == "two links from Pilot"
    assert answer.hits[-1].score == pytest.approx(answer.hits[0].score * DECAY * DECAY)


def test_linked_pages_have_a_quarter_of_the_places_and_leave_them_where_there_are_none(
    harbour: dict[str, Page],
) -> None:
    for number in range(10):
        tie(harbour["Pilot"], indexed(f"Far {number}", "nothing"), weight=1.0)
    answer = retrieve(QUERY, k=8, depth=1)
    assert [hit.phase for hit in answer.hits] == ["words"] * 6 + ["link"] * 2
    Edge.objects.all().delete()
    assert titles(retrieve(QUERY, k=8, depth=2)) == titles(retrieve(QUERY, k=8, depth=0))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_few_places(harbour: dict[str, Page], k: int) -> None:
    answer = retrieve(QUERY, k=k, depth=2)
    assert len(answer.hits) == k
    assert ("Answer" in titles(answer)) == (k >= 4)


def test_links_fill_the_places_that_words_leave() -> None:
    hub = indexed("Hub", "zeppelin")
    for number in range(9):
        tie(hub, indexed(f"Page {number}", "else"), weight=number + 1)
    answer = retrieve("zeppelin", depth=1, k=8)
    assert len(answer.hits) == 8
    assert titles(answer)[:3] == ["Hub", "Page 8", "Page 7"]


def test_a_page_that_words_found_too_keeps_its_score_and_says_both(harbour: dict[str, Page]) -> None:
    tie(harbour["Pilot"], harbour["Ship 8"], weight=9.0)
    assert "Ship 8" not in titles(retrieve(QUERY, depth=0))
    answer = retrieve(QUERY, depth=1)
    hit = answer.hits[titles(answer).index("Ship 8")]
    assert hit.phase == "words"
    assert hit.why == "matched words: harbour; linked from Pilot"


def test_the_presets(harbour: dict[str, Page]) -> None:
    for number in range(8):
        tie(harbour["Answer"], indexed(f"More {number}", "nothing"), weight=1.0)
    fast, standard, deep = (retrieve(QUERY, preset=preset) for preset in ("fast", "standard", "deep"))
    assert [len(answer.hits) for answer in (fast, standard, deep)] == [4, 8, 12]
    assert "Answer" not in titles(fast)
    assert {"Answer", "Beyond"} <= set(titles(standard)) & set(titles(deep))
    assert "Answer" not in [hit.page.title for hit in search(QUERY, k=8).hits]


def test_filters_hold_for_linked_pages_and_not_for_the_way_to_them(harbour: dict[str, Page]) -> None:
    Page.objects.exclude(title="Answer").update(lang="en")
    assert "Answer" not in titles(retrieve(QUERY, lang="en"))
    assert titles(retrieve(QUERY, lang="en"))[-1] == "Beyond"
    Page.objects.filter(title="Beyond").update(deleted_at="2026-01-01T00:00:00Z")
    assert "Beyond" not in titles(retrieve(QUERY))
    Page.objects.filter(title="Answer").update(reserved=True)
    assert "Answer" not in titles(retrieve(QUERY))


def test_the_strongest_tie_is_worth_most_and_the_best_way_counts() -> None:
    a, b, c, d = (indexed(name, "x") for name in "abcd")
    tie(a, c, 4.0)
    tie(a, d, 1.0)
    tie(b, d, 2.0)
    found = {linked.pk: linked for linked in linked_pages({a.pk: 1.0, b.pk: 0.8}, 1, Filters())}
    assert found[c.pk].score == 1.0 * DECAY
    assert (found[d.pk].score, found[d.pk].seed) == (0.8 * DECAY, b.pk)


def test_equals_are_in_the_order_of_their_paths_and_there_is_an_end() -> None:
    hub = indexed("Hub", "x")
    for number in range(MAX_LINKED + 50):
        tie(hub, indexed("Same", "y", path=f"wiki/{(number * 7) % 1000:03}-{number}.md"))
    found = linked_pages({hub.pk: 1.0}, 2, Filters())
    assert len(found) == MAX_LINKED
    assert [linked.path for linked in found] == sorted(linked.path for linked in found)


@pytest.mark.parametrize("seed", range(12))
def test_in_any_graph_nothing_outranks_its_seed(seed: int) -> None:
    chance = random.Random(seed)
    pages = [indexed(f"p{number}", "word " * chance.randint(0, 3)) for number in range(40)]
    for one in pages:
        for other in chance.sample(pages, 3):
            if one.pk < other.pk:
                Edge.objects.get_or_create(a=one, b=other, defaults={"links": 1, "weight": chance.uniform(0.1, 20)})
    seeds = {page.pk: chance.uniform(0.01, 1) for page in pages[:6]}
    steps: dict[int, dict[int, int]] = {}
    for depth in (0, 1, 2):
        found = linked_pages(seeds, depth, Filters())
        steps[depth] = {linked.pk: linked.steps for linked in found}
        assert not {linked.pk for linked in found} & set(seeds)
        for linked in found:
            assert 0 < linked.score <= seeds[linked.seed] * DECAY**linked.steps + 1e-12
            assert 1 <= linked.steps <= depth
    assert steps[0] == {}
    assert set(steps[1]) <= set(steps[2])
    answer: Any = retrieve("word", k=chance.randint(1, 20), depth=chance.randint(0, 2))
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    by_title = {hit.page.title: hit for hit in answer.hits}
    for hit in answer.hits:
        if hit.phase == "link":
            assert hit.score < by_title[hit.why.split()[-1]].score


def test_a_page_with_many_links_costs_no_more_queries(django_assert_max_num_queries: Any) -> None:
    hub = indexed("Hub", "zeppelin")
    for number in range(300):
        tie(hub, indexed(f"Page {number}", "else"), weight=number + 1)
    with django_assert_max_num_queries(17):
        retrieve("zeppelin", depth=2)
