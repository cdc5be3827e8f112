"""Callouts: quotes whose first line is ``[!type]± title``, as Obsidian has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

_HEAD: Final = re.compile(r"\[!([^\[\]\n]{1,60})\]([+-]?)[ \t]*([^\n]*)(?:\n|\Z)")
_TONES: Final = {
    "tip": ("tip", "hint", "important", "success", "check", "done"),
    "warn": ("warning", "caution", "attention", "question", "help", "faq"),
    "bad": ("failure", "fail", "missing", "danger", "error", "bug"),
    "idea": ("example",),
    "plain": ("quote", "cite"),
}
_TONE: Final = {name: tone for tone, names in _TONES.items() for name in names}


def callout_plugin(md: MarkdownIt) -> None:
    """Make callouts of quotes, before the text in them is parsed."""
    md.core.ruler.after("block", "callouts", _callouts)


def _callouts(state: StateCore) -> None:
    tokens = state.tokens
    ends = _ends(tokens)
    made: list[Token] = []
    closing: dict[int, Token] = {}
    at = 0
    while at < len(tokens):
        token = tokens[at]
        head = _head(tokens, at) if token.type == "blockquote_open" else None
        if head is not None:
            opening, closing[ends[at]] = _callout(head)
            made += [opening, *_title(head, opening, tokens[at + 2])]
            rest = tokens[at + 2].content[head.end() :]
            if rest.strip():
                tokens[at + 2].content = rest
                at += 1
            else:
                at += 4  # the paragraph held nothing else
            continue
        made.append(closing.get(at, token))
        at += 1
    state.tokens = made


def _ends(tokens: Sequence[Token]) -> dict[int, int]:
    """Where each quote that opens is closed."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.type == "blockquote_open":
            opened.append(at)
        elif token.type == "blockquote_close":
            ends[opened.pop()] = at
    return ends


def _head(tokens: Sequence[Token], at: int) -> re.Match[str] | None:
    if at + 3 >= len(tokens) or tokens[at + 1].type != "paragraph_open" or tokens[at + 2].type != "inline":
        return None
    return _HEAD.match(tokens[at + 2].content)


def _callout(head: re.Match[str]) -> tuple[Token, Token]:
    kind = head[1].partition("|")[0].strip().lower()
    tag = "details" if head[2] else "div"
    attributes: dict[str, str | int | float] = {"class": f"callout tone-{_TONE.get(kind, 'note')}"}
    if tag == "div":
        attributes["role"] = "note"
    elif head[2] == "+":
        attributes["open"] = ""
    opening = Token("callout_open", tag, 1, attrs=attributes, block=True, meta={"kind": kind})
    return opening, Token("callout_close", tag, -1, block=True)


def _title(head: re.Match[str], opening: Token, paragraph: Token) -> tuple[Token, Token, Token]:
    tag = "summary" if opening.tag == "details" else "p"
    kind: str = opening.meta["kind"]
    text = Token("inline", "", 0, content=head[3].strip() or kind.capitalize(), children=[], map=paragraph.map)
    attributes: dict[str, str | int | float] = {"class": "name"} if tag == "p" else {}
    return Token("name_open", tag, 1, attrs=attributes, block=True), text, Token("name_close", tag, -1, block=True)
