"""What one page gives to the words index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class PageWords(NamedTuple):
    """A page's text. ``body`` is the Markdown after the frontmatter; ``lang`` its ISO 639-1 code or empty."""

    pk: int
    title: str
    body: str
    lang: str = ""
    aliases: Sequence[str] = ()
    tags: Sequence[str] = ()
