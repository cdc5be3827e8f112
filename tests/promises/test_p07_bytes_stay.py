"""P7: a key of the frontmatter is changed, and every other byte of the file stays, whatever the file looks like."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import VaultFolder
from tests.promises.figures import Measured, figure
from vault import frontmatter
from vault.history import Author
from wiki.models import Page
from wiki.services import page_content, put_page, write_page
from wiki.sync import scan

pytestmark = pytest.mark.django_db

FILES = figure(60, 300)
ALICE = Author("alice", "rest")
CLAUDE = Author("claude", "mcp-stdio")

#: Blocks that people, plugins and other programs write; each is valid, and none is how Synapse would write it.
OTHERS = [
    "# a comment of its own line",
    "tags:   [a,b , 'c d']   # spaced",
    "tags:\n- one\n-   two # why\n\n- three",
    "aliases:\n    - 'It''s quoted'\n    - \"tab\\there\"",
    "empty:",
    "nothing: ~",
    "date: 2026-01-05",
    "when: 2026-01-05T10:00:00Z   ",
    "time: 12:30",
    "version: 1.10",
    "octal: 0123",
    "yes: no",
    "\"quoted key\":   'single'",
    "url: https://example.org/#part",
    "folded: >-\n  a long\n  text\n\n  of two parts",
    "literal: |2\n    indented\n  text: not a key\n",
    "flow: {a: 1,   b: [2,3]}",
    "flow: [\n  1,\n  2, # two\n]",
    "one: 'two''s'\nthree: \"four \\u00e9\"",
    "Überschrift: 机器 — ‘ß’",
    "emoji: 🎈",
    'related: "[[Ada|her]]"',
    "up:\n  - '[[Ada]]'\n  -   \"[[b]]\"  ",
    "nested:\n   deeper:\n      deepest: 1\n   other: 2",
    "spaces after   : x",
    "",
]
#: The line that is to change, in the forms that it may have; ``mood`` is its key.
LINES = [
    "mood: good",
    'mood: "good"',
    "mood:   'good'  ",
    "mood: 3",
    "mood: [a, b]",
    "mood:",
    "mood: good # note",
    "mood: no",
]
VALUES: list[Any] = ["bad", "no", "a: b", "# x", "12:30", 7, True, 1.5, "it's", 'say "so"', "2026-01-01", "- x", "机器"]
BODIES = [
    "",
    "\n",
    "No newline at the end",
    "Text.\n\n---\n\nmood: not this one\n",
    "Tabs\there\t\n\n\n\ttoo  \n",
    "[[Ada]] ![[x.png]] `code`\n\n```\n---\nmood: good\n---\n```\n",
    "\u2028 odd \u00a0 blanks \u200b\n",
    "e\u0301 and \u00e9\n",
]


@dataclass(frozen=True)
class Odd:
    """A file, the number of the line that is to change, and the value that it is to have."""

    data: bytes
    line: int
    value: Any


def odd(number: int) -> Odd:
    """A file as no other."""
    chance = random.Random(number)
    others = chance.sample(OTHERS, chance.randrange(2, 8))
    keys: set[str] = set()
    chosen = []
    for block in others:  # a key is there once
        mine = {line.partition(":")[0] for line in block.split("\n") if line[:1] not in ("", " ", "-", "#", "]")}
        if not mine & keys:
            keys |= mine
            chosen.append(block)
    before, after = chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]
    head = "".join(f"{block}\n" for block in ["---" + " " * chance.choice([0, 0, 2]), *before])
    line = chance.choice(LINES)
    rest = "".join(f"{block}\n" for block in [*after, "---"]) + chance.choice(BODIES)
    text = f"{head}{line}\n{rest}".replace("\n", chance.choice(["\n", "\r\n"]))
    data = chance.choice([b"", b"", b"\xef\xbb\xbf"]) + text.encode()
    value = chance.choice([value for value in VALUES if str(value) not in line])
    return Odd(data, head.count("\n"), value)


def test_one_key_through_the_write_path(vault_folder: VaultFolder, measured: Measured) -> None:
    """As a person does: they get the properties, change one and send all of them back."""
    files = {f"wiki/concepts/odd {number}.md": odd(number) for number in range(FILES)}
    for path, file in files.items():
        vault_folder.write(path, file.data)
    scan()
    for path, file in files.items():
        page = Page.objects.get(path=path)
        assert page.flags == [], (path, file.data)
        given = page_content(page)["frontmatter"]
        put_page(page=page, frontmatter={**given, "mood": file.value}, base_hash=page.content_hash, author=ALICE)
        assert changed_lines(file.data, vault_folder.read(path)) == [file.line], (path, file.data)
        block = frontmatter.split(vault_folder.read(path).decode())
        assert frontmatter.load(block.raw or "").data == {
            **frontmatter.load(frontmatter.split(file.data.decode()).raw or "").data,
            "mood": file.value,
        }
    measured(
        "P7",
        f"{len(files)} odd files (CRLF, BOM, comments, tabs, quotes), one key changed: each differs in that line alone",
    )


def test_one_key_as_an_agent_writes(vault_folder: VaultFolder, measured: Measured) -> None:
    """An agent sends what it requires; the day of ``updated`` is the other line that a write changes."""
    count = 0
    for number in range(FILES // 5):
        chance = random.Random(-number)
        newline, mark = chance.choice(["\n", "\r\n"]), chance.choice([b"", b"\xef\xbb\xbf"])
        comment = chance.choice(["", "  # set by hand"])
        lines = [
            "---",
            f"type:   concept{comment}",
            f"title: 'Odd {number}'",
            "created: 2020-02-02",
            "updated: 2020-02-02",
            "sources: [ 'raw/sources/a.md' ]",
            "lang: en # English",
            'mood: "good"',
            chance.choice(["tags: [a,b]", "# nothing", "x: >-\n  folded\n  text"]),
            "---",
            "Text that stays.",
            "",
        ]
        data = mark + newline.join(lines).replace("\r\n", "\n").replace("\n", newline).encode()
        path = f"wiki/concepts/odd-{number}.md"
        vault_folder.write(path, data)
        scan()
        page = Page.objects.get(path=path)
        given = {
            "type": "concept",
            "title": f"Odd {number}",
            "sources": ["raw/sources/a.md"],
            "lang": "en",
            "mood": "bad",
        }
        write_page(
            title=f"Odd {number}",
            content="Text that stays.\n",
            frontmatter=given,
            base_hash=page.content_hash,
            author=CLAUDE,
        )
        assert changed_lines(data, vault_folder.read(path)) == [4, 7], data
        count += 1
    measured("P7", f"{count} files written by an agent: each differs in its key and the day of `updated`")


def changed_lines(before: bytes, after: bytes) -> list[int]:
    """The numbers of the lines that differ; lines keep their ends, and none may come or go."""
    old, new = before.split(b"\n"), after.split(b"\n")
    assert len(old) == len(new), after
    for one, other in zip(old, new, strict=True):
        assert one.endswith(b"\r") == other.endswith(b"\r")
    return [number for number, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
