"""What of a note is prose: the places where a reader could put a link."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from vault.markdown.blocks import Blocks, scan_blocks
from vault.markdown.inline import Scanner

#: Stands for each character that is not prose: no word, no blank and no punctuation.
HIDDEN: Final = "\0"

_SPECIAL: Final = re.compile(r"[\[#\\`\]<$]")
_HEADING: Final = re.compile(r"^[ \t>]*+(?:[-+*][ \t]++)?#{1,6}(?:[ \t][^\n]*+)?$", re.MULTILINE)
_UNDERLINED: Final = re.compile(r"^[^\n]++\n(?=[ \t>]*+(?:=++|-++)[ \t]*+$)", re.MULTILINE)
_COMMENT: Final = re.compile(r"%%[^%]*+(?:%(?!%)[^%]*+)*+%%")
# Addresses, from the sign that tells one: looked for by itself it is found at many times the speed.
_ADDRESSES: Final = (
    ("://", re.compile(r"://[^\s<>\"]++"), re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*+\Z")),
    ("www.", re.compile(r"\bwww\.[^\s<>\"]++"), None),
    ("@", re.compile(r"@[\w-]{1,64}\.[\w.-]{2,}+"), re.compile(r"(?:mailto:)?[\w.+-]++\Z")),
)
_LONGEST_BEFORE: Final = 64
_REFERENCE: Final = re.compile(r"\[[^\[\]\n]{1,400}\]\[[^\[\]\n]{0,200}\]")
_DEFINITION: Final = re.compile(r"^[ ]{0,3}\[(?!\^)[^\[\]\n]{1,200}\]:[^\n]*+", re.MULTILINE)
_TAG: Final = re.compile(r"</?([a-zA-Z][a-zA-Z0-9-]*+)(?:\s[^<>]*+)?/?>|<![a-zA-Z\[][^<>]*+>")
#: Elements whose content is not the note's prose.
_ELEMENTS: Final = frozenset(
    {"a", "code", "iframe", "kbd", "math", "object", "pre", "script", "style", "svg", "textarea"}
)
_PATTERNS: Final = (
    (_HEADING, "#"),
    (_UNDERLINED, "\n"),
    (_COMMENT, "%%"),
    (_REFERENCE, "]["),
    (_DEFINITION, "]:"),
)


def prose(text: str) -> str:
    """The text with everything that is not prose hidden; its length stays, so offsets hold.

    Hidden are code, mathematics, comments, links and their texts, tags, addresses, headings and HTML. Never raises.
    """
    blocks = scan_blocks(text)
    scanner = _Spans(blocks)
    scanner.run()
    return _hide_patterns(_hide(blocks.text, [*((start, end) for start, end in blocks.blanked), *scanner.spans]))


def comments(text: str) -> list[tuple[int, int]]:
    """The ``(start, end)`` of the ``%%`` comments, which no reader sees: not of what is code or mathematics."""
    if "%%" not in text:
        return []
    blocks = scan_blocks(text)
    scanner = _Spans(blocks)
    scanner.run()
    return [found.span() for found in _COMMENT.finditer(_hide(blocks.text, scanner.spans))]


class _Spans(Scanner):
    """The pass over inline text, which keeps where things are instead of what they are."""

    __slots__ = ("spans",)

    def __init__(self, blocks: Blocks) -> None:
        super().__init__(blocks, _SPECIAL)
        self.spans: list[tuple[int, int]] = []

    def _spanning(self, start: int, end: int) -> int:
        if end > start + 1:
            self.spans.append((start, end))
        return end

    def tag(self, start: int) -> int:
        return self._spanning(start, super().tag(start))

    def code(self, start: int) -> int:
        return self._spanning(start, super().code(start))

    def mathematics(self, start: int) -> int:
        return self._spanning(start, super().mathematics(start))

    def comment(self, start: int) -> int:
        return self._spanning(start, super().comment(start))

    def wikilink(self, inner: str, start: int, end: int, *, embed: bool) -> None:
        self.spans.append((start - embed, end))

    def markdown(self, start: int, destination: tuple[str, int], shown: str) -> None:
        self.spans.append((start, destination[1]))


def _hide_patterns(text: str) -> str:
    for pattern, sign in _PATTERNS:
        if sign in text:
            text = _hide(text, (found.span() for found in pattern.finditer(text)))
    text = _hide(text, _addresses(text))
    return _hide(text, _html(text)) if "<" in text else text


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    for sign, pattern, beginning in _ADDRESSES:
        if sign not in text:
            continue
        for found in pattern.finditer(text):
            start = found.start()
            if beginning is None:
                yield found.span()
            elif before := beginning.search(text[max(0, start - _LONGEST_BEFORE) : start]):
                yield start - len(before[0]), found.end()


def _html(text: str) -> Iterator[tuple[int, int]]:
    """The tags, and the elements whose content is no prose."""
    element, start = "", 0
    for tag in _TAG.finditer(text):
        name = (tag[1] or "").lower()
        closing = text.startswith("</", tag.start())
        yield tag.span()
        if closing and name == element:
            yield start, tag.end()
            element = ""
        elif not closing and not element and name in _ELEMENTS and not tag[0].endswith("/>"):
            element, start = name, tag.start()


def _hide(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with HIDDEN for every character of the spans, which may overlap."""
    parts: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if end > position:
            visible = max(start, position)
            parts += (text[position:visible], HIDDEN * (end - visible))
            position = end
    return "".join([*parts, text[position:]]) if parts else text
