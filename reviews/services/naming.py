"""How answers about the queue name a moment and a page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from wiki.models import Page


def iso(moment: datetime | None) -> str | None:
    """A moment as ISO 8601 in UTC with Z; None for none."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None


def named_page(page: Page | None, path: str) -> dict[str, Any] | None:
    """A page as it is called now; only its path where its row is gone."""
    if page is not None:
        return {"id": str(page.uid), "title": page.title, "path": page.path}
    return {"id": None, "title": None, "path": path} if path else None
