"""What properties mean in every shape, and the page validator: each problem named, all at once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf.locale import LANG_INFO

from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import (
    LANGUAGES,
    aliases_of,
    check_characters,
    lang_of,
    load,
    sources_of,
    tags_of,
    text_of,
    validate,
)

# --- what properties mean -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "tags"),
    [
        ('tags: [a, "#c", 1984, inbox/To-Read, A]', ["a", "c", "inbox/To-Read"]),
        ("tags: a, b", ["a", "b"]),
        ("tags: a b  c,d,,", ["a", "b", "c", "d"]),
        ("tags: '#a #b/c'", ["a", "b/c"]),
        ("tags: 1984", []),
        ("tags: ['1984', y1984, 2024/01]", ["y1984", "2024/01"]),
        ("tags: [Straße, STRASSE]", ["Straße"]),
        ("tags:", []),
        ("tags: [[a]]", []),
        ("tag: x", ["x"]),
        ("Tags: x", ["x"]),
        ("tags: []\ntag: x", []),
        ("other: 1", []),
    ],
)
def test_tags_in_every_shape(raw: str, tags: list[str]) -> None:
    assert tags_of(load(raw).data) == tags


def test_aliases_sources_and_texts_in_every_shape() -> None:
    assert aliases_of({"aliases": ["AI", " AI ", 42, None, ["x"], "", True]}) == ["AI", "42", "true"]
    assert aliases_of({"aliases": ["Lovelace, Ada"]}) == ["Lovelace, Ada"]
    assert aliases_of({"aliases": "AI, Artificial\nIntelligence,"}) == ["AI", "Artificial", "Intelligence"]
    assert aliases_of({"Aliases": ["A"], "alias": "B"}) == ["A"]
    assert aliases_of({"Aliases": ["A"], "aliases": ["B"]}) == ["B"]
    assert aliases_of({"alias": "One"}) == ["One"]
    assert aliases_of({"aliases": {"a": 1}}) == []
    assert sources_of({"sources": "raw/sources/a.md"}) == ["raw/sources/a.md"]
    assert sources_of({"sources": ["a", " ", "b ", "a", None, 7]}) == ["a", "b", "7"]
    assert sources_of({}) == []
    assert text_of(load("title: 1984").data["title"]) == "1984"
    assert text_of(load("title: 1.10").data["title"]) == "1.10"
    assert text_of(None) == text_of(["a"]) == text_of({"a": 1}) == ""
    assert [lang_of({"lang": value}) for value in ("en", "pt-BR", " EN ", "zh_Hans", "english!", None, 5)] == [
        "en",
        "pt",
        "en",
        "zh",
        "",
        "",
        "",
    ]


# --- the page validator -------------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {"type": "concept", "title": "Café", "sources": ["raw/sources/a.md"], "lang": "en"}


def test_a_good_page_passes() -> None:
    validate(GOOD, title="Café")
    validate(GOOD | {"title": "Cafe\u0301"}, title="Café")
    validate(GOOD | {"sources": "one", "tags": ["a"], "aliases": "x", "rank": 3, "lang": "pt-BR"}, title="Café")
    for lang in ("no", "zh-Hans", "sr-Latn-RS", "es-419"):
        validate(GOOD | {"lang": lang}, title="Café")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("type", "person"),
        ("type", None),
        ("type", ["concept"]),
        ("title", ""),
        ("title", "   "),
        ("title", 5),
        ("title", "Other"),
        ("title", "Café\nstatus: approved"),
        ("title", "Café\u2028"),
        ("sources", []),
        ("sources", None),
        ("sources", [""]),
        ("sources", ["a", " "]),
        ("sources", [1]),
        ("sources", {"a": "b"}),
        ("lang", ""),
        ("lang", "e"),
        ("lang", "xx"),
        ("lang", "english"),
        ("lang", "EN"),
        ("lang", True),
        ("lang", "en\n"),
        ("tags", 5),
        ("tags", [["a"]]),
        ("aliases", [None]),
        ("id", "x"),
        ("content_hash", "x"),
        ("uid", None),
    ],
)
def test_each_bad_property_is_named(key: str, value: Any) -> None:
    with pytest.raises(SynapseError) as refused:
        validate(GOOD | {key: value}, title="Café")
    assert refused.value.code is ErrorCode.INVALID_FRONTMATTER
    assert list(refused.value.repair["fields"]) == [key]
    assert refused.value.repair["fields"][key].endswith(".")


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(SynapseError) as refused:
        validate({"uuid": 1}, title="T")
    assert set(refused.value.repair["fields"]) == {"type", "title", "sources", "lang", "uuid"}
    assert json.dumps(refused.value.envelope())


@pytest.mark.parametrize("bad", [{"x": "\x00"}, {"\ud800": 1}, {"x": [{"y": "a\udc00"}]}])
def test_characters_that_no_file_can_hold_are_refused_anywhere(bad: dict[str, Any]) -> None:
    with pytest.raises(SynapseError) as refused:
        validate(GOOD | bad, title="Café")
    assert refused.value.code is ErrorCode.INVALID_CONTENT


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(SynapseError):
        check_characters(endless)


def test_the_language_codes_are_those_that_django_knows_and_more() -> None:
    assert len(LANGUAGES) == 184
    known = {code.split("-")[0] for code in LANG_INFO}
    assert {code for code in known if len(code) == 2} <= LANGUAGES
