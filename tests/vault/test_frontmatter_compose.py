"""Writing new frontmatter: whatever is composed is read back the same, by other readers too."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import compose, load, split, update

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
SPICE = st.text(st.sampled_from("-:#[]{},&*!|>'\"%@`?~=<> \n\t0123456789.eEoxnyab"), max_size=12)
NUMBER = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
SCALAR = TEXT | SPICE | NUMBER | st.booleans() | st.none()
VALUE = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))
PROPERTIES = st.dictionaries(TEXT | SPICE, VALUE, max_size=6)

HARD_STRINGS = [
    "Governance: Core",
    "@scope/pkg",
    "'type' is",
    "- dash",
    "[[x]]",
    "{{date}}",
    "#tag",
    "yes",
    "no",
    "on",
    "y",
    "2026-01-01",
    "2026-01-01T10:00:00Z",
    "12:30",
    "12:30:45",
    "null",
    "~",
    "true",
    "1.10",
    "007",
    "0o7",
    "0x1f",
    "1_000",
    "1e3",
    ".inf",
    ".nan",
    "",
    " lead",
    "trail ",
    "a\nb",
    "a\r\nb",
    "\n---\n",
    "---",
    "...",
    "--- x",
    "a #b",
    "a: b",
    "a:",
    "<<",
    "=",
    "*a",
    "&a",
    "!a",
    "%a",
    "`a",
    "| a",
    "> a",
    "? a",
    "\ta",
    "a\tb",
    "a\\b",
    'say "hi"',
    "it's",
    "🙂 [x]",
    "a\u2028b",
    "a\u2029b",
    "a\x85b",
    "a\ufeffb",
    "a\x0bb\x0cc\x7f",
    "\u00a0x",
    "x" * 5000,
    "long " * 400,
    "$1 $& \\1 \\g<0> %s {0}",
]


def _data(text: str) -> dict[str, Any]:
    loaded = load(split(text).raw or "")
    assert loaded.flags == []
    return loaded.data


@given(PROPERTIES, TEXT | st.just("---\nstatus: approved\n---\ntext"))
@settings(max_examples=120, deadline=None, derandomize=True)
@example({"k" * 200: "v", "": {"": []}}, "")
def test_what_is_composed_is_read_back_the_same(properties: dict[str, Any], body: str) -> None:
    text = compose(properties, body)
    assert _data(text) == properties
    assert split(text).body == body


@pytest.mark.parametrize("value", HARD_STRINGS)
def test_a_string_stays_that_string_for_readers_of_both_yaml_versions(value: str) -> None:
    raw = split(compose({"k": value, "l": [value], "m": {"n": value}}, "")).raw or ""
    for data in (load(raw).data, YAML(typ="safe", pure=True).load(raw), yaml.safe_load(raw)):
        assert data == {"k": value, "l": [value], "m": {"n": value}}


@given(st.dictionaries(TEXT | SPICE, TEXT | SPICE | st.sampled_from(HARD_STRINGS), max_size=4))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_another_reader_of_yaml_1_2_reads_the_same_strings(properties: dict[str, str]) -> None:
    raw = split(compose(properties, "")).raw or ""
    assert (YAML(typ="safe", pure=True).load(raw) or {}) == properties


def test_keys_come_in_a_fixed_order_and_dates_of_ours_stay_plain() -> None:
    text = compose(
        {"zeta": 1, "created": "2026-01-02", "due": "2026-01-03", "title": "T", "tags": ["a", "b"], "type": "concept"},
        "Body\n",
    )
    assert text == (
        "---\ntype: concept\ntitle: T\ntags:\n  - a\n  - b\ncreated: 2026-01-02\nzeta: 1\n"
        'due: "2026-01-03"\n---\nBody\n'
    )


@pytest.mark.parametrize("value", [2**53, -(2**60), float("nan"), float("inf"), {1: "x"}, {"a": {1}}, b"x", object()])
def test_what_a_reader_could_not_give_back_is_refused(value: Any) -> None:
    with pytest.raises(SynapseError) as refused:
        compose({"k": [value]}, "")
    assert refused.value.code is ErrorCode.INVALID_FRONTMATTER


def test_too_deep_and_too_many_values_are_refused_not_written() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    for value in (deep, list(range(20_000)), "x" * 300_000):
        with pytest.raises(SynapseError) as refused:
            compose({"k": value}, "")
        assert refused.value.code is ErrorCode.INVALID_FRONTMATTER


@pytest.mark.parametrize("bad", ["a\x00b", "\ud800", ["\udfff"], {"\x00": 1}])
def test_nul_and_half_characters_are_refused(bad: Any) -> None:
    for write in (lambda: compose({"k": bad}, ""), lambda: update("---\na: 1\n---\n", {"k": bad})):
        with pytest.raises(SynapseError) as refused:
            write()
        assert refused.value.code is ErrorCode.INVALID_CONTENT
    with pytest.raises(SynapseError):
        compose({}, "body \x00")


@given(PROPERTIES, PROPERTIES)
@settings(max_examples=120, deadline=None, derandomize=True)
def test_any_composed_file_takes_any_change(properties: dict[str, Any], changes: dict[str, Any]) -> None:
    text = compose(properties, "body")
    expected = {key: value for key, value in (properties | changes).items() if changes.get(key, 0) is not None}
    assert _data(update(text, changes)) == expected
