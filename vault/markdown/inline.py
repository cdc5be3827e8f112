"""The links and tags in the inline text of a note, with their exact places.

One pass from left to right over the text that :func:`vault.markdown.blocks.scan_blocks` left: what starts first wins,
so code, mathematics, comments and escapes hide what stands in them. Each character is read a bounded number of times:
the patterns are possessive, and a search that found no end is not repeated in the same block.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote

from vault.markdown.blocks import Blocks


class ParsedLink(NamedTuple):
    """One link as written.

    ``kind`` is "wikilink", "embed" (``![[…]]``), "markdown" or "property". ``target`` has neither subpath nor alias
    and, of a Markdown link, is percent-decoded; it is "" in a link to a place in the same note. ``subpath`` starts
    with ``#``, or is "". ``alias`` is the text shown, as written (of an embed, a size too), or None.
    ``text[start:end]`` is the whole link in the text parsed; both are 0 in a property, where ``property`` is the
    dotted path of its key ("related.0").
    """

    kind: str
    embed: bool
    target: str
    subpath: str
    alias: str | None
    start: int
    end: int
    property: str = ""


_WIKILINK: Final = re.compile(r"\[\[([^\[\]\n]*+(?:(?:\[(?!\[)|\](?!\]))[^\[\]\n]*+)*+)\]\]")
# What Obsidian takes for the end of a tag: blanks, ASCII punctuation but - _ /, and punctuation of other scripts.
_TAG: Final = re.compile(
    "#([^\\s!\"#$%&'()*+,.:;<=>?@\\[\\]^`{|}~\\\\\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20]++)"
)
_BAR: Final = re.compile(r"(?<!\\)\|")
_BACKTICKS: Final = re.compile(r"`++")
_TO_BACKTICKS: Final = re.compile(r"[^`\n]*+(`++)")
_DOLLAR_END: Final = re.compile(r"(?<![\s\\])\$(?!\d)")
_DESTINATION: Final = re.compile(
    r"\(\s*+(?:<([^<>\n]*+)>|((?:[^\s()\\<]|\\.|\((?:[^\s()\\]|\\.)*+\))*+))"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+\s*+\)"
)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_ELSEWHERE: Final = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.-]*:|//|www\.)")
# A destination behind a wikilink that makes it the text of a Markdown link, as in `[[1]](https://example.org)`.
_LIKE_A_DESTINATION: Final = re.compile(
    r"(?:[a-zA-Z][a-zA-Z0-9+.-]*:|/|\./|\.\./|www\.|#|[^#]*\.md(?:#|\Z))", re.IGNORECASE
)
_OPENINGS: Final = re.compile(r"\[++")
_BRACKETS: Final = re.compile(r"\]++")
# Brackets nest, so that all of the text around each destination would be quadratic in length.
_SHOWN_AT_MOST: Final = 2000
_ESCAPABLE: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True, slots=True)
class Inline:
    """What inline text holds: links in order, tags as first spelled, addresses of pictures from elsewhere."""

    links: list[ParsedLink]
    tags: list[str]
    remote: list[str]


def scan_inline(blocks: Blocks) -> Inline:
    """Read the links and tags of a text whose blocks are known. Never raises."""
    text = blocks.text
    marks = ("[" if "[" in text else "") + ("#" if "#" in text else "")
    if not marks:
        return Inline([], [], [])
    for mark, sign in (("\\", "\\"), ("`", "`"), ("]", "]("), ("<", "<!--"), ("$", "$")):
        if sign in text:
            marks += mark
    scanner = Scanner(blocks, _pattern(marks))
    scanner.run()
    links = sorted(scanner.links, key=lambda link: link.start) if "]" in marks else scanner.links
    return Inline(links, list(scanner.tags.values()), scanner.remote)


@lru_cache(maxsize=64)
def _pattern(marks: str) -> re.Pattern[str]:
    return re.compile("[" + re.escape(marks) + "]")


class Scanner:
    """The pass over one text; each method takes the offset of its mark and gives the offset to go on from."""

    __slots__ = (
        "blocks",
        "hopeless",
        "links",
        "open",
        "remote",
        "runs",
        "runs_end",
        "searched",
        "special",
        "tags",
        "text",
    )

    def __init__(self, blocks: Blocks, special: re.Pattern[str]) -> None:
        self.blocks = blocks
        self.text = blocks.text
        self.special = special
        self.links: list[ParsedLink] = []
        self.tags: dict[str, str] = {}
        self.remote: list[str] = []
        self.open: list[tuple[int, bool]] = []  # offsets of [ that may start a Markdown link, or a picture
        self.searched = 0  # those before it hold a link already, and links hold no links
        self.runs: dict[int, int] = {}  # length of a run of backticks → where its last one starts, in this block
        self.runs_end = 0  # the end of the block that ``runs`` is about
        self.hopeless: dict[str, int] = {}  # mark → the end of the block in which it is never closed

    def run(self) -> None:
        text = self.text
        search = self.special.search
        position = 0
        while match := search(text, position):
            start = match.start()
            mark = text[start]
            if mark == "[":
                position = self.bracket(start, position)
            elif mark == "#":
                position = self.tag(start)
            elif mark == "`":
                position = self.code(start)
            elif mark == "\\":
                position = start + (2 if text[start + 1 : start + 2] in _ESCAPABLE else 1)
            elif mark == "]":
                position = self.closed(start)
            elif mark == "$":
                position = self.mathematics(start)
            else:
                position = self.comment(start)

    def block_end(self, position: int) -> int:
        """Where the block of inline text around an offset ends."""
        starts = self.blocks.starts
        index = bisect_right(starts, position)
        return starts[index] if index < len(starts) else len(self.text)

    def bracket(self, start: int, floor: int) -> int:
        """``[``: a wikilink, or what may become the text of a Markdown link."""
        text = self.text
        embed = start > floor and text[start - 1] == "!"
        if not text.startswith("[[", start):
            self.open.append((start, embed))
            return start + 1
        match = _WIKILINK.match(text, start)
        if match is None:
            self.open.append((start, embed))
            run = _OPENINGS.match(text, start)
            return max(start + 1, run.end() - 3) if run else start + 1
        inner, end = match[1], match.end()
        if inner[:1] == "[" and "]" not in inner:
            self.open.append((start, embed))  # [[[A]]] is [[A]] in brackets
            return start + 1
        if text.startswith("]", end):  # [[wiki [link]]] is a name with brackets in it
            more = min(inner.count("[") - inner.count("]"), _end_of_brackets(text, end) - end)
            inner, end = inner + "]" * max(0, more), end + max(0, more)
        destination = self.destination(end) if text.startswith("(", end) else None
        if destination and _LIKE_A_DESTINATION.match(destination[0]):
            self.markdown(start - embed, destination, text[start + 1 : end - 1])
            return destination[1]
        # In a table a bar ends the cell, and with it the link, unless it is written \\|.
        if "|" not in inner or not self.blocks.tables or not _BAR.search(inner) or not self.in_table(start):
            self.wikilink(inner, start, end, embed=embed)
        return end

    def in_table(self, position: int) -> bool:
        tables = self.blocks.tables
        index = bisect_right(tables, (position, len(self.text))) - 1
        return index >= 0 and position < tables[index][1]

    def wikilink(self, inner: str, start: int, end: int, *, embed: bool) -> None:
        name, bar, alias = inner.partition("|")
        if bar and name.endswith("\\"):
            name = name[:-1]  # the way to write the bar in a table
        target, hash_, subpath = name.partition("#")
        target = target.strip()
        if not target and not hash_:
            return
        self.links.append(
            ParsedLink(
                "embed" if embed else "wikilink",
                embed,
                target,
                hash_ + subpath.rstrip(),
                alias.strip() if bar else None,
                start - embed,
                end,
            )
        )

    def closed(self, start: int) -> int:
        """``]``: the end of a Markdown link's text, if a destination follows."""
        if not self.open:
            return start + 1
        opening, image = self.open.pop()
        if not self.text.startswith("(", start + 1) or (opening < self.searched and not image):
            return start + 1
        if self.block_end(opening) <= start:
            self.open.clear()
            return start + 1
        destination = self.destination(start + 1)
        if destination is None:
            return start + 1
        if not image:
            self.searched = opening
        self.markdown(opening - image, destination, self.text[opening + 1 : start])
        return destination[1]

    def destination(self, start: int) -> tuple[str, int] | None:
        """``(destination, offset behind it)`` of a Markdown link whose parenthesis opens at ``start``."""
        match = _DESTINATION.match(self.text, start)
        if match is None or match.end() > self.block_end(start):
            return None
        return _ESCAPED.sub(r"\1", match[1] or match[2] or ""), match.end()

    def markdown(self, start: int, destination: tuple[str, int], shown: str) -> None:
        address, end = destination
        embed = self.text[start] == "!"
        if _ELSEWHERE.match(address):
            if embed:
                self.remote.append(address)
            return
        while embed and self.links and self.links[-1].start > start and self.links[-1].kind == "markdown":
            self.links.pop()  # the text of a picture shows no pictures
        path, hash_, subpath = address.partition("#")
        if path or hash_:
            subpath = hash_ + unquote(subpath)
            self.links.append(ParsedLink("markdown", embed, unquote(path), subpath, shown[:_SHOWN_AT_MOST], start, end))

    def tag(self, start: int) -> int:
        text = self.text
        if start and not text[start - 1].isspace():
            return start + 1
        match = _TAG.match(text, start)
        if match is None:
            return start + 1
        tag = match[1].strip("/")
        if not tag.isnumeric() and any(character.isalpha() or character > "\u2190" for character in tag):
            self.tags.setdefault(tag.casefold(), tag)
        return match.end()

    def code(self, start: int) -> int:
        """A run of backticks: over the code span that it opens, or else over itself."""
        text = self.text
        opening = _BACKTICKS.match(text, start)
        after = opening.end() if opening else start + 1
        size = after - start
        block_end = self.block_end(start)
        near = _TO_BACKTICKS.match(text, after, block_end)
        if near and len(near[1]) == size:
            return near.end()
        if after > self.runs_end:
            self.runs_end = block_end
            self.runs = {len(run[0]): run.start() for run in _BACKTICKS.finditer(text, start, self.runs_end)}
        if self.runs.get(size, -1) < after:
            return after
        for run in _BACKTICKS.finditer(text, after, self.runs_end):
            if run.end() - run.start() == size:
                return run.end()
        return after

    def mathematics(self, start: int) -> int:
        """``$``: over the mathematics that it opens, inline or (``$$``) displayed; else over itself."""
        text = self.text
        mark = "$$" if text.startswith("$$", start) else "$"
        after = start + len(mark)
        block_end = self.block_end(start)
        if self.hopeless.get(mark, -1) >= block_end or (mark == "$" and text[after : after + 1].isspace()):
            return after
        if mark == "$$":
            end = text.find("$$", after, block_end)
        else:
            closing = _DOLLAR_END.search(text, after, block_end)
            end = closing.start() if closing else -1
        if end < 0:
            self.hopeless[mark] = block_end
            return after
        return end + len(mark)

    def comment(self, start: int) -> int:
        if not self.text.startswith("<!--", start):
            return start + 1
        block_end = self.block_end(start)
        if self.hopeless.get("<", -1) >= block_end:
            return start + 1
        end = self.text.find("-->", start + 2, block_end)
        if end < 0:
            self.hopeless["<"] = block_end
            return start + 1
        return end + 3


def _end_of_brackets(text: str, start: int) -> int:
    match = _BRACKETS.match(text, start)
    return match.end() if match else start
