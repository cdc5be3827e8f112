"""Finding the frontmatter block of a Markdown file and reading it. Never raises for what a file holds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from vault.frontmatter.yaml_core import YamlProblem, read_mapping
from vault.frontmatter.yaml_plain import read_plain

BOM: Final = "\ufeff"
_OPENING: Final = re.compile(r"\ufeff?---[ \t]*+(?:\r\n|\r|\n)")
# Possessive, so that a line of many blanks is read once.
_CLOSING: Final = re.compile(r"[\r\n]---[ \t]*+(?:\r\n|\r|\n|\Z)")


@dataclass(frozen=True, slots=True)
class Split:
    """A file in two: ``raw`` is the text between the `---` lines (None: no block), ``body`` what follows.

    ``body_offset`` and ``raw_offset`` are where they start in the text given, in characters, a byte order mark
    counted; ``raw_offset`` is 0 without a block.
    """

    raw: str | None
    body: str
    body_offset: int
    raw_offset: int = 0


@dataclass(frozen=True, slots=True)
class Flag:
    """Something wrong with a file: a stable code for programs, a sentence for people."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """A block's properties (JSON-safe, keys as written), or none and the flags that say why."""

    data: dict[str, Any] = field(default_factory=dict)
    flags: list[Flag] = field(default_factory=list)


def split(text: str) -> Split:
    """Separate the frontmatter block from the body, in time linear in the text.

    The block opens with `---` on the very first line (a byte order mark may stand before it) and closes at the first
    line that is `---`; blanks may follow either. Lines end at LF, CR or CR LF only. A block that is never closed is
    body. Source: https://obsidian.md/help/properties.
    """
    opening = _OPENING.match(text)
    # The search starts at the opening line's own end, since an empty block closes right there.
    closing = _CLOSING.search(text, opening.end() - 1) if opening else None
    if opening is None or closing is None:
        start = 1 if text.startswith(BOM) else 0
        return Split(None, text[start:], start)
    raw = text[opening.end() : closing.start() + 1]
    return Split(raw, text[closing.end() :], closing.end(), opening.end())


def load(raw: str, *, above: int = 1) -> Loaded:
    """Read a block's properties by YAML 1.2 core (see yaml_core). Any problem gives no data and one flag.

    ``above`` is how many lines of the file stand above the block, for the line that a flag names.
    """
    plain = read_plain(raw)
    if plain is not None:
        return Loaded(plain)
    try:
        return Loaded(read_mapping(raw).data)
    except YamlProblem as problem:
        return Loaded(flags=[flag_of(problem, above=above)])


def flag_of(problem: YamlProblem, *, above: int = 1) -> Flag:
    """The flag of a problem; its reason names the line of the file, whose first is the opening `---`."""
    where = "" if problem.line is None else f"Line {problem.line + 1 + above}: "
    return Flag(problem.code, where + problem.reason)
