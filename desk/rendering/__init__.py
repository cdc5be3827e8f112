"""Markdown as a person reads it in Obsidian, as HTML that can neither run nor load anything.

Where links are is not decided here: :mod:`vault.markdown` says it, for the index and for this room alike.
"""

from desk.rendering.drawing import Rendered, Section, draw

__all__ = ["Rendered", "Section", "draw"]
