"""``==highlighted==``: what stands between is inline text like any other."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline


def highlight_plugin(md: MarkdownIt) -> None:
    """Know highlights."""
    md.inline.ruler.before("emphasis", "highlight", _highlight)


def _highlight(state: StateInline, silent: bool) -> bool:
    text, start = state.src, state.pos + 2
    if not text.startswith("==", state.pos) or text[start : start + 1] in ("", "=", " ", "\n"):
        return False
    end = text.find("==", start, state.posMax)
    if end < 0 or text[end - 1].isspace():
        return False
    if not silent:
        last = state.posMax
        state.pos, state.posMax = start, end
        state.push("mark_open", "mark", 1)
        state.md.inline.tokenize(state)
        state.push("mark_close", "mark", -1)
        state.posMax = last
    state.pos = end + 2
    return True
