"""Two texts side by side, line by line and word by word. Pure: no disk, no database, no HTML.

The cost grows with the length of the texts, not with its square: lines that occur once on both sides are matched
first, what lies between them is compared closely only within bounds. Beyond these a stretch counts as replaced, which
is still true, only less fine; :attr:`Comparison.coarse` says so.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["same", "changed", "removed", "added", "skipped"]

#: A stretch without unique lines is compared closely up to this product of its two lengths.
_CLOSE: Final = 40_000
#: Work for one comparison: products of the stretches compared closely, and how often each line is looked at.
_CLOSE_IN_ALL: Final = 1_000_000
_ROUNDS: Final = 20
#: Lines are paired by likeness in stretches up to this product, in one comparison up to that.
_PAIRED: Final = 2_500
_PAIRED_IN_ALL: Final = 100_000
_ALIKE: Final = 0.4
#: Words are compared in lines up to this length (characters), in one comparison up to that.
_WORDS: Final = 20_000
_WORDS_IN_ALL: Final = 1_000_000

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
#: A word, a run of blanks, or one other character; scripts written without blanks are taken by the character.
_TOKEN: Final = re.compile(r"[぀-ヿ㐀-鿿]|[^\W぀-ヿ㐀-鿿]+|\s+|[^\w\s]")


class Block(NamedTuple):
    """``size`` equal lines (or words) that start at ``old`` and at ``new``, counted from 0."""

    old: int
    new: int
    size: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line; ``left_out`` characters between its neighbours are not shown."""

    text: str
    changed: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A line of each side, as they stand beside one another; a side that has none has no number and no segments.

    Lines are counted from 1 and end with their line break, if they have one. ``skipped`` rows stand for ``count``
    equal lines, the first of which are numbered.
    """

    kind: Kind
    old_line: int | None = None
    new_line: int | None = None
    old: tuple[Segment, ...] = ()
    new: tuple[Segment, ...] = ()
    count: int = 0


def split_lines(text: str) -> list[str]:
    """The lines with their breaks; only ``\\n`` ends a line, as in Markdown files and in ``diff``."""
    return _LINE.findall(text)


@dataclass
class Comparison:
    """Two texts compared. ``coarse`` is true once something was taken as replaced because of its size."""

    old_text: str
    new_text: str
    coarse: bool = False
    _paired: int = 0
    _words: int = 0
    old: list[str] = field(init=False)
    new: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.old, self.new = split_lines(self.old_text), split_lines(self.new_text)

    @cached_property
    def blocks(self) -> list[Block]:
        """The runs of equal lines."""
        found, coarse = matching_blocks(self.old, self.new)
        self.coarse |= coarse
        return found

    @property
    def removed(self) -> int:
        """How many lines of the old text are not in the new one."""
        return len(self.old) - sum(block.size for block in self.blocks)

    @property
    def added(self) -> int:
        """How many lines of the new text are not in the old one."""
        return len(self.new) - sum(block.size for block in self.blocks)

    def rows(self, *, context: int | None = None) -> Iterator[Row]:
        """The rows in order; with ``context`` only so many equal lines are kept around a change."""
        self._paired = self._words = 0
        at_old = at_new = 0
        ends = [*self.blocks, Block(len(self.old), len(self.new), 0)]
        for block in ends:
            yield from self._changed(at_old, block.old, at_new, block.new)
            first = block.old == block.new == 0
            last = block.old + block.size == len(self.old) and block.new + block.size == len(self.new)
            yield from self._same(block, context, first=first, last=last)
            at_old, at_new = block.old + block.size, block.new + block.size

    def _same(self, block: Block, context: int | None, *, first: bool, last: bool) -> Iterator[Row]:
        head = block.size if context is None else 0 if first else context
        tail = 0 if context is None or last else context
        if head + tail >= block.size - 1:  # a row that says "1 line" is no shorter than the line
            head, tail = block.size, 0
        for at in range(head):
            yield self._same_row(block, at)
        left_out = block.size - head - tail
        if left_out:
            yield Row("skipped", block.old + head + 1, block.new + head + 1, count=left_out)
        for at in range(block.size - tail, block.size):
            yield self._same_row(block, at)

    def _same_row(self, block: Block, at: int) -> Row:
        line = (Segment(self.old[block.old + at]),)
        return Row("same", block.old + at + 1, block.new + at + 1, line, line)

    def _changed(self, old: int, old_end: int, new: int, new_end: int) -> Iterator[Row]:
        if old == old_end or new == new_end:  # nothing to stand beside: a page of many lines that is new
            yield from self._beside(old, old_end, new, new_end)
            return
        size = (old_end - old) * (new_end - new)
        if size > _PAIRED or self._paired + size > _PAIRED_IN_ALL:
            self.coarse = True
            yield from self._beside(old, old_end, new, new_end)
            return
        self._paired += size
        for left, right in _pairs(self.old[old:old_end], self.new[new:new_end]):
            if right is None and left is not None:
                yield Row("removed", old + left + 1, None, old=(Segment(self.old[old + left], changed=True),))
            elif left is None and right is not None:
                yield Row("added", None, new + right + 1, new=(Segment(self.new[new + right], changed=True),))
            elif left is not None and right is not None:
                was, now = self._by_words(self.old[old + left], self.new[new + right])
                yield Row("changed", old + left + 1, new + right + 1, was, now)

    def _beside(self, old: int, old_end: int, new: int, new_end: int) -> Iterator[Row]:
        """Lines of a stretch, beside one another as they come, marked as a whole."""
        for at in range(max(old_end - old, new_end - new)):
            left = (Segment(self.old[old + at], changed=True),) if old + at < old_end else ()
            right = (Segment(self.new[new + at], changed=True),) if new + at < new_end else ()
            kind: Kind = "changed" if left and right else "removed" if left else "added"
            yield Row(kind, old + at + 1 if left else None, new + at + 1 if right else None, left, right)

    def _by_words(self, old: str, new: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
        size = len(old) + len(new)
        if size > _WORDS or self._words + size > _WORDS_IN_ALL:
            self.coarse = True
            return _by_ends(old, new)
        self._words += size
        was, now = _TOKEN.findall(old), _TOKEN.findall(new)
        blocks, _ = matching_blocks(was, now)
        return _marked(was, blocks, 0), _marked(now, blocks, 1)

    def unified(self, *, context: int = 3) -> Iterator[str]:
        """The lines of a unified diff without the two lines that name the files."""
        hunk: list[Row] = []
        for row in self.rows(context=context):
            if row.kind == "skipped":
                yield from _hunk(hunk)
                hunk = []
            else:
                hunk.append(row)
        yield from _hunk(hunk)


def matching_blocks(old: Sequence[str], new: Sequence[str]) -> tuple[list[Block], bool]:
    """The runs that both have, in order, and whether stretches were too large to be compared closely."""
    found: list[Block] = []
    looks, products, coarse = _ROUNDS * (len(old) + len(new) + 1), _CLOSE_IN_ALL, False
    open_ = [(0, len(old), 0, len(new))]
    while open_:
        a, a_end, b, b_end = _trimmed(old, new, open_.pop(), found)
        if a == a_end or b == b_end:
            continue
        size = (a_end - a) * (b_end - b)
        looks -= a_end - a + b_end - b
        if looks > 0 and (anchors := _anchors(old[a:a_end], new[b:b_end])):
            start, new_start = a, b
            for left, right in anchors:
                found.append(Block(a + left, b + right, 1))
                open_.append((start, a + left, new_start, b + right))
                start, new_start = a + left + 1, b + right + 1
            open_.append((start, a_end, new_start, b_end))
        elif size <= min(_CLOSE, products):
            products -= size
            close = SequenceMatcher(None, old[a:a_end], new[b:b_end], autojunk=False)
            found += [Block(a + m.a, b + m.b, m.size) for m in close.get_matching_blocks() if m.size]
        else:
            coarse = True
    return _joined(sorted(found)), coarse


def _trimmed(
    old: Sequence[str], new: Sequence[str], stretch: tuple[int, int, int, int], found: list[Block]
) -> tuple[int, int, int, int]:
    """The stretch without what is equal at its two ends, which is added to ``found``."""
    a, a_end, b, b_end = stretch
    if size := _common(old, a, new, b, min(a_end - a, b_end - b)):
        found.append(Block(a, b, size))
    a, b = a + size, b + size
    if size := _common(old, a_end, new, b_end, min(a_end - a, b_end - b), backwards=True):
        found.append(Block(a_end - size, b_end - size, size))
    return a, a_end - size, b, b_end - size


def _common(old: Sequence[str], a: int, new: Sequence[str], b: int, most: int, *, backwards: bool = False) -> int:
    """How much is equal from two positions on, or before them; by halving, since slices are compared fast."""

    def equal(size: int) -> bool:
        if backwards:
            return old[a - size : a] == new[b - size : b]
        return old[a : a + size] == new[b : b + size]

    low, high = 0, 1
    while high <= most and equal(high):  # in most stretches nothing, or a few, are equal
        low, high = high, high * 2
    high = min(high - 1, most)
    while low < high:
        middle = (low + high + 1) // 2
        if equal(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Positions of what occurs once on each side: the longest selection that is in the same order on both."""
    once_old, once_new = Counter(old), Counter(new)
    where = {line: at for at, line in enumerate(new) if once_new[line] == 1}
    pairs = [(at, where[line]) for at, line in enumerate(old) if once_old[line] == 1 and line in where]
    ends: list[int] = []  # the smallest position in `new` at which an ordered selection of each length ends
    last: list[int] = []  # which pair that is
    before: list[int] = []
    for index, (_, right) in enumerate(pairs):
        length = bisect_left(ends, right)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(right)
            last.append(index)
        else:
            ends[length], last[length] = right, index
    chosen: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]


def _joined(blocks: list[Block]) -> list[Block]:
    joined: list[Block] = []
    for block in blocks:
        end = joined[-1] if joined else Block(-1, -1, 0)
        if (end.old + end.size, end.new + end.size) == (block.old, block.new):
            joined[-1] = Block(end.old, end.new, end.size + block.size)
        else:
            joined.append(block)
    return joined


def _pairs(old: list[str], new: list[str]) -> Iterator[tuple[int | None, int | None]]:
    """Which lines of a stretch stand beside one another: those that are most alike in all, in order."""
    was = [Counter(_TOKEN.findall(line[:_WORDS])) for line in old]
    now = [Counter(_TOKEN.findall(line[:_WORDS])) for line in new]
    if len(old) == len(new) == 1:
        yield (0, 0)
        return
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    alike = [[_likeness(left, right) for right in now] for left in was]
    for left in range(len(old) - 1, -1, -1):
        for right in range(len(new) - 1, -1, -1):
            paired = alike[left][right] + best[left + 1][right + 1] if alike[left][right] >= _ALIKE else 0.0
            best[left][right] = max(paired, best[left + 1][right], best[left][right + 1])
    left = right = 0
    while left < len(old) and right < len(new):
        if alike[left][right] >= _ALIKE and best[left][right] == alike[left][right] + best[left + 1][right + 1]:
            yield left, right
            left, right = left + 1, right + 1
        elif best[left + 1][right] >= best[left][right + 1]:
            yield left, None
            left += 1
        else:
            yield None, right
            right += 1
    yield from ((rest, None) for rest in range(left, len(old)))
    yield from ((None, rest) for rest in range(right, len(new)))


def _likeness(left: Counter[str], right: Counter[str]) -> float:
    """How much of two lines is the same, 0 to 1; blanks do not count."""
    words = sum(count for token, count in left.items() if not token.isspace())
    words += sum(count for token, count in right.items() if not token.isspace())
    common = sum(min(count, right[token]) for token, count in left.items() if not token.isspace())
    return 2 * common / words if words else 0.0


def _marked(tokens: list[str], blocks: list[Block], side: int) -> tuple[Segment, ...]:
    """A line in segments; blanks between two changed words are marked with them."""
    marks = [True] * len(tokens)
    for block in blocks:
        start = block[side]
        blank = block.size == 1 and tokens[start].isspace() and 0 < start < len(tokens) - 1
        marks[start : start + block.size] = [blank] * block.size
    segments: list[Segment] = []
    start = 0
    for at in range(1, len(tokens) + 1):
        if at == len(tokens) or marks[at] != marks[start]:
            segments.append(Segment("".join(tokens[start:at]), marks[start]))
            start = at
    return tuple(segments)


def _by_ends(old: str, new: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Two long lines: what is equal at both ends is not marked, the rest is."""
    most = min(len(old), len(new))
    start = _common(old, 0, new, 0, most)
    end = _common(old, len(old), new, len(new), most - start, backwards=True)
    return _cut(old, start, len(old) - end), _cut(new, start, len(new) - end)


def _cut(line: str, start: int, end: int) -> tuple[Segment, ...]:
    parts = (Segment(line[:start]), Segment(line[start:end], changed=True), Segment(line[end:]))
    return tuple(part for part in parts if part.text)


def _hunk(rows: list[Row]) -> Iterator[str]:
    if all(row.kind == "same" for row in rows):
        return
    old = [row.old_line for row in rows if row.old_line is not None]
    new = [row.new_line for row in rows if row.new_line is not None]
    yield f"@@ -{_range(old)} +{_range(new)} @@\n"
    removed: list[str] = []
    added: list[str] = []
    for row in [*rows, Row("same")]:
        if row.kind == "same":
            yield from (*removed, *added)
            removed, added = [], []
            if row.old:
                yield _line(" ", row.old)
            continue
        if row.old:
            removed.append(_line("-", row.old))
        if row.new:
            added.append(_line("+", row.new))


def _range(lines: list[int]) -> str:
    return f"{lines[0]},{len(lines)}" if lines else "0,0"


def _line(mark: str, segments: Sequence[Segment]) -> str:
    text = "".join(segment.text for segment in segments)
    return mark + text if text.endswith("\n") else f"{mark}{text}\n\\ No newline at end of file\n"


def row_as_dict(row: Row) -> dict[str, Any]:
    """The row for JSON: kind, old_line, new_line, old, new (lists of {text, changed}), and count where skipped."""
    shown: dict[str, Any] = {"kind": row.kind, "old_line": row.old_line, "new_line": row.new_line}
    for name, side in (("old", row.old), ("new", row.new)):
        shown[name] = [
            {"text": part.text, "changed": part.changed, **({"left_out": part.left_out} if part.left_out else {})}
            for part in side
        ]
    return {**shown, "count": row.count} if row.kind == "skipped" else shown
