"""The brace form of an atom: every kind of value, every mistake with its line, and no text that stops the reader."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiki.prime.checking.brace import MAX_DEPTH, MAX_FAULTS, read_atom


def field(written: str) -> Any:
    """The value of a field written like this."""
    source = read_atom(f'concept Bread {{ it: {written}\nnext: "there" }}')
    assert source.faults == [] and source.value("next") == "there"
    return source.value("it")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"a \\"b\\" \\n\\\\"', 'a "b" \n\\'),
        ('""', ""),
        ('"""two\n"lines" """', 'two\n"lines" '),
        ("7", 7),
        ("-2.50", -2.5),
        ("24px", "24px"),
        ("40%", "40%"),
        ("1..5", "1..5"),
        ("1.2.0", "1.2.0"),
        ("2026-11-30", "2026-11-30"),
        ("9" * 5_000, "9" * 5_000),
        ("true", True),
        ("false", False),
        ("rye-bread", "rye-bread"),
        ("パン", "パン"),
        ("@food/concept-rye", "@food/concept-rye"),
        ("[a, 1 @s/b, [c]]", ["a", 1, "@s/b", ["c"]]),
        ("[]", []),
        ("{a: 1, b: {c: [d]}}", {"a": 1, "b": {"c": ["d"]}}),
        ('a | "b" | 3', ["a", "b", 3]),
        ("[a | b, c]", [["a", "b"], "c"]),
        ("a // b\n", "a"),
        ("/* b: 3 */ a", "a"),
        ("|\n  one\n    two\n\n  three\n", "one\n  two\n\nthree"),
    ],
)
def test_values(written: str, value: Any) -> None:
    assert field(written) == value


def test_head_and_lines() -> None:
    source = read_atom(
        '// said before\nrule Proof extends Base {\n  id: "@food/rule-proof"\n  text: |\n    a\n    b\n  z: 1\n}'
    )
    assert (source.kind, source.name, source.parent, source.line) == ("rule", "Proof", "Base", 2)
    assert [(name, entry.line) for name, entry in source.fields.items()] == [("id", 3), ("text", 4), ("z", 7)]
    assert source.value("absent", "z") == 1 and source.line_of("absent", "z") == 7 and source.line_of("absent") == 2


def test_an_object_needs_no_colon() -> None:
    source = read_atom("rule Proof { contract { must-include: [@a/b] } }")
    assert source.faults == [] and source.value("contract") == {"must-include": ["@a/b"]}


@pytest.mark.parametrize(
    ("text", "lines", "left"),
    [
        ("", [1, 1], {}),
        ("concept", [1, 1], {}),
        ("concept Bread", [1], {}),
        ("{ a: 1 }", [1, 1], {}),
        ("concept Bread {\n a: 1", [2], {"a": 1}),
        ("concept Bread {\n a:\n b: 2 }", [2], {"b": 2}),
        ("concept Bread {\n a\n b: 2 }", [2], {"b": 2}),
        ("concept Bread {\n a: [1, 2\n b: 2 }", [2], {"a": [1, 2], "b": 2}),
        ('concept Bread {\n a: "1\n b: 2 }', [2, 2], {"b": 2}),
        ("concept Bread {\n a: 1\n a: 2 }", [3], {"a": 1}),
        ("concept Bread {\n §: 1\n b: 2 }", [2, 2], {"b": 2}),
        ("concept Bread { a: 1 }\nconcept Rye { b: 2 }", [2], {"a": 1}),
        ("concept Bread { a: 1 }\n/* to the end", [2], {"a": 1}),
    ],
)
def test_mistakes_have_their_line_and_the_rest_is_read(text: str, lines: list[int], left: dict[str, Any]) -> None:
    source = read_atom(text)
    assert [fault.line for fault in source.faults] == lines
    assert all(fault.message.endswith(".") and fault.hint for fault in source.faults)
    assert {name: entry.value for name, entry in source.fields.items()} == left


def test_depth_is_bounded() -> None:
    deep = "[" * (MAX_DEPTH + 5) + "]" * (MAX_DEPTH + 5)
    source = read_atom(f"concept Bread {{ a: {deep}\n b: 2 }}")
    assert [fault.message for fault in source.faults] == [f"Nested more than {MAX_DEPTH} deep."]
    assert source.value("b") == 2


def test_faults_are_bounded() -> None:
    assert len(read_atom("§" * 5_000).faults) == MAX_FAULTS


@given(st.one_of(st.text(max_size=200), st.text('{}[]:|"@a/1.\n *', max_size=80)))
def test_no_text_stops_the_reader(text: str) -> None:
    source = read_atom("concept Bread {" + text)
    assert all(1 <= fault.line <= text.count("\n") + 1 for fault in source.faults)
    assert all(1 <= entry.line <= text.count("\n") + 1 for entry in source.fields.values())


JSON = st.recursive(
    st.one_of(st.booleans(), st.integers(-999, 999), st.text(st.characters(exclude_categories=["C", "Z"]), max_size=9)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b-c", "d"]), inner, max_size=3),
    max_leaves=12,
)


def written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, dict):
        return "{" + " ".join(f"{name}: {written(item)}" for name, item in value.items()) + "}"
    return str(value)


@given(JSON)
def test_what_is_written_is_read(value: Any) -> None:
    assert field(written(value)) == value


@pytest.mark.parametrize(("parent", "kind"), [("Rule", "rule"), ("AntiPattern", "anti-pattern"), ("rule", "rule")])
def test_the_older_form_has_its_kind_behind_extends(parent: str, kind: str) -> None:
    found = read_atom(f'prime Contrast extends {parent} {{ id: "@a/{kind}-contrast" }}')
    assert (found.kind, found.name, found.faults) == (kind, "Contrast", [])
