"""What a search answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from wiki.models import Page

#: How an answer was found: by words and meaning, by words alone, by meaning alone.
HYBRID: Final = "hybrid"
LEXICAL: Final = "lexical"
SEMANTIC: Final = "semantic"

Phase = Literal["words", "meaning", "both", "link"]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A page that was found. ``score`` is in 0..1; ``why`` and ``snippet`` are for people and agents to read.

    ``phase``: what found it: "words", "meaning", "both", or "link" (it is tied to a page that they found).
    """

    page: Page
    score: float
    why: str
    snippet: str
    phase: Phase = "words"

    def as_dict(self) -> dict[str, Any]:
        """A PageRef (id, title, type, relevance_score) with its path, the reason and the snippet."""
        return {
            "id": str(self.page.uid),
            "title": self.page.title,
            "type": self.page.type,
            "relevance_score": self.score,
            "path": self.page.path,
            "phase": self.phase,
            "why": self.why,
            "snippet": self.snippet,
        }


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, best first.

    ``mode``: how they were found ("hybrid", "lexical", "semantic"). ``degraded``: None, or which way of finding
    failed ("words", "meaning") and what to do about it; then hits may be missing. That embeddings are switched off is
    no failure. ``data_version``: the version of the index that was asked.
    """

    hits: list[SearchHit]
    mode: str
    degraded: dict[str, str] | None
    data_version: int

    @property
    def unavailable(self) -> bool:
        """Whether nothing could be searched: no hits then says nothing of the wiki."""
        return self.mode == LEXICAL and "words" in (self.degraded or {})

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON-safe data."""
        return {
            "result": [hit.as_dict() for hit in self.hits],
            "mode": self.mode,
            "degraded": self.degraded,
            "data_version": self.data_version,
        }


@dataclass(frozen=True, slots=True)
class Citation:
    """What ``[n]`` in a context stands for. ``passages``: (start, end) of each in code points of the body's NFC.

    So the words index holds bodies, whatever form the files have.
    """

    n: int
    hit: SearchHit
    passages: tuple[tuple[int, int], ...]

    def as_dict(self) -> dict[str, Any]:
        """The citation as JSON-safe data."""
        return {
            "n": self.n,
            "id": str(self.hit.page.uid),
            "title": self.hit.page.title,
            "path": self.hit.page.path,
            "score": self.hit.score,
            "phase": self.hit.phase,
            "why": self.hit.why,
            "passages": [{"start": start, "end": end} for start, end in self.passages],
        }


@dataclass(frozen=True, slots=True)
class Context:
    """Text to be handed to a model, with what its numbers stand for.

    ``tokens`` (an estimate) never exceeds ``budget``.
    """

    text: str
    citations: list[Citation]
    tokens: int
    budget: int


@dataclass(frozen=True, slots=True)
class Retrieval(SearchAnswer):
    """A search answer with its context; None where none was asked for."""

    context: Context | None = None

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON-safe data; citations, context, tokens and budget only where there is a context."""
        answer = {
            "result": [hit.as_dict() for hit in self.hits],
            "mode": self.mode,
            "degraded": self.degraded,
            "data_version": self.data_version,
        }
        if self.context is not None:
            answer["citations"] = [citation.as_dict() for citation in self.context.citations]
            answer["context"] = self.context.text
            answer["tokens"] = self.context.tokens
            answer["budget"] = self.context.budget
        return answer
