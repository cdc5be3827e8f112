"""What is indexed of a text, and what a query becomes."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import ErrorCode, SynapseError
from wiki.search.query import MAX_QUERY_CHARS, MAX_TERMS, analyse
from wiki.search.stemmer import stem
from wiki.search.text import clean, fold, grams, shadow, symbol_names, words


def shown(query: str, **options: object) -> list[str]:
    return [term.shown for term in analyse(query, **options).terms]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Città", "citta"),
        ("Straße", "STRASSE"),
        ("Αθήνα", "αθηνα"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("Ёлка", "елка"),
        ("Łódź", "lodz"),
        ("Søren", "soren"),
        ("ＡＢＣ１２", "abc12"),
        ("ﬁsh", "fish"),
        ("كِتَاب", "كتاب"),
        ("أحمد", "احمد"),
        ("İstanbul", "istanbul"),
        ("ｶﾀｶﾅ", "カタカナ"),
        (unicodedata.normalize("NFD", "한국어"), "한국어"),
        (unicodedata.normalize("NFD", "Việt"), "viet"),
    ],
)
def test_spellings_of_one_word_fold_to_one(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_letters_that_are_no_accented_other_stay_apart() -> None:
    assert fold("Йод") == "йод" != fold("Иод")
    assert fold("हिन्दी") == "हिन्दी"
    assert fold("ที่นี่") == "ที่นี่"


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(clean(text))) == fold(clean(text))


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_clean_text_can_be_stored(text: str) -> None:
    assert "\0" not in clean(text)
    clean(text).encode()


def test_lone_surrogates_are_replaced() -> None:
    assert clean("a\ud800b\0").encode()


def test_pairs_cover_every_substring_of_two_and_the_last_character() -> None:
    assert list(grams("知識管理")) == ["知識", "識管", "管理", "理"]
    assert list(grams("猫")) == ["猫"]


def test_words_that_touch_a_run_are_tokens_of_their_own() -> None:
    assert {"python", "使用", "编程"} <= set(shadow("使用Python编程"))
    assert list(words("使用Python3编程"))[2:3] == ["python3"]


@given(st.text(st.sampled_from("ab .é—知識ひ한กเ𠀀"), max_size=30))
def test_every_run_is_found_wherever_it_stands(text: str) -> None:
    runs = "".join(character if character in "知識ひ한กเ𠀀" else " " for character in text).split()
    tokens = shadow(text)
    assert [token for token in tokens if token[0] in "知識ひ한กเ𠀀"] == [pair for run in runs for pair in grams(run)]
    assert {token for token in tokens if token[0] not in "知識ひ한กเ𠀀"} <= {fold(word) for word in words(text)}


@pytest.mark.parametrize("unit", ["知", "x" * 5000 + "知", "知é", "++a", "a#", "Α", "é", "e\u0301"])
def test_hostile_texts_take_linear_time(unit: str) -> None:
    text = clean(unit * (400_000 // len(unit)))
    started = time.process_time()
    tokens = len(shadow(text)) + sum(1 for _ in words(text))
    assert tokens <= 3 * len(text)
    assert time.process_time() - started < 5


def test_plain_english_casts_no_shadow() -> None:
    assert shadow("# A heading\n\nPlain words, [[A link#With heading]], a #tag and C code.") == []


def test_names_that_live_by_their_punctuation() -> None:
    assert symbol_names("C++ and c#, F#; .NET or g++ but not [[Page#Heading]] or C+ or asp.netting") == [
        "cplusplus", "csharp", "fsharp", "dotnet", "gplusplus",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("feed", "feed"), ("agreed", "agre"),
        ("plastered", "plaster"), ("motoring", "motor"), ("conflated", "conflat"), ("hopping", "hop"),
        ("filing", "file"), ("happy", "happi"), ("sky", "sky"), ("relational", "relat"), ("digitizer", "digit"),
        ("operator", "oper"), ("hopefulness", "hope"), ("electrical", "electr"), ("revival", "reviv"),
        ("adoption", "adopt"), ("controller", "control"), ("rate", "rate"), ("probate", "probat"),
        ("biology", "biologi"), ("technology", "technolog"), ("is", "is"), ("città", "città"),
    ],
)  # fmt: skip
def test_stems_of_the_paper(word: str, expected: str) -> None:
    assert stem(word) == expected


@given(st.text(max_size=400), st.booleans())
def test_terms_hold_nothing_that_could_be_syntax(query: str, prefix: bool) -> None:
    terms = analyse(query, prefix=prefix).terms
    assert len(terms) <= MAX_TERMS
    for term in terms:
        for token in (*term.tokens, *filter(None, [term.as_written])):
            assert token
            assert all(char.isalnum() or unicodedata.category(char) in ("Mn", "Mc") for char in token)


def test_stopwords_of_the_language_of_the_query_are_left_out() -> None:
    assert shown("the history of the wing") == ["history", "wing"]
    assert shown("la storia della città") == ["storia", "città"]
    assert shown("die Geschichte der Stadt") == ["Geschichte", "Stadt"]
    assert shown("история и культура в городе") == ["история", "культура", "городе"]


def test_one_foreign_stopword_proves_no_language() -> None:
    assert shown("die hard") == ["die", "hard"]
    assert shown("die hard", lang="de") == ["hard"]


def test_a_query_of_stopwords_keeps_them() -> None:
    assert shown("to be or not to be") == ["to", "be", "or", "not"]


def test_compounds_are_phrases_and_their_words() -> None:
    terms = analyse("node.js foo-bar_baz").terms
    assert [term.tokens for term in terms] == [
        ("node", "js"), ("node",), ("js",), ("foo", "bar", "baz"), ("foo",), ("bar",), ("baz",),
    ]  # fmt: skip


def test_a_query_that_is_too_long_names_the_limit() -> None:
    assert analyse("word " * (MAX_QUERY_CHARS // 5))
    with pytest.raises(SynapseError) as raised:
        analyse("*" * (MAX_QUERY_CHARS + 1))
    assert raised.value.code is ErrorCode.INVALID_PARAM_VALUE
    assert raised.value.repair == {"parameter": "query", "limit": MAX_QUERY_CHARS}


def test_a_long_word_is_cut_and_a_long_run_is_bounded() -> None:
    assert len(analyse("x" * 5000).terms[0].tokens[0]) == 200
    assert len(analyse("知識" * 2000).terms) <= MAX_TERMS
