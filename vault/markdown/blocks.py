"""The block structure of a Markdown text: what is code, comment or mathematics, and where inline text starts anew.

A line scanner that follows CommonMark's rules for containers (quotes, list items) and leaves, as far as they decide
what text *is*: nothing is rendered. Lines end at LF, CR or CR LF only. One pass, linear in the text.

Source: https://spec.commonmark.org/0.31.2/ ; beyond it, as Obsidian has them: footnote definitions are containers,
and ``$$`` opens a block of mathematics.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from vault.markdown.tables import CELL_END, DELIMITERS, ROWS, cells_of

_QUOTE: Final = 0  # in the stack of open containers; a list item stands there as the width of its indent
_NESTED_AT_MOST: Final = 100
# A line that starts with none of these, outside code, is text and nothing else. Nor is one that the patterns match:
# they are the same rule for the marks that emphasis, links and code share with blocks, there to be quick.
_SPECIAL: Final = frozenset(" \t#>-*+_=0123456789`~<$|[:")
_PLAIN: Final = re.compile(r"\*\*[^*\s]|\[(?!\^)|`(?!``)|<(?!!--)|\$(?!\$)|[*_-][^*_\s:|-]|[0-9]++[^0-9.)]|:[^:\s-]")
_PLAIN_ITEM: Final = re.compile(r"[-*+] (?:[^\s\-+*_=0-9#>`~<$|\[]|\*\*[^*\s]|\[(?!\^)|`(?!``))")

_SPACES: Final = re.compile(r" *+")
_HEADING: Final = re.compile(r"(#{1,6})(?: |\Z)")
_FENCE: Final = re.compile(r"(`{3,}+)[^`]*+\Z|(~{3,}+)")
_RULE: Final = re.compile(r"(?:(?:\* *+){3,}+|(?:- *+){3,}+|(?:_ *+){3,}+)\Z")
_UNDERLINE: Final = re.compile(r"(?:(=++)|-++) *+\Z")
_ITEM: Final = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?= |\Z)")
_FOOTNOTE: Final = re.compile(r"\[\^[^\]\s]{1,200}\]:")
# The end of displayed mathematics: a $$ that ends a line, or the only one in a line that it starts (`$$ ^id`).
_MATH_END: Final = re.compile(r"\$\$[ \t]*+$|^[ \t>]*+\$\$(?![^\n]*\$\$)", re.MULTILINE)
# What a paragraph has of mathematics, and what hides it: escapes, code, mathematics in the line.
_MATH_MARKS: Final = re.compile(r"\\.|`++[^`\n]*+`++|(\$\$)|\$[^\s$](?:[^$\n]*[^\s$\\])?\$(?!\d)")


@dataclass(slots=True)
class Blocks:
    """The structure of one text.

    ``text`` has the length of the text given, so offsets hold in both; its lines end at LF, and what is code, comment
    or mathematics is blank. ``starts`` are the offsets where a block of inline text starts, in order: no code span,
    link text or inline mathematics reaches past the next one. ``prose`` and ``items`` are those of ``starts`` where
    a paragraph starts outside and inside of lists. ``headings`` are ``(level, text)`` and stand at ``places``,
    ``(start, end)`` of their lines; ``tables`` are ``(start, end)``, ``blanked`` the ``[start, end]`` of what is blank
    in ``text``, in order: one for each fence, with the blank lines in it.
    """

    text: str
    starts: list[int] = field(default_factory=list)
    prose: list[int] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    tables: list[tuple[int, int]] = field(default_factory=list)
    blanked: list[list[int]] = field(default_factory=list)


def scan_blocks(text: str) -> Blocks:
    """Read the block structure of a text. Never raises."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    return _Scanner(text).run()


class _Scanner:
    """The state between two lines: the open containers, and the paragraph or fence that is open in the last of them."""

    __slots__ = (
        "blocks",
        "containers",
        "displayed",
        "fence",
        "hollow",
        "masks",
        "math",
        "opening",
        "paragraph",
        "resume",
        "text",
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks = Blocks(text)
        self.containers: list[int] = []
        self.paragraph = False
        self.opening = ""  # the first line of the paragraph, without what containers put in front
        self.hollow = 0  # how many containers there are, when the last is an item with nothing in it yet
        self.fence = ""  # the marker that opened the fence which is open
        self.masks: list[list[int]] = []  # [start, end] of what is not text, in order
        self.resume = 0  # lines that start before it belong to a comment or to mathematics
        self.math = "$$" in text  # whether a closing $$ may still come
        self.displayed = (0, False)  # how far the open paragraph was read for $$, and whether one was open there

    def run(self) -> Blocks:
        position = 0
        for line in self.text.split("\n"):
            if not line:
                self.blank(position)
            elif self.fence and not self.containers and self.fence not in line:
                self.masks[-1][1] = position + len(line)
            elif self.fence or position < self.resume:
                self.line(line, position)
            elif line[0] not in _SPECIAL or _PLAIN.match(line):
                if not self.paragraph:
                    self.containers.clear()
                    self.begin(line, position)
            elif _PLAIN_ITEM.match(line):
                self.containers[:] = (2,)
                self.begin(line[2:], position)
            else:
                self.line(line, position)
            position += len(line) + 1
        self.blocks.text = _blanked(self.text, self.masks)
        self.blocks.blanked = self.masks
        self.cells()
        return self.blocks

    def begin(self, opening: str, position: int) -> None:
        """Start a paragraph in the containers that are open."""
        self.blocks.starts.append(position)
        (self.blocks.items if any(self.containers) else self.blocks.prose).append(position)
        self.opening = opening
        self.paragraph = True
        self.hollow = 0

    def blank(self, position: int) -> None:
        """An empty line: it ends paragraphs and quotes, never list items or a fence in one."""
        if position < self.resume:
            return
        self.paragraph = False
        self.hollowed(None)
        if _QUOTE in self.containers:
            self.close(self.containers.index(_QUOTE))
        if self.fence:
            self.masks[-1][1] = position

    def close(self, depth: int) -> None:
        """Close the containers below a depth, and what is open in them."""
        del self.containers[depth:]
        self.fence = ""
        self.paragraph = False

    def line(self, line: str, position: int) -> None:
        """Any line that is not plain text outside of containers."""
        if position < self.resume:
            if position + len(line) >= self.resume:  # what follows the end of the comment on its line is text
                self.blocks.starts.append(self.resume)
            return
        if "\t" in line:
            line = line.expandtabs(4)
        column, depth = self.matched(line)
        if depth < len(self.containers):
            if self.fence or not self.paragraph:
                self.close(depth)
        elif self.fence:
            self.fenced(line, column, position)
            return
        self.opened(line, column, depth, position)

    def matched(self, line: str) -> tuple[int, int]:
        """How far the open containers go on in this line: ``(column behind their markers, how many)``."""
        column = 0
        size = len(line)
        text = _end_of_spaces(line, 0)
        for depth, width in enumerate(self.containers):
            if width == _QUOTE:
                if text == size or text - column > 3 or line[text] != ">":
                    return column, depth
                column = text + (2 if line.startswith(" ", text + 1) else 1)
                text = _end_of_spaces(line, column)
            elif text - column >= width:
                column += width
            elif text < size:
                return column, depth
        return column, len(self.containers)

    def fenced(self, line: str, column: int, position: int) -> None:
        """A line inside the open fence."""
        text = _end_of_spaces(line, column)
        self.mask(position, self.end_of_line(position))
        rest = line[text:].rstrip(" ")
        if text - column < 4 and len(rest) >= len(self.fence) and not rest.strip(self.fence[0]):
            self.fence = ""

    def opened(self, line: str, column: int, depth: int, position: int) -> None:
        """Open the containers that start in this line, then read the leaf in the last of them."""
        opened: int | None = None
        while True:
            text = _end_of_spaces(line, column)
            if text == len(line):
                self.close_unmatched(depth)
                self.paragraph = False
                self.hollowed(opened)
                return
            self.hollow = 0
            if text - column >= 4:
                if not self.paragraph:
                    self.mask(position, self.end_of_line(position))
                return
            container = self.container(line, text, depth)
            if container is None:
                self.leaf(line, text, depth, position)
                return
            self.close_unmatched(depth)
            self.paragraph = False
            opened, content = container
            self.containers.append(opened and opened + text - column)
            column, depth = content, len(self.containers)

    def hollowed(self, opened: int | None) -> None:
        """A line with nothing but containers; ``opened`` is the last that it opened, if any.

        An item may have nothing in its first line, but then not in its second.
        """
        if opened:
            self.hollow = len(self.containers)
        elif self.hollow and self.hollow == len(self.containers):
            self.close(self.hollow - 1)

    def container(self, line: str, text: int, depth: int) -> tuple[int, int] | None:
        """The container that starts at ``text``: ``(width of its marker, or _QUOTE; column of its content)``."""
        if len(self.containers) >= _NESTED_AT_MOST:
            return None
        if line[text] == ">":
            return _QUOTE, text + (2 if line.startswith(" ", text + 1) else 1)
        if line[text] == "[":
            note = _FOOTNOTE.match(line, text)
            return (4, _end_of_spaces(line, note.end())) if note else None
        item = _ITEM.match(line, text)
        if item is None or _RULE.match(line, text):
            return None
        content = _end_of_spaces(line, item.end())
        empty = content == len(line)
        if self.paragraph and depth == len(self.containers) and (empty or item[1] not in {None, "1"}):
            return None  # neither an empty item nor one that counts from elsewhere ends a paragraph
        if empty or content - item.end() > 4:
            content = item.end() + 1
        return content - text, min(content, len(line))

    def leaf(self, line: str, text: int, depth: int, position: int) -> None:
        """The block that is not a container, at ``text``."""
        mark = line[text]
        if mark == "#" and (heading := _HEADING.match(line, text)):
            self.close_unmatched(depth)
            self.paragraph = False
            self.blocks.starts.append(position)
            self.heading(len(heading[1]), _unclosed(line[heading.end() :].rstrip(" ")), (position, position))
        elif mark in "`~" and (fence := _FENCE.match(line, text)):
            self.close_unmatched(depth)
            self.paragraph = False
            self.fence = fence[1] or fence[2]
            self.mask(position, self.end_of_line(position))
        elif mark == "<" and line.startswith("<!--", text):
            self.comment(depth, position)
        elif mark == "$" and line.startswith("$$", text) and self.mathematics(depth, position):
            return
        elif (
            mark in "-=" and self.paragraph and depth == len(self.containers) and (end := _UNDERLINE.match(line, text))
        ):
            self.underlined(1 if end[1] else 2, position)
        elif mark in "-*_" and _RULE.match(line, text):
            self.close_unmatched(depth)
            self.paragraph = False
        else:
            self.prose(line, text, position)

    def prose(self, line: str, text: int, position: int) -> None:
        """A line of a paragraph or of a table; a table's row is a block of its own."""
        if self.paragraph and "|" in line and (delimiters := DELIMITERS.match(line, text)):
            self.table(delimiters[0], position)
        if line[text] == "|":
            self.blocks.starts.append(position)
            self.opening = line[text:]
            self.paragraph = True
        elif not self.paragraph:
            self.begin(line[text:], position)

    def table(self, delimiters: str, position: int) -> None:
        """A line of delimiters: with as many cells in the line before it, that is a table's head."""
        if self.blocks.tables and position < self.blocks.tables[-1][1]:
            return
        start = self.text.rfind("\n", 0, max(0, position - 1)) + 1
        head = self.opening if start <= self.blocks.starts[-1] else self.text[start : position - 1]
        if cells_of(head) == cells_of(delimiters):
            rows = ROWS.match(self.text, self.end_of_line(position))
            self.blocks.tables.append((start, rows.end() if rows else position))

    def cells(self) -> None:
        """Let inline text start anew in each cell of each table: a bar ends the cell, whatever it stands in."""
        blocks = self.blocks
        if not blocks.tables:
            return
        tables = {start for start, _ in blocks.tables}
        ends = (end.end() for table in blocks.tables for end in CELL_END.finditer(self.text, *table))
        blocks.starts = sorted({*blocks.starts, *tables, *ends})
        blocks.prose = [start for start in blocks.prose if start not in tables]
        blocks.items = [start for start in blocks.items if start not in tables]

    def underlined(self, level: int, position: int) -> None:
        """The open paragraph turns out to be a heading."""
        blocks = self.blocks
        start = blocks.starts[-1]
        for paragraphs in (blocks.prose, blocks.items):
            if paragraphs and paragraphs[-1] == start:
                paragraphs.pop()
        following = self.text[self.end_of_line(start) + 1 : position].split("\n")
        text = " ".join([self.opening.strip(), *(line.strip(" \t>") for line in following)])
        self.heading(level, text.strip(), (start, position))
        self.paragraph = False

    def heading(self, level: int, text: str, lines: tuple[int, int]) -> None:
        """Keep a heading and where its first and last lines start; one in a quote is the quoted text's."""
        if _QUOTE not in self.containers:
            self.blocks.headings.append((level, text.strip()))
            self.blocks.places.append((lines[0], self.end_of_line(lines[1])))

    def comment(self, depth: int, position: int) -> None:
        """An HTML comment that starts a line: to its end, or to the end of the text."""
        start = self.text.find("<!--", position)
        end = self.text.find("-->", start + 2)
        self.skip(depth, start, len(self.text) if end < 0 else end + 3, position)

    def mathematics(self, depth: int, position: int) -> bool:
        """``$$`` at the start of a line: to the next one in it, or to one that ends it. False if it opens nothing."""
        if self.paragraph and depth == len(self.containers) and self.opened_before(position):
            return False
        start = self.text.find("$$", position)
        line_end = self.end_of_line(position)
        end = self.text.find("$$", start + 2, line_end) + 2
        if end < 2:
            closing = _MATH_END.search(self.text, line_end) if self.math else None
            if closing is None:
                self.math = False
                return False
            end = closing.end()
        self.skip(depth, start, end, position)
        return True

    def opened_before(self, position: int) -> bool:
        """Whether the open paragraph has a ``$$`` that only the line at ``position`` can close."""
        read, is_open = self.displayed
        start = self.blocks.starts[-1]
        if read < start:
            read, is_open = start, False
        marks = _MATH_MARKS.finditer(self.text, read, position)
        is_open ^= sum(mark[1] is not None for mark in marks) % 2 == 1
        self.displayed = (position, is_open)
        return is_open

    def skip(self, depth: int, start: int, end: int, position: int) -> None:
        """Blank a comment or mathematics; text may follow it on its last line."""
        self.close_unmatched(depth)
        self.paragraph = False
        self.mask(start, end)
        if end > self.end_of_line(position):
            self.resume = end
        else:
            self.blocks.starts.append(end)

    def close_unmatched(self, depth: int) -> None:
        if depth < len(self.containers):
            self.close(depth)

    def mask(self, start: int, end: int) -> None:
        if self.masks and start <= self.masks[-1][1] + 1:
            self.masks[-1][1] = end
        else:
            self.masks.append([start, end])

    def end_of_line(self, position: int) -> int:
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end


def _end_of_spaces(line: str, column: int) -> int:
    match = _SPACES.match(line, column)
    return match.end() if match else column


def _unclosed(heading: str) -> str:
    """A heading without the #s that may close it: they stand behind a blank, so that `C#` keeps its own."""
    bare = heading.rstrip("#")
    return bare if not bare or bare.endswith(" ") else heading


def _blanked(text: str, masks: list[list[int]]) -> str:
    """The text with spaces for what is masked."""
    parts: list[str] = []
    position = 0
    for start, end in masks:
        parts += (text[position:start], " " * (end - start))
        position = end
    return "".join([*parts, text[position:]]) if masks else text
