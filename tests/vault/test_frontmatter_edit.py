"""Changing frontmatter: a change touches the lines of its key, and no other byte."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import compose, load, split, update, yaml_core


def _data(text: str) -> dict[str, Any]:
    loaded = load(split(text).raw or "")
    assert loaded.flags == []
    return loaded.data


# --- a change touches the lines of its key ------------------------------------------------------------------------

Piece = Callable[[random.Random, str], str]
"""A way to write a value: from a random source and a key to the key's lines, each ending in LF."""

PIECES: list[Piece] = [
    lambda r, k: f"{k}: plain words{r.choice(['', '  # why', ' '])}\n",
    lambda r, k: f"{k}: {r.choice(['1.10', '007', '12:30', 'no', '2026-04-05', '42', 'true', '~', '-3.5'])}\n",
    lambda r, k: f"{k}:   'it''s [[quoted]]' # note\n",
    lambda r, k: f'{k}: "esc \\" \\u2028 \\n [[A|b]]"\n',
    lambda r, k: f"{k}:\n",
    lambda r, k: f"{k}: # only a comment\n",
    lambda r, k: f"{k}: [a, 'b', {{c: 1}}] # flow\n",
    lambda r, k: f"{k}: [a,\n  b,   # inside\n  c]\n",
    lambda r, k: f"{k}: {{x: 1, y: [2]}}\n",
    lambda r, k: f"{k}:\n- a\n- b # indentless\n",
    lambda r, k: f"{k}:\n    -   a\n    # between\n    -   'b'\n",
    lambda r, k: f"{k}:\n  -\n  - x\n  -\n",
    lambda r, k: f"{k}:\n   deep:\n      er: 1\n   other: [z]\n",
    lambda r, k: f"{k}: |\n  line one\n\n  # no comment\n  line two\n",
    lambda r, k: f"{k}: >-\n  folded\n  text\n",
    lambda r, k: f"{k}: |+\n  kept\n\n",
    lambda r, k: f"{k}: |2-\n    indented\n  less\n",
    lambda r, k: f"{k}:\n  - |\n    item\n  - >\n    other\n",
    lambda r, k: f"{k}: words that\n  go on\n\n  and on\n",
    lambda r, k: f"{k}:\n  on the next line\n",
    lambda r, k: f"'{k}': quoted key\n",
    lambda r, k: f"{k} : spaced\n",
    lambda r, k: f"? {k}\n: explicit\n",
    lambda r, k: f"{k}: &anchor anchored\n",
    lambda r, k: f"{k}: !!str 12\n",
    lambda r, k: f"{k}: ünï 日本 🙂 a\u2028b\x85c\n",
    lambda r, k: f"{k}: x\t# tab before the comment\n",
]
BETWEEN = ["", "", "", "# a comment\n", "\n", "   \n", "#\n\n# two\n"]
NEW_VALUES = [
    "word",
    "Needs: quotes # really",
    "",
    7,
    1.5,
    False,
    ["one"],
    ["a", "b", "c"],
    [],
    {"m": ["n"]},
    {},
    "a\nb",
    "🙂",
    ["[[x]]", "{{y}}", "- z"],
]


@dataclass
class OddFile:
    before: str
    lines: str
    after: str
    key: str

    @property
    def text(self) -> str:
        return self.before + self.lines + self.after


def _odd_file(seed: int) -> OddFile:
    """A file with odd but valid frontmatter, cut around the lines of one key."""
    r = random.Random(seed)
    newline = r.choice(["\n", "\n", "\r\n", "\r"])
    indent = r.choice(["", "", "", "  "])
    keys = [f"key{number}" for number in range(r.randint(1, 6))]
    chosen = r.randrange(len(keys))
    parts = [r.choice(["", "\ufeff"]) + r.choice(["---", "--- ", "---\t"]) + "\n", "", ""]
    kept = False  # text that keeps its blank lines would also keep those of a gap
    for number, key in enumerate(keys):
        parts[0 if number <= chosen else 2] += "" if kept else r.choice(BETWEEN)
        piece = r.choice(PIECES)(r, key)
        kept = "|+" in piece
        place = 0 if number < chosen else 1 if number == chosen else 2
        parts[place] += "".join(f"{indent if line else ''}{line}\n" for line in piece.split("\n")[:-1])
    parts[2] += ("" if kept else r.choice(BETWEEN)) + r.choice(["---\n", "---", "---  \n"])
    if parts[2].endswith("\n"):
        parts[2] += r.choice(["", "# Body\n\n---\ntext: x\n---\n", "---\n", "no end"])
    before, lines, after = (part.replace("\n", newline) for part in parts)
    return OddFile(before, lines, after, keys[chosen])


@pytest.mark.parametrize("seed", range(300))
def test_a_changed_key_changes_its_own_lines_only(seed: int) -> None:
    file = _odd_file(seed)
    old = _data(file.text)
    value = random.Random(seed).choice([new for new in NEW_VALUES if new != old[file.key]])
    changed = update(file.text.encode(), {file.key: value}).decode()
    assert changed.startswith(file.before)
    assert changed.endswith(file.after)
    assert changed != file.text
    assert _data(changed) == old | {file.key: value}
    assert split(changed).body == split(file.text).body
    assert update(changed, {file.key: value}) == changed


@pytest.mark.parametrize("seed", range(300, 330))
def test_changes_are_the_same_without_libyaml(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # The parser in Python knows no tab in front of a comment.
    text = _odd_file(seed).text.replace("x\t#", "x #")
    changed = update(text, {"key0": "word"})
    monkeypatch.setattr(yaml_core, "_Parser", yaml.SafeLoader)
    assert update(text, {"key0": "word"}) == changed


@pytest.mark.parametrize("seed", range(400, 500))
def test_a_removed_key_takes_its_own_lines_with_it(seed: int) -> None:
    file = _odd_file(seed)
    changed = update(file.text, {file.key: None})
    assert changed.startswith(file.before)
    # Blank lines and comments behind block text would become part of it, so there they may go too.
    assert file.after.endswith(changed.removeprefix(file.before))
    assert _data(changed) == {key: value for key, value in _data(file.text).items() if key != file.key}


@pytest.mark.parametrize("seed", range(600, 660))
def test_a_new_key_leaves_all_that_stands_there(seed: int) -> None:
    file = _odd_file(seed)
    value = random.Random(seed).choice(NEW_VALUES)
    changed = update(file.text, {"fresh": value})
    assert changed.startswith(file.before + file.lines)
    assert _data(changed) == _data(file.text) | {"fresh": value}
    assert update(changed, {"fresh": None}) == file.text


@pytest.mark.parametrize("seed", range(700, 740))
def test_values_that_stand_already_change_no_byte(seed: int) -> None:
    data = _odd_file(seed).text.encode()
    present = {key: value for key, value in _data(data.decode()).items() if value is not None}
    assert update(data, present | {"absent": None}) == data


# --- particular files ---------------------------------------------------------------------------------------------


def test_scalars_keep_their_comment_and_lists_their_form() -> None:
    text = (
        "---\ntitle: Old   # the title\ntags: [a, b] # flow\nsources:\n- raw/a.md # first\n- 'raw/b.md'\n\n# end\n---\n"
    )
    changed = update(text, {"title": "New: x", "tags": ["a", "c"], "sources": ["raw/a.md", "raw/b.md", "raw/c.md"]})
    assert changed == (
        '---\ntitle: "New: x"   # the title\ntags: [a, c] # flow\nsources:\n- raw/a.md # first\n'
        "- 'raw/b.md'\n- raw/c.md\n\n# end\n---\n"
    )


def test_untouched_keys_keep_dates_comments_and_quotes() -> None:
    text = '---\ncreated: 2026-04-23 # c\nup: "[[X]]"\nversion: 1.10\nupdated: 2026-04-23\n---\n# H'
    changed = update(text, {"updated": "2026-05-01", "version": "1.10"})
    assert changed == text.replace("updated: 2026-04-23", "updated: 2026-05-01")


def test_crlf_stays_and_no_final_newline_is_added() -> None:
    data = b"---\r\ntags:\r\n  - a\r\n---\r\n# H"
    assert update(data, {"tags": ["a", "b"], "lang": "no"}) == (
        b'---\r\ntags:\r\n  - a\r\n  - b\r\nlang: "no"\r\n---\r\n# H'
    )


@pytest.mark.parametrize(
    "text", ["", "# H\n", "---\ntitle: x (no end)\n", "\n---\na: 1\n---\n", "\ufeffx", "a\r\nb\r\n"]
)
def test_a_file_without_a_block_gets_one_and_keeps_its_body(text: str) -> None:
    assert update(text, {"gone": None}) == text
    changed = update(text, {"title": "T", "type": "concept"})
    assert _data(changed) == {"type": "concept", "title": "T"}
    assert split(changed).body == text.removeprefix("\ufeff")
    assert changed.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in changed) == ("\r\n" in text)


def test_braces_become_lines_when_they_change() -> None:
    text = '---\n{"title": "T",\n "tags": ["a"]}\n---\nbody'
    assert update(text, {"title": "T"}) == text
    assert update(text, {"lang": "en"}) == "---\ntitle: T\ntags:\n  - a\nlang: en\n---\nbody"


def test_a_body_in_another_encoding_keeps_its_bytes() -> None:
    data = b"---\ntitle: T\n---\ncaf\xe8 \xed\xa0\x80 \xff"
    assert update(data, {"title": "U"}) == data.replace(b": T", b": U")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_file_of_two_byte_characters_is_refused_not_spoilt(encoding: str) -> None:
    with pytest.raises(SynapseError):
        update("\ufeff---\na: 1\n---\n".removeprefix("\ufeff" * (encoding == "utf-16")).encode(encoding), {"a": 2})


@pytest.mark.parametrize(
    "block",
    [
        "title: a: b",
        "a: 1\na: 2",
        "- a\n- b",
        "just words",
        "x: *a",
        "x: !t y",
        "x: {{y}}",
        "t:\n\t- a",
        "a: caf\xe8\x00",
    ],
)
def test_a_block_that_can_not_be_read_is_never_rewritten(block: str) -> None:
    for data in (f"---\n{block}\n---\nbody", f"---\n{block}\n---\nbody".encode("latin-1")):
        with pytest.raises(SynapseError) as refused:
            update(data, {"title": "New"})
        assert refused.value.code is ErrorCode.INVALID_FRONTMATTER
        assert "nothing was changed" in refused.value.message


def test_a_change_never_makes_a_second_block_or_a_new_key() -> None:
    text = compose({"title": "T"}, "---\nstatus: approved\n---\ntext")
    changed = update(text, {"title": "My Page\nstatus: approved\n---\n"})
    assert _data(changed) == {"title": "My Page\nstatus: approved\n---\n"}
    assert split(changed).body == "---\nstatus: approved\n---\ntext"


@pytest.mark.parametrize("name", ["kepano", "quartz-docs", "ekgardt-llmwiki"])
def test_pages_of_real_vaults_keep_all_other_lines(name: str, shared: Path) -> None:
    changed_files = 0
    for file in sorted((shared / "vaults" / name).rglob("*.md")):
        data = file.read_bytes()
        raw = split(data.decode("utf-8", "surrogateescape")).raw
        for key in load(raw or "").data:
            changed = update(data, {key: "Synapse: was here"})
            assert update(changed, {key: None}) == update(data, {key: None})
            lines, others = changed.splitlines(keepends=True), data.splitlines(keepends=True)
            assert len([line for line in lines if line not in others]) == 1
            changed_files += 1
    assert changed_files > 50
