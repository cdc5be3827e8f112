"""What a scan or a write makes worth a decision: deterministic producers, each a pure function of the index."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Protocol, runtime_checkable

from reviews.producers.confirm import BadFrontmatter, ConflictCopy
from reviews.producers.duplicates import DuplicateBody, DuplicateTitle
from reviews.producers.mentions import UnlinkedMention
from reviews.producers.missing_page import MissingPage
from reviews.producers.orphans import DeadEnd, Orphan
from reviews.producers.sources import SourceChanged, SourceGone
from reviews.producers.uncited import UncitedSource
from reviews.services import Finding
from wiki.changes import Changed

__all__ = ["PRODUCERS", "Preparing", "Producer", "Settling"]


class Producer(Protocol):
    """Finds what one rule asks a person about.

    A question is known by its ``target``, normalised text, and its page. What is found follows from the index alone,
    so that a few questions looked at after each change come to the same as all of them looked at anew.
    """

    @property
    def rule(self) -> str:
        """The rule's name, as items have it."""
        ...

    @property
    def item_type(self) -> str:
        """What kind of item it files."""
        ...

    def targets(self, changed: Changed) -> set[str]:
        """Which questions the change can have opened or closed, those of items that rest on it not counted."""
        ...

    def find(self, targets: Collection[str] | None) -> Iterable[Finding]:
        """What is true now among these targets; None: among all. Writes nothing."""
        ...


@runtime_checkable
class Settling(Protocol):
    """A producer that compares with what was: it keeps that up to date before each look."""

    def settle(self, targets: Collection[str] | None) -> None:
        """Keep what these targets (None: all) are compared with from now on."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """A producer that finds by rows of its own: it brings those of what changed up to date before each look."""

    def prepare(self, changed: Changed) -> None:
        """Renew the rows of these pages, or (``everything``) all rows; in transactions of its own."""
        ...


#: One a rule, in the order in which they run.
PRODUCERS: Final[tuple[Producer, ...]] = (
    SourceChanged(),
    SourceGone(),
    ConflictCopy(),
    BadFrontmatter(),
    MissingPage(),
    DuplicateTitle(),
    DuplicateBody(),
    UncitedSource(),
    Orphan(),
    DeadEnd(),
    UnlinkedMention(),
)
