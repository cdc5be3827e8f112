"""Links taken out of a text before Markdown is parsed, and found again behind it.

The index knows where the links of a page are. Were they looked for a second time by other rules, the two would differ
somewhere. So each wikilink is replaced by a mark with its number, which means nothing to Markdown, and of each Markdown
link the destination is. What ends up in code after all is put back as it was.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final

from vault.markdown import ParsedLink, comments

#: Code points that Unicode keeps from texts that are exchanged; any that a text has all the same are replaced.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARK: Final = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_REPLACEMENT: Final = {ord(_OPEN): "\ufffd", ord(_CLOSE): "\ufffd"}


class Marked:
    """A text with marks in the place of its links; without its ``%%`` comments and the links in them."""

    def __init__(self, text: str, links: Sequence[ParsedLink]) -> None:
        # Nobody can write a destination that is taken for a mark.
        self._sign = f"to-{secrets.token_hex(6)}-"
        self._destination = re.compile(rf"\({self._sign}([0-9]+)\)")
        self._raw: dict[int, str] = {}
        self.text = self._marked(text.translate(_REPLACEMENT), links)

    def _marked(self, text: str, links: Sequence[ParsedLink]) -> str:
        edits: list[tuple[int, int, int | None]] = [(start, end, None) for start, end in comments(text)]
        edits += [
            (_parenthesis(text, link) if link.kind == "markdown" else link.start, link.end, number)
            for number, link in enumerate(links)
        ]
        parts: list[str] = []
        position = 0
        for start, end, number in sorted(edits, key=itemgetter(0)):
            if start < position:
                continue  # in a comment
            parts.append(text[position:start])
            position = end
            if number is not None:
                self._raw[number] = text[start:end]
                wanted = links[number].kind == "markdown"
                parts.append(f"({self._sign}{number})" if wanted else f"{_OPEN}{number}{_CLOSE}")
        return "".join([*parts, text[position:]])

    def number(self, destination: str) -> int | None:
        """The number of the Markdown link that has this destination now; None for any other."""
        rest = destination.removeprefix(self._sign)
        return int(rest) if rest != destination and rest.isdecimal() else None

    def restored(self, text: str) -> str:
        """A part of the text as it was written."""
        if self._sign in text:
            text = self._destination.sub(lambda mark: self._raw[int(mark[1])], text)
        return _MARK.sub(lambda mark: self._raw[int(mark[1])], text) if _OPEN in text else text

    def replaced(self, text: str, replace: Callable[[int], str]) -> str:
        """A part of the text with something else for each mark of a wikilink."""
        return _MARK.sub(lambda mark: replace(int(mark[1])), text)

    @staticmethod
    def pieces(text: str) -> list[str | int]:
        """A text as its pieces: texts, and the numbers of the wikilinks between them."""
        found = _MARK.split(text)
        return [int(piece) if at % 2 else piece for at, piece in enumerate(found) if at % 2 or piece]

    @staticmethod
    def holds(text: str) -> bool:
        """Whether there is a wikilink in a text."""
        return _OPEN in text


def _parenthesis(text: str, link: ParsedLink) -> int:
    """Where the destination of a Markdown link opens; of a text that was cut it is the last place it can be."""
    start = link.start + link.embed + len(link.alias or "") + 2
    return start if text.startswith("(", start) else text.rfind("](", link.start, link.end) + 1
