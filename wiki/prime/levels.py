"""A page at three lengths: summary, core, full. Each starts with the one before, and says how many tokens it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from wiki.prime.pagetext import NO_TYPE, PageText
from wiki.search.budget import tokens

__all__ = ["NO_TYPE", "TOKENS", "Level", "Levels", "PageText", "levels_of", "tokens"]

#: The name of how tokens are counted (:func:`wiki.search.budget.tokens`).
TOKENS: Final = "chars4-v1"


class Level(StrEnum):
    """How much of a page is given, from the shortest."""

    SUMMARY = "summary"
    CORE = "core"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The three texts of a page. ``full`` is ``core``, ``body[rest:]`` and ``tail``."""

    description: str
    summary: str
    core: str
    full: str
    rest: int
    tail: str

    def text(self, level: Level) -> str:
        """The exact words of a level."""
        return {Level.SUMMARY: self.summary, Level.CORE: self.core, Level.FULL: self.full}[level]

    def tokens(self, level: Level) -> int:
        """How many tokens a level is."""
        return tokens(self.text(level))


def levels_of(page: PageText) -> Levels:
    """The levels of a page. Linear in the length of its body, whatever it holds."""
    raise NotImplementedError
