"""The numbers of a text, as they are compared: dates and ranges, groups of three, units that stand right behind."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

_BLANKS: Final = "\u00a0\u202f\u2009 "
_ONE: Final = rf"\d++(?:[.,'\u2019{_BLANKS}]\d++)*"
#: Units that are written right behind their number. Other letters there make it a name: 3D, 5G.
_UNITS: Final = "|".join(
    (
        *(
            "[kmcnµμ]?m",
            "[kmµμ]?g",
            "[mcd]?l",
            "m?s",
            "h",
            "min",
            "[kKMGTP]i?[Bb]",
            "B",
            "[kMG]?Hz",
            "[kMG]?Wh?",
            "m?V",
            "m?A",
        ),
        *("[kKM]", "C", "F", "px", "pt", "r?em", "x", "st", "nd", "rd", "th", "fps", "bit", "[ap]m", "in", "ft", "lb"),
    )
)
#: What begins behind a letter, a hyphen behind a letter, a point or a mark of an address is a part of a name.
_BEGINS: Final = r"(?<![\w.,@/#^])(?<!\w-)"
_CHAIN: Final = r"\d++(?:(?P<mark>[-/])\d++)(?:(?P=mark)\d++)*+"
_WRITTEN: Final = re.compile(rf"{_BEGINS}[vV]?(?P<number>{_CHAIN}|{_ONE})(?:(?:{_UNITS})(?!\w)|(?!\w))(?![@/])")
#: In what is held against, any number counts, whatever letters stand behind it.
_HELD: Final = re.compile(rf"{_BEGINS}[vV]?(?P<number>{_CHAIN}|{_ONE})")
_GROUPED: Final = re.compile(rf"\d{{1,3}}(?:([.,'\u2019{_BLANKS}])\d{{3}})(?:\1\d{{3}})*")
#: 5 January 2024, 5. Januar 2024, January 5, 2024; the month is not looked at.
_DAY: Final = re.compile(
    r"""(?<!\w)(?:(?P<before>\d{1,2})(?:st|nd|rd|th|\.|º)?[ ](?:de[ ]|of[ ])?[^\W\d]{3,12}
    |[^\W\d]{3,12}[ ](?P<behind>\d{1,2})(?:st|nd|rd|th)?)
    (?:,|[ ]de|[ ]of)?[ ](?P<year>\d{4})(?!\w)""",
    re.VERBOSE,
)
#: Numbers of items of a list and of references say nothing.
_COUNTS: Final = re.compile(r"^[ \t>]*(?:[-*+][ \t]+)?\d{1,9}[.)](?=[ \t])|\[\d{1,3}\](?!\()", re.MULTILINE)


class Number(NamedTuple):
    """A number in a text: where, how it is written, what it may mean, and of what it is put together.

    1.000 may mean a thousand or one, so there may be several meanings. ``pieces`` are those of a date (2024-01-31), a
    fraction or another chain; a range (3-4) is two numbers of its own.
    """

    position: int
    written: str
    meanings: frozenset[str]
    pieces: tuple[str, ...] = ()


@dataclass(slots=True)
class Known:
    """What numbers stand in some texts.

    ``plain`` are those that stand alone, ``inner`` the pieces of dates and chains, ``days`` the days with a month by
    its name, as year and day.
    """

    plain: set[str] = field(default_factory=set)
    inner: set[str] = field(default_factory=set)
    days: set[tuple[str, str]] = field(default_factory=set)

    def has(self, number: Number) -> bool:
        """Whether a number stands there: as it is, as a piece of a date, or a date with the name of its month."""
        if number.meanings & self.plain:
            return True
        if not number.pieces:
            return bool(number.meanings & self.inner)
        if len(number.pieces) == 3 and len(number.pieces[0]) == 4:
            return (number.pieces[0], number.pieces[2]) in self.days
        return set(number.pieces) <= self.plain


def known_numbers(texts: Iterable[str]) -> Known:
    """The numbers of these texts."""
    found = Known()
    for text in texts:
        for number in _read(_HELD, text):
            found.plain |= number.meanings
            found.inner.update(number.pieces)
        for day in _DAY.finditer(text):
            found.days.add((_plain(day["year"]), _plain(day["before"] or day["behind"])))
    return found


def numbers_of(text: str) -> Iterator[Number]:
    """The numbers that a text states, in its order; not those in names (H2O, GPT-4) and of items in a list."""
    return _read(_WRITTEN, _COUNTS.sub(lambda mark: " " * len(mark[0]), text))


def _read(pattern: re.Pattern[str], text: str) -> Iterator[Number]:
    for found in pattern.finditer(text):
        at, written = found.start("number"), found["number"]
        if found["mark"]:
            yield from _chain(at, written, found["mark"])
        elif _GROUPED.fullmatch(written):
            yield Number(at, written, frozenset((_plain(written), re.sub(r"\D", "", _digits(written)))))
        else:  # two numbers with a blank between are two
            for piece in re.finditer(rf"[^{_BLANKS}]+", written):
                yield Number(at + piece.start(), piece[0], frozenset((_plain(piece[0]),)))


def _chain(at: int, written: str, mark: str) -> Iterator[Number]:
    texts = written.split(mark)
    if mark == "-" and len(texts) == 2:
        yield Number(at, texts[0], frozenset((_plain(texts[0]),)))
        yield Number(at + len(texts[0]) + 1, texts[1], frozenset((_plain(texts[1]),)))
        return
    yield Number(at, written, frozenset((_digits(written),)), tuple(_plain(text) for text in texts))


def _plain(written: str) -> str:
    """A number as it is compared: a point for a comma, no zeros at its ends that say nothing."""
    text = _digits(written).replace(",", ".")
    if text.count(".") == 1:
        text = text.rstrip("0").rstrip(".")
    return text.lstrip("0") or "0" if text.isdecimal() else text


def _digits(written: str) -> str:
    """With the digits of ASCII for those of any script."""
    if written.isascii():
        return written
    return "".join(str(unicodedata.decimal(character, character)) for character in written)
