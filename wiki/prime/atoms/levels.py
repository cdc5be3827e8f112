"""A page at three lengths: summary, core, full. Each starts with the one before, and says how many tokens it is.

- summary: title, kind, description, tags; a description that the body begins with comes last, and core goes on there;
- core: and the lead and the first paragraph of each section of the second level, but those in NOT_IN_CORE, up to 400
  tokens, whole paragraphs only;
- full: and the whole body, as it stands, then properties, relations, sources.

A body that core holds from its beginning on is not repeated in full: it goes on where core ends.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from vault.links import text_key
from vault.markdown.text import SUMMARY_CHARACTERS, shorten
from wiki.prime.atoms.own_words import tail_of
from wiki.prime.atoms.pagetext import NO_TYPE, PageText
from wiki.search.budget import CHARS_A_TOKEN, beginning, tokens

__all__ = ["NO_TYPE", "TOKENS", "Level", "Levels", "PageText", "full_of", "levels_of", "tokens"]

#: The name of how tokens are counted (:func:`wiki.search.budget.tokens`).
TOKENS: Final = "chars4-v1"
CORE_TOKENS: Final = 400
#: Characters of tags that a summary shows; a page with more has the rest in full.
TAG_CHARACTERS: Final = 1_000
#: Sections that say where a page's statements come from, not what they are: in English, Italian, French and German.
NOT_IN_CORE: Final = frozenset(
    {"sources", "source", "references", "reference", "examples", "example", "notes", "history", "see also", "log"}
    | {"fonti", "riferimenti", "esempi", "note", "cronologia", "storia", "vedi anche", "registro"}
    | {"références", "exemples", "historique", "histoire", "voir aussi", "journal"}
    | {"quellen", "einzelnachweise", "beispiele", "notizen", "anmerkungen", "verlauf", "geschichte", "siehe auch"}
    | {"protokoll"}
)

_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*+(?=\n)")
_SPACE: Final = re.compile(r"\s*+")
_AROUND_NAME: Final = re.compile(r"\A[\s*_`\d.)]+|[\s*_`:.]+\Z")


class Level(StrEnum):
    """How much of a page is given, from the shortest."""

    SUMMARY = "summary"
    CORE = "core"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The three texts of a page. ``full`` is made of ``core``, ``body[rest:]`` and ``tail`` (:func:`full_of`)."""

    description: str
    summary: str
    core: str
    full: str
    rest: int
    tail: str

    def text(self, level: Level) -> str:
        """The exact words of a level."""
        return {Level.SUMMARY: self.summary, Level.CORE: self.core, Level.FULL: self.full}[level]

    def tokens(self, level: Level) -> int:
        """How many tokens a level is."""
        return tokens(self.text(level))


class _Span(NamedTuple):
    start: int
    end: int


def levels_of(page: PageText) -> Levels:
    """The levels of a page. Linear in the length of its body, whatever it holds."""
    description = shorten(page.description, SUMMARY_CHARACTERS)
    shown, left_out = _shown_tags(page)
    outline = _Outline(page)
    told = _told(page, outline, description)
    lines = [f"# {page.title} [{page.kind}]", "" if told else description, f"Tags: {', '.join(shown)}" if shown else ""]
    summary = "\n".join(line for line in lines if line) + (f"\n\n{description}" if told else "")
    core, rest = _core(page, outline, summary, told)
    tail = tail_of(page, left_out)
    full = full_of(core, page.body, rest, tail)
    return Levels(description=description, summary=summary, core=core, full=full, rest=rest, tail=tail)


def full_of(core: str, body: str, rest: int, tail: str) -> str:
    """The text of the highest level from its parts, as they are stored."""
    more = body[rest:].rstrip()
    # What goes on where core ends has its own blank line in front.
    gap = "\n\n" if more and not more[0].isspace() else ""
    return f"{core}{gap}{more}\n\n{tail}" if tail else f"{core}{gap}{more}"


def _shown_tags(page: PageText) -> tuple[list[str], list[str]]:
    """The tags that the summary shows, and those that it has no room for."""
    room = TAG_CHARACTERS
    for count, tag in enumerate(page.tags):
        room -= len(tag)
        if room < 0 and count:
            return list(page.tags[:count]), list(page.tags[count:])
    return list(page.tags), []


def _told(page: PageText, outline: _Outline, description: str) -> int:
    """Up to where in the body the summary tells it, word by word; 0 when the description is not the body's own."""
    if description and not page.word("description") and page.body.startswith(description, outline.start):
        return outline.start + len(description)
    return 0


def _core(page: PageText, outline: _Outline, summary: str, told: int) -> tuple[str, int]:
    """The text of core, and where in the body full goes on. ``told``: up to where the summary has the body already."""
    body = page.body
    room = CORE_TOKENS - tokens(summary) - 1
    taken: list[_Span] = []
    for start, end in outline.spans():
        start = max(start, told)  # noqa: PLW2901
        # What is beside each other in the body is kept so, with the blank lines between.
        beside = bool(taken) and not body[taken[-1].end : start].strip()
        cost = _cost(body, taken[-1].end if beside else start, end, room)
        if cost > room:
            if not taken:
                taken = _begun(page, start, end, room)
            break
        room -= cost + 1  # and the line between
        taken[-1 if beside else len(taken) :] = [_Span(taken[-1].start if beside else start, end)]
    parts = [body[start:end] for start, end in taken]
    if told and parts:
        summary += parts.pop(0)
    core = "\n\n".join([summary, *parts])
    whole = len(taken) == 1 and taken[0].start == (told or outline.start)
    if whole and not body[taken[0].end : taken[0].end + 1].strip():
        return core, taken[0].end
    return core, outline.start


def _cost(body: str, start: int, end: int, room: int) -> int:
    """The tokens of a part of the body, or more than ``room`` without counting them all."""
    if end - start > room * CHARS_A_TOKEN:
        return room + 1
    return tokens(body[start:end])


def _begun(page: PageText, start: int, end: int, room: int) -> list[_Span]:
    """As much of a first paragraph as there is room for, when it is prose: else nothing would be told of the page."""
    if room < 1 or _inside(page.read.hidden, start, end):
        return []
    text = beginning(page.body[start : min(end, start + CORE_TOKENS * CHARS_A_TOKEN)], room)
    return [_Span(start, start + len(text))] if text else []


def _inside(hidden: list[list[int]], start: int, end: int) -> bool:
    """Whether some of what is no prose lies between two offsets."""
    at = bisect_right(hidden, start, key=lambda span: span[1])
    return at < len(hidden) and hidden[at][0] < end


class _Outline:
    """A body by its headings and blank lines."""

    def __init__(self, page: PageText) -> None:
        self.body = page.body
        self.end = len(page.body.rstrip())
        self.places = page.read.places
        self.starts = [start for start, _ in self.places]
        self.names = page.read.headings
        self.hidden = page.read.hidden
        self.hidden_ends = [end for _, end in self.hidden]
        self.start = self._content(0)
        self.first = 0  # the first heading that is not the page's own
        if self.places and self.names[0][0] == 1 and self._begins(0, self.start):
            self.first = 1
            # A heading that repeats the title is told by the summary.
            if text_key(self.names[0][1]) == text_key(page.title):
                self.start = self._content(self.places[0][1])

    def spans(self) -> Iterator[_Span]:
        """What core is made of, in order: the paragraphs of the lead, then the first of each section."""
        sections = [at for at in range(self.first, len(self.places)) if self.names[at][0] <= 2]
        bounds = [*(self.starts[at] for at in sections), self.end]
        position = self.start
        while span := self._paragraph(position, bounds[0]):
            yield span
            position = span.end
        for number, at in enumerate(sections):
            name = _AROUND_NAME.sub("", text_key(self.names[at][1]))
            if name not in NOT_IN_CORE and (span := self._paragraph(self.starts[at], bounds[number + 1])):
                yield span

    def _paragraph(self, position: int, limit: int) -> _Span | None:
        """The next paragraph before ``limit``, with the headings right above it; None when there is no more."""
        start = position = self._content(position)
        heading = bisect_left(self.starts, self._line(position))
        while position < limit and heading < len(self.places) and self._begins(heading, position):
            position = self._content(self.places[heading][1])
            heading += 1
        if position >= limit:
            return None
        if heading < len(self.places):
            limit = min(limit, self.starts[heading])
        return _Span(start, self._end(position, limit))

    def _end(self, position: int, limit: int) -> int:
        """Where the block at an offset ends: at a blank line that is in no fence or comment, or at ``limit``."""
        while blank := _BLANK_LINE.search(self.body, position, limit):
            at = bisect_right(self.hidden_ends, blank.start())
            if at == len(self.hidden) or self.hidden[at][0] > blank.start():
                limit = blank.start()
                break
            position = self.hidden_ends[at]
        while self.body[limit - 1].isspace():
            limit -= 1
        return limit

    def _begins(self, heading: int, position: int) -> bool:
        start, end = self.places[heading]
        return start <= position < end or start == position

    def _content(self, position: int) -> int:
        found = _SPACE.match(self.body, position)
        return found.end() if found else position

    def _line(self, position: int) -> int:
        return self.body.rfind("\n", 0, position) + 1
