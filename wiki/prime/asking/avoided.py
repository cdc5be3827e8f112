"""What a brief does not want: what stands behind *without* and its like, as names of pages or as words."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from wiki.prime.asking.lexicon import ALTERNATIVE, AVOIDING, AVOIDING_IN, JOINING, NOT_AVOIDING, SAYING
from wiki.prime.asking.phrases import PhraseTable, Word, phrase
from wiki.prime.atoms.index import AtomIndex
from wiki.search.stopwords import stopwords
from wiki.search.text import fold

MAX_AVOIDED_WORDS: Final = 6
_BREAK: Final = re.compile(r"[,.;:!?()\[\]\n。、，；：！？…—–]")


class Part(NamedTuple):
    """A part of the brief and what it says."""

    start: int
    end: int
    said: str


@cache
def _avoiding(lang: str) -> PhraseTable[bool]:
    """The phrases that keep something out, in a text of this language or, for "", of an unknown one."""
    own = (text for text in AVOIDING if not lang or lang in AVOIDING_IN.get(text, (lang,)))
    return PhraseTable([*((text, True) for text in own), *((text, False) for text in NOT_AVOIDING)])


def avoided(text: str, words: Sequence[Word], quoted: Sequence[Part], index: AtomIndex, lang: str = "") -> list[Part]:
    """The parts that the brief does not want, the word that says so included: a quotation, a page's name, or words."""
    found: list[Part] = []
    for match in _avoiding(lang).find(words):
        start, after = words[match.first].start, words[match.after - 1].end
        if not match.values[0] or (found and start < found[-1].end):
            continue
        at = bisect_left(quoted, after, key=lambda part: part.start)
        if at < len(quoted) and quoted[at].start - after <= 1:  # with a blank between, or without
            found.append(Part(start, quoted[at].end, quoted[at].said))
            continue
        found += _list(text, words, match.first, match.after, index)
    return found


def _list(text: str, words: Sequence[Word], before: int, first: int, index: AtomIndex) -> Iterator[Part]:
    """What is avoided from the word ``first`` on, one part each. ``before``: where the first of them begins.

    Of *this or that* both are; of *this and that*, and of *this, that*, all that are names of pages by themselves.
    """
    while first < len(words) and words[first].text in SAYING:
        first += 1
    while first < len(words):
        named = _end_of_name(words, first, index)
        last = named or _end_of_part(text, words, first)
        said = _without_common(words[first:last])
        if not said:
            return
        yield Part(words[before].start, words[last - 1].end, text[said[0].start : said[-1].end])
        if last < len(words) and words[last].text in ALTERNATIVE:
            before, first = last, last + 1
            continue
        first = last + (last < len(words) and words[last].text in JOINING)
        between = text[words[last - 1].end : words[first].start] if first < len(words) else ""
        if not named or (first == last and "," not in between):
            return
        after = _end_of_name(words, first, index)
        if not after or not _ends(text, words, after):
            return
        before = last


def _ends(text: str, words: Sequence[Word], at: int) -> bool:
    """Whether a part of the sentence ends before this word."""
    return (
        at == len(words)
        or words[at].text in JOINING | ALTERNATIVE
        or bool(_BREAK.search(text, words[at - 1].end, words[at].start))
    )


def _end_of_name(words: Sequence[Word], first: int, index: AtomIndex) -> int:
    """Behind which word a page's name ends that begins here or behind articles and the like; 0 where none does."""
    for at in range(first, min(first + 3, len(words))):
        if named := names_of(index).at(words, at):
            return named.after
        if not is_common(words[at].text):
            break
    return 0


def _end_of_part(text: str, words: Sequence[Word], first: int) -> int:
    """Behind which word the part of the sentence ends that begins at ``first``; at most six words on."""
    at = first
    while at < min(len(words), first + MAX_AVOIDED_WORDS):
        if words[at].text in JOINING or words[at].text in ALTERNATIVE:
            break
        if _BREAK.search(text, words[at - 1].end if at else 0, words[at].start):
            break
        at += 1
    return at


def _without_common(words: Sequence[Word]) -> Sequence[Word]:
    """The words without function words at both ends."""
    first, last = 0, len(words)
    while first < last and is_common(words[first].text):
        first += 1
    while last > first and is_common(words[last - 1].text):
        last -= 1
    return words[first:last]


@cache
def all_common() -> frozenset[str]:
    """The function words of all languages that are known here."""
    return frozenset().union(*stopwords().values())


def is_common(word: str) -> bool:
    """Whether a word is a function word of some language."""
    return fold(word) in all_common()


@lru_cache(maxsize=2)
def names_of(index: AtomIndex) -> PhraseTable[int]:
    """Titles and aliases of the atoms. A name that is one function word or letter would be in every brief."""
    entries = ((name, atom.pk) for atom in index for name in (atom.title, *atom.aliases))
    return PhraseTable((name, pk) for name, pk in entries if not _is_too_plain(name))


def _is_too_plain(name: str) -> bool:
    words = phrase(name)
    return len(words) == 1 and (is_common(words[0]) or (len(words[0]) == 1 and words[0].isascii()))
