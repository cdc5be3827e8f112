"""Pages that stand apart: nothing links to them, or they link to nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from reviews.models import ItemType
from reviews.services.findings import Finding
from wiki.changes import Changed


class Orphan:
    """A page that no other page links to."""

    rule: Final = "orphan"
    item_type: Final = ItemType.SUGGESTION.value

    def targets(self, changed: Changed) -> set[str]:
        """Which questions the change can have opened or closed."""
        del changed
        return set()

    def find(self, targets: Collection[str] | None) -> Iterable[Finding]:
        """What is true now among these targets (None: among all)."""
        del targets
        return ()


class DeadEnd:
    """A page that links to no other page."""

    rule: Final = "dead-end"
    item_type: Final = ItemType.SUGGESTION.value

    def targets(self, changed: Changed) -> set[str]:
        """Which questions the change can have opened or closed."""
        del changed
        return set()

    def find(self, targets: Collection[str] | None) -> Iterable[Finding]:
        """What is true now among these targets (None: among all)."""
        del targets
        return ()
