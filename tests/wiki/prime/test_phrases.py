"""Phrases in a text: the longest first, in any script, by whole words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wiki.prime.asking.phrases import PhraseTable, normalised, words_of


def found(names: list[str], text: str) -> list[tuple[str, ...]]:
    table = PhraseTable((name, name) for name in names)
    return [match.values for match in table.find(words_of(normalised(text)))]


def test_the_longest_phrase_wins_and_none_is_within_another() -> None:
    names = ["Deck", "Deck oven", "oven", "Deck oven door"]
    assert found(names, "A DECK OVEN, a deck, and an oven") == [("Deck oven",), ("Deck",), ("oven",)]


def test_whole_words_only() -> None:
    assert found(["rye", "C", "C++", "C#"], "ryegrass is no rye; C++ is no C") == [("rye",), ("C++",), ("C",)]


def test_scripts_without_blanks() -> None:
    assert found(["機械学習", "学習"], "機械学習とは何か。学習") == [("機械学習",), ("学習",)]


def test_accents_and_forms_of_a_letter() -> None:
    assert found(["Café"], "the cafe\u0301 and the ｃａｆé") == [("Café",), ("Café",)]


def test_a_phrase_may_stand_for_several_things() -> None:
    table = PhraseTable([("Mercury", 1), ("mercury", 2), ("Mercury", 1)])
    assert [match.values for match in table.find(words_of(normalised("on Mercury")))] == [(1, 2)]


@given(st.lists(st.text("ab ", max_size=6), max_size=6), st.text("abc .", max_size=60))
def test_like_looking_at_every_place(names: list[str], text: str) -> None:
    words = [word.text for word in words_of(normalised(text))]
    phrases = {tuple(normalised(name).split()) for name in names} - {()}
    expected, at = [], 0
    while at < len(words):
        fitting = [phrase for phrase in phrases if tuple(words[at : at + len(phrase)]) == phrase]
        longest = max(fitting, key=len, default=())
        if longest:
            expected.append(longest)
        at += len(longest) or 1
    table = PhraseTable((name, tuple(normalised(name).split())) for name in names)
    assert [match.values[0] for match in table.find(words_of(normalised(text)))] == expected
