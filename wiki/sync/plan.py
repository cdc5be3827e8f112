"""What a scan has to do: moves told from deletions, and deletions that are not believed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from vault.errors import SynapseError
from vault.root import Vault
from wiki.models import File, Page
from wiki.sync.diff import Diff, Found, Seen
from wiki.sync.known import Known, KnownFile, KnownPage
from wiki.sync.moves import Move, find_moves

#: Pages and bytes of one transaction: ≤ 100 ms on SQLite.
PAGES_AT_ONCE: Final = 90
BYTES_AT_ONCE: Final = 1_000_000
#: More files gone than this share, and at least this many, and the scan stops: a disk is more likely to be missing.
GONE_SHARE: Final = 5
GONE_AT_LEAST: Final = 10


@dataclass(slots=True)
class Work:
    """What a scan has to do once moves are told from deletions.

    ``pages`` are files to be read with the row they started from, None for a page that is new.
    """

    moves: list[Move]
    gone: list[KnownPage]
    gone_files: list[KnownFile]
    pages: list[tuple[KnownPage | None, Seen]]
    files: list[tuple[KnownFile | None, Seen]]


def plan(vault: Vault, diff: Diff, found: Found) -> Work:
    """Sort the differences into what is to be done."""
    look = _Look(vault)
    _confirm(diff, found, look)
    moves = find_moves(
        vanished=diff.vanished,
        new=diff.new,
        changed=diff.changed,
        content_hash=look.content_hash,
        birth_ns=look.birth_ns,
    )
    moved = {page.pk for page, _ in moves}
    filled = {seen.path for _, seen in moves}
    left_behind = [seen for page, seen in diff.changed if page.pk in moved]
    new = [seen for seen in (*diff.new, *left_behind) if seen.path not in filled]
    # Paths that the ledger knows come first: another page must not be given their ids.
    ledger = vault.ids.ids_at(seen.path for seen in new)
    new.sort(key=lambda seen: (seen.path not in ledger, seen.path))
    changed = [(page, seen) for page, seen in diff.changed if page.pk not in moved and seen.path not in filled]
    return Work(
        moves=moves,
        gone=[page for page in diff.vanished if page.pk not in moved],
        gone_files=diff.vanished_files,
        pages=[*changed, *((None, seen) for seen in new)],
        files=[*diff.changed_files, *((None, seen) for seen in diff.new_files)],
    )


class _Look:
    """Single facts of single files; None for one that can't be had."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def content_hash(self, path: str) -> str | None:
        try:
            return self._vault.digest(path).content_hash
        except SynapseError:
            return None

    def birth_ns(self, path: str) -> int | None:
        try:
            return self._vault.birth_ns(path)
        except SynapseError:
            return None

    def is_gone(self, path: str) -> bool:
        try:
            return self._vault.stat(path) is None
        except SynapseError:
            return False


def _confirm(diff: Diff, found: Found, look: _Look) -> None:
    """Leave out vanished files that are there after all: a walk can miss a file that is being replaced.

    Where case does not count, a renamed file still answers to its old name; that one has vanished.
    """
    names = {path.casefold() for path in (*found.pages, *found.files)}
    diff.vanished = [page for page in diff.vanished if page.path.casefold() in names or look.is_gone(page.path)]
    diff.vanished_files = [
        file for file in diff.vanished_files if file.path.casefold() in names or look.is_gone(file.path)
    ]


def reason_to_stop(known: Known, found: Found, work: Work, *, partial: bool) -> str | None:
    """Why the deletions are not believed, and what to do; None if they are. ``partial``: only some paths are known."""
    gone = len(work.gone) + _count_lost(work)
    if not gone:
        return None
    if not partial and not found.pages and not found.files:
        return (
            "The vault's folder is empty although the index knows files in it. Mount it or correct SYNAPSE_VAULT. "
            "If everything was deleted on purpose, run `manage.py rescan --allow-deletions`. Nothing was changed."
        )
    if gone < GONE_AT_LEAST:
        return None
    total = _total() if partial else len(known.pages) + len(known.files)
    if gone * GONE_SHARE <= total:
        return None
    return (
        f"{gone:,} of {total:,} files are gone, more than a fifth. If a disk or a folder is not mounted, mount it and "
        "scan again. If they were deleted on purpose, run `manage.py rescan --allow-deletions`. "
        "Nothing was changed."
    )


def _total() -> int:
    return Page.objects.live().count() + File.objects.filter(deleted_at__isnull=True).count()


def count_changed(vault: Vault, work: Work) -> int:
    """How many known pages have other bytes than their rows say; reads those whose stat differs."""
    look = _Look(vault)
    return sum(page is not None and look.content_hash(seen.path) != page.content_hash for page, seen in work.pages)


def _count_lost(work: Work) -> int:
    """Other files that are gone and not merely elsewhere: a new one with the same inode, or name, and size."""
    appeared = {(seen.inode, seen.size) for known, seen in work.files if known is None}
    named = {(_name(seen.path), seen.size) for known, seen in work.files if known is None}
    return sum(
        (file.inode, file.size) not in appeared and (_name(file.path), file.size) not in named
        for file in work.gone_files
    )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def move_batches(moves: list[Move]) -> Iterator[list[Move]]:
    """The moves in batches; those of which one takes the path that the other leaves are in the same."""
    leaving = {page.path: (page, seen) for page, seen in moves}
    waiting = {page.pk: (page, seen) for page, seen in moves}
    followers = {seen.path: page.path for page, seen in moves if seen.path in leaving}
    batch: list[Move] = []
    for page, _ in moves:
        group, paths = [], [page.path]
        while paths:
            path = paths.pop()
            move = waiting.pop(leaving[path][0].pk, None)
            if move:
                group.append(move)
                # its target may be another's old path, and its old path another's target
                paths += [other for other in (move[1].path, followers.get(path)) if other in leaving]
        if batch and len(batch) + len(group) > PAGES_AT_ONCE:
            yield batch
            batch = []
        batch += group
    if batch:
        yield batch


def page_batches(
    pages: Iterable[tuple[KnownPage | None, Seen]],
) -> Iterator[list[tuple[KnownPage | None, Seen]]]:
    batch: list[tuple[KnownPage | None, Seen]] = []
    size = 0
    for page in pages:
        if batch and (len(batch) >= PAGES_AT_ONCE or size + page[1].size > BYTES_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append(page)
        size += page[1].size
    if batch:
        yield batch
