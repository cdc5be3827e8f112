"""Places within a page that links lead to: headings and blocks, and the text that belongs to one."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final
from urllib.parse import quote

from vault.markdown import ParsedBody
from vault.pages import ParsedPage

#: Before each id, so that none that a page brings along can be taken for one of the frame's.
PREFIX: Final = "at-"
# What Obsidian passes over when it compares a heading with a link to it.
_PASSED_OVER: Final = re.compile(r"[^\w-]+|_+")
_BLANK: Final = re.compile(r"[ \t>]*\Z")
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]")
_ITEM: Final = re.compile(r"[ \t>]*(?:[-+*]|\d{1,9}[.)])[ \t]")
_LONGEST: Final = 200


def heading_key(text: str) -> str:
    """What two spellings of one heading have in common."""
    return _PASSED_OVER.sub(" ", text).strip().casefold()


def heading_id(text: str) -> str:
    """The id of a heading, without regard to others of the same text."""
    return f"{PREFIX}h-{heading_key(text).replace(' ', '-')[:_LONGEST]}"


def block_id(name: str) -> str:
    """The id of a block that is called ``^name``."""
    return f"{PREFIX}b-{name}"


def fragment(subpath: str) -> str:
    """A link's ``#…`` as the end of an address: of several headings the last; "" for none."""
    name = subpath.rpartition("#")[2].strip()
    if not name:
        return ""
    return "#" + quote(block_id(name[1:]) if name.startswith("^") else heading_id(name))


class Ids:
    """The ids of one page's headings: the first of a text has it plain, the others are numbered."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of(self, text: str) -> str:
        """The id of the next heading."""
        plain = heading_id(text)
        self._seen[plain] += 1
        count = self._seen[plain]
        return plain if count == 1 else f"{plain}-{count}"


def part_of(page: ParsedPage, subpath: str) -> str | None:
    """The text that ``#heading`` or ``#^block`` names, the whole body for ""; None where there is no such place."""
    name = subpath.rpartition("#")[2].strip()
    if not name:
        return page.body
    return _block(page.body, name[1:]) if name.startswith("^") else _section(page.body, page.read, name)


def _section(body: str, read: ParsedBody, name: str) -> str | None:
    wanted = heading_key(name)
    for at, (level, text) in enumerate(read.headings):
        if heading_key(text) != wanted:
            continue
        start = read.places[at][0]
        later = zip(read.headings[at + 1 :], read.places[at + 1 :], strict=True)
        end = next((place[0] for (other, _), place in later if other <= level), len(body))
        return body[start:end]
    return None


def _block(body: str, name: str) -> str | None:
    """The paragraph or list item that ends in the id, or the block above an id on a line of its own."""
    lines = body.replace("\r\n", "\n").split("\n")
    mark = re.compile(rf"(?:^|[ \t]|>)\^{re.escape(name)}[ \t]*\Z")
    at = next((at for at, line in enumerate(lines) if mark.search(line)), None)
    if at is None:
        return None
    last = at
    if lines[at].strip(" \t>") == f"^{name}":
        last = next((above for above in range(at - 1, -1, -1) if not _BLANK.match(lines[above])), at)
    elif _ITEM.match(lines[at]):
        return lines[at].lstrip(" \t")
    first = last
    while first and not (_BLANK.match(lines[first - 1]) or _HEADING.match(lines[first - 1])):
        first -= 1
    return "\n".join(lines[first : at + 1 if last == at else last + 1])
