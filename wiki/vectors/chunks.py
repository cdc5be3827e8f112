"""A page's text cut into passages for embedding: at its headings, whole blocks where they fit, 200 words at most.

A passage is a span of the body, so it can be shown as it stands and found again. Blocks (paragraphs, lists, tables,
code) are kept whole; one that is too long is cut into parts of like size, prose at the ends of sentences, all else at
the ends of lines. A section of a few words is no passage by itself: what follows joins it, or it joins what it
follows, and then the heading between them is inside the span. Headings are told of each passage that stands under
them; one with nothing under it is part of the next span. One pass, linear in the length of the text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_WORDS: Final = 200
MIN_WORDS: Final = 40  # below it a section is too little to be told apart by its meaning
HEADING_CHARS: Final = 120  # of a heading in the path; the path is repeated for each passage

_UNSPACED: Final = (
    "\u0e01-\u0e5b\u0e81-\u0edf\u0f40-\u0fbc\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Thai to Khmer
    "\u3005-\u3007\u3041-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U000323af"
)
# A word: what stands between blanks, yet at most 16 characters of it (a long URL is many words to a model), and two
# characters of a script that is written without blanks.
_WORD: Final = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\s{_UNSPACED}]{{1,16}}")
_SENTENCE_END: Final = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'»”’)\]*_]*+\s++|[。！？｡]++[」』）”’]*+\s*+|\n(?=\s*+(?:[-*+]|\d{1,9}[.)]) )"
)
_LINE_END: Final = re.compile(r"\n")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_UNDERLINE: Final = re.compile(r" {0,3}(?:(=++)|-++)[ \t]*+\Z")
_FENCE: Final = re.compile(r"[ \t]*+(?:[-*+>][ \t]++)?(`{3,}+(?=[^`]*+\Z)|~{3,}+)")
_ROWS: Final = re.compile(r"[ \t>]*+\|| {4}|\t")


class Passage(NamedTuple):
    """``text`` is ``body[start:end]`` (code points), ``embedded`` what a model is given of it."""

    start: int
    end: int
    words: int
    heading: str
    """The headings that it stands under, outermost first, `` › `` between them."""
    text: str
    embedded: str
    """A line with the page's title and the headings, then the text."""

    @property
    def hash(self) -> str:
        """sha256 of what is embedded, hex: the same vector comes of the same hash."""
        return hashlib.sha256(self.embedded.encode("utf-8", "surrogatepass")).hexdigest()


class _Span(NamedTuple):
    start: int
    end: int
    words: int
    headings: tuple[str, ...]


class _Block(NamedTuple):
    """A block. ``opens``: words of the headings between it and what is before it; ``by_lines``: cut at lines only."""

    start: int
    end: int
    begins: bool
    """It is the first of its section."""
    opens: int
    by_lines: bool
    headings: tuple[str, ...]


class _Heading(NamedTuple):
    level: int
    text: str
    start: int


def cut(title: str, body: str, *, max_words: int = MAX_WORDS, min_words: int = MIN_WORDS) -> list[Passage]:
    """Cut a Markdown body (without its frontmatter): at least one passage, without text if the body has none."""
    found = []
    for start, end, words, headings in _spans(body, max_words, min_words):
        # A first heading that repeats the title tells nothing more.
        below = headings[1:] if headings and headings[0] == title else headings
        text = body[start:end]
        found.append(Passage(start, end, words, " › ".join(below), text, " > ".join((title, *below)) + "\n" + text))
    return found


def count_words(text: str, start: int, end: int) -> int:
    """How many words ``text[start:end]`` is to a model."""
    return len(_WORD.findall(text, start, end))


def _spans(body: str, max_words: int, min_words: int) -> list[_Span]:
    found: list[_Span] = []
    for block in _blocks(body):
        begins, opens = block.begins, block.opens
        for start, end, words in _parts(body, block, max_words):
            last = found[-1] if found else None
            if last and (not begins or last.words < min_words) and last.words + opens + words <= max_words:
                found[-1] = last._replace(end=end, words=last.words + opens + words)
            else:
                found.append(_Span(start, end, words, block.headings))
            begins, opens = False, 0
    if len(found) > 1 and found[-1].words < min_words:
        words = count_words(body, found[-2].start, found[-1].end)
        if words <= max_words:
            found[-2:] = [found[-2]._replace(end=found[-1].end, words=words)]
    return found or [_Span(0, 0, 0, ())]


def _blocks(body: str) -> Iterator[_Block]:
    """The blocks between blank lines and headings, in order; a fence is one with whatever is in it."""
    path = _Path(body)
    start, end, position, lines = -1, 0, 0, 0
    fence, by_lines = "", False
    for line in [*body.split("\n"), ""]:
        before = body[start:end] if lines == 1 and not by_lines else ""
        level, text = (0, "") if fence else _heading(line, before)
        at = position + len(line) - len(line.lstrip())
        if level and start >= 0 and not _HEADING.match(line):  # the line before it was the heading
            at, start = start, -1
        ends = level or not (fence or line.strip()) or position > len(body)
        if ends and start >= 0:
            yield path.block(start, end, by_lines)
            start = -1
        if level:
            path.enter(_Heading(level, text[:HEADING_CHARS], at), position + len(line.rstrip()))
        elif not ends:
            mark = _FENCE.match(line)
            if fence:
                closing = line.strip(" \t\r>")
                fence = "" if closing.startswith(fence) and not closing.strip(fence[0]) else fence
            elif mark:
                fence = mark[1]
            if start < 0:
                start, lines = position + len(line) - len(line.lstrip()), 0
                by_lines = bool(mark or _ROWS.match(line))
            # A blank line belongs to a fence only when more of it follows.
            end, lines = position + len(line.rstrip()) if line.strip() else end, lines + 1
        if ends:
            lines = 0
        position += len(line) + 1
    if rest := path.rest():
        yield rest


class _Path:
    """The headings above the place that is being read, and those among them that nothing has followed yet."""

    def __init__(self, body: str) -> None:
        self._body = body
        self._path: list[_Heading] = []
        self._bare = 0  # how many headings at the end of the path have nothing under them
        self._lost = -1  # where the first heading begins that ended without anything under it
        self._between = (0, 0)  # from the first heading since the last block to the end of the last one

    def enter(self, heading: _Heading, end: int) -> None:
        """A heading that ends at ``end``."""
        depth = next((at for at, one in enumerate(self._path) if one.level >= heading.level), len(self._path))
        lost = self._path[max(depth, len(self._path) - self._bare) :]
        if lost:  # a heading can be lost after one that stood under it
            self._lost = lost[0].start if self._lost < 0 else min(self._lost, lost[0].start)
        self._bare = max(0, self._bare - (len(self._path) - depth)) + 1
        self._path = [*self._path[:depth], heading]
        self._between = (self._between[0] if self._between[1] else heading.start, end)

    def block(self, start: int, end: int, by_lines: bool) -> _Block:
        """The block at this place, with the headings before it that would be lost."""
        first, last = self._between
        from_lost = self._lost >= 0
        # What is before the first lost heading is told by the path.
        opens = count_words(self._body, first, self._lost if from_lost else last) if last else 0
        begins = bool(last)
        found = _Block(self._lost if from_lost else start, end, begins, opens, by_lines or from_lost, self.names())
        self._bare, self._lost, self._between = 0, -1, (0, 0)
        return found

    def rest(self) -> _Block | None:
        """The headings at the end of the body, which nothing follows."""
        if not self._bare and self._lost < 0:
            return None
        # A heading above a lost one may itself have nothing but headings under it: it is in the span, not in the path.
        bare = [one.start for one in self._path[len(self._path) - self._bare :]]
        start = min([*bare, *([self._lost] if self._lost >= 0 else [])])
        self._lost, last = start, self._between[1]
        self._path = self._path[: len(self._path) - self._bare]
        return self.block(start, last, True)

    def names(self) -> tuple[str, ...]:
        return tuple(one.text for one in self._path)


def _heading(line: str, before: str) -> tuple[int, str]:
    """Level and text of the heading that a line is, or makes of the one line ``before`` it; level 0 when none."""
    if mark := _HEADING.match(line):
        text = line[mark.end() :].strip()
        bare = text.rstrip("#")
        return len(mark[1]), bare.rstrip() if not bare or bare[-1].isspace() else text
    underline = before and _UNDERLINE.match(line.rstrip("\r"))
    if underline and before[0] not in "-*+>":
        return 1 if underline[1] else 2, before.strip()
    return 0, ""


def _parts(body: str, block: _Block, max_words: int) -> Iterator[tuple[int, int, int]]:
    """(start, end, words) of the block, or of the like parts that it is cut into; none longer than ``max_words``."""
    left = count_words(body, block.start, block.end)
    if left <= max_words:
        yield block.start, block.end, left
        return
    start, words, aim = block.start, 0, left / -(-left // max_words)
    for at, more in _pieces(body, block, max_words):
        if words and (words + more > max_words or words + more / 2 > aim):
            yield start, start + len(body[start:at].rstrip()), words
            left -= words
            # The pieces may come to more words than the block: "。a" is one word, and two where it is cut.
            start, words, aim = at, 0, left / -(-left // max_words) if left > 0 else max_words
        words += more
    yield start, block.end, words


def _pieces(body: str, block: _Block, max_words: int) -> Iterator[tuple[int, int]]:
    """(start, words) of the sentences or lines of a block; one that is too long is cut between words."""
    start = block.start
    ends = _LINE_END if block.by_lines else _SENTENCE_END
    for end in (*(match.end() for match in ends.finditer(body, start, block.end)), block.end):
        places = [word.start() for word in _WORD.finditer(body, start, end)]
        for at in range(0, len(places), max_words):
            yield places[at], min(max_words, len(places) - at)
        start = end
