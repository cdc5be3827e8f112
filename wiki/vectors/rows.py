"""Vectors as rows: the one place that writes :class:`wiki.models.Chunk`, and what a reader may rely on.

- All rows of a page carry one ``seq``, that of the last :func:`write_chunks` for it. Who keeps vectors in memory loads
  the rows with a ``seq`` past its last and puts them in the place of **all** that it has of the pages among them; so
  a page that has become shorter needs no word of its own.
- Removals leave no row. They set ``EmbeddingState.removed_at``; a reader whose last ``seq`` is below it compares the
  pages that it has with :func:`pages_with_chunks`, or loads all.
- ``EmbeddingState.generation`` is the highest number given. It is taken under that row's lock, held to the commit:
  numbers become visible in their order, and a reader that has seen n will never have to look below n again.
- A page with chunks has number 0, the lead. While a long page is being embedded, later ones may be missing.
- Positions are those of the body when it was embedded: true while ``Page.vectors_hash`` is its ``content_hash``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import F

from wiki.models import Chunk, EmbeddingState, Page
from wiki.rows import chunks as in_lists

if TYPE_CHECKING:
    import numpy as np

#: The key of the one row of :class:`wiki.models.EmbeddingState`.
STATE_PK: Final = 1


class ChunkVector(NamedTuple):
    """A passage with its vector, as rows keep it and stores are told it: always all that a page has, together."""

    page: int
    uid: UUID
    ordinal: int
    start: int
    end: int
    heading: str
    hash: str
    vector: bytes
    """float16, little-endian, of length 1; :func:`as_array` makes numpy of several."""
    sparse: Mapping[str, float] | None = None


def as_bytes(vector: np.ndarray) -> bytes:
    """A vector as rows keep it."""
    return bytes(vector.astype("<f2").tobytes())


def as_array(vectors: Sequence[bytes | memoryview]) -> np.ndarray:
    """Vectors of rows as float32, (n, dim); (0, 0) for none."""
    import numpy as np

    if not vectors:
        return np.zeros((0, 0), dtype=np.float32)
    joined = np.frombuffer(b"".join(vectors), dtype="<f2")
    return joined.reshape(len(vectors), -1).astype(np.float32)


def embedding_state() -> EmbeddingState:
    """The state row; one that is not saved when there is none yet."""
    return EmbeddingState.objects.filter(pk=STATE_PK).first() or EmbeddingState(pk=STATE_PK)


def chunks_after(seq: int) -> Iterator[ChunkVector]:
    """The chunks whose ``seq`` is past the one given (-1: all), by seq, page and ordinal, without holding them all."""
    rows = Chunk.objects.filter(seq__gt=seq).order_by("seq", "page_id", "ordinal")
    return _read(rows.values_list(*_FIELDS).iterator(chunk_size=2_000))


def chunks_of(pks: Collection[int]) -> Iterator[ChunkVector]:
    """The chunks of these pages, by page and ordinal."""
    for some in in_lists(sorted(pks)):
        rows = Chunk.objects.filter(page__in=some).order_by("page_id", "ordinal")
        yield from _read(rows.values_list(*_FIELDS))


_FIELDS: Final = ("page_id", "page__uid", "ordinal", "start", "end", "heading", "hash", "vector", "sparse")


def _read(rows: Iterable[Any]) -> Iterator[ChunkVector]:
    for page, uid, ordinal, start, end, heading, hashed, vector, sparse in rows:
        yield ChunkVector(page, uid, ordinal, start, end, heading, hashed, bytes(vector), sparse)


def page_seq(page: int) -> int | None:
    """The ``seq`` of a page's rows; None if it has none."""
    return Chunk.objects.filter(page=page, ordinal=0).values_list("seq", flat=True).first()


def pages_with_chunks() -> set[int]:
    """The pages that have vectors."""
    return set(Chunk.objects.filter(ordinal=0).values_list("page_id", flat=True))


def write_chunks(page: int, chunks: Sequence[ChunkVector], *, content_hash: str, model_id: str, dim: int) -> int | None:
    """Put these chunks in the place of all that the page has; the ``seq`` they were given.

    None, and nothing changed, if the page's content is no longer the one that they were cut from, if it is not listed
    any more, or if the vectors of the index are of another model.
    """
    ensure_state()
    with transaction.atomic():
        listed = Page.objects.listed().select_for_update().filter(pk=page, content_hash=content_hash)
        if not listed.exists():
            return None
        same = EmbeddingState.objects.filter(pk=STATE_PK, model_id__in=("", model_id), dim__in=(0, dim))
        if not same.update(model_id=model_id, dim=dim, generation=F("generation") + 1):
            return None
        seq = _generation()
        Chunk.objects.filter(page=page).delete()
        Chunk.objects.bulk_create(
            [
                Chunk(
                    page_id=page,
                    **{name: getattr(chunk, name) for name in ("ordinal", "start", "end", "heading", "hash", "vector")},
                    sparse=None if chunk.sparse is None else dict(chunk.sparse),
                    model_id=model_id,
                    dim=dim,
                    seq=seq,
                )
                for chunk in chunks
            ],
            batch_size=200,
        )
    return seq


def mark_embedded(page: int, *, content_hash: str, seq: int, whole: bool) -> bool:
    """Note that the lead, or with ``whole`` every passage, of this content has its vector and stores know it.

    Nothing happens, and False, if the content is another by now or the rows are no longer those that got ``seq``.
    """
    with transaction.atomic():
        same = Page.objects.select_for_update().filter(pk=page, content_hash=content_hash)
        if not same.exists() or not Chunk.objects.filter(page=page, ordinal=0, seq=seq).exists():
            return False
        marks = {"lead_hash": content_hash, "vectors_hash": content_hash} if whole else {"lead_hash": content_hash}
        return bool(same.update(**marks))


def remove_chunks(pks: Collection[int]) -> int:
    """Remove the vectors of pages, which wait again from then on if they are listed; how many chunks went."""
    ensure_state()
    with transaction.atomic():
        gone = 0
        for some in in_lists(sorted(pks)):
            Page.objects.filter(pk__in=some).update(lead_hash="", vectors_hash="")
        EmbeddingState.objects.filter(pk=STATE_PK).update(generation=F("generation") + 1)
        EmbeddingState.objects.filter(pk=STATE_PK).update(removed_at=F("generation"))
        for some in in_lists(sorted(pks)):
            gone += Chunk.objects.filter(page__in=some).delete()[0]
    return gone


def forget_all(*, model_id: str = "", dim: int = 0) -> None:
    """Remove all vectors: every page waits, for the model that is given (none: for whichever comes first)."""
    ensure_state()
    with transaction.atomic():
        Page.objects.exclude(lead_hash="", vectors_hash="").update(lead_hash="", vectors_hash="")
        EmbeddingState.objects.filter(pk=STATE_PK).update(
            model_id=model_id, dim=dim, last_error="", store_failed=False, generation=F("generation") + 1
        )
        EmbeddingState.objects.filter(pk=STATE_PK).update(removed_at=F("generation"))
        Chunk.objects.all().delete()


def model_problem(model_id: str, dim: int) -> str | None:
    """Why vectors of this model can't be compared with those of the index, as a sentence; None if they can."""
    state = embedding_state()
    if state.model_id in ("", model_id) and state.dim in (0, dim):
        return None
    return (
        f"The vectors of the index are of {state.model_id} ({state.dim} numbers), the embedder is {model_id} ({dim}). "
        "Run `manage.py reembed` to make them anew, or set EMBEDDER back (a server takes new settings when it starts "
        "again); until then pages are found by words alone."
    )


def ensure_state() -> None:
    """Make the state row if it is missing."""
    if not EmbeddingState.objects.filter(pk=STATE_PK).exists():
        EmbeddingState.objects.bulk_create([EmbeddingState(pk=STATE_PK)], ignore_conflicts=True)


def _generation() -> int:
    return EmbeddingState.objects.values_list("generation", flat=True).get(pk=STATE_PK)
