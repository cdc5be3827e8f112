"""What a search answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wiki.models import Page


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A page that was found. ``score`` is in 0..1; ``why`` and ``snippet`` are for people and agents to read."""

    page: Page
    score: float
    why: str
    snippet: str

    def as_dict(self) -> dict[str, Any]:
        """A PageRef (id, title, type, relevance_score) with its path, the reason and the snippet."""
        return {
            "id": str(self.page.uid),
            "title": self.page.title,
            "type": self.page.type,
            "relevance_score": self.score,
            "path": self.page.path,
            "why": self.why,
            "snippet": self.snippet,
        }


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, best first.

    ``mode``: how they were found ("lexical": words alone). ``degraded``: None, or which
    way of finding failed and what to do about it; then hits may be missing.
    ``data_version``: the version of the index that was asked.
    """

    hits: list[SearchHit]
    mode: str
    degraded: dict[str, str] | None
    data_version: int

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON-safe data."""
        return {
            "result": [hit.as_dict() for hit in self.hits],
            "mode": self.mode,
            "degraded": self.degraded,
            "data_version": self.data_version,
        }
