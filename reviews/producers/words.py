"""The words of texts as producers compare them: casefolded runs of letters and digits.

Of scripts written without blanks, and of Hangul, each pair of characters counts as a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from wiki.search.text import SPACELESS

_WORD: Final = re.compile(r"[^\W_]+")
_ASCII: Final = bytes(range(128))
# Makes letters small and a blank of what is neither letter nor digit; bytes are translated faster than characters.
_BYTES: Final = bytes(
    byte if byte > 127 else ord(chr(byte).lower()) if chr(byte).isalnum() else 32 for byte in range(256)
)
_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]+")
#: Different characters beyond ASCII up to which each is looked at by itself.
_FEW_OTHERS: Final = 64
_LETTERS_KEPT: Final = 4_096


def text_words(text: str) -> list[str]:
    """The words of a text, in order."""
    return spaced_words(text).decode("utf-8", "surrogatepass").split()


def spaced_words(text: str) -> bytes:
    """The words of a text in order, with blanks around them, in UTF-8 (a lone surrogate as if it were a character)."""
    data = text.encode("utf-8", "surrogatepass")
    if text.isascii():
        return data.translate(_BYTES)
    others = set(data.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    if len(others) > _FEW_OTHERS:
        text = text.casefold()
        data = " ".join(_WORD.findall(text)).encode("utf-8", "surrogatepass")
        spaceless = SPACELESS.search(text)
    else:
        # The same words, in a fifth of the time: most texts have some quotes and dashes and a few letters beyond ASCII.
        data = data.translate(_BYTES)
        for other in others:
            folded = _folded(other)
            if folded != other:
                data = data.replace(other.encode("utf-8", "surrogatepass"), folded.encode("utf-8", "surrogatepass"))
        spaceless = SPACELESS.search("".join(others))
    return b"".join(_taken_apart(data)) if spaceless else data


@lru_cache(maxsize=_LETTERS_KEPT)
def _folded(letter: str) -> str:
    return "".join(part if part.isalnum() else " " for part in letter.casefold())


def _taken_apart(data: bytes) -> Iterator[bytes]:
    """The words, with blanks where a script without blanks has them."""
    others = data.translate(None, _ASCII)
    read = end = 0
    while read < len(others):
        # It is the next of the others; a search for one byte is many times as fast as a pattern.
        start = data.index(others[read], end)
        yield data[end:start]
        run = _BEYOND_ASCII.match(data, start)
        assert run is not None  # noqa: S101
        end = run.end()
        read += end - start
        yield SPACELESS.sub(_pairs, run[0].decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")
    yield data[end:]


def _pairs(found: re.Match[str]) -> str:
    run = found[0]
    if len(run) == 1:
        return f" {run} "
    return f" {' '.join(run[first : first + 2] for first in range(len(run) - 1))} "
