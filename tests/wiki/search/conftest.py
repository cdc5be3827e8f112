"""Meaning for tests of search: the hashed embedder, and a store that looks at every row."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.embedding import Hashed, hashed
from wiki.embedding.pipeline import embed_some
from wiki.embedding.waiting import anything_waits
from wiki.vectors.rows import as_array, chunks_after

__all__ = ["hashed"]


class Hit(NamedTuple):
    page: int
    ordinal: int
    score: float


class EveryRow:
    """Finds exactly what the rows hold; fails while ``fails`` is set, and remembers what it was asked."""

    def __init__(self) -> None:
        self.fails: Exception | None = None
        self.asked: list[Collection[int] | None] = []

    def search(
        self,
        vector: Any,
        *,
        limit: int,
        allowed: Collection[int] | None = None,
        sparse: Any = None,
        seconds: float | None = None,
    ) -> list[Hit]:
        self.asked.append(allowed)
        if self.fails:
            raise self.fails
        rows = [row for row in chunks_after(-1) if allowed is None or row.page in allowed]
        if not rows:
            return []
        scores = as_array([row.vector for row in rows]) @ np.asarray(vector)
        hits = [Hit(row.page, row.ordinal, float(score)) for row, score in zip(rows, scores, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.page, hit.ordinal))[:limit]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> EveryRow:
    """The store of this process for the length of a test."""
    found = EveryRow()
    monkeypatch.setattr("wiki.vectors.stores.current_store", lambda: found, raising=False)
    return found


@pytest.fixture
def embed(hashed: Hashed, store: EveryRow) -> Callable[[], None]:
    """Embeds all that waits."""

    def all_of_it() -> None:
        while anything_waits():
            embed_some(1_000, embedder=hashed)

    return all_of_it
