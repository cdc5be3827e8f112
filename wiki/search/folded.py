"""A text folded as the words index folds it, of which each place is known in the text as it is written.

Most letters fold to one. Some fold to two (ß, œ, æ, ligatures) and some marks to none (Arabic and Hebrew vowels), and
from there on places in the two texts differ.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from wiki.search.text import fold

_ASCII: Final = bytes(range(0x80))


class _Letters(dict[int, str]):
    """Code point to its folded form, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = fold(chr(code))
        return self[code]


_LETTERS: Final = _Letters()


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text. ``at`` and ``written`` go together: where, in the folded text and in the written one, each
    character begins and ends that is not one letter in both; beginnings and ends take turns.
    """

    text: str
    at: Sequence[int] = ()
    written: Sequence[int] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The written characters of which a part of the folded text is made, and the marks that end it."""
        return self._place(start, inside=0), self._place(end, inside=1)

    def _place(self, place: int, *, inside: int) -> int:
        """``inside``: what to add for a place in the midst of a character."""
        number = bisect_right(self.at, place) - 1
        if number < 0:
            return place
        if number % 2:
            return self.written[number] + place - self.at[number]
        return self.written[number] + (inside if place > self.at[number] else 0)


def folded(text: str) -> Folded:
    """The text, folded character by character."""
    if text.isascii():
        return Folded(text.lower())
    beyond_ascii = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
    uneven = sorted(char for char in set(beyond_ascii) if len(_LETTERS[ord(char)]) != 1)
    at: list[int] = []
    written: list[int] = []
    more = 0  # letters that the folded text has more than the written one, so far
    for found in re.finditer(f"[{re.escape(''.join(uneven))}]", text) if uneven else ():
        start, end = found.span()
        at.append(start + more)
        more += len(_LETTERS[ord(found[0])]) - 1
        at.append(end + more)
        written += (start, end)
    return Folded(text.translate(_LETTERS), at, written)
