"""How much is drawn: Markdown can be made to take for ever, and a page of megabytes is nobody's reading.

The parser asks the clock at each step, so what takes too long ends wherever it is.
"""

from __future__ import annotations

import time
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

#: Characters of a body that are drawn: some 30,000 words, the length of a short novel.
MOST_CHARACTERS: Final = 200_000
#: Seconds of work (not of waiting) for one page with all that it embeds.
SECONDS: Final = 2.0
_CLOCK: Final = "clock"
_STEPS: Final = 32  # between two looks at the clock


class TakesTooLong(Exception):  # noqa: N818  (it is no error: the text is shown as it is)
    """A text needs more time to draw than is spent on one."""


class Clock:
    """The time that is left for one page."""

    __slots__ = ("_steps", "_until")

    def __init__(self, seconds: float = SECONDS) -> None:
        self._until = time.thread_time() + seconds
        self._steps = 0

    def step(self) -> None:
        """Raise :class:`TakesTooLong` once the time is over."""
        self._steps += 1
        if self._steps % _STEPS == 0 and time.thread_time() > self._until:
            raise TakesTooLong


def limit_plugin(md: MarkdownIt) -> None:
    """Have the parser ask the clock in its environment."""
    md.inline.ruler.before("text", _CLOCK, _inline)
    md.block.ruler.before("table", _CLOCK, _block)


def environment(clock: Clock) -> dict[str, Any]:
    """What the parser is given beside the text."""
    return {_CLOCK: clock}


def _inline(state: StateInline, silent: bool) -> bool:
    state.env[_CLOCK].step()
    return False


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    state.env[_CLOCK].step()
    return False
