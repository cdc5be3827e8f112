"""The scan, from files to index, and its short form for a few paths."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.paths import classify
from vault.root import Skipped, Vault, WalkEntry
from wiki.binding import check_binding, keep_report
from wiki.data_version import data_version
from wiki.exclusive import try_exclusive
from wiki.models import File, Link, LinkState, Page, VaultState
from wiki.signals import rescan_finished
from wiki.sync.diff import INODE_MASK, Found, Seen, merge
from wiki.sync.known import Known, load_known
from wiki.sync.report import ScanReport
from wiki.sync.steps import ScanRun

Progress = Callable[[str, int, int], None]

#: How long news of single files waits for a scan that is at work, in seconds.
WAIT_SECONDS: Final = 300.0


def scan(
    *,
    full: bool = False,
    dry_run: bool = False,
    allow_deletions: bool = False,
    progress: Progress | None = None,
) -> ScanReport:
    """Bring the index up to date with the whole vault.

    Only files whose stat differs or can't be trusted are read, with ``full`` all of them. ``dry_run`` writes
    nothing and counts what differs. When the root is missing or empty, or more than a fifth of the files (at least
    10) are gone, nothing is done and the report's ``stopped`` says so, unless ``allow_deletions``. While another
    scan is at work the report says ``running`` and nothing is done. ``progress`` hears (phase, done, total).

    Raises ``conflict`` for a database that holds another vault's index, and ``storage_error`` when the disk fails.
    """
    started = time.monotonic()
    report = ScanReport(dry_run=dry_run)
    vault = current_vault()
    report.stopped = scan_problem(vault)
    if report.stopped is None:
        vault.ensure_id()
        check_binding()
        with scan_lock() as got:
            report.running = not got
            if got:
                with _fewer_collections():
                    known = load_known()
                    run = ScanRun(vault, report, full=full, allow_deletions=allow_deletions, progress=progress)
                    run.go(known, merge(vault.walk()))
    return _finished(report, started)


def sync_paths(paths: Iterable[str], *, allow_deletions: bool = False) -> ScanReport:
    """Bring the index up to date with these files alone: changed, new or gone, and moves among them.

    Vault-relative paths; others than files (hidden, excluded, folders) are passed over. A page whose file has gone
    to one of the paths is looked at too, and so is the place where the file of one that is gone is now. Waits for a
    scan that is at work. Otherwise as :func:`scan`.
    """
    started = time.monotonic()
    report = ScanReport()
    vault = current_vault()
    named = {path for path in paths if classify(path, vault.exclude)}
    report.stopped = scan_problem(vault)
    if report.stopped is None and named:
        check_binding()
        with scan_lock(timeout=WAIT_SECONDS) as got:
            report.running = not got
            if got:
                known = load_known(named)
                found = _look_at(vault, named)
                _add_origins(vault, known, found)
                _add_destinations(vault, known, found)
                run = ScanRun(vault, report, allow_deletions=allow_deletions, partial=True)
                run.go(known, found)
    return _finished(report, started)


@contextmanager
def scan_lock(*, timeout: float = 0.0) -> Iterator[bool]:
    """Hold the right to scan for the length of the block, against all processes and hosts; False if it is not got."""
    with try_exclusive("scan", timeout=timeout) as got:
        yield got


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Look for garbage in circles less often: parsing makes objects by the million and hardly a circle."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def root_problem(vault: Vault) -> str | None:
    """Why the root itself can't be scanned, and what to do; None if it can. Asks no database."""
    if not vault.root.is_dir():
        return (
            "The vault's folder is not there. Mount it or correct SYNAPSE_VAULT, and scan again. Nothing was changed."
        )
    if vault.writable and not any(vault.root.iterdir()):
        # An id must not be made in what may be a mount point.
        return (
            "The vault's folder is empty. Mount it or correct SYNAPSE_VAULT, or begin a new vault there with "
            "`manage.py init_vault`. Nothing was changed."
        )
    return None


def scan_problem(vault: Vault) -> str | None:
    """As :func:`root_problem`, and also why a root that has lost the id which this index knows can't be scanned."""
    problem = root_problem(vault)
    if problem or not VaultState.objects.exists():
        return problem
    try:
        _ = vault.id
    except SynapseError as error:
        if error.code is not ErrorCode.STORAGE_ERROR or (vault.root / ".synapse" / "vault-id").exists():
            raise
        return (
            "The vault's folder has no id any more although it was indexed before: it is not mounted, or has lost its "
            ".synapse folder. Mount it or restore that folder, and scan again. Nothing was changed."
        )
    return None


def _look_at(vault: Vault, paths: Iterable[str]) -> Found:
    found = Found()
    for path in sorted(paths):
        try:
            stat = vault.stat(path)
        except SynapseError:
            found.add(Skipped(path, "unreadable", "Synapse may not read this. Give its user access."))
            continue
        if stat is not None:
            found.add(WalkEntry(path, stat.size, stat.mtime_ns, stat.inode))
    return found


def _add_origins(vault: Vault, known: Known, found: Found) -> None:
    """Know the pages whose files may have gone to one of the paths: their own path was perhaps not named."""
    arrived: list[Seen] = [seen for path, seen in found.pages.items() if path not in known.pages]
    inodes = [seen.inode for seen in arrived if seen.inode]
    paths = Page.objects.live().filter(inode__in=inodes).exclude(path__in=list(known.pages))
    origins = set(paths.values_list("path", flat=True)) if inodes else set()
    if origins:
        known.pages.update(load_known(origins).pages)
        found.pages.update(_look_at(vault, origins).pages)


def _add_destinations(vault: Vault, known: Known, found: Found) -> None:
    """Look for the files of pages that are gone from their paths: renamed ones are known by their inodes.

    Their new paths were perhaps not named: they are still being saved, or nobody has told of them yet.
    """
    gone = {page.inode for path, page in known.pages.items() if path not in found.pages and not found.hides(path)}
    gone -= {seen.inode for seen in found.pages.values()} | {0}
    if not gone:
        return
    entries = [entry for entry in vault.walk() if isinstance(entry, WalkEntry) and entry.inode & INODE_MASK in gone]
    places = {entry.path for entry in entries if classify(entry.path) == "page"}
    if places:
        known.pages.update(load_known(places).pages)
        found.pages.update(merge(entries).pages)


def _finished(report: ScanReport, started: float) -> ScanReport:
    changed = bool(report.data_version)
    report.pages = Page.objects.live().count()
    report.files = File.objects.filter(deleted_at__isnull=True).count()
    report.links = Link.objects.count()
    report.broken = Link.objects.filter(state=LinkState.BROKEN).count()
    report.data_version = data_version()
    report.seconds = time.monotonic() - started
    if not report.running and not report.dry_run:
        keep_report(report.as_dict(), changed=changed)
    if not report.stopped and not report.running and not report.dry_run:
        rescan_finished.send_robust(sender=ScanReport, report=report)
    return report
