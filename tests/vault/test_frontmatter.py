"""Reading frontmatter: YAML 1.2 as Obsidian does, bounded whatever a file holds, and the page validator."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.frontmatter import (
    Split,
    load,
    split,
    yaml_core,
)

# --- finding the block --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "raw", "body"),
    [
        ("---\na: 1\n---\nbody", "a: 1\n", "body"),
        ("---\r\na: 1\r\n---\r\nbody\r\n", "a: 1\r\n", "body\r\n"),
        ("---\ra: 1\r---\rbody", "a: 1\r", "body"),
        ("\ufeff---\na: 1\n---\nbody", "a: 1\n", "body"),
        ("--- \t\na: 1\n---  \nbody", "a: 1\n", "body"),
        ("---\na: 1\n---", "a: 1\n", ""),
        ("---\n---\nbody", "", "body"),
        ("---\n---", "", ""),
        ("---\n\n---\n", "\n", ""),
        ("---\ntext: |\n  a\n---\n  b\n---\n", "text: |\n  a\n", "  b\n---\n"),
        ("---\na: 1\n----\n--- x\n ---\n---\n", "a: 1\n----\n--- x\n ---\n", ""),
        ("---\na: b\u2028---\n---\n", "a: b\u2028---\n", ""),
        ("---\na: b\x85---\x0b---\x0c---\n---\n", "a: b\x85---\x0b---\x0c---\n", ""),
        ("---\na: 1\nno end", None, "---\na: 1\nno end"),
        ("---", None, "---"),
        ("----\na: 1\n---\n", None, "----\na: 1\n---\n"),
        ("\n---\na: 1\n---\n", None, "\n---\na: 1\n---\n"),
        (" ---\na: 1\n---\n", None, " ---\na: 1\n---\n"),
        ("\ufeffbody", None, "body"),
        ("", None, ""),
    ],
)
def test_the_block_is_found_line_by_line(text: str, raw: str | None, body: str) -> None:
    parts = split(text)
    assert (parts.raw, parts.body) == (raw, body)
    assert text[parts.body_offset :] == body
    if raw is not None:
        assert text[parts.raw_offset :].startswith(raw)


@given(st.text(st.sampled_from("-\n\r \ta:\ufeff\u2028")))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_text_is_split_without_loss(text: str) -> None:
    parts = split(text)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fences = [number for number, line in enumerate(lines) if line.rstrip(" \t") == "---"]
    has_block = len(fences) > 1 and fences[0] == 0
    assert (parts.raw is not None) == has_block
    if has_block:
        # The same rule, said the slow way.
        normalised = (parts.raw or "").replace("\r\n", "\n").replace("\r", "\n")
        assert normalised == "".join(f"{line}\n" for line in lines[1 : fences[1]])
        assert parts.body.replace("\r\n", "\n").replace("\r", "\n") == "\n".join(lines[fences[1] + 1 :])


@pytest.mark.parametrize(
    "text",
    ["---" + "\n" * 2_000_000, "---" + " " * 2_000_000, "---\n" + ("---" + " " * 2000 + "x\n") * 1000, "---\n"],
)
def test_splitting_is_linear(text: str) -> None:
    start = time.process_time()
    assert split(text) == Split(None, text, 0)
    assert time.process_time() - start < 5  # a hundredth of it is needed; a quadratic pattern takes minutes


# --- reading it ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("42", 42),
        ("-7", -7),
        ("0", 0),
        ("1.5", 1.5),
        ("1e+17", 1e17),
        ("9007199254740991", 2**53 - 1),
        # What other readers turn into something else stays as written.
        ("9007199254740993", "9007199254740993"),
        ("1.10", "1.10"),
        ("007", "007"),
        ("010", "010"),
        ("+5", "+5"),
        ("-0", "-0"),
        ("0o7", "0o7"),
        ("0x1f", "0x1f"),
        ("1_000", "1_000"),
        ("1e3", "1e3"),
        (".inf", ".inf"),
        ("-.INF", "-.INF"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        ("no", "no"),
        ("On", "On"),
        ("yes", "yes"),
        ("y", "y"),
        ("12:30", "12:30"),
        ("12:30:45", "12:30:45"),
        ("2026-04-05", "2026-04-05"),
        ("2026-02-30", "2026-02-30"),
        ("2026-04-05T10:30:00", "2026-04-05T10:30:00"),
        ("=", "="),
        ("'42'", "42"),
        ('"true"', "true"),
        ("!!str 42", "42"),
        ("[[A]]", [["A"]]),
        ('"[[A]]"', "[[A]]"),
        ("٤٢", "٤٢"),
    ],
)
def test_a_scalar_is_what_yaml_1_2_says_and_never_less_than_was_written(written: str, value: Any) -> None:
    loaded = load(f"k: {written}\n")
    assert loaded.flags == []
    assert loaded.data == {"k": value}
    assert type(loaded.data["k"]) is type(value)
    assert json.loads(json.dumps(loaded.data, allow_nan=False)) == loaded.data


@given(st.from_regex(r"[-+]?[0-9]{0,20}(\.[0-9]{0,20})?([eE][-+]?[0-9]{1,4})?", fullmatch=True))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_a_number_is_read_as_one_only_if_it_writes_the_same(written: str) -> None:
    value = yaml_core.plain_value(written)
    assert value is None if not written else str(value) == written


def test_keys_are_always_text() -> None:
    loaded = load("1: a\nnull: b\n~: c\ntrue: d\n2026-01-01: e\n<<: {x: 1}\n1.50: f\n'q': g\n")
    assert list(loaded.data) == ["1", "null", "~", "true", "2026-01-01", "<<", "1.50", "q"]
    assert loaded.data["<<"] == {"x": 1}


@pytest.mark.parametrize("raw", ["", "\n", "# only a comment\n", "~\n", "null\n", "{}\n"])
def test_an_empty_block_has_no_properties_and_nothing_wrong(raw: str) -> None:
    assert load(raw).data == {}
    assert load(raw).flags == []


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85"])
def test_characters_that_only_old_yaml_breaks_lines_at_are_text(character: str) -> None:
    text = f"a{character}b"
    assert load(f'k: "{text}"\np: {text}\n{text}: |\n  {text}\n').data == {"k": text, "p": text, text: f"{text}\n"}


BAD_BLOCKS = [
    ("a: 1\na: 2\n", "duplicate_key", 3),
    ("x:\n  - {b: 1, b: 2}\n", "duplicate_key", 3),
    ("1: a\n'1': b\n", "duplicate_key", 3),
    ("a: &a [1]\nb: *a\n", "yaml_alias", 3),
    ("a: &a [*a]\n", "yaml_alias", 2),
    ("b: &b {x: 1}\nc: {<<: *b}\n", "yaml_alias", 3),
    ('x: !!python/object/apply:os.system ["id"]\n', "yaml_tag", 2),
    ("y: !foo bar\n", "yaml_tag", 2),
    ("y: !!binary aGk=\n", "yaml_tag", 2),
    ("y: !!set {a}\n", "yaml_tag", 2),
    ("%TAG ! tag:x,2000:\n--- # c\na: 1\n", "yaml_tag", 2),
    ("title: {{title}}\n", "yaml_key", 2),
    ("? [a]\n: b\n", "yaml_key", 2),
    ("- a\n- b\n", "not_a_mapping", 2),
    ("just words\n", "not_a_mapping", 2),
    ("'quoted'\n", "not_a_mapping", 2),
    ("42\n", "not_a_mapping", 2),
    ("x: " + "[" * 500 + "]" * 500 + "\n", "yaml_depth", 2),
    ("".join(" " * level + "k:\n" for level in range(40)), "yaml_depth", 34),
    ("k: [" + "1," * 20_000 + "]\n", "yaml_size", 2),
    ("k: " + "x" * 300_000 + "\n", "yaml_size", None),
    ("tags:\n\t- a\n", "invalid_yaml", 3),
    ("title: a: b\n", "invalid_yaml", 2),
    ("aliases:\n- @x\n", "invalid_yaml", 3),
    ("tags:\n  - a\n  -iclr\ncreated: 2026\n", "invalid_yaml", 5),
    ("a: [1\n", "invalid_yaml", 3),
    ('a: "x\n', "invalid_yaml", None),
    ("a: 'x\n", "invalid_yaml", None),
    ('a: "\\q"\n', "invalid_yaml", 2),
    ("a: \x01\n", "invalid_yaml", None),
    ("a: \x00\n", "invalid_yaml", None),
    ("a: \ud800\n", "invalid_yaml", None),
    ("a: 1\n--- # two\nb: 2\n", "invalid_yaml", 3),
    ("a: 1\n...\nb: 2\n", "invalid_yaml", None),
]


@pytest.mark.parametrize(("raw", "code", "line"), BAD_BLOCKS)
def test_what_can_not_be_read_is_one_flag_with_a_reason_of_our_own(raw: str, code: str, line: int | None) -> None:
    loaded = load(raw)
    assert loaded.data == {}
    (flag,) = loaded.flags
    assert flag.code == code
    assert flag.reason.endswith(".")
    assert len(flag.reason) < 150
    if line is not None:
        assert flag.reason.startswith(f"Line {line}: ")


@pytest.mark.parametrize(("raw", "code"), [(raw, code) for raw, code, _ in BAD_BLOCKS if len(raw) < 900])
def test_reading_does_the_same_without_libyaml(raw: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_core, "_Parser", yaml.SafeLoader)
    assert [flag.code for flag in load(raw).flags] == [code]


@given(st.text(st.sampled_from("ab:-[]{},'\"#&*!|>?%@\n  01.~"), max_size=40))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_any_text_gives_data_or_one_flag(raw: str) -> None:
    loaded = load(raw)
    assert len(loaded.flags) <= (0 if loaded.data else 1)
    json.dumps(loaded.data, allow_nan=False)


BOMBS = {
    "laughs": "a: &a [1]\n" + "".join(f"{c}: &{c} [*a,*a]\n" for c in "bcdefgh"),
    "brackets": "[" * 250_000,
    "braces": "a: " + "{a: " * 60_000,
    "dashes": "- " * 120_000,
    "questions": "? " * 120_000,
    "colons": "a" + ": " * 120_000,
    "anchors": "a: " + "&x " * 80_000,
    "ones": "a: [" + "1," * 120_000 + "]",
    "keys": "".join(f"k{number}: 1\n" for number in range(25_000)),
    "quotes": "a: '" + "''" * 120_000,
    "lines": "a: |\n" + "\n" * 250_000,
    "comments": "#\n" * 120_000,
    "blanks": "a: b" + " " * 250_000 + "c",
    "too long": "a: 1\n" * 2_000_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_no_block_costs_more_than_a_moment(name: str) -> None:
    start = time.process_time()
    loaded = load(BOMBS[name])
    assert time.process_time() - start < 5  # a tenth of it at most is needed; a quadratic pattern takes minutes
    assert len(json.dumps(loaded.data)) < 400_000


def test_the_torture_cases_hold(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "markdown-torture.json").read_text())
    seen = 0
    for case in cases:
        for name, content in case["files"].items():
            data = base64.b64decode(content["b64"]) if "b64" in content else content.get("text", "").encode()
            loaded = load(split(data.decode("utf-8", "replace")).raw or "")
            json.dumps(loaded.data, allow_nan=False)
            if case.get("fm") is not None and name == "s.md":
                assert loaded.data == case["fm"], case["id"]
                seen += 1
    assert seen >= 4


@pytest.mark.parametrize("name", ["kepano", "quartz-docs", "ekgardt-llmwiki"])
def test_real_vaults_have_the_properties_that_were_counted(name: str, shared: Path) -> None:
    expected = json.loads((shared / "vaults" / "expected" / f"{name}.json").read_text())["notes"]
    assert expected
    for path, note in expected.items():
        text = (shared / "vaults" / name / path).read_text(encoding="utf-8", errors="replace")
        loaded = load(split(text).raw or "")
        if ": {{" in text:
            # What a template leaves to be filled in is a mapping as a key.
            assert [flag.code for flag in loaded.flags] == ["yaml_key"], path
            continue
        assert bool(loaded.flags) == bool(note["frontmatter_error"] or note["duplicate_keys"]), path
        assert list(loaded.data) == (note["frontmatter_keys"] or []), path
