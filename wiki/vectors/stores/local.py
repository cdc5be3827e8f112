"""Exact search over the database's vectors: each process keeps them in one matrix and loads what has changed.

A vector of 384 numbers takes 1.5 kB, 30,000 of them 46 MB, and a search reads all of it once. The rows have them in
half of that (float16), but numpy multiplies float16 many times slower than float32.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

import numpy as np
from django.db import connection

from wiki.models import Chunk, EmbeddingState
from wiki.rows import chunks as in_lists
from wiki.vectors.rows import ChunkVector, as_array, embedding_state, pages_with_chunks
from wiki.vectors.stores import ChunkHit

# Rows read at once, and the room left for new ones: a part of what there is, and this many.
_AT_ONCE: Final = 2_000
_SPARE: Final = 256


class _Matrix:
    """The vectors as of one generation; the first ``count`` rows are in use, in no order."""

    def __init__(self, model: tuple[str, int] = ("", 0)) -> None:
        self.model = model
        self.seen = -1
        self.reserve(0)

    def reserve(self, rows: int) -> None:
        """Begin empty, with room for so many rows and some more."""
        room = rows + rows // 8 + _SPARE
        self.count = 0
        self.pages = np.zeros(room, np.int64)
        self.ordinals = np.zeros(room, np.int32)
        self.vectors = np.zeros((room, self.model[1]), np.float32)

    def add(self, pages: Sequence[int], ordinals: Sequence[int], vectors: np.ndarray) -> None:
        """Append rows, moving to larger arrays when there is no room."""
        end, count = self.count + len(pages), self.count
        if end > len(self.pages):
            before_pages, before_ordinals, before_vectors = self.pages, self.ordinals, self.vectors
            self.reserve(end)
            self.pages[:count] = before_pages[:count]
            self.ordinals[:count] = before_ordinals[:count]
            self.vectors[:count] = before_vectors[:count]
        self.pages[count:end] = pages
        self.ordinals[count:end] = ordinals
        self.vectors[count:end] = vectors
        self.count = end

    def keep(self, kept: np.ndarray) -> None:
        """Drop the rows that ``kept`` (bool, one a row) does not name: the last ones are moved into their places."""
        left = int(kept.sum())
        holes = np.flatnonzero(~kept[:left])
        movers = left + np.flatnonzero(kept[left:])
        self.pages[holes] = self.pages[movers]
        self.ordinals[holes] = self.ordinals[movers]
        self.vectors[holes] = self.vectors[movers]
        self.count = left

    def without(self, pages: Collection[int]) -> np.ndarray:
        """Which rows are of none of these pages."""
        return ~self.among(pages)

    def among(self, pages: Collection[int]) -> np.ndarray:
        """Which rows are of these pages."""
        return np.isin(self.pages[: self.count], np.fromiter(pages, np.int64, len(pages)))


class LocalStore:
    """The rows are the store: nothing is told to it, each search looks first whether they have changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._matrix = _Matrix()

    def upsert(self, chunks: Sequence[ChunkVector]) -> None:
        """Rows have them already."""

    def delete(self, page_ids: Sequence[UUID]) -> None:
        """Rows are gone already, or go next."""

    def search(
        self,
        vector: np.ndarray,
        *,
        limit: int,
        allowed: Collection[int] | None = None,
        sparse: Mapping[str, float] | None = None,
        seconds: float | None = None,
    ) -> list[ChunkHit]:
        """The ``limit`` nearest passages; see :class:`wiki.vectors.stores.VectorStore`."""
        # Rows are moved within the arrays when some go, so searches and reloads of a process take turns.
        with self._lock:
            matrix = self._fresh()
            if not matrix.count or limit < 1 or vector.shape != (matrix.model[1],):
                return []
            scores = matrix.vectors[: matrix.count] @ np.ascontiguousarray(vector, np.float32)
            if allowed is not None:
                scores[matrix.without(allowed)] = -np.inf
            order = _best(scores, limit)
            found = zip(matrix.pages[order], matrix.ordinals[order], scores[order], strict=True)
            return [ChunkHit(int(page), int(ordinal), float(score)) for page, ordinal, score in found]

    def _fresh(self) -> _Matrix:
        """The matrix as the rows are now."""
        state = embedding_state()
        shared = self._matrix
        # generation falls when the database was put back to an earlier state
        known = shared.model == (state.model_id, state.dim) and shared.seen <= state.generation
        if known and shared.seen == state.generation:
            return shared
        if connection.in_atomic_block:
            # What this transaction sees may be rolled back, and then the same numbers come to mean something else.
            return _updated(_Matrix((state.model_id, state.dim)), state)
        if not known:
            self._matrix = shared = _Matrix((state.model_id, state.dim))
        return _updated(shared, state)


def _updated(matrix: _Matrix, state: EmbeddingState) -> _Matrix:
    """Load the rows past what the matrix has seen, and drop the pages that have gone.

    ``state`` was read before the rows: what is committed meanwhile may come twice and is never missed. Nothing is
    changed before all is read but in an empty matrix, so a read that fails does no harm.
    """
    if matrix.seen < 0:
        matrix.reserve(Chunk.objects.count())
        for pages, ordinals, vectors in _rows(matrix):
            matrix.add(pages, ordinals, vectors)
    else:
        new = list(_rows(matrix))
        left = pages_with_chunks() if state.removed_at > matrix.seen else None
        matrix.keep(matrix.without({page for pages, _, _ in new for page in pages}))
        if left is not None:
            matrix.keep(matrix.among(left))
        for pages, ordinals, vectors in new:
            matrix.add(pages, ordinals, vectors)
    matrix.seen = state.generation
    return matrix


def _rows(matrix: _Matrix) -> Iterator[tuple[Sequence[int], Sequence[int], np.ndarray]]:
    """Pages, ordinals and vectors of the rows that the matrix has not seen, some at a time."""
    rows = Chunk.objects.filter(seq__gt=matrix.seen, dim=matrix.model[1]).order_by("seq")
    fields = rows.values_list("page_id", "ordinal", "vector")
    for some in in_lists(fields.iterator(chunk_size=_AT_ONCE), _AT_ONCE):
        pages, ordinals, vectors = zip(*some, strict=True)
        yield pages, ordinals, as_array(vectors)


def _best(scores: np.ndarray, limit: int) -> np.ndarray:
    """Where the highest scores are, highest first; those that are -inf are none."""
    order = np.argpartition(-scores, limit - 1)[:limit] if len(scores) > limit else np.arange(len(scores))
    order = order[np.isfinite(scores[order])]
    found: np.ndarray = order[np.argsort(-scores[order], kind="stable")]
    return found
