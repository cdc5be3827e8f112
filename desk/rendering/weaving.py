"""What a page's Markdown becomes once it is parsed: links led to their places, ids given, the rest put back.

One rule at the end of the parser's own. What it asks of the page is in the environment (:class:`Weave`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Protocol, cast

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from desk.rendering.marking import Marked

WEAVE: Final = "weave"
_TAG: Final = re.compile(r"(?<!\S)#([^\s#!\"$%&'()*+,.:;<=>?@\[\]^`{|}~\\]+)")
_BLOCK_ID: Final = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*\Z")
_IN_TAGS: Final = re.compile(r"(<[^<>]*>)")
_ALIGNED: Final = {"text-align:center": "al-center", "text-align:right": "al-right"}


class Weave(Protocol):
    """What the rule asks of the page that is drawn."""

    marked: Marked

    def link(self, number: int) -> str:
        """A wikilink as HTML."""

    def embedded(self, number: int) -> str | None:
        """What a wikilink shows in its place as a block of its own; None where it is text in a line."""

    def opened(self, number: int | None, href: str) -> tuple[dict[str, str | int | float], str]:
        """The attributes of a Markdown link, and the HTML that follows its text."""

    def picture(self, number: int | None, address: str, shown: str) -> str:
        """A picture as HTML."""

    def heading(self, level: int, text: str, shown: str) -> tuple[int, str]:
        """The level that a heading is shown at, and its id; level 0 is not shown."""

    def tag(self, name: str) -> str | None:
        """A tag as HTML; None where the index has no such tag of the page."""

    def block(self, name: str) -> str | None:
        """The id of a block, "" for none; None where the index has no such block of the page."""


def weaving_plugin(md: MarkdownIt) -> None:
    """Weave what is known of the page into what was parsed."""
    md.core.ruler.push("weaving", _weave)


def _weave(state: StateCore) -> None:
    weave = cast(Weave, state.env[WEAVE])
    tokens = state.tokens
    for at, token in enumerate(tokens):
        if token.type == "inline":
            token.children = list(_inline(token.children or [], weave))
            _name_block(tokens, at, weave)
        elif token.type in ("fence", "code_block", "math_block", "math_block_label"):
            token.content = weave.marked.restored(token.content)
        elif token.type == "html_block":
            token.content = _html(token.content, weave)
        elif token.type in ("th_open", "td_open") and (style := token.attrs.pop("style", None)):
            if aligned := _ALIGNED.get(str(style)):
                token.attrSet("class", aligned)
        elif token.meta and "checked" in token.meta:
            token.attrSet("class", "task")
    state.tokens = list(_blocks(tokens, weave))


def _html(text: str, weave: Weave) -> str:
    """A block of HTML: links in its text are led to their places, those in its tags put back."""
    parts = _IN_TAGS.split(text)
    return "".join(
        weave.marked.restored(part) if at % 2 else weave.marked.restored(weave.marked.replaced(part, weave.link))
        for at, part in enumerate(parts)
    )


def _blocks(tokens: list[Token], weave: Weave) -> Iterator[Token]:
    """The tokens with headings named and embedded pages as blocks of their own."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.type == "heading_open":
            if not _heading(tokens, at, weave):
                at += 3
                continue
        elif token.type == "paragraph_open" and _holds_embed(tokens[at + 1]):
            yield from _parted(tokens[at], tokens[at + 1], tokens[at + 2])
            at += 3
            continue
        yield token
        at += 1


def _heading(tokens: list[Token], at: int, weave: Weave) -> bool:
    """Name a heading; False for one that is not shown."""
    opening, text, closing = tokens[at : at + 3]
    level, name = weave.heading(int(opening.tag[1:]), weave.marked.restored(text.content), _plain(text.children or []))
    opening.tag = closing.tag = f"h{level}"
    if name and "id" not in opening.attrs:
        opening.attrSet("id", name)
    return level > 0


def _plain(children: list[Token]) -> str:
    """Inline text without its markup."""
    return "".join(
        str(child.meta.get("text", ""))
        if child.type == "html_inline"
        else " "
        if "break" in child.type
        # The children of a picture are its alternative text.
        else child.content
        if child.type in ("text", "code_inline", "math_inline")
        else ""
        for child in children
    ).strip()


def _holds_embed(inline: Token) -> bool:
    return any(child.type == "embed" for child in inline.children or [])


def _parted(opening: Token, inline: Token, closing: Token) -> Iterator[Token]:
    """A paragraph as its parts before, between and behind what is embedded in it."""
    part: list[Token] = []
    for child in [*(inline.children or []), None]:
        if child is not None and child.type != "embed":
            part.append(child)
            continue
        if any((piece.type != "softbreak" and piece.content.strip(" ")) or piece.nesting for piece in part):
            yield opening
            yield Token("inline", "", 0, children=_trimmed(part), content="", level=inline.level, block=True)
            yield closing
        part = []
        if child is not None:
            yield Token("html_block", "", 0, content=child.content, block=True)


def _trimmed(part: list[Token]) -> list[Token]:
    """Without the line breaks at its ends."""
    while part and part[0].type in ("softbreak", "hardbreak"):
        part = part[1:]
    while part and part[-1].type in ("softbreak", "hardbreak"):
        part = part[:-1]
    return part


def _inline(children: list[Token], weave: Weave) -> Iterator[Token]:
    behind: list[str] = []
    first = True
    for child in children:
        if child.type == "text":
            yield from _text(child, weave, first)
        elif child.type in ("code_inline", "math_inline", "math_inline_double", "html_inline"):
            child.content = weave.marked.restored(child.content)
            yield child
        elif child.type == "link_open":
            href = str(child.attrs.get("href", ""))
            child.attrs, after = weave.opened(weave.marked.number(href), href)
            behind.append(after)
            yield child
        elif child.type == "link_close":
            yield child
            if behind and (after := behind.pop()):
                yield _made(after, "")
        elif child.type == "image":
            source = str(child.attrs.get("src", ""))
            shown = weave.marked.restored(child.content)
            yield _made(weave.picture(weave.marked.number(source), source, shown), "")
        else:
            yield child
        first = child.type in ("softbreak", "hardbreak")


def _made(html: str, text: str) -> Token:
    return Token("html_inline", "", 0, content=html, meta={"text": text})


def _text(token: Token, weave: Weave, first: bool) -> Iterator[Token]:
    """A stretch of text with its wikilinks and tags."""
    for piece in Marked.pieces(token.content):
        if isinstance(piece, int):
            block = weave.embedded(piece)
            if block is not None:
                yield Token("embed", "", 0, content=block)
            else:
                html = weave.link(piece)
                yield _made(html, _IN_TAGS.sub("", html))
            first = False
        else:
            yield from _tags(weave.marked.restored(piece), weave, first)


def _tags(text: str, weave: Weave, first: bool) -> Iterator[Token]:
    position = 0
    for match in _TAG.finditer(text) if "#" in text else ():
        if match.start() == 0 and not first:
            continue  # it goes on from what is before it
        name = match[1].strip("/")
        html = weave.tag(name)
        if html is None:
            continue
        end = match.start() + 1 + match[1].find(name) + len(name)
        yield Token("text", "", 0, content=text[position : match.start()])
        yield _made(html, f"#{name}")
        position = end
    yield Token("text", "", 0, content=text[position:])


def _name_block(tokens: list[Token], at: int, weave: Weave) -> None:
    """Take ``^id`` off the end of a block and give its element the id."""
    children = tokens[at].children or []
    last = next((child for child in reversed(children) if child.type != "text" or child.content.strip()), None)
    match = _BLOCK_ID.search(last.content) if last is not None and last.type == "text" else None
    name = weave.block(match[1]) if match else None
    if last is None or match is None or name is None:
        return
    last.content = last.content[: match.start()]
    alone = not any(child.content.strip() for child in children if child.type != "softbreak")
    opening = _sibling_before(tokens, at - 1) if alone else _shown_opening(tokens, at - 1)
    if opening is not None and name:
        opening.attrSet("id", name)


def _shown_opening(tokens: list[Token], at: int) -> Token | None:
    """The element around inline text; that of the list item where the paragraph in it is not shown."""
    while at > 0 and tokens[at].hidden:
        at -= 1
    return tokens[at] if tokens[at].nesting == 1 else None


def _sibling_before(tokens: list[Token], paragraph: int) -> Token | None:
    """The opening of the block that ends right before a paragraph."""
    depth = 0
    for at in range(paragraph - 1, -1, -1):
        depth -= tokens[at].nesting
        if depth < 0:
            return None
        if depth == 0 and tokens[at].nesting >= 0 and tokens[at].type != "inline":
            return tokens[at]
    return None
