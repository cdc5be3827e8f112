"""The three lengths of a page: what is in each, and what is true of all of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.pages import parse_page
from wiki.prime.atoms.levels import CORE_TOKENS, NOT_IN_CORE, Level, Levels, PageText, full_of, levels_of, tokens

ENTITY = """\
---
type: entity
title: Ada Lovelace
tags: [mathematics, computing]
aliases: ["Lovelace, Ada", Countess]
sources: [raw/sources/life.pdf, "[[Letters]]"]
lang: en
notes:
  - Born in London.
  - She read Laplace.
requires: "[[Analytical Engine]]"
---
# Ada Lovelace

Ada Lovelace was an English mathematician. She wrote the first program.

## Life

She was born in 1815.

She died in 1852.

## Work

- notes on the [[Analytical Engine]]
- a table of numbers

## Sources

Letters of hers.
"""
ENTITY_SUMMARY = """\
# Ada Lovelace [entity]
Tags: mathematics, computing

Ada Lovelace was an English mathematician."""
ENTITY_CORE = f"""\
{ENTITY_SUMMARY} She wrote the first program.

## Life

She was born in 1815.

## Work

- notes on the [[Analytical Engine]]
- a table of numbers"""
ENTITY_FULL = f"""\
{ENTITY_CORE}

Ada Lovelace was an English mathematician. She wrote the first program.

## Life

She was born in 1815.

She died in 1852.

## Work

- notes on the [[Analytical Engine]]
- a table of numbers

## Sources

Letters of hers.

Aliases: Lovelace, Ada; Countess

Properties:
- notes: Born in London.; She read Laplace.

Relations:
- requires: [[Analytical Engine]]

Sources:
- raw/sources/life.pdf
- [[Letters]]"""

CONCEPT = """\
---
type: concept
tags: [知识]
---
# 知识管理

知识管理是组织知识的方法。它很重要。

## 方法

先收集,再整理。

## References

书。
"""
CONCEPT_SUMMARY = "# 知识管理 [concept]\nTags: 知识\n\n知识管理是组织知识的方法。"
CONCEPT_CORE = f"{CONCEPT_SUMMARY}它很重要。\n\n## 方法\n\n先收集,再整理。"

SOURCE = """\
---
type: source
title: رسالة
description: رسالة قصيرة عن الآلات الحاسبة.
lang: ar
---
كتبها عالم في بغداد.

## ملاحظات

النص الأول.
"""
SOURCE_SUMMARY = "# رسالة [source]\nرسالة قصيرة عن الآلات الحاسبة."
SOURCE_CORE = f"{SOURCE_SUMMARY}\n\nكتبها عالم في بغداد.\n\n## ملاحظات\n\nالنص الأول."

SYNTHESIS = """\
---
type: synthesis
tags: [a]
---
Setext
------

```python
one = 1

## no heading
```

More.

## Empty

### Below

Text below a heading below.
"""
SYNTHESIS_CORE = """\
# state [synthesis]
More.
Tags: a

Setext
------

```python
one = 1

## no heading
```

## Empty

### Below

Text below a heading below."""


def page(text: str, path: str = "wiki/state.md") -> PageText:
    return PageText.of_page(parse_page(path, text.encode()))


def levels(text: str, path: str = "wiki/state.md") -> Levels:
    return levels_of(page(text, path))


class TestGolden:
    def test_an_entity(self) -> None:
        found = levels(ENTITY)
        assert found.summary == ENTITY_SUMMARY
        assert found.core == ENTITY_CORE
        assert found.full == ENTITY_FULL

    def test_a_concept_in_chinese(self) -> None:
        found = levels(CONCEPT, "wiki/concepts/知识管理.md")
        assert found.summary == CONCEPT_SUMMARY
        assert found.core == CONCEPT_CORE
        assert found.full == f"{CONCEPT_CORE}\n\n## References\n\n书。"
        assert tokens(found.summary) == (4 + 13 + 2) + -(-21 // 4)

    def test_a_source_that_is_read_from_the_right(self) -> None:
        found = levels(SOURCE)
        assert (found.summary, found.core, found.full) == (SOURCE_SUMMARY, SOURCE_CORE, SOURCE_CORE)

    def test_a_synthesis_with_code_and_headings_of_both_forms(self) -> None:
        found = levels(SYNTHESIS)
        assert found.core == SYNTHESIS_CORE
        body = SYNTHESIS.removeprefix("---\ntype: synthesis\ntags: [a]\n---\n").strip()
        assert found.full == f"{SYNTHESIS_CORE}\n\n{body}"

    def test_a_comparison_without_a_body(self) -> None:
        found = levels("---\ntype: comparison\ntitle: A and B\ntags: [x, y]\nnotes: [n]\n---\n")
        assert found.summary == found.core == "# A and B [comparison]\nTags: x, y"
        assert found.full == f"{found.core}\n\nProperties:\n- notes: n"

    def test_a_page_without_anything(self) -> None:
        found = levels("")
        assert found.summary == found.core == found.full == "# state [page]"
        assert found.rest == 0


class TestSummary:
    def test_a_long_description_is_cut_on_a_word(self) -> None:
        sentence = "word " * 100
        description = levels(f"---\ndescription: {sentence}\n---\nText.").description
        assert description == "word " * 46 + "word…"
        assert len(description) <= 240
        found = levels(f"---\ndescription: {sentence}\n---\nText.")
        assert found.summary.endswith(description)
        assert f"description: {sentence.strip()}" in found.full

    def test_more_tags_than_there_is_room_for_are_in_full(self) -> None:
        tags = [f"tag{number:04}" for number in range(300)]
        found = levels(f"---\ntags: [{', '.join(tags)}]\n---\nText.")
        shown = found.summary.rpartition("Tags: ")[2].partition("\n")[0].split(", ")
        assert shown == tags[: len(shown)]
        assert 100 < len(shown) < 300
        assert all(tag in found.full for tag in tags)


class TestCore:
    @pytest.mark.parametrize("name", sorted(NOT_IN_CORE))
    def test_sections_that_tell_of_sources_are_left_out(self, name: str) -> None:
        for written in (name, name.upper(), f"**{name.title()}**:", f"3. {name}"):
            text = f"Lead.\n\n## {written}\n\nLeft out.\n\n### Below\n\nToo.\n\n## Kept\n\nKept."
            found = levels(text)
            assert "Left out." not in found.core
            assert "Too." not in found.core
            assert found.core.endswith("Lead.\n\n## Kept\n\nKept.")
            assert found.full.endswith(text)

    def test_it_ends_with_a_whole_paragraph(self) -> None:
        lead = "\n\n".join(f"Paragraph {number} " + "word " * 60 for number in range(10))
        found = levels(lead)
        assert 300 < tokens(found.core) <= CORE_TOKENS
        assert found.core.endswith("word")
        assert found.core.count("Paragraph") == found.core.count("word") // 60 + 1 == 5  # one is in the description
        assert found.full == found.summary + "\n\n" + lead.strip()

    def test_a_first_paragraph_that_is_too_long_is_begun(self) -> None:
        text = "word " * 1_000
        found = levels(text)
        assert 390 <= tokens(found.core) <= CORE_TOKENS
        assert found.full == f"{found.summary}\n\n{text.strip()}"
        found = levels("知" * 1_000)
        assert tokens(found.core) <= CORE_TOKENS
        assert found.full.endswith("\n\n" + "知" * 1_000)

    def test_code_is_whole_or_not_there(self) -> None:
        code = "```\n" + "line of code\n\n" * 200 + "```"
        found = levels(f"{code}\n\nText.\n")
        assert found.core == found.summary
        assert found.full == f"{found.summary}\n\n{code}\n\nText."
        assert "```\na\n\nb\n```" in levels("## One\n\n```\na\n\nb\n```\n\nrest").core

    def test_a_heading_that_repeats_the_title_is_said_once(self) -> None:
        assert levels("# State\n\nText.").full == "# state [page]\n\nText."
        assert levels("# Other\n\nText.").full == "# state [page]\nText.\n\n# Other\n\nText."

    def test_line_ends_of_two_characters(self) -> None:
        found = levels("Lead.\r\n\r\n## One\r\n\r\nFirst.\r\n\r\nSecond.\r\n")
        assert found.core.endswith("Lead.\r\n\r\n## One\r\n\r\nFirst.")
        assert found.full.endswith("First.\r\n\r\nSecond.")


# --- what is true of every page -----------------------------------------------------------------

LINES = st.sampled_from(
    (
        "||## One|# Two|### Deep|text|```|~~~|- item|> quoted|$$|<!-- c|-->|Setext|---|===|    code|\t|知识管理|مرحبا"
        "|requires:: [[X]]|## Sources|\r|e\u0301|\u00a0|[[link]] #tag|%%|^id|" + "text and more of it " * 20
    ).split("|")
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=40), st.booleans(), st.sampled_from(["", "---\ntags: [a, b]\nnotes: [n]\n---\n"]))
def test_levels_grow_and_lose_nothing(lines: list[str], carriage: bool, frontmatter: str) -> None:
    text = frontmatter + ("\r\n" if carriage else "\n").join(lines)
    told = page(text)
    found = levels_of(told)
    assert found.core.startswith(found.summary)
    assert found.full.startswith(found.core)
    assert found.tokens(Level.SUMMARY) <= found.tokens(Level.CORE) <= found.tokens(Level.FULL)
    assert found.tokens(Level.CORE) <= max(CORE_TOKENS, found.tokens(Level.SUMMARY))
    assert full_of(found.core, told.body, found.rest, found.tail) == found.full
    assert told.body.strip() in found.full
    assert levels_of(page(text)) == found


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400), st.text(max_size=40))
def test_any_text_has_levels(body: str, title: str) -> None:
    found = levels_of(PageText.of(title, None, body))
    assert found.full.startswith(found.core)
    assert found.core.startswith(found.summary)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_tokens_are_one_a_wide_character_and_a_quarter_of_the_others(text: str) -> None:
    """chars4-v1, said in another way."""
    wide = sum(
        0x1100 <= code <= 0x11FF
        or 0x2E80 <= code <= 0x2FDF
        or 0x3000 <= code <= 0x4DBF
        or 0x4E00 <= code <= 0x9FFF
        or 0xA960 <= code <= 0xA97F
        or 0xAC00 <= code <= 0xD7FF
        or 0xF900 <= code <= 0xFAFF
        or 0xFE30 <= code <= 0xFE4F
        or 0xFF00 <= code <= 0xFFEF
        or 0x20000 <= code <= 0x323AF
        for code in map(ord, text)
    )
    assert tokens(text) == wide + -(-(len(text) - wide) // 4)
