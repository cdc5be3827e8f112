"""Bodies as the words index holds them: whole, in part, or which of them hold a text. No file is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from wiki.rows import chunks
from wiki.search.words import engine

#: Bodies held in memory at once.
_AT_ONCE: Final = 200
_WHOLE: Final = 1_000_000_000


def texts(pks: Iterable[int], chars: int = _WHOLE) -> Iterator[tuple[int, str]]:
    """``(page key, body)`` of the pages that are indexed, in the order given; 200 are in memory at a time.

    A body is NFC and without frontmatter, and cut behind ``chars`` characters.
    """
    for some in chunks(pks, _AT_ONCE):
        found = engine().bodies(some, chars)
        for pk in some:
            if pk in found:
                yield pk, found[pk][1]


def text_ends(pks: Iterable[int], chars: int) -> Iterator[tuple[int, str]]:
    """``(page key, the first and the last ``chars`` characters of its body)``; a short body comes whole, or twice."""
    for some in chunks(pks, _AT_ONCE):
        yield from engine().ends(some, chars).items()


def pages_holding(text: str) -> list[int]:
    """The pages whose bodies may hold a text: its words beside each other, in any inflection, case and accents.

    None is left out that holds it; what is found has to be looked at. A text without words is held by none.
    """
    return engine().holding(text) if text.strip() else []
