"""Text from files as every database can hold it: without what it refuses, and no longer than it may be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from vault.pages import ParsedPage

#: Longest title, in characters: PostgreSQL refuses index entries above about 2,700 bytes.
MAX_TITLE: Final = 500
#: Longest key: PostgreSQL refuses index entries above about 2,700 bytes.
MAX_KEY: Final = 500

_NOT_STORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Text without NUL and lone surrogates, which databases refuse: each becomes U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    return _NOT_STORABLE.sub("\ufffd", text)


def key(text: str) -> str:
    """A look-up key as long as it may be. Two long texts may share one; what is found by it is compared whole."""
    return storable(text[:MAX_KEY])


def title_of(parsed: ParsedPage) -> str:
    """The title as stored."""
    return storable(unicodedata.normalize("NFC", parsed.title))[:MAX_TITLE]


def names_of(names: Iterable[str]) -> list[str]:
    """Aliases or tags as stored: each once, in their order."""
    return list(dict.fromkeys(storable(name) for name in names))
