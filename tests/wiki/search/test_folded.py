"""Letters that fold to two, or to none: still the words of a text are found where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiki.search.folded import folded
from wiki.search.passages import matches, terms_in, why_and_snippet
from wiki.search.query import analyse
from wiki.search.text import fold

FILLER = "Some words that nobody asks for stand here, ßœ. " * 40


@given(st.text(st.sampled_from("aéßœÆﬁ\u064e\u05b0كåZ 猫\u0301"), max_size=30), st.data())
def test_a_part_of_the_folded_text_is_known_in_the_written_one(text: str, data: st.DataObject) -> None:
    made = folded(text)
    assert made.text == "".join(map(fold, text))
    start = data.draw(st.integers(0, len(made.text)))
    end = data.draw(st.integers(start, len(made.text)))
    first, last = made.span(start, end)
    assert 0 <= first <= len(text) >= last
    if start < end:
        assert made.text[start:end] in "".join(map(fold, text[first:last]))


@given(st.text(max_size=50))
def test_the_whole_is_the_whole(text: str) -> None:
    assert folded(text).span(0, len(folded(text).text))[1] == len(text)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("cœur", "cœur"),
        ("coeur", "cœur"),
        ("Straße", "Straße"),
        ("STRASSE", "Straße"),
        ("strasse", "Straßen"),
        ("œuvre", "œuvres"),
        ("Ærø", "Ærø"),
        ("office", "o\ufb03ce"),
        ("المكتبة", "المَكتَبةُ"),
        ("שלום", "שָׁלוֹם"),
    ],
)
def test_a_word_is_found_and_shown_though_its_letters_are_not_as_many(query: str, word: str) -> None:
    lang = {"strasse": "de", "œuvre": "fr"}.get(query, "")
    asked, body = analyse(query), f"{FILLER}The {word} here. {FILLER}"
    why, snippet = why_and_snippet(asked, "", "", body, lang)
    assert why == f"matched words: {query}"
    assert word in snippet
    assert [body[start:end] for start, end in matches(asked, body, lang)] == [word]
    assert terms_in(asked, f"the {word}.", lang) == {0}
