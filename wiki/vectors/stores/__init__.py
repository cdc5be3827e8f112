"""Where vectors are searched. The rows of :class:`wiki.models.Chunk` are what is true; a store follows them."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from uuid import UUID

from django.conf import settings

from vault.errors import ErrorCode, SynapseError
from wiki.vectors.rows import ChunkVector

if TYPE_CHECKING:
    import numpy as np

__all__ = ["ChunkHit", "ChunkVector", "StoreError", "VectorStore", "current_store", "forget_store", "remote_store"]


class StoreError(SynapseError):
    """A store elsewhere can't be asked, or does not do what it is asked: ``dependency_missing``, with a sentence."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.DEPENDENCY_MISSING, message)


class ChunkHit(NamedTuple):
    """A passage that was found: its page's key, its number in the page, its score (the cosine, -1 to 1)."""

    page: int
    ordinal: int
    score: float


class StoredChunk(NamedTuple):
    """What a store says that it has: page, number in the page, hash of the text; ``path`` as it was told."""

    uid: UUID
    ordinal: int
    hash: str
    path: str


class VectorStore(Protocol):
    """Finds passages by their vectors. One object serves all threads of a process.

    A store that can't be reached raises :class:`StoreError` in bounded time. What is done twice comes to the same as
    what is done once.
    """

    def upsert(self, chunks: Sequence[ChunkVector]) -> None:
        """Put these in the place of all that is known of their pages; rows have them already."""

    def delete(self, page_ids: Sequence[UUID]) -> None:
        """Forget the vectors of pages; unknown ids are no error."""

    def search(
        self,
        vector: np.ndarray,
        *,
        limit: int,
        allowed: Collection[int] | None = None,
        sparse: Mapping[str, float] | None = None,
        seconds: float | None = None,
    ) -> list[ChunkHit]:
        """At most ``limit`` passages, best first, of the pages in ``allowed`` (None: all).

        ``seconds``: in which a store elsewhere answers, or is given up (None: its own time).
        ``sparse``: the query's weights by token, for a store that has those of passages; others pass them over.
        """


class RemoteStore(VectorStore, Protocol):
    """A store with a copy of the rows, which can differ from them."""

    def stored(self) -> Iterator[StoredChunk]:
        """All that it has of this vault."""

    def count(self) -> int:
        """How many passages of this vault it has."""

    def settle(self) -> None:
        """Vectors are complete: take the collection of an earlier model away."""


class _Current:
    """The store of the process, and the settings that it was made for."""

    lock: Final = threading.Lock()
    key: tuple[Any, ...] | None = None
    store: Any = None


def current_store() -> VectorStore:
    """The store that the settings name, one a process: in the database, or Qdrant where QDRANT_URL is set.

    Raises StoreError when Qdrant's client is not installed. Imports numpy.
    """
    key = _key()
    with _Current.lock:
        if key != _Current.key:
            _Current.store, _Current.key = _made(bool(key[0])), key
        store: VectorStore = _Current.store
        return store


def is_at_hand() -> bool:
    """Whether :func:`current_store` answers at once: Qdrant's client takes seconds to import."""
    return not settings.QDRANT_URL or _Current.key == _key()


def remote_store() -> RemoteStore | None:
    """The current store, if it is one that has to be told of changes of the rows; imports nothing if it is not."""
    if not settings.QDRANT_URL:
        return None
    store: Any = current_store()
    return store  # type: ignore[no-any-return]


def forget_store() -> None:
    """Make it anew at the next call, as after a change of settings or of the database."""
    with _Current.lock:
        _Current.key = _Current.store = None


def _key() -> tuple[Any, ...]:
    return settings.QDRANT_URL, settings.QDRANT_API_KEY, settings.QDRANT_COLLECTION


def _made(remote: bool) -> VectorStore:
    if remote:
        from wiki.vectors.stores.qdrant import connect

        return connect()
    from wiki.vectors.stores.local import LocalStore

    return LocalStore()
