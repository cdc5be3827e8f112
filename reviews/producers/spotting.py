"""Which of many words and pairs of words stand in texts: one pass over all words, without making a text of each.

A word is told by a number made of its length and its first 16 bytes, a pair by the numbers of its two. Numbers are
looked up in a table of bits first. So two words may be taken for one; what is spotted has to be looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint64]

#: Texts of one pass: more of them no longer lie in a processor's own memory.
AT_ONCE: Final = 40
#: Of the places of the table one of so many is taken at most.
_SPARE: Final = 64
_FEWEST_BITS: Final = 12
#: Bytes of a word that count, in two parts, and with them what may be read behind the last word.
_PART: Final = 8
_BLANK: Final = ord(" ")
#: Between two texts, as a word that is in none.
_BETWEEN: Final = b" \n "
# Odd numbers without a pattern, to spread what is alike (Knuth, The Art of Computer Programming 3, 6.4).
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
_SECOND: Final = np.uint64(0xC2B2AE3D27D4EB4F)
_LENGTH: Final = np.uint64(0x165667B19E3779F9)
_HALF: Final = np.uint64(32)
_FIRST_BYTES: Final = np.array([(1 << 8 * count) - 1 for count in range(_PART + 1)], dtype=np.uint64)


class Spotter:
    """Knows keys: words (:mod:`reviews.producers.words`), or two with a blank between."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys: dict[int, list[str]] = defaultdict(list)
        alone: list[str] = []
        beside: list[str] = []
        for key in keys:
            (beside if " " in key else alone).append(key)
        for number, key in zip(_numbers(alone).tolist(), alone, strict=True):
            self._keys[number].append(key)
        words = _numbers(beside)
        for number, key in zip(_together(words[::2], words[1::2]).tolist(), beside, strict=True):
            self._keys[number].append(key)
        bits = max(_FEWEST_BITS, (len(self._keys) * _SPARE).bit_length())
        self._shift = np.uint64(64 - bits)
        self._taken = np.zeros(1 << bits, dtype=np.bool_)
        self._taken[np.fromiter(self._keys, np.uint64, len(self._keys)) >> self._shift] = True

    def spot(self, rows: Sequence[bytes]) -> list[set[str]]:
        """For each row of spaced words the keys that it has, and perhaps a few more. Give it AT_ONCE rows at a time."""
        starts, words = _words(b" " + _BETWEEN.join(rows))
        ends = np.cumsum([len(row) + len(_BETWEEN) for row in rows])
        spotted: list[set[str]] = [set() for _ in rows]
        for numbers in (words, _together(words[:-1], words[1:])):
            met = np.flatnonzero(self._taken[numbers >> self._shift])
            of_texts = np.searchsorted(ends, starts[met], side="right")
            for text, number in zip(of_texts.tolist(), numbers[met].tolist(), strict=True):
                if number in self._keys:
                    spotted[text].update(self._keys[number])
        return spotted


def _words(row: bytes) -> tuple[NDArray[np.int64], Numbers]:
    """Where each word of a row begins, and its number; the row begins with a blank."""
    row += b" " * (2 * _PART)
    blank = np.frombuffer(row, np.uint8) == _BLANK
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    # At each place the eight bytes that begin there.
    parts = np.ndarray((len(row) - _PART + 1,), "<u8", row, strides=(1,))
    numbers = (parts[starts] & _FIRST_BYTES[np.minimum(lengths, _PART)]) * _SPREAD
    long = np.flatnonzero(lengths > _PART)
    rest = np.minimum(lengths[long] - _PART, _PART)
    numbers[long] += (parts[starts[long] + _PART] & _FIRST_BYTES[rest]) * _SECOND
    numbers += lengths.astype(np.uint64) * _LENGTH
    return starts, _spread(numbers)


def _numbers(keys: Iterable[str]) -> Numbers:
    """The number of each word of the keys, one after another."""
    return _words(f" {' '.join(keys)}".encode("utf-8", "surrogatepass"))[1]


def _together(words: Numbers, following: Numbers) -> Numbers:
    """The number of each word with the one beside it."""
    return _spread(words * _LENGTH + following)


def _spread(numbers: Numbers) -> Numbers:
    """The numbers with what is alike in them spread over their highest bits."""
    return (numbers ^ (numbers >> _HALF)) * _SPREAD
