"""Bodies from the words index: whole, in part, and which of them may hold a text."""

from __future__ import annotations

import random

import pytest

from tests.indexed import indexed
from wiki.search import pages_holding, text_ends, texts

pytestmark = pytest.mark.django_db


def test_bodies_come_whole_and_in_the_order_given() -> None:
    pages = [indexed(f"P{number}", f"text {number}\n" * 3) for number in range(5)]
    given = [pages[3].pk, pages[0].pk, 10**9, pages[4].pk]
    assert list(texts(given)) == [(pk, f"text {pk - pages[0].pk}\n" * 3) for pk in given if pk != 10**9]


def test_ends_of_bodies() -> None:
    page = indexed("P", "a" * 10 + "b" * 1_000 + "c" * 10)
    short = indexed("Q", "word")
    assert dict(text_ends([page.pk, short.pk], 10)) == {page.pk: f"{'a' * 10} {'c' * 10}", short.pk: "word word"}


HELD = [
    ("Alan Turing", "it was Alan Turing who"),
    ("Alan Turing", "ALAN TURING"),
    ("Alan Turing", "alan\nturing"),
    ("Alan Turing", "由Alan Turing提出"),
    ("Alan Turing", "(Alan)-Turing"),
    ("Turing", "由Turing提出"),
    ("Connected notes", "the connected notes are"),
    ("Łódź", "to Łódź we went"),
    ("Αθήνα", "στην Αθήνα"),
    ("straße", "die Straße"),
    ("Node.js", "in Node.js we trust"),
    ("C++ Primer", "the C++ Primer says"),
    ("Conway's Game", "in Conway’s game"),
    ("知识管理", "谈谈知识管理的方法"),
    ("使用Python编程", "他在使用Python编程时"),
    ("第1章 深度学习", "读第1章 深度学习吧"),
    ("アルゴリズム", "このアルゴリズムは"),
    ("세종대왕", "오늘 세종대왕은"),
    ("ChatGPT", "나는 ChatGPT를 쓴다"),
    ("मशीन लर्निंग", "वह मशीन लर्निंग है"),
    ("علم الحاسوب", "يدرس علم الحاسوب الآن"),
    ("Лев Толстой", "писал Лев Толстой."),
    ("水", "喝水吧"),
    ('a "quoted" AND NOT thing*', 'it is a "quoted" AND NOT thing*'),
]


@pytest.mark.parametrize(("text", "body"), HELD)
def test_who_holds_a_text_is_found(text: str, body: str) -> None:
    other = indexed("Other", "nothing of it")
    page = indexed("Page", body)
    found = pages_holding(text)
    assert page.pk in found
    assert other.pk not in found


@pytest.mark.parametrize("text", ["", " ", "…", '"', "*", "()"])
def test_a_text_without_words_is_held_by_none(text: str) -> None:
    indexed("Page", "… * ()")
    assert pages_holding(text) == []


def test_words_apart_are_not_held() -> None:
    indexed("Page", "Turing, and later Alan")
    assert pages_holding("Alan Turing") == []


def test_none_is_left_out_in_any_mixture() -> None:
    chance = random.Random(3)
    pieces = [
        "Alan",
        "Turing",
        "知识",
        "管理学",
        "é",
        "Łódź",
        "GPT-4",
        "한국어",
        "を",
        " ",
        " ",
        "\n",
        ", ",
        "x",
        "ß",
        "9",
    ]
    for _ in range(60):
        text = "".join(chance.choices(pieces, k=chance.randint(1, 6))).strip()
        around = ["".join(chance.choices(pieces, k=4)) for _ in range(2)]
        page = indexed("P", f"{around[0]} {text} {around[1]}", path=f"{chance.random()}.md")
        assert not any(map(str.isalnum, text)) or page.pk in pages_holding(text), text
