"""Words of a text with their places, and phrases looked up in it: the longest first, from left to right."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from wiki.search.text import MARKS, SPACELESS_RANGES

T = TypeVar("T")

# A character of a script that is written without blanks is a word by itself; C++ and C# are not C.
_WORD: Final = re.compile(
    rf"[{SPACELESS_RANGES}]|(?:(?![{SPACELESS_RANGES}])(?:[^\W_]|[{MARKS}]))+(?:\+\+(?![\w+])|#(?![\w#]))?"
)
MAX_WORDS: Final = 24
"""A phrase of more words is none: nobody writes a title of this length into a sentence."""


class Word(NamedTuple):
    """A word, casefolded, and where it stands in the text that :func:`normalised` gave."""

    text: str
    start: int
    end: int


def normalised(text: str) -> str:
    """A text as it is compared: NFKC, casefolded, with one blank where it has any."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def words_of(text: str) -> list[Word]:
    """The words of a normalised text, in order."""
    return [Word(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]


def phrase(text: str) -> tuple[str, ...]:
    """The words of any text, as a phrase to look for."""
    return tuple(word.text for word in words_of(normalised(text)))


class Match(NamedTuple, Generic[T]):
    """A phrase that was found: its words are ``words[first:after]``, and what it stands for."""

    first: int
    after: int
    values: tuple[T, ...]


class PhraseTable(Generic[T]):
    """Phrases and what each stands for; a phrase may stand for several things, in the order given."""

    def __init__(self, entries: Iterable[tuple[str, T]]) -> None:
        self._values: dict[tuple[str, ...], dict[T, None]] = {}
        # By its first word, the lengths that a phrase may have, longest first: few look-ups for a word of a text.
        self._lengths: dict[str, tuple[int, ...]] = {}
        for text, value in entries:
            words = phrase(text)
            if not 0 < len(words) <= MAX_WORDS:
                continue
            self._values.setdefault(words, {})[value] = None
            lengths = self._lengths.get(words[0], ())
            if len(words) not in lengths:
                self._lengths[words[0]] = tuple(sorted((*lengths, len(words)), reverse=True))

    def find(self, words: Sequence[Word]) -> list[Match[T]]:
        """The phrases in these words: at each place the longest, and none within another."""
        found: list[Match[T]] = []
        at = 0
        while at < len(words):
            match = self.at(words, at)
            if match:
                found.append(match)
            at = match.after if match else at + 1
        return found

    def at(self, words: Sequence[Word], first: int) -> Match[T] | None:
        """The longest phrase that begins at this word."""
        for length in self._lengths.get(words[first].text, ()):
            values = self._values.get(tuple(word.text for word in words[first : first + length]))
            if values and first + length <= len(words):
                return Match(first, first + length, tuple(values))
        return None
