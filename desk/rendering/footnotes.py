"""Footnotes that nothing refers to: they are shown as the others are, for the index counts the links in them."""

from __future__ import annotations

from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore

#: In the environment: the numbers of the footnotes that have no place in the text to lead back to.
LOOSE: Final = "loose_footnotes"


def loose_footnote_plugin(md: MarkdownIt) -> None:
    """Keep what the footnote plugin would drop; to be used behind it."""
    md.core.ruler.before("footnote_tail", "loose_footnotes", _keep)


def _keep(state: StateCore) -> None:
    notes = state.env.get("footnotes", {})
    loose = state.env.setdefault(LOOSE, set())
    for name, number in notes.get("refs", {}).items():
        if number >= 0:
            continue
        listed = notes.setdefault("list", {})
        loose.add(len(listed))
        notes["refs"][name] = len(listed)
        listed[len(listed)] = {"label": name[1:], "count": 0}
