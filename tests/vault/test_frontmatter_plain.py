"""What is read without a YAML parser is what the parser reads."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vault.frontmatter.yaml_core import YamlProblem, read_mapping
from vault.frontmatter.yaml_plain import read_plain

PARTS = (
    "key", "title", "_", "a-b", "é", "知識", ":", ": ", ":\n", "\n", "\n- ", "\n  - ", "- ", "  ", " ", "[", "]", "[]",
    ", ", ",", "1", "007", "-1", "1.50", "1e5", "2024-01-02", "12:30", "true", "null", "~", "No", "a b", "a  b", ".",
    "...", "---", "#", " #", "'", '"', "(x)", "+", "/", "?", "!", "&", "*", "|", ">", "%", "@", "{", "}", "\t", "\r",
    "\u0085", "\u2028", "\ufeff", "=", "<<",
)  # fmt: skip


def agree(raw: str) -> bool:
    """Whether the block is read here; then as the parser has it, or the test fails."""
    plain = read_plain(raw)
    if plain is None:
        return False
    try:
        read = read_mapping(raw).data
    except YamlProblem as problem:
        raise AssertionError(f"{raw!r} is {problem.code}") from None
    assert repr(plain) == repr(read)
    return True


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
def test_a_block_of_any_parts(raw: str) -> None:
    agree(raw)
    agree(f"key: {raw}\n")
    agree(f"key: [{raw}]\n")
    agree(f"key:\n- {raw}\n- b\nother: {raw}\n")
    agree(f"{raw}: value\n")


WORDS = st.text(st.characters(categories=("L", "M", "N", "Pc")) | st.sampled_from(" ./()+-"), min_size=1, max_size=12)
LINES = st.tuples(
    st.sampled_from("abcdef"), st.sampled_from((": {}", ": [{}]", ":", ":\n- {}", ":\n  - {}\n  - x")), WORDS
)


@settings(max_examples=500)
@given(st.lists(LINES, max_size=5))
def test_a_block_of_likely_lines(lines: list[tuple[str, str, str]]) -> None:
    agree("".join(key + form.format(text) + "\n" for key, form, text in lines))


def test_what_is_plain() -> None:
    raw = "title: Ada 1\ntype: entity\ntags: [one, two/three]\ncreated: 2024-09-25\nempty:\nnone: []\nn: 3\n"
    raw += "list:\n  - a\n  - 4\n"
    assert agree(raw)
    assert read_plain(raw) == {
        "title": "Ada 1", "type": "entity", "tags": ["one", "two/three"], "created": "2024-09-25", "empty": None,
        "none": [], "n": 3, "list": ["a", 4],
    }  # fmt: skip
    assert read_plain("") == {}
    assert read_plain("a: 1\na: 2\n") is None
