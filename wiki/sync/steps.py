"""One scan's steps: moves, deletions, files, pages, then links and edges; each batch is one transaction."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import UUID, uuid5

from django.db import transaction

from vault.root import Vault
from wiki import changes as feed
from wiki.binding import begin_scan_rows, finish_scan_rows, scan_was_cut_short
from wiki.data_version import data_version
from wiki.graph import settle_edges
from wiki.models import Link, LinkState, Page
from wiki.prime.atoms.rows import fill_levels, levels_wait
from wiki.rows import chunks, index_lock, many_rows
from wiki.search import many_pages
from wiki.sync.apply import Applied, remove_pages, touch_pages, write_pages
from wiki.sync.diff import Found, Seen, compare, is_doubtful
from wiki.sync.early import EarlyAnswers
from wiki.sync.files import AppliedFiles, FileLook, look, remove_files, touch_files, write_files
from wiki.sync.known import Known, KnownFile, KnownPage
from wiki.sync.links import mark_stale, resolve_waiting
from wiki.sync.moves import Move
from wiki.sync.plan import PAGES_AT_ONCE, Work, count_changed, move_batches, page_batches, plan, reason_to_stop
from wiki.sync.reads import REASONS, Change, read_page
from wiki.sync.report import ScanReport

Progress = Callable[[str, int, int], None]

#: Files other than pages of one transaction: ≤ 100 ms on SQLite.
FILES_AT_ONCE: Final = 500
#: From this number of pages on the database is told to expect many, and the feed of changes to name no single one.
MANY: Final = 1_000


class ScanRun:
    """One scan of the vault, or of the paths given to it (``partial``)."""

    def __init__(
        self,
        vault: Vault,
        report: ScanReport,
        *,
        full: bool = False,
        allow_deletions: bool = False,
        partial: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.vault = vault
        self.report = report
        self.full = full
        self.allow_deletions = allow_deletions
        self.partial = partial
        self.progress = progress
        self._wrote = False
        self._vault_id = UUID(int=0)
        self._ledger: dict[str, UUID] = {}
        self._taken: set[UUID] = set()  # ids of live pages, as far as they are known, and those given here
        self._rested: list[Change] = []  # doubtful files that turned out the same
        self._fresh_at: int | None = None  # version of the index when it had no links yet
        self._early: EarlyAnswers | None = None
        self._everything = False  # whether so much has changed that the feed names no single page
        self._noted = 0

    def go(self, known: Known, found: Found) -> None:
        """Find the differences and, but for a dry run, write them."""
        self.report.skipped += [skipped._asdict() for skipped in found.skipped]
        work = plan(self.vault, compare(known, found, full=self.full), found)
        if not self.allow_deletions:
            self.report.stopped = reason_to_stop(known, found, work, partial=self.partial)
        if self.report.stopped:
            return
        if self.report.dry_run:
            self._count(work)
            return
        self._taken = {page.uid for page in known.pages.values()} - {page.uid for page in work.gone}
        self._vault_id = self.vault.id
        self._ledger = self.vault.ids.ids_at(seen.path for page, seen in work.pages if page is None)
        first = not known.pages and not known.files and not self.partial
        self._everything = first
        if not Link.objects.exists():
            self._fresh_at = data_version()
            if first:
                self._early = EarlyAnswers([*found.pages, *found.files])
        self._remove(work)
        self._write_files(work.files)
        self._write_moves(work.moves)
        with _prepared_for(len(work.pages)):
            self._write_pages(work.pages)
        self._finish()

    def _count(self, work: Work) -> None:
        """The numbers of a dry run."""
        report = self.report
        report.moved, report.deleted = len(work.moves), len(work.gone)
        report.files_changed = len(work.files) + len(work.gone_files)
        report.added = sum(page is None for page, _ in work.pages)
        report.changed = count_changed(self.vault, work)

    @contextmanager
    def _batch(self) -> Iterator[None]:
        """A transaction that writes to the index."""
        with transaction.atomic():
            index_lock()
            if not self._wrote:
                begin_scan_rows()
            yield
        self._wrote = True

    def _settle(self, applied: Applied | AppliedFiles) -> None:
        """What other rows owe to the pages or files just written, in the same transaction."""
        # While the first scan fills an empty index all links wait or are certain, unless a service wrote meanwhile.
        if not self._is_fresh():
            mark_stale(applied.stale)
        self._noted += len(applied.noted)
        self._everything = self._everything or self._noted >= MANY
        if isinstance(applied, AppliedFiles):
            feed.note(files=applied.noted, everything=self._everything)
            return
        feed.note(pages=applied.noted, linked=applied.linked, everything=self._everything)
        for chunk in chunks(applied.dirty):
            Page.objects.filter(pk__in=chunk).update(graph_dirty=True)
        self.report.skipped += [_skip(path, "written_meanwhile") for path in applied.left]

    def _is_fresh(self) -> bool:
        """Whether nobody else has written to the index, which had no links; in the transaction that relies on it."""
        return self._fresh_at is not None and self._fresh_at == data_version()

    def _remove(self, work: Work) -> None:
        for pages in chunks(work.gone, PAGES_AT_ONCE):
            with self._batch():
                applied = remove_pages(pages)
                self._settle(applied)
            self.report.deleted += len(applied.pks)
        for files in chunks(work.gone_files, FILES_AT_ONCE):
            with self._batch():
                self._settle(remove_files(files))
            self.report.files_changed += len(files)

    def _write_files(self, files: list[tuple[KnownFile | None, Seen]]) -> None:
        for chunk in chunks(files, FILES_AT_ONCE):
            changed, touched = self._look_at_files(chunk)
            if changed:
                with self._batch():
                    self._settle(write_files(changed))
                self.report.files_changed += len(changed)
            if touched:
                with transaction.atomic():
                    touch_files(touched)

    def _look_at_files(self, files: Iterable[tuple[KnownFile | None, Seen]]) -> tuple[list[FileLook], list[FileLook]]:
        """Files that changed, and files of which only the stat did."""
        changed, touched = [], []
        for known, seen in files:
            found = look(self.vault, seen)
            if found is None:
                self.report.skipped.append(_skip(seen.path, "being_written"))
                continue
            if seen.kind == "source" and not found.read_ns:
                self.report.skipped.append(_skip(seen.path, "unreadable"))
            if (
                known is None
                or known.kind != found.kind
                or (found.read_ns and known.content_hash != found.content_hash)
            ):
                changed.append(found)
            elif found.read_ns and (known.size, known.mtime_ns, known.inode) != (seen.size, seen.mtime_ns, seen.inode):
                touched.append(found)
        return changed, touched

    def _write_moves(self, moves: list[Move]) -> None:
        for batch in move_batches(moves):
            changes = []
            for page, seen in batch:
                read = read_page(self.vault, seen.path)
                if read is None or read.parsed is None:
                    self.report.skipped.append(_skip(seen.path, "being_written"))
                else:
                    changes.append(Change(page.uid, page, read))
            # Before it is committed: ids outlive the database.
            self.vault.ids.record_all((change.read.path, change.uid) for change in changes)
            self._write(changes)

    def _write_pages(self, pages: list[tuple[KnownPage | None, Seen]]) -> None:
        done = 0
        for batch in page_batches(pages):
            changes, touched = [], []
            for known, seen in batch:
                change = self._read(known, seen)
                if change is None:
                    continue
                if known is None or _is_changed(change, known):
                    changes.append(change)
                elif _is_touched(change, known):
                    touched.append(change)
                else:
                    self._rested.append(change)
            if changes:
                self._write(changes)
            if touched:
                with transaction.atomic():
                    touch_pages(touched)
            done += len(batch)
            if self.progress:
                self.progress("pages", done, len(pages))

    def _read(self, known: KnownPage | None, seen: Seen) -> Change | None:
        # A page that could not be read last time is parsed whatever its hash: its flag has to go.
        known_hash = known.content_hash if known and known.read_ns else None
        read = read_page(self.vault, seen.path, known_hash=known_hash)
        if read is None:
            self.report.skipped.append(_skip(seen.path, "being_written"))
            return None
        self.report.flagged += [{"path": read.path, "code": code, "reason": reason} for code, reason in read.flags]
        return Change(known.uid if known else self._new_id(seen.path), known, read)

    def _new_id(self, path: str) -> UUID:
        # The usual case without a look at the disk for each path; the ledger has the rule for all others.
        uid = uuid5(self._vault_id, path)
        taken = functools.partial(self._is_taken, path)
        if self._ledger.get(path, uid) != uid or taken(uid):
            uid = self.vault.ids.id_for(path, taken)
        self._taken.add(uid)
        return uid

    def _is_taken(self, path: str, uid: UUID) -> bool:
        """Whether another page has the id. One at this very path was written while the scan ran: it is this page."""
        elsewhere = Page.objects.live().filter(uid=uid).exclude(path=path)
        return uid in self._taken or (self.partial and elsewhere.exists())

    def _write(self, changes: list[Change]) -> None:
        if not changes:
            return
        with self._batch():
            applied = write_pages(changes, early=self._early if self._is_fresh() else None)
            self._settle(applied)
        for change in changes:
            if change.uid in applied.pks:
                self.report.moved += change.moved
                self.report.added += change.known is None
                self.report.changed += change.known is not None and not change.moved

    def _finish(self) -> None:
        """Work off what waits, whoever left it, and count the scan if it changed something."""
        cut_short = scan_was_cut_short()
        if not self._wrote and not cut_short and not _something_waits():
            return
        if levels_wait():
            fill_levels()
        resolve_waiting(self.progress, everything=self._everything)
        settle_edges(self.progress)
        with transaction.atomic():
            touch_pages([change for change in self._rested if _is_still(change)])
            self.report.data_version = finish_scan_rows()


@contextmanager
def _prepared_for(pages: int) -> Iterator[None]:
    if pages < MANY:
        yield
        return
    with many_rows(), many_pages():
        yield


def _is_changed(change: Change, known: KnownPage) -> bool:
    """Whether there is other text to index, or text at last."""
    read = change.read
    return read.parsed is not None and (read.content_hash != known.content_hash or not known.read_ns)


def _is_touched(change: Change, known: KnownPage) -> bool:
    """Whether a row with the same content needs another stat, or the reason why its file can't be read."""
    read = change.read
    if (read.size, read.mtime_ns, read.inode) != (known.size, known.mtime_ns, known.inode):
        return True
    return bool(read.read_ns) != bool(known.read_ns)


def _is_still(change: Change) -> bool:
    """Whether the file's mtime is old enough by now to be trusted."""
    read = change.read
    seen = Seen(read.path, "page", read.size, read.mtime_ns, read.inode)
    return change.known is not None and not is_doubtful(change.known._replace(read_ns=read.read_ns), seen)


def _something_waits() -> bool:
    return (
        Link.objects.filter(state=LinkState.PENDING).exists()
        or Page.objects.filter(graph_dirty=True).exists()
        or levels_wait()
    )


def _skip(path: str, code: str) -> dict[str, str]:
    return {"path": path, "code": code, "reason": REASONS[code]}
