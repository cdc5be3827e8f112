"""Other forms of a word, in pages of the languages that are stemmed."""

from __future__ import annotations

import pytest

from tests.indexed import indexed
from wiki.search import search
from wiki.search.passages import why_and_snippet
from wiki.search.query import MAX_TERMS, analyse, with_stems
from wiki.search.stems import stem_tokens

FORMS = {
    "it": ["capra capre", "gatto gatti", "ricerca ricerche", "nazione nazioni", "correre correvano", "antico antichi"],
    "de": ["Haus Häuser", "Katze Katzen", "Buch Bücher", "Versicherung Versicherungen", "Energie Energien"],
    "fr": ["cheval chevaux", "maison maisons", "national nationaux", "manger mangeait", "régulation régulations"],
    "es": ["canción canciones", "libro libros", "correr corriendo", "nación naciones", "jardín jardines"],
    "ru": ["кошка кошки", "книга книгами", "ёлка елки"],
}
PAIRS = [(lang, *pair.split()) for lang, pairs in FORMS.items() for pair in pairs]


@pytest.mark.django_db
@pytest.mark.parametrize("turned", [False, True], ids=["as written", "turned"])
@pytest.mark.parametrize(("lang", "one", "other"), PAIRS)
def test_another_form_is_found_and_shown(lang: str, one: str, other: str, turned: bool) -> None:
    asked, written = (other, one) if turned else (one, other)
    indexed("Page", f"Zzz zzz. Xyz {written} xyz.", lang=lang)
    indexed("Stranger", "Zzz zzz.", lang=lang)
    answer = search(asked)
    assert [hit.page.title for hit in answer.hits] == ["Page"]
    assert answer.hits[0].why == f"matched words: {asked}"
    query, filler = analyse(asked), "lorem ipsum " * 100
    assert written in why_and_snippet(query, "Page", "", f"{filler} {written} {filler}", lang)[1]


@pytest.mark.django_db
@pytest.mark.parametrize("lang", ["", "en", "xx"])
def test_pages_in_other_languages_are_found_as_before(lang: str) -> None:
    indexed("Page", "le capre", lang=lang)
    assert not search("capra").hits


@pytest.mark.django_db
def test_the_word_itself_comes_first() -> None:
    indexed("A", "capre xyz", lang="it")
    indexed("B", "capra xyz", lang="it")
    indexed("C", "pecora xyz", lang="it")
    assert [hit.page.title for hit in search("capra").hits] == ["B", "A"]


def test_a_query_that_tells_its_language_is_stemmed_in_that_alone() -> None:
    assert analyse("what is the nation of these").terms[0].stems == ()
    assert analyse("nazioni").terms[0].stems != analyse("nazioni", lang="it").terms[0].stems
    assert analyse("delle nazioni nella").terms[0].stems == analyse("nazioni", lang="it-CH").terms[0].stems


def test_stopwords_numbers_and_single_letters_have_no_stem() -> None:
    assert list(stem_tokens("La casa 1984 è x2 知識", "it")) == list(stem_tokens("casa", "it"))
    assert list(stem_tokens("house", "en")) == []


def test_a_long_query_asks_for_a_bounded_number_of_stems() -> None:
    long = " ".join(f"{a}{b}zioni" for a in "bcdfglmnprst" for b in "aeiou" for _ in "x")
    assert len(with_stems(analyse(long * 3).terms)) <= 2 * MAX_TERMS
