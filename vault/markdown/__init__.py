"""Reading a note's body: its links, headings, block ids, tags, first sentence and length.

Nothing is rendered, and no Markdown library is asked: the scan reads ten thousand files, and what counts as a link
is Obsidian's rule. Time is linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from vault.markdown.blocks import Blocks, scan_blocks
from vault.markdown.inline import ParsedLink, scan_inline
from vault.markdown.prose import HIDDEN, comments, prose
from vault.markdown.text import count_words, summarize

__all__ = [
    "HIDDEN",
    "ParsedBody",
    "ParsedLink",
    "comments",
    "parse_body",
    "parse_property_link",
    "prose",
    "rewrite_links",
]

_BLOCK_ID: Final = re.compile(r"(?:^|(?<=[ \t]))\^([A-Za-z0-9-]+)[ \t]*+$", re.MULTILINE)

_EMPTY_LINE: Final = re.compile(r"[ \t>]*+(?:\n|\Z)")


@dataclass(frozen=True, slots=True)
class ParsedBody:
    """What a body holds.

    ``headings`` are ``(level, text as written)``, ``places`` the ``(start, end)`` of their lines; ``hidden`` are the
    ``[start, end]`` of fences, comments and displayed mathematics. ``tags`` lack their ``#``; ``remote_images`` are the
    addresses of pictures that a reader would load from elsewhere; ``words`` counts each CJK character as one.
    """

    links: list[ParsedLink]
    headings: list[tuple[int, str]]
    places: list[tuple[int, int]]
    hidden: list[list[int]]
    blocks: list[str]
    tags: list[str]
    remote_images: list[str]
    summary: str
    words: int


def parse_body(text: str) -> ParsedBody:
    """Read a note's body (the text after its frontmatter). Never raises; offsets are into ``text``."""
    blocks = scan_blocks(text)
    inline = scan_inline(blocks)
    return ParsedBody(
        links=inline.links,
        headings=blocks.headings,
        places=blocks.places,
        hidden=blocks.blanked,
        blocks=_block_ids(blocks) if "^" in text else [],
        tags=inline.tags,
        remote_images=inline.remote,
        summary=summarize(blocks),
        words=count_words(text),
    )


def _block_ids(blocks: Blocks) -> list[str]:
    """The ``^id`` at the end of a block or on a line of its own, each once."""
    found: dict[str, None] = {}
    text = blocks.text
    for match in _BLOCK_ID.finditer(text):
        following = match.end() + 1
        index = bisect_left(blocks.starts, following)
        if (index < len(blocks.starts) and blocks.starts[index] == following) or _EMPTY_LINE.match(text, following):
            found.setdefault(match[1])
    return list(found)


def parse_property_link(value: str, key: str) -> ParsedLink | None:
    """The link of a property whose text is exactly one wikilink; None for any other text, mixed text included."""
    text = value.strip()
    if not text.startswith("[[") or not text.endswith("]]"):
        return None
    inline = scan_inline(Blocks(text))
    if len(inline.links) != 1:
        return None
    link = inline.links[0]
    if link.kind != "wikilink" or link.start != 0 or link.end != len(text):
        return None
    return ParsedLink("property", False, link.target, link.subpath, link.alias, 0, 0, key)


def rewrite_links(text: str, replace: Callable[[ParsedLink], str | None]) -> str:
    """The text with each link replaced by what ``replace`` gives for it; None leaves a link as it is.

    Everything else keeps its bytes. A link inside the text of another is offered first, in the text as it was, and
    the outer one then with what it has become; links nested deeper are not offered.
    """
    links = parse_body(text).links
    holders = {id(outer) for outer, inner in pairwise(links) if inner.end <= outer.end}
    text = _replaced(text, [link for link in links if id(link) not in holders], replace)
    if not holders:
        return text
    links = parse_body(text).links
    outer = [link for link, inner in pairwise(links) if inner.end <= link.end]
    return _replaced(text, outer, replace)


def _replaced(text: str, links: list[ParsedLink], replace: Callable[[ParsedLink], str | None]) -> str:
    parts: list[str] = []
    position = 0
    for link in links:
        if link.start < position:
            continue
        new = replace(link)
        if new is not None:
            parts += (text[position : link.start], new)
            position = link.end
    return "".join([*parts, text[position:]]) if parts else text
