"""Raw sources that no page cites."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from reviews.models import ItemType
from reviews.services.findings import Finding
from wiki.changes import Changed


class UncitedSource:
    """A source that no page names or links to."""

    rule: Final = "uncited-source"
    item_type: Final = ItemType.SUGGESTION.value

    def targets(self, changed: Changed) -> set[str]:
        """Which questions the change can have opened or closed."""
        del changed
        return set()

    def find(self, targets: Collection[str] | None) -> Iterable[Finding]:
        """What is true now among these targets (None: among all)."""
        del targets
        return ()
