"""Links as text: one link written anew, with everything about it that does not change."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final
from urllib.parse import quote

from vault.links import render_wikilink
from vault.markdown import ParsedLink

_DELIMITER_ROW: Final = re.compile(
    r"^[ \t>]*+\|?+[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+(?::?+-++:?+[ \t]*+)?)*+\r?$", re.MULTILINE
)
_BLANK_LINE: Final = re.compile(r"\n[ \t>]*+\r?(?:\n|\Z)")
#: What a Markdown destination may hold as it is.
_SAFE_IN_PATH: Final = "/!$&'*+,;=:@~"


class TableSpans:
    """Which parts of a text are Markdown tables: there, the bar of a link must be escaped."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        if "|" not in text or "-" not in text:
            return
        for row in _DELIMITER_ROW.finditer(text):
            if "|" not in row[0] or row.start() == 0:
                continue
            start = text.rfind("\n", 0, row.start() - 1) + 1
            blank = _BLANK_LINE.search(text, row.end())
            self._starts.append(start)
            self._ends.append(blank.start() if blank else len(text))

    def __contains__(self, offset: int) -> bool:
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._ends[at]


def write_link(text: str, link: ParsedLink, tables: TableSpans, *, target: str, alias: str | None) -> str:
    """``link`` of ``text`` with another target (a path or name as a wikilink holds it) and this alias (None: none)."""
    if link.kind == "markdown":
        return _write_markdown(text, link, target, alias or "")
    escaped = "\\|" in text[link.start : link.end] or (link.alias is None and link.start in tables)
    return render_wikilink(target, link.subpath, alias, embed=link.embed, in_table=escaped)


def write_property(link: ParsedLink, *, target: str, alias: str | None) -> str:
    """A property's link with another target and this alias."""
    return render_wikilink(target, link.subpath, alias)


def _write_markdown(text: str, link: ParsedLink, target: str, shown: str) -> str:
    """``[shown](path#subpath "title")``: the title is kept where it can be told apart."""
    raw = text[link.start : link.end]
    opening = raw.rfind("](")
    title = re.search(r"\s(\"[^\"]*\"|'[^']*'|\([^()]*\))\s*\)$", raw[opening:]) if opening > 0 else None
    destination = quote(target, safe=_SAFE_IN_PATH) + _encoded_subpath(link.subpath)
    return f"{'!' if link.embed else ''}[{shown}]({destination}{' ' + title[1] if title else ''})"


def _encoded_subpath(subpath: str) -> str:
    return quote(subpath, safe=_SAFE_IN_PATH + "#^")
