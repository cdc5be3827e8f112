"""Pages that may be one: the same title, or nearly the same text."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from reviews.models import ItemType
from reviews.services.findings import Finding
from wiki.changes import Changed


class DuplicateTitle:
    """Pages with the same canonical title."""

    rule: Final = "duplicate-title"
    item_type: Final = ItemType.DUPLICATE.value

    def targets(self, changed: Changed) -> set[str]:
        """Which questions the change can have opened or closed."""
        del changed
        return set()

    def find(self, targets: Collection[str] | None) -> Iterable[Finding]:
        """What is true now among these targets (None: among all)."""
        del targets
        return ()


class DuplicateBody:
    """Pages whose texts are nearly the same."""

    rule: Final = "duplicate-body"
    item_type: Final = ItemType.DUPLICATE.value

    def targets(self, changed: Changed) -> set[str]:
        """Which questions the change can have opened or closed."""
        del changed
        return set()

    def find(self, targets: Collection[str] | None) -> Iterable[Finding]:
        """What is true now among these targets (None: among all)."""
        del targets
        return ()
