"""Qdrant: one collection for each model, an alias for the one in use, points of several vaults side by side.

A collection is named after the alias, the model and the number of dimensions, so vectors of two models are never
compared, and an index that is embedded anew fills a collection of its own. The alias moves when that is complete
(:meth:`QdrantStore.settle`); it is for whoever looks into Qdrant, since a search has to be of the model that made the
query's vector.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID, uuid5

from django.conf import settings

from vault.current import current_vault
from vault.errors import SynapseError
from wiki.models import Page
from wiki.rows import chunks as in_lists
from wiki.vectors.patience import in_thread
from wiki.vectors.rows import ChunkVector, as_array, embedding_state
from wiki.vectors.stores import ChunkHit, StoredChunk, StoreError

if TYPE_CHECKING:
    import numpy as np
    from qdrant_client import QdrantClient

T = TypeVar("T")
logger = logging.getLogger(__name__)

#: Seconds in which a search is answered, or is without meaning; and in which a write is.
SEARCH_SECONDS: Final = 2
WRITE_SECONDS: Final = 30
DENSE: Final = "dense"
SPARSE: Final = "sparse"
#: What a cosine's equal in weights of tokens counts for: the share that bge-m3's authors give it.
SPARSE_SHARE: Final = 0.3
#: Points of one request, and pages that one filter names.
_POINTS: Final = 128
_PAGES: Final = 2_000
_INDEXED: Final = ("vault", "page_id", "type", "lang")


def connect() -> QdrantStore:
    """The server of QDRANT_URL; it is not asked anything yet. ``dependency_missing`` without the package."""
    try:
        from qdrant_client import QdrantClient
    except ImportError:
        raise StoreError(
            "QDRANT_URL is set, but the package qdrant-client is not installed, so pages are found by their words "
            "alone. Run `make install`, or unset QDRANT_URL to search vectors in the database.",
        ) from None

    # The client logs each request's address, a search's too.
    logging.getLogger("httpx").setLevel(logging.WARNING)

    def client(seconds: int) -> QdrantClient:
        return QdrantClient(
            url=settings.QDRANT_URL,
            api_key=settings.QDRANT_API_KEY or None,
            timeout=seconds,
            check_compatibility=False,  # asks the server, which may be away for now
        )

    return QdrantStore(client(SEARCH_SECONDS), client(WRITE_SECONDS), alias=settings.QDRANT_COLLECTION)


class QdrantStore:
    """A :class:`wiki.vectors.stores.RemoteStore`. Each point and each query bears the vault's id."""

    def __init__(self, reading: QdrantClient, writing: QdrantClient, *, alias: str) -> None:
        self._reading = reading
        self._writing = writing
        self._alias = alias
        self._made: set[str] = set()
        self._lock = threading.Lock()

    def upsert(self, chunks: Sequence[ChunkVector]) -> None:
        """Put the points of these pages in the place of all that they have; waits until they can be found."""
        collection = self._collection()
        if not chunks or collection is None:
            return
        from qdrant_client import models

        self._ensure(collection)
        pages = {page.pk: page for page in Page.objects.filter(pk__in={chunk.page for chunk in chunks})}
        points = [_point(self._vault(), chunk, pages.get(chunk.page)) for chunk in chunks]
        # what a page had beyond these: it has become shorter
        others = self._of_pages([chunk.uid for chunk in chunks])
        others.must_not = [models.HasIdCondition(has_id=[point.id for point in points])]
        changes: list[Any] = [
            models.UpsertOperation(upsert=models.PointsList(points=some)) for some in in_lists(points, _POINTS)
        ]
        changes.append(models.DeleteOperation(delete=models.FilterSelector(filter=others)))
        # one request: in most cases a page has fewer points than one operation may have
        for some in (changes[:-2], changes[-2:]):
            if some:
                self._told(
                    collection,
                    lambda some=some: self._writing.batch_update_points(collection, some, wait=True),  # type: ignore[misc]
                )

    def delete(self, page_ids: Sequence[UUID]) -> None:
        """Remove all points of pages; of a collection that is not there, none."""
        collection = self._collection()
        if not page_ids or collection is None or not self._exists(collection):
            return
        from qdrant_client import models

        for some in in_lists(page_ids, _PAGES):
            selector = models.FilterSelector(filter=self._of_pages(some))
            self._told(
                collection,
                lambda selector=selector: self._writing.delete(collection, selector, wait=True),  # type: ignore[misc]
            )

    def search(
        self,
        vector: np.ndarray,
        *,
        limit: int,
        allowed: Collection[int] | None = None,
        sparse: Mapping[str, float] | None = None,
        seconds: float | None = None,
    ) -> list[ChunkHit]:
        """The nearest passages; with ``sparse`` the score is the cosine and a share of what common tokens weigh."""
        collection = self._collection(len(vector))
        if collection is None or limit < 1:
            return []
        conditions = list(self._conditions(allowed))
        most = SEARCH_SECONDS if seconds is None else min(seconds, SEARCH_SECONDS)

        def gathered() -> dict[tuple[str, int], float]:
            found: dict[tuple[str, int], float] = {}
            for condition in conditions:
                for request in _requests(vector, sparse, condition, limit):
                    answer = self._reading.query_points(collection, **request)
                    _gather(found, answer.points, vector, is_sparse=request["using"] == SPARSE)
            return found

        # The client's own limit is for each of its waits: one that drips, or several requests, could take longer.
        return _hits(_asked(lambda: in_thread(gathered).result(most)), limit)

    def stored(self) -> Iterator[StoredChunk]:
        """All points of this vault."""
        collection = self._collection_there()
        if collection is None:
            return
        offset: Any = None
        while True:
            points, offset = self._told(
                collection,
                lambda offset=offset: self._writing.scroll(  # type: ignore[misc]
                    collection, self._of_pages(None), limit=1_000, offset=offset, with_payload=_TOLD, with_vectors=False
                ),
            )
            for point in points:
                told = point.payload or {}
                yield StoredChunk(UUID(told["page_id"]), told["ordinal"], told["hash"], told.get("path", ""))
            if offset is None:
                return

    def count(self) -> int:
        """How many points this vault has."""
        collection = self._collection_there()
        if collection is None:
            return 0
        return self._told(collection, lambda: self._writing.count(collection, self._of_pages(None), exact=True)).count

    def settle(self) -> None:
        """Let the alias lead to the collection of the current model, and take this vault out of that of the last one.

        A collection that has no vault's points any more is dropped.
        """
        collection = self._collection()
        if collection is None:
            return
        from qdrant_client import models

        self._ensure(collection)
        before = self._alias_leads_to()
        if before == collection:
            return
        moves: list[Any] = [
            models.CreateAliasOperation(
                create_alias=models.CreateAlias(collection_name=collection, alias_name=self._alias)
            )
        ]
        if before is not None:
            moves.insert(0, models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self._alias)))
        _asked(lambda: self._writing.update_collection_aliases(moves))
        if before is not None:
            selector = models.FilterSelector(filter=self._of_pages(None))
            _asked(lambda: self._writing.delete(before, selector, wait=True))
            if not _asked(lambda: self._writing.count(before)).count:
                _asked(lambda: self._writing.delete_collection(before))
                self._made.discard(before)

    def _collection(self, dim: int | None = None) -> str | None:
        """The collection of the model that the index's vectors are of; None while there are none, or not of ``dim``."""
        state = embedding_state()
        if not state.model_id or (dim is not None and dim != state.dim):
            return None
        return f"{self._alias}-{re.sub(r'[^A-Za-z0-9._-]+', '-', state.model_id)}-{state.dim}"

    def _collection_there(self) -> str | None:
        """The same, if the server has it. Whether there is one to be had or not, the server has answered."""
        collection = self._collection()
        if collection is None:
            self._alias_leads_to()
            return None
        return collection if self._exists(collection) else None

    def _vault(self) -> UUID:
        return current_vault().id

    def _alias_leads_to(self) -> str | None:
        aliases = _asked(self._writing.get_aliases).aliases
        return next((each.collection_name for each in aliases if each.alias_name == self._alias), None)

    def _told(self, collection: str, question: Callable[[], T]) -> T:
        """The answer about a collection. After a failure it is looked up anew: a server that was made anew lacks it."""
        try:
            return _asked(question)
        except SynapseError:
            self._made.discard(collection)
            raise

    def _exists(self, collection: str) -> bool:
        return collection in self._made or bool(_asked(lambda: self._writing.collection_exists(collection)))

    def _ensure(self, collection: str) -> None:
        """Make the collection with its indexes if it is missing, and the alias if nothing has it. May be done twice."""
        with self._lock:
            if collection in self._made:
                return
            from qdrant_client import models

            if not _asked(lambda: self._writing.collection_exists(collection)):
                size = int(collection.rpartition("-")[2])
                try:
                    _asked(
                        lambda: self._writing.create_collection(
                            collection,
                            vectors_config={DENSE: models.VectorParams(size=size, distance=models.Distance.COSINE)},
                            sparse_vectors_config={SPARSE: models.SparseVectorParams()},
                        )
                    )
                except SynapseError:
                    if not _asked(lambda: self._writing.collection_exists(collection)):
                        raise  # else another process was first
            keyword = models.PayloadSchemaType.KEYWORD
            for name in _INDEXED:
                _asked(
                    lambda name=name: self._writing.create_payload_index(collection, name, keyword, wait=True)  # type: ignore[misc]
                )
            if self._alias_leads_to() is None:
                alias = models.CreateAlias(collection_name=collection, alias_name=self._alias)
                _asked(
                    lambda: self._writing.update_collection_aliases([models.CreateAliasOperation(create_alias=alias)])
                )
            self._made.add(collection)

    def _of_pages(self, uids: Sequence[UUID] | None) -> Any:
        """Points of this vault; of these pages, or of all."""
        from qdrant_client import models

        must: list[Any] = [models.FieldCondition(key="vault", match=models.MatchValue(value=str(self._vault())))]
        if uids is not None:
            names = [str(uid) for uid in dict.fromkeys(uids)]
            must.append(models.FieldCondition(key="page_id", match=models.MatchAny(any=names)))
        return models.Filter(must=must)

    def _conditions(self, allowed: Collection[int] | None) -> Iterator[Any]:
        """Filters that together let the allowed pages pass, each once."""
        if allowed is None:
            yield self._of_pages(None)
            return
        for some in in_lists(allowed, _PAGES):
            uids = list(Page.objects.filter(pk__in=some).values_list("uid", flat=True))
            if uids:
                yield self._of_pages(uids)


_TOLD: Final = ["page_id", "ordinal", "hash", "path"]


def _point(vault: UUID, chunk: ChunkVector, page: Page | None) -> Any:
    from qdrant_client import models

    vectors: dict[str, Any] = {DENSE: as_array([chunk.vector])[0].tolist()}
    if chunk.sparse:
        vectors[SPARSE] = _weights(chunk.sparse)
    shown = {name: getattr(page, name) for name in ("path", "title", "type", "lang")} if page else {}
    return models.PointStruct(
        id=str(point_id(vault, chunk.uid, chunk.ordinal)),
        vector=vectors,
        payload={
            "vault": str(vault),
            "page_id": str(chunk.uid),
            "ordinal": chunk.ordinal,
            "hash": chunk.hash,
            **shown,
        },
    )


def point_id(vault: UUID, page: UUID, ordinal: int) -> UUID:
    """The id of a passage's point: the same each time, so that what is sent twice is there once."""
    return uuid5(vault, f"{page}/{ordinal}")


def _weights(sparse: Mapping[str, float]) -> Any:
    from qdrant_client import models

    return models.SparseVector(indices=[int(token) for token in sparse], values=list(sparse.values()))


def _requests(
    vector: np.ndarray, sparse: Mapping[str, float] | None, condition: Any, limit: int
) -> Iterator[dict[str, Any]]:
    common = {"query_filter": condition, "limit": limit, "with_payload": _TOLD, "timeout": SEARCH_SECONDS}
    yield {"query": vector.tolist(), "using": DENSE, **common}
    if sparse:
        yield {"query": _weights(sparse), "using": SPARSE, "with_vectors": [DENSE], **common}


def _gather(found: dict[tuple[str, int], float], points: Sequence[Any], vector: np.ndarray, *, is_sparse: bool) -> None:
    """Add points to what was found. One that only its tokens found gets its cosine too."""
    for point in points:
        key = (point.payload["page_id"], point.payload["ordinal"])
        if is_sparse:
            found.setdefault(key, float(sum(a * b for a, b in zip(point.vector[DENSE], vector.tolist(), strict=True))))
            found[key] += SPARSE_SHARE * point.score
        else:
            found[key] = point.score


def _hits(found: Mapping[tuple[str, int], float], limit: int) -> list[ChunkHit]:
    """The best, with the keys of their pages; a page that the index does not know is no hit."""
    best = sorted(found, key=lambda key: (-found[key], key))[:limit]
    keys: dict[str, int] = {}
    for some in in_lists({UUID(uid) for uid, _ in best}):
        keys |= {str(uid): pk for pk, uid in Page.objects.filter(uid__in=some).values_list("pk", "uid")}
    return [ChunkHit(keys[uid], ordinal, found[uid, ordinal]) for uid, ordinal in best if uid in keys]


def _asked(question: Callable[[], T]) -> T:
    """The answer, or a StoreError for all that a server or the way to it may do: refuse, hang, answer rubbish."""
    try:
        return question()
    except SynapseError:
        raise
    except Exception as error:
        logger.warning("Qdrant can't be asked", extra={"reason": type(error).__name__})
        raise StoreError(
            "Qdrant (QDRANT_URL) does not answer as it should, so pages are found by their words alone. Start it, or "
            "unset QDRANT_URL to search vectors in the database; `manage.py vectors --check` says what it lacks.",
        ) from error
