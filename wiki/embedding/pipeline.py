"""Embedding some of what waits. Each step may run twice, late, or beside another, and comes to the same.

Texts are read, cut and embedded outside of any transaction. Then, a page at a time: its rows in one short
transaction, if its content is still the same; the store; and last the mark that it waits no longer. Whoever dies in
between leaves a page that waits and whose passages are found embedded already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from vault.errors import ErrorCode, SynapseError
from wiki.embedding import waiting
from wiki.embedding.waiting import Waiting
from wiki.search import texts
from wiki.vectors.chunks import Passage, cut
from wiki.vectors.embedders import Embedder, batch_size, sparse
from wiki.vectors.rows import (
    ChunkVector,
    as_bytes,
    chunks_of,
    mark_embedded,
    model_problem,
    page_seq,
    remove_chunks,
    write_chunks,
)
from wiki.vectors.stores import StoreError

#: Chunks that one call embeds, more or less.
LIMIT: Final = 32
#: Pages in a row that may fail before it is the embedder that is taken to be broken.
FAILURES: Final = 3
#: A long page is written in this many parts at most: what is done is kept, and is not written again too often.
PARTS: Final = 8


class Store(Protocol):
    """What is told of changes of the rows; see :mod:`wiki.vectors.stores`."""

    def upsert(self, chunks: Sequence[ChunkVector]) -> None:
        """Put these in the place of all that is known of their pages."""

    def delete(self, page_ids: Sequence[UUID]) -> None:
        """Forget the vectors of pages."""


@dataclass
class Outcome:
    """What one call did: pages that wait no longer, chunks embedded and taken over, pages whose vectors went."""

    pages: int = 0
    leads: int = 0
    chunks: int = 0
    kept: int = 0
    removed: int = 0
    failed: list[int] = field(default_factory=list)
    """Pages that could not be embedded though others could."""
    problem: str = ""
    """Why they could not, for people."""
    store_failed: bool = False
    """It was the store that failed last, and not the embedder."""

    def add(self, other: Outcome) -> None:
        """Count what another call did."""
        for name in ("pages", "leads", "chunks", "kept", "removed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failed.extend(other.failed)
        if other.problem:
            self.problem, self.store_failed = other.problem, other.store_failed


class _Vector(NamedTuple):
    vector: bytes
    sparse: Mapping[str, float] | None


def never() -> bool:
    """Nobody asks to stop."""
    return False


def embed_some(
    limit: int = LIMIT,
    *,
    embedder: Embedder,
    store: Store | None = None,
    stop: Callable[[], bool] = never,
    besides: Collection[int] = (),
) -> Outcome:
    """Embed about ``limit`` chunks of what waits, and take out what has gone; nothing left to do is an empty outcome.

    ``store`` is told of each change; None where the rows are all there is. ``stop`` is asked between batches. Pages in
    ``besides`` are passed over. Raises ``conflict`` when the vectors of the index are of another model, and the
    embedder's or the store's SynapseError when several pages in a row fail.
    """
    if problem := model_problem(embedder.model_id, embedder.dim):
        raise SynapseError(ErrorCode.CONFLICT, problem)
    run = _Run(embedder, store, stop)
    run.take_out(waiting.gone(1_000))
    if first := waiting.leads(limit, besides=besides):
        run.each(first, run.leads)
        return run.outcome
    for page in waiting.wholes(limit, besides=besides):
        if run.outcome.chunks >= limit or stop():
            break
        run.each([page], lambda pages: run.whole(pages[0], limit))
    return run.outcome


class _Run:
    def __init__(self, embedder: Embedder, store: Store | None, stop: Callable[[], bool]) -> None:
        self.outcome = Outcome()
        self._embedder = embedder
        self._store = store
        self._stop = stop
        self._in_a_row = 0

    def each(self, pages: Sequence[Waiting], work: Callable[[Sequence[Waiting]], None]) -> None:
        """Do ``work`` for as many pages at a time as suits; where that fails, for each alone, passing over the bad."""
        at_once = batch_size(self._embedder)
        for at in range(0, len(pages), at_once):
            if self._stop():
                return
            some = pages[at : at + at_once]
            try:
                work(some)
                self._in_a_row = 0
                continue
            except SynapseError as error:
                if len(some) == 1:
                    self._note(some[0], error)
                    continue
            for page in some:
                try:
                    work([page])
                    self._in_a_row = 0
                except SynapseError as error:
                    self._note(page, error)

    def leads(self, pages: Sequence[Waiting]) -> None:
        """The first passage of pages; those that have no other are done."""
        passages = self._cut(pages)
        firsts = [passages[page.pk][0] for page in pages]
        vectors = self._embedded(firsts)
        for page, first in zip(pages, firsts, strict=True):
            whole = len(passages[page.pk]) == 1
            self._write(page, [_row(page, 0, first, vectors[first.hash])], whole=whole)
            self.outcome.leads += 1

    def whole(self, page: Waiting, limit: int) -> None:
        """All passages of a page, or as many more as one call may take; those that it has already are taken over."""
        passages = self._cut([page])[page.pk]
        have = list(chunks_of([page.pk]))
        vectors = {chunk.hash: _Vector(chunk.vector, chunk.sparse) for chunk in have}
        new = list({passage.hash: passage for passage in passages if passage.hash not in vectors}.values())
        at_once = batch_size(self._embedder)
        for at in range(0, min(len(new), max(limit, -(-len(new) // PARTS))), at_once):
            if at and self._stop():
                break
            vectors |= self._embedded(new[at : at + at_once])
        rows = [
            _row(page, ordinal, passage, vectors[passage.hash])
            for ordinal, passage in enumerate(passages)
            if passage.hash in vectors
        ]
        self.outcome.kept += sum(chunk.hash in {row.hash for row in rows} for chunk in have)
        if rows and rows[0].ordinal == 0:
            self._write(page, rows, whole=len(rows) == len(passages), have=have)

    def take_out(self, gone: Sequence[tuple[int, UUID]]) -> None:
        """Remove the vectors of pages that are not listed any more, from the store first."""
        if gone:
            if self._store:
                self._store.delete([uid for _, uid in gone])
            self.outcome.removed = len(gone)
            remove_chunks([pk for pk, _ in gone])

    def _cut(self, pages: Sequence[Waiting]) -> dict[int, list[Passage]]:
        bodies = dict(texts([page.pk for page in pages]))
        return {page.pk: cut(page.title, bodies.get(page.pk, "")) for page in pages}

    def _embedded(self, passages: Sequence[Passage]) -> dict[str, _Vector]:
        given = [passage.embedded for passage in passages]
        made = self._embedder.embed_passages(given)
        weighing = sparse(self._embedder)
        weights: Iterable[Mapping[str, float] | None] = (
            weighing.sparse_passages(given) if weighing else [None] * len(given)
        )
        self.outcome.chunks += len(given)
        return {
            passage.hash: _Vector(as_bytes(vector), weight)
            for passage, vector, weight in zip(passages, made, weights, strict=True)
        }

    def _write(self, page: Waiting, rows: list[ChunkVector], *, whole: bool, have: Sequence[ChunkVector] = ()) -> None:
        seq = page_seq(page.pk) if rows == have else None
        if seq is None:
            seq = write_chunks(
                page.pk,
                rows,
                content_hash=page.content_hash,
                model_id=self._embedder.model_id,
                dim=self._embedder.dim,
            )
        if seq is None:
            return  # it has changed meanwhile, and waits as what it is now
        if self._store:
            self._store.upsert(rows)
        if mark_embedded(page.pk, content_hash=page.content_hash, seq=seq, whole=whole) and whole:
            self.outcome.pages += 1

    def _note(self, page: Waiting, error: SynapseError) -> None:
        self._in_a_row += 1
        if self._in_a_row >= FAILURES:
            raise error
        self.outcome.failed.append(page.pk)
        self.outcome.problem = error.message
        self.outcome.store_failed = isinstance(error, StoreError)


def _row(page: Waiting, ordinal: int, passage: Passage, made: _Vector) -> ChunkVector:
    return ChunkVector(
        page=page.pk,
        uid=page.uid,
        ordinal=ordinal,
        start=passage.start,
        end=passage.end,
        heading=passage.heading,
        hash=passage.hash,
        vector=made.vector,
        sparse=made.sparse,
    )
