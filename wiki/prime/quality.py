"""How well a page is kept, from what can be told without reading it: the share of checks that it passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from wiki.prime.pagetext import PageText


class Check(NamedTuple):
    """One check. ``layer`` is L1 (the form) or L2 (what it says); ``hint`` is what to do when it fails."""

    name: str
    layer: str
    passes: Callable[[PageText], bool]
    message: str
    hint: str


#: All checks, in the order in which failures are told.
CHECKS: Final[tuple[Check, ...]] = ()


def failed_checks(page: PageText) -> list[str]:
    """The names of the checks that a page fails, in the order of CHECKS."""
    return [check.name for check in CHECKS if not check.passes(page)]


def quality_of(failed: list[str]) -> float:
    """The share of CHECKS that was passed, 0 to 1, in three digits."""
    return round(1 - len(failed) / len(CHECKS), 3)
