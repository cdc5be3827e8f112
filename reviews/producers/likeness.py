"""When two texts are nearly the same, and the keys under which pages that may be meet.

The measure is the Jaccard index of shingles: of all runs of five words that are in either text, the share that is in
both. Words are those of :mod:`reviews.producers.words`.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Final

from django.db import transaction

from reviews.models import LikenessKey
from reviews.producers.rows import read
from reviews.producers.words import spaced_words, text_words
from wiki.rows import chunks, insert, select
from wiki.search import texts

#: Words of a shingle.
SHINGLE: Final = 5
#: Texts are nearly the same from this share of common shingles on.
ALIKE: Final = 0.9
#: Shorter texts are not compared: a handful of words is the same by chance, or by template.
FEWEST_WORDS: Final = 40
#: Keys of a text.
KEYS: Final = 4
#: Characters at each end of a text from which its keys are taken.
END_CHARS: Final = 800
#: Pages whose shingles are in memory at once, 100 KB or so each.
_COMPARED_AT_ONCE: Final = 200
_ROWS_AT_ONCE: Final = 4_000

Shingles = frozenset[tuple[str, ...]]


def shingles(words: Sequence[str]) -> Shingles:
    """The runs of five words, each once; none of a text too short to be compared."""
    if len(words) < FEWEST_WORDS:
        return frozenset()
    return frozenset(zip(*(words[start:] for start in range(SHINGLE)), strict=False))


def alike(one: Shingles, other: Shingles) -> bool:
    """Whether nine tenths of what is in either is in both."""
    fewer, more = sorted((len(one), len(other)))
    if fewer < ALIKE * more:
        return False
    common = len(one & other)
    return common >= ALIKE * (fewer + more - common) > 0


class Comparison:
    """Compares the texts of pages, which it reads when it needs them and forgets when they become many."""

    def __init__(self) -> None:
        self._shingles: dict[int, Shingles] = {}

    def alike(self, one: int, other: int) -> bool:
        """Whether two pages say nearly the same."""
        self._load({one, other})
        return alike(self._shingles[one], self._shingles[other])

    def _load(self, pages: set[int]) -> None:
        missing = pages - self._shingles.keys()
        if len(self._shingles) + len(missing) > _COMPARED_AT_ONCE:
            self._shingles = {page: self._shingles[page] for page in pages - missing}
        self._shingles.update(dict.fromkeys(missing, Shingles()))
        self._shingles.update((page, shingles(text_words(text))) for page, text in texts(missing))


def text_keys(text: str) -> list[str]:
    """The keys of a text: shingles at places that two nearly equal texts choose alike; none of a short one.

    Where a shingle is taken is told by the words with the lowest checksums, at their first places: other words, and
    so most changes, don't move them.
    """
    words = spaced_words(text).split()
    if len(words) < FEWEST_WORDS:
        return []
    ranks = list(map(zlib.crc32, words))
    starts = [ranks.index(rank) for rank in _lowest(set(ranks))]
    return list(dict.fromkeys(_digest(words[start : start + SHINGLE]) for start in starts))


def _lowest(ranks: set[int]) -> Iterator[int]:
    """The lowest few, from the lowest on; for so few, sorting all would take thrice as long."""
    for _ in range(min(KEYS, len(ranks))):
        lowest = min(ranks)
        ranks.discard(lowest)
        yield lowest


def _digest(words: Iterable[bytes]) -> str:
    return blake2b(b" ".join(words), digest_size=8).hexdigest()


# --- rows ------------------------------------------------------------------------------------------

_KEYS: Final = "SELECT id, page_id, key FROM reviews_likenesskey WHERE kind = '{kind}'"
_UNDER_KEYS: Final = " AND key IN {items}"
_SHARED: Final = (
    " AND key IN (SELECT key FROM reviews_likenesskey WHERE kind = '{kind}' GROUP BY key HAVING COUNT(*) > 1)"
)
# An expression, lest the index on kind be taken: it would lead over the keys of all pages.
_KEYS_OF: Final = "SELECT id, page_id, key FROM reviews_likenesskey WHERE kind || '' = '{kind}' AND page_id IN {items}"


def renew(kind: str, wanted: Mapping[int, Collection[str]], *, everything: bool = False) -> None:
    """Give pages these keys of a kind, and no others; with ``everything`` pages that are not named have none.

    Only rows that differ are written, in transactions of their own.
    """
    kept: dict[int, set[str]] = {}
    gone: list[int] = []
    stored = read(_of_kind(_KEYS, kind), "", None) if everything else select(_of_kind(_KEYS_OF, kind), wanted)
    for pk, page, key in list(stored):
        keys = kept.get(page)
        if keys is None:
            keys = kept[page] = set()
        if key in keys or key not in wanted.get(page, ()):
            gone.append(pk)
        else:
            keys.add(key)
    new = [
        (page, kind, key)
        for page, keys in wanted.items()
        if len(keys) != len(kept.get(page, ()))
        for key in dict.fromkeys(keys)
        if key not in kept.get(page, ())
    ]
    for chunk in chunks(gone):
        LikenessKey.objects.filter(pk__in=chunk).delete()
    for rows in chunks(new, _ROWS_AT_ONCE):
        with transaction.atomic():
            insert(LikenessKey, ("page", "kind", "key"), rows)


def keys_of(kind: str, pages: Collection[int]) -> dict[int, set[str]]:
    """The keys of a kind that each of the pages has."""
    found: dict[int, set[str]] = {page: set() for page in pages}
    for _, page, key in select(_of_kind(_KEYS_OF, kind), pages):
        found[page].add(key)
    return found


def keys_among(kind: str, pages: Collection[int]) -> set[str]:
    """The keys of a kind that any of the pages has."""
    return {key for _, _, key in select(_of_kind(_KEYS_OF, kind), pages)}


def keyed(kind: str, keys: Collection[str] | None) -> Iterator[tuple[str, int]]:
    """``(key, page)`` of all pages under these keys; None: under any that several pages have."""
    rows = read(_of_kind(_KEYS + (_SHARED if keys is None else ""), kind), _UNDER_KEYS, keys)
    return ((key, page) for _, page, key in rows)


def _of_kind(statement: str, kind: str) -> str:
    return statement.replace("{kind}", kind)
