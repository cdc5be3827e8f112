"""What a page's frontmatter becomes when a writer sends some of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault import frontmatter
from vault.errors import ErrorCode, SynapseError
from wiki.services.merge import in_the_style_of, merged_file, new_file, same, union

TODAY = "2026-04-01"
FILE = """---
title: Ada   # the countess
created: 2020-02-02
updated: 2020-02-03
type: entity
sources: [raw/sources/old.md]
mood: "good"
related:
  - "[[Babbage]]"
lang: en
---
Old body.
"""


def merge(text: str, given: dict[str, Any], body: str = "New.\n", **options: Any) -> str:
    return merged_file(text, given, body, **{"origin_source": "", "sources_replace": False, "today": TODAY, **options})


def lines(text: str) -> list[str]:
    return text.splitlines()


def test_only_what_is_given_changes() -> None:
    merged = merge(FILE, {"title": "Ada", "type": "entity", "lang": "en", "mood": "better"})
    different = [pair for pair in zip(lines(FILE), lines(merged), strict=True) if pair[0] != pair[1]]
    assert different == [
        ("updated: 2020-02-03", "updated: 2026-04-01"),
        ('mood: "good"', "mood: better"),
        ("Old body.", "New."),
    ]


def test_null_removes_and_lists_replace() -> None:
    merged = merge(FILE, {"mood": None, "related": ["[[Byron]]"], "absent": None})
    data = frontmatter.load(frontmatter.split(merged).raw or "").data
    assert "mood" not in data and "absent" not in data
    assert data["related"] == ["[[Byron]]"]


def test_sources_are_united_in_order() -> None:
    given = {"sources": ["raw/sources/new.md", "raw/sources/old.md"]}
    merged = merge(FILE, given, origin_source="raw/sources/origin.md")
    data = frontmatter.load(frontmatter.split(merged).raw or "").data
    assert data["sources"] == ["raw/sources/old.md", "raw/sources/new.md", "raw/sources/origin.md"]


def test_sources_can_be_set() -> None:
    merged = merge(FILE, {"sources": ["b"]}, sources_replace=True)
    assert frontmatter.load(frontmatter.split(merged).raw or "").data["sources"] == ["b"]


def test_a_single_source_keeps_its_spelling_while_none_is_added() -> None:
    text = FILE.replace("[raw/sources/old.md]", "raw/sources/old.md")
    assert "\nsources: raw/sources/old.md\n" in merge(text, {"sources": ["raw/sources/old.md"]})


def test_created_is_kept_and_updated_is_ours() -> None:
    merged = merge(FILE, {"created": "1999-01-01", "updated": "1999-01-01"})
    data = frontmatter.load(frontmatter.split(merged).raw or "").data
    assert (data["created"], data["updated"]) == ("2020-02-02", TODAY)
    made = frontmatter.load(frontmatter.split(new_file({"title": "A"}, "x", origin_source="", today=TODAY)).raw or "")
    assert (made.data["created"], made.data["updated"]) == (TODAY, TODAY)


def test_nothing_new_gives_the_same_bytes() -> None:
    assert merge(FILE, {"title": "Ada", "mood": "good"}, "Old body.\n") == FILE


def test_a_file_without_frontmatter_gets_some() -> None:
    merged = merge("\ufeffJust text.\n", {"title": "Ada"}, "---\nnot: frontmatter\n---\n")
    assert merged.startswith("\ufeff---\n")
    assert frontmatter.split(merged).body == "---\nnot: frontmatter\n---\n"


@pytest.mark.parametrize("block", ["title: a: b", "key: [open", "a: 1\na: 2", "- a list"])
def test_what_does_not_parse_is_never_rewritten(block: str) -> None:
    with pytest.raises(SynapseError) as caught:
        merge(f"---\n{block}\n---\nBody.\n", {"title": "Ada"})
    assert caught.value.code is ErrorCode.INVALID_FRONTMATTER


def test_windows_line_ends_stay() -> None:
    merged = merge(FILE.replace("\n", "\r\n"), {"mood": "better"}, "One.\nTwo.\n")
    assert "\n" not in merged.replace("\r\n", "")
    assert merged.endswith("One.\r\nTwo.\r\n")


def test_line_ends_are_only_taken_over_where_they_are_of_one_kind() -> None:
    assert in_the_style_of("a\r\nb\n", "c\n") == "c\n"
    assert in_the_style_of("a\r\n", "c\r\nd\n") == "c\r\nd\n"
    assert in_the_style_of("a\n", "c\n") == "c\n"


def test_sameness_is_that_of_the_file() -> None:
    assert same("Cafe\u0301", "Caf\u00e9")
    assert not same(1, True)
    assert not same("1", 1)
    assert same({"b": 1, "a": [2]}, {"a": [2], "b": 1})


def test_union_strips_and_drops_blanks() -> None:
    assert union([" a ", "b"], ["", "a"], ["c", " "]) == ["a", "b", "c"]


KEYS = st.sampled_from(["mood", "related", "lang", "note", "rank", "done"])
VALUES = st.none() | st.booleans() | st.integers(-9, 9) | st.text("abc: #'\"[]{}-é\n", max_size=12)
GIVEN = st.dictionaries(KEYS, VALUES | st.lists(VALUES.filter(lambda value: value is not None), max_size=3))


@settings(max_examples=150, deadline=None)
@given(GIVEN)
def test_any_change_reads_back_and_touches_nothing_else(given: dict[str, Any]) -> None:
    before = frontmatter.load(frontmatter.split(FILE).raw or "").data
    merged = merge(FILE, given)
    block = frontmatter.split(merged)
    after = frontmatter.load(block.raw or "")
    expected = {**before, **given, "updated": TODAY}
    assert after.flags == []
    assert after.data == {key: value for key, value in expected.items() if value is not None}
    assert block.body == "New.\n"
    for line in lines(FILE):
        key = line.split(":")[0]
        if key in before and key not in given and key not in ("updated", "related"):
            assert line in lines(merged)
