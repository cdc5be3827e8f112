"""Reciprocal rank fusion, by what must hold of any lists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wiki.search.fusion import K, reciprocal_rank

LISTS = st.lists(st.lists(st.integers(0, 30), max_size=40), min_size=1, max_size=4)


def test_the_first_of_every_list_has_one_and_the_first_of_one_of_two_a_half() -> None:
    scores = reciprocal_rank([["a", "b"], ["a", "c"]])
    assert scores["a"] == 1.0
    assert scores["b"] == scores["c"] < 0.5
    assert reciprocal_rank([["a"], []]) == {"a": 0.5}
    assert reciprocal_rank([["a", "b"]])["b"] == (K + 1) / (K + 2)


def test_two_lists_that_agree_go_above_one_that_is_sure() -> None:
    scores = reciprocal_rank([["sure", *"uvwxyz", "agreed"], ["other", *"klmnop", "agreed"]])
    assert max(scores, key=lambda item: scores[item]) == "agreed"


def test_what_one_list_could_not_have_had_is_scored_by_the_other() -> None:
    scores = reciprocal_rank([["new", "a"], ["a", "b"]], unjudged={"new"})
    assert scores["new"] == 1.0
    assert scores["a"] < 1.0
    assert reciprocal_rank([["a"], ["a", "b"]], unjudged={"a"})["a"] == 1.0


@given(LISTS)
def test_scores_are_in_bounds_and_nothing_is_lost(lists: list[list[int]]) -> None:
    scores = reciprocal_rank(lists)
    assert set(scores) == {item for ranked in lists for item in ranked}
    assert all(0 < score <= 1 for score in scores.values())


@given(LISTS)
def test_the_order_of_the_lists_does_not_matter(lists: list[list[int]]) -> None:
    one, other = reciprocal_rank(lists), reciprocal_rank(lists[::-1])
    assert {item: round(score, 12) for item, score in one.items()} == {
        item: round(score, 12) for item, score in other.items()
    }


@given(st.permutations(list(range(12))), st.permutations(list(range(12))))
def test_who_is_before_another_in_every_list_is_before_it(one: list[int], other: list[int]) -> None:
    scores = reciprocal_rank([one, other])
    for a in one:
        for b in one:
            if one.index(a) < one.index(b) and other.index(a) < other.index(b):
                assert scores[a] > scores[b]


@given(st.lists(st.integers(), max_size=50, unique=True))
def test_one_list_keeps_its_order(ranked: list[int]) -> None:
    scores = reciprocal_rank([ranked])
    assert sorted(scores, key=lambda item: -scores[item]) == ranked
