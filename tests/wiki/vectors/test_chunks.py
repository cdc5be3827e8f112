"""How a page is cut: nothing is lost, nothing is too long, and the same text is always cut alike."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiki.vectors.chunks import HEADING_CHARS, Passage, count_words, cut

LINES = [
    *("", "", "# Head", "## Sub two", "###### Deep", "#", "# Closed ##", "Under", "===", "---", "a line"),
    *("word " * 30, "A sentence. Another one! " * 30, "```", "~~~py", "> ```", "- item " + "x " * 20, "1. one"),
    *("| a | b |", "|---|---|", "知識管理とは何か。" * 40, "ภาษาไทย" * 60, "    code", "\ttab", "x" * 700, "> quote"),
    *("\r", " ", "." * 300, "#tag not a heading", "Zeile\r", "# Windows\r", "🏳️‍🌈 é", "\u2028"),
]
BODIES = st.one_of(
    st.lists(st.sampled_from(LINES), max_size=40).map("\n".join),
    st.text(max_size=400),
    st.text("#=-\n` ab", max_size=80),
)


def shown(passages: list[Passage]) -> list[tuple[str, str]]:
    return [(passage.heading, passage.text) for passage in passages]


@given(BODIES, st.sampled_from([200, 50, 7]))
def test_spans_are_in_order_and_not_too_long(body: str, most: int) -> None:
    at = 0
    passages = cut("Title", body, max_words=most)
    assert passages
    for passage in passages:
        assert at <= passage.start <= passage.end <= len(body)
        assert passage.text == body[passage.start : passage.end]
        assert passage.text == passage.text.strip(" \t\r\n")
        assert passage.words == count_words(body, passage.start, passage.end) <= most
        assert passage.embedded.startswith("Title") and passage.embedded.endswith("\n" + passage.text)
        at = passage.end
    assert passages == cut("Title", body, max_words=most)


@given(BODIES, st.sampled_from([200, 50, 7]))
def test_no_word_is_lost(body: str, most: int) -> None:
    """What is in no span is a heading, and stands in the line of headings of the passage after it."""
    passages = cut("Title", body, max_words=most)
    ends = [0, *(passage.end for passage in passages)]
    for before, passage in zip(ends, passages, strict=False):
        line = passage.embedded.split("\n" + passage.text)[0] if passage.text else passage.embedded
        for heading in body[before : passage.start].split("\n"):
            text = heading.strip().strip("#").strip()
            assert not text or set(text) <= set("=-") or text[: HEADING_CHARS - 2].strip() in line, (heading, line)
    assert not body[ends[-1] :].strip()


def test_headings_lead_down_to_a_passage() -> None:
    long = "Some words of a section that is long enough to stand alone. " * 5
    body = f"Lead.\n\n# One\n{long}\n## Two ##\n{long}\n\nThree\n-----\n{long}\n# Four\n{long}"
    assert [heading for heading, _ in shown(cut("T", body))] == ["", "One › Two", "One › Three", "Four"]
    assert cut("T", body)[1].embedded.startswith("T > One > Two\nSome words")


def test_a_first_heading_that_is_the_title_is_not_said_twice() -> None:
    assert cut("Bread", "# Bread\n## Crust\nBaked.")[0].embedded == "Bread > Crust\nBaked."


def test_headings_without_text_are_kept() -> None:
    assert shown(cut("T", "# A\n\n## B\n")) == [("", "# A\n\n## B")]
    assert shown(cut("T", "# A\n## B\n## B")) == [("", "# A\n## B\n## B")]
    assert shown(cut("T", "# To do\n# Done\nAll.\n\n# Later\n")) == [("Done", "# To do\n# Done\nAll.\n\n# Later")]


def test_small_sections_join_and_keep_their_heading() -> None:
    [only] = cut("T", "# A\nfew words\n# B\nand few more")
    assert only.text == "few words\n# B\nand few more"
    assert only.heading == "A"


def test_an_empty_page_has_a_passage_of_its_title() -> None:
    for body in ("", "  \n\n"):
        assert shown(cut("Bread", body)) == [("", "")]
    assert cut("Bread", "")[0].embedded == "Bread\n"


def test_code_and_tables_are_not_read_as_headings_and_cut_at_lines() -> None:
    code = "```py\n" + "# a comment of some words\n\nx = 1\n" * 60 + "```"
    passages = cut("T", "Before.\n\n" + code + "\n\nAfter.")
    assert len(passages) > 1 and {passage.heading for passage in passages} == {""}
    table = "| a | b |\n|---|---|\n" + "| one cell | and another |\n" * 80
    for passage in cut("T", table):
        assert passage.text.startswith("|") and passage.text.endswith("|")


def test_scripts_without_blanks_are_measured_too() -> None:
    passages = cut("知識", "知識管理とは何か。" * 200)
    assert len(passages) > 3
    assert all(passage.text.endswith("。") for passage in passages)


def test_a_run_without_a_blank_is_cut() -> None:
    assert [len(passage.text) for passage in cut("T", "x" * 9_000)] == [3_200, 3_200, 2_600]


def test_the_hash_is_of_all_that_is_embedded() -> None:
    one, other = cut("T", "# A\ntext")[0], cut("T", "# B\ntext")[0]
    assert one.text == other.text and one.hash != other.hash
    assert one.hash == cut("T", "\n\n# A\n\ntext")[0].hash


UNITS = {
    "prose": "Some words. " * 1_000,
    "headings": "# a\n" * 3_000,
    "levels": "".join("#" * (1 + at % 6) + " h\n" for at in range(3_000)),
    "fences": "```\n" * 3_000,
    "underlined": "a\n-\n" * 3_000,
    "dots": "." * 20_000,
    "blanks": " " * 20_000,
    "blocks": "word\n\n" * 3_000,
    "hashes": "#" * 20_000,
}


@pytest.mark.parametrize("name", UNITS)
def test_the_work_grows_with_the_text(name: str) -> None:
    """Counted in steps of the interpreter, so that it is the same on every machine; each pattern is possessive."""

    def steps(body: str) -> int:
        count = 0

        def trace(*_: object) -> object:
            nonlocal count
            count += 1
            return trace

        before = sys.gettrace()
        sys.settrace(trace)  # type: ignore[arg-type]
        try:
            cut("T", body)
        finally:
            sys.settrace(before)
        return count

    unit = UNITS[name][: len(UNITS[name]) // 4]
    assert steps(unit * 4) <= 5 * steps(unit) + 500


def test_patterns_do_not_go_back() -> None:
    """A long run that almost ends a sentence is looked at once."""
    body = ". " + "!" * 30_000 + '"' * 30_000 + "x"
    assert re.sub(r"\s", "", "".join(passage.text for passage in cut("T", body))) == re.sub(r"\s", "", body)


def test_a_text_whose_pieces_have_more_words_than_the_whole_is_cut() -> None:
    body = "ab cd. 知識管理系統。" * 2 + "ab cd. " * 96
    passages = cut("T", body)
    assert all(passage.words <= 200 for passage in passages)
    assert "".join("".join(passage.text.split()) for passage in passages) == "".join(body.split())
