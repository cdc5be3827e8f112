"""The rows of the index and a store's copy of them: do they have the same passages, and making it so.

The rows are right. Pages may change while both are read, so what looks different is looked at again before it is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from wiki.embedding.waiting import anything_waits
from wiki.models import Chunk
from wiki.rows import chunks as in_lists
from wiki.vectors.rows import chunks_of
from wiki.vectors.stores import RemoteStore, remote_store

#: Times that repair and comparison are repeated while pages change under them.
PASSES: Final = 5
#: Pages that are named of each kind of difference, and pages that are sent at once.
_NAMED: Final = 20
_AT_ONCE: Final = 20

#: Of a page: its passages as (number, hash, path of the page).
_Passages = dict[UUID, set[tuple[int, bytes, str]]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs. ``chunks``: passages in the rows; a page is in one of the three lists at most."""

    store: str
    chunks: int = 0
    missing: list[UUID] = field(default_factory=list)
    """Pages of which the store has nothing."""
    differing: list[UUID] = field(default_factory=list)
    """Pages of which it has other passages, or under another path."""
    surplus: list[UUID] = field(default_factory=list)
    """Pages of which the rows have nothing."""
    repaired: int = 0
    """Pages that were sent or taken out."""

    @property
    def equal(self) -> bool:
        """Whether both have the same passages: (page, number, hash), none more and none less."""
        return not (self.missing or self.differing or self.surplus)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: counts, and the first pages of each kind."""
        kinds = {"missing": self.missing, "differing": self.differing, "surplus": self.surplus}
        return {
            "store": self.store,
            "equal": self.equal,
            "chunks": self.chunks,
            **{kind: len(pages) for kind, pages in kinds.items()},
            "pages": {kind: [str(uid) for uid in pages[:_NAMED]] for kind, pages in kinds.items()},
            "repaired": self.repaired,
        }


def check() -> Comparison:
    """Compare; changes nothing. Raises ``dependency_missing`` when the store can't be asked."""
    store = remote_store()
    if store is None:
        return Comparison("local", chunks=Chunk.objects.count())
    return _compared(store)


def repair() -> Comparison:
    """Send what the store lacks, take out what it should not have, compare once more; again if pages changed meanwhile.

    When nothing waits for its vectors, the collection of an earlier model goes too. Raises ``dependency_missing`` when
    the store can't be asked.
    """
    store = remote_store()
    if store is None:
        return Comparison("local", chunks=Chunk.objects.count())
    repaired = 0
    found = _compared(store)
    for _ in range(PASSES):
        if found.equal:
            break
        repaired += _mend(store, found)
        found = _compared(store)
    if found.equal and not anything_waits():
        store.settle()
    return Comparison(found.store, found.chunks, found.missing, found.differing, found.surplus, repaired)


def complete() -> None:
    """All that waited has its vectors: the store has as many passages as the rows, or gets what it lacks.

    A store that was lost is begun anew by the next page that changes, and would have no other from then on. Raises
    ``dependency_missing`` when the store can't be asked.
    """
    if store := remote_store():
        if store.count() == Chunk.objects.count():
            store.settle()
        else:
            repair()


def _compared(store: RemoteStore) -> Comparison:
    copy, rows = _of_store(store), _of_rows()
    suspects = [uid for uid in copy.keys() | rows.keys() if copy.get(uid) != rows.get(uid)]
    again = _of_rows(suspects) if suspects else {}
    # A page that has changed since is being dealt with by whoever changed it.
    settled = sorted(uid for uid in suspects if again.get(uid) == rows.get(uid))
    return Comparison(
        "qdrant",
        sum(map(len, rows.values())),
        missing=[uid for uid in settled if uid not in copy],
        differing=[uid for uid in settled if uid in copy and uid in rows],
        surplus=[uid for uid in settled if uid not in rows],
    )


def _of_store(store: RemoteStore) -> _Passages:
    found: _Passages = {}
    for chunk in store.stored():
        found.setdefault(chunk.uid, set()).add((chunk.ordinal, bytes.fromhex(chunk.hash), chunk.path))
    return found


def _of_rows(uids: Iterable[UUID] | None = None) -> _Passages:
    found: _Passages = {}
    for some in [None] if uids is None else in_lists(uids):
        rows = Chunk.objects.all() if some is None else Chunk.objects.filter(page__uid__in=some)
        for uid, ordinal, digest, path in rows.values_list("page__uid", "ordinal", "hash", "page__path").iterator():
            found.setdefault(uid, set()).add((ordinal, bytes.fromhex(digest), path))
    return found


def _mend(store: RemoteStore, found: Comparison) -> int:
    for some in in_lists([*found.missing, *found.differing], _AT_ONCE):
        pages = set(Chunk.objects.filter(page__uid__in=some).values_list("page_id", flat=True))
        store.upsert(list(chunks_of(pages)))
    store.delete(found.surplus)
    return len(found.missing) + len(found.differing) + len(found.surplus)
