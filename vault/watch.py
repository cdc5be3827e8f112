"""News of changed files: which paths changed, given out once they have been still for a while."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import watchfiles

from vault.errors import ErrorCode, SynapseError
from vault.identity import is_folder
from vault.paths import compile_exclude, is_allowed
from vault.root import Vault, WalkEntry

logger = logging.getLogger(__name__)
logging.getLogger("watchfiles").setLevel(logging.WARNING)  # below that it logs absolute paths

# Milliseconds: how often the notifier looks, how long it gathers a burst, and how long it waits when all is quiet.
_STEP: Final = 25
_DEBOUNCE: Final = 50
_QUIET: Final = 50
_ROOT_RETRY_SECONDS: Final = 0.5
# A pass over all files finds what the kernel did not tell: a full queue, a network drive, no notifier at all.
_HEAL_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 2.0
# One end of what may be a move waits this long for the other to be still.
_MOVE_SECONDS: Final = 2.0
_LARGEST_SHARE: Final = 50  # a pass may take at most this part (1/n) of the time

Signature = tuple[int, int, int]  # size, mtime and inode


class Tracker:
    """The vault's files as they were given out last, and those that changed since and are not still yet.

    Times are seconds of a monotonic clock, given by the caller; the clocks of files play no part.
    """

    def __init__(self, vault: Vault, settle: float) -> None:
        self._vault = vault
        self._settle = settle
        self._excluded = compile_exclude(vault.exclude)
        self._known: dict[str, Signature] = {}
        self._pending: dict[str, tuple[Signature | None, float]] = {}

    def learn(self) -> None:
        """Take the vault as it is for known. Raises ``storage_error`` without a root."""
        self._known = self._files("")

    def compare(self, now: float) -> None:
        """Look at all files and note each that is not as it was given out. Raises ``storage_error`` without a root."""
        found = self._files("")
        self._note_news(found, now)
        if not found:
            return  # an empty root is an unmounted one, until somebody asks for a scan
        for path in self._known.keys() - found.keys():
            self._note(path, None, now)

    def touch(self, paths: Collection[str], now: float) -> None:
        """Note that something happened at these vault-relative paths: to files, or to folders that came or went."""
        folders = set()
        for path in paths:
            if not is_allowed(path) or (self._excluded is not None and self._excluded(path)):
                continue
            signature = self._signature(path)
            if signature is not None or path in self._known:
                self._note(path, signature, now)
            else:
                folders.add(path)
        for folder in folders:
            with suppress(SynapseError):  # a temporary file that is gone again
                self._note_news(self._files(folder), now)
        if folders:
            self._note_vanished(folders, now)

    def take(self, now: float) -> set[str]:
        """The paths that have been still for the settle time. Each change is given out once."""
        due = {path for path, (_, since) in self._pending.items() if now - since >= self._settle}
        ready = set()
        for path in due - self._ends_of_moves(due, now):
            noted, _ = self._pending[path]
            signature = self._signature(path)
            if signature != noted:
                self._note(path, signature, now)
                continue
            del self._pending[path]
            if signature is not None:
                self._known[path] = signature
            elif self._known.pop(path, None) is None:
                continue  # came and went before anybody heard of it
            ready.add(path)
        return ready

    def _ends_of_moves(self, due: set[str], now: float) -> set[str]:
        """Paths that came and paths that went, while some of them are not due: they may be a file that was moved.

        Given out one after the other they would be a deletion and a file that nobody knows.
        """
        gone = {path for path, (signature, _) in self._pending.items() if signature is None and path in self._known}
        came = {path for path, (signature, _) in self._pending.items() if signature and path not in self._known}
        if not gone or not came or gone | came <= due:
            return set()
        waited = now - min(self._pending[path][1] for path in gone)
        return gone | came if waited < self._settle + _MOVE_SECONDS else set()

    def _note(self, path: str, signature: Signature | None, now: float) -> None:
        self._pending[path] = (signature, now)

    def _note_news(self, found: dict[str, Signature], now: float) -> None:
        for path, signature in found.items():
            noted = self._pending.get(path)
            if (noted[0] if noted else self._known.get(path)) != signature:
                self._note(path, signature, now)

    def _note_vanished(self, folders: set[str], now: float) -> None:
        for path in self._known:
            parts = path.split("/")
            if any("/".join(parts[:depth]) in folders for depth in range(1, len(parts))):
                signature = self._signature(path)
                if signature is None:
                    self._note(path, None, now)

    def _files(self, below: str) -> dict[str, Signature]:
        return {
            entry.path: (entry.size, entry.mtime_ns, entry.inode)
            for entry in self._vault.walk(below)
            if isinstance(entry, WalkEntry)
        }

    def _signature(self, path: str) -> Signature | None:
        try:
            found = self._vault.stat(path)
        except SynapseError as error:
            if error.code is ErrorCode.STORAGE_ERROR and not is_folder(self._vault.root):
                raise  # the root is gone: nothing can be said of any file
            return (-1, -1, -1)  # there, but not to be read; whoever takes the path will say why
        return None if found is None else (found.size, found.mtime_ns, found.inode)


def watch(vault: Vault, *, stop: threading.Event, settle: float) -> Iterator[set[str]]:
    """Sets of vault-relative paths that changed, came or went and have been still for ``settle`` seconds.

    What changes after this call is news, even before the first set is asked for: call it before the scan whose
    result is to be kept up to date. Hidden and excluded names are left out. Never raises for what happens to
    the vault: while the root is not there it waits for it, and where the system gives no notice it looks itself.
    Ends soon after ``stop`` is set.
    """
    tracker = Tracker(vault, settle)
    with suppress(SynapseError):
        tracker.learn()
    return _watch(vault, tracker, stop)


class _Notices:
    """Whether the system tells this process of changed files, as far as it has found out."""

    refused = False


def is_blind() -> bool:
    """Whether this process watches without the system's help, because that was refused."""
    return _Notices.refused


def _watch(vault: Vault, tracker: Tracker, stop: threading.Event) -> Iterator[set[str]]:
    notified = True
    while not stop.is_set():
        try:
            yield from _watch_root(vault, tracker, stop, notified=notified)
        except SynapseError:
            notified = True  # the root is gone; what comes instead may be another file system
            _Notices.refused = False
        except (OSError, RuntimeError) as error:
            if is_folder(vault.root) and notified:
                logger.warning("The system gives no notice of changed files (%s); looking myself", type(error).__name__)
                notified, _Notices.refused = False, True
        stop.wait(_ROOT_RETRY_SECONDS)


def _watch_root(vault: Vault, tracker: Tracker, stop: threading.Event, *, notified: bool) -> Iterator[set[str]]:
    """News from one root, until it is replaced, unmounted or removed."""
    root = os.path.realpath(vault.root)
    identity = _identity(vault.root)
    heal_at = 0.0  # at once: the notifier begins to hear only now
    for changes in _notices(root, stop) if notified else _ticks(stop):
        now = time.monotonic()
        if _identity(vault.root) != identity:
            return
        if now >= heal_at or root in changes:
            tracker.compare(now)
            pause = _HEAL_SECONDS if notified else _POLL_SECONDS
            heal_at = now + max(pause, _LARGEST_SHARE * (time.monotonic() - now))
        prefix = root.rstrip("/") + "/"
        tracker.touch([path.removeprefix(prefix) for path in changes if path.startswith(prefix)], now)
        ready = tracker.take(now)
        if ready:
            yield ready


def _notices(root: str, stop: threading.Event) -> Iterator[set[str]]:
    """Absolute paths at which the system saw something happen; an empty set now and then when all is quiet."""
    # Without a filter: one that drops all of a burst would also swallow the beat on which pending files are looked at.
    notices = watchfiles.watch(
        root,
        watch_filter=None,
        debounce=_DEBOUNCE,
        step=_STEP,
        rust_timeout=_QUIET,
        yield_on_timeout=True,
        stop_event=stop,
        ignore_permission_denied=True,
    )
    for changes in notices:
        yield {path for _, path in changes}


def _ticks(stop: threading.Event) -> Iterator[set[str]]:
    while not stop.wait(_QUIET / 1000):
        yield set()


def _identity(root: Path) -> tuple[int, int]:
    status = os.stat(root)
    return status.st_dev, status.st_ino
