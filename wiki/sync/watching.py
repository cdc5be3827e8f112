"""Keeping the index up to date while files change: the loop behind ``rescan --watch`` and ``serve``."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from django.conf import settings
from django.db import close_old_connections, connection

from vault.current import current_vault
from vault.errors import SynapseError
from vault.root import Vault
from vault.watch import watch
from wiki.sync.report import ScanReport
from wiki.sync.run import root_problem, scan, sync_paths

logger = logging.getLogger(__name__)

#: A full look at all stats now and then: what no event told is found all the same.
SAFETY_SECONDS: Final = 300.0
#: Paths that could not be taken in (a database away, a scan on another host) are tried again after this.
RETRY_SECONDS: Final = 5.0
#: With more news than this one look at the whole vault is the cheaper way.
MANY: Final = 2_000
#: How often the loop looks whether it is to stop, when there is no news.
BEAT_SECONDS: Final = 0.3
WATCH_LOCK: Final = "watch"
STAND_IN_SECONDS: Final = 5.0


def watch_vault(
    *, stop: threading.Event, heard: Callable[[ScanReport], None] | None = None, safety_seconds: float = SAFETY_SECONDS
) -> None:
    """Scan the vault, then take in each change once its file has been still for SYNAPSE_SETTLE_SECONDS.

    A root that comes back after it was away, or gets its ``.synapse`` back, is scanned at once. Returns after ``stop``
    is set. ``heard`` gets the report of each pass that changed or stopped something. Errors of disk and database are
    logged, and what they cost is made good by the next pass.
    """
    vault = current_vault()
    news = watch(vault, stop=stop, settle=settings.SYNAPSE_SETTLE_SECONDS)
    feed = _Feed(news, stop)
    feed.start()
    due = 0.0
    away = False
    while not stop.is_set():
        now = time.monotonic()
        was_away, away = away, _is_away(vault)
        if was_away and not away:
            due = now  # what a pass said of the root that was away must not stand until the next look
        paths = feed.take(min(max(0.0, due - now), BEAT_SECONDS))
        close_old_connections()
        if now >= due or len(paths) > MANY:
            report = _attempt(scan)
            due = time.monotonic() + (safety_seconds if report and not report.running else RETRY_SECONDS)
        elif paths:
            report = _attempt(partial(sync_paths, paths))
            if report is None or report.running or report.stopped:
                # Stopped: by a root that went in the middle of it, perhaps. A look at everything knows better.
                due = min(due, time.monotonic() + RETRY_SECONDS)
        else:
            continue
        if report and heard and (report.differences or report.stopped):
            heard(report)
    feed.join(timeout=5)
    connection.close()


class WatchThread(threading.Thread):
    """:func:`watch_vault` in the background of a process.

    A server always watches. A process that serves one agent (``stand_in``) watches only while no other process of
    this machine does; the kernel frees the lock of one that dies, and another takes over within STAND_IN_SECONDS.
    """

    def __init__(self, stop: threading.Event, *, stand_in: bool = False) -> None:
        super().__init__(name="watch", daemon=True)
        self._stop_event = stop
        self._stand_in = stand_in
        self._told: str | None = None

    def run(self) -> None:
        """Watch until the event is set."""
        while not self._stop_event.is_set():
            try:
                with current_vault().try_lock(WATCH_LOCK) as first:
                    if first or not self._stand_in:
                        watch_vault(stop=self._stop_event, heard=self._heard)
                        return
            except SynapseError as error:  # a vault that is away has no place for a lock, and comes back
                logger.warning("the vault can't be watched; it is tried again", extra={"reason": error.code.value})
            self._stop_event.wait(STAND_IN_SECONDS)

    def _heard(self, report: ScanReport) -> None:
        """Tell once why the index stands still; nobody reads the reports of a background thread."""
        if report.stopped and report.stopped != self._told:
            logger.warning("the index no longer follows the vault", extra={"reason": report.stopped})
        self._told = report.stopped


class _Feed(threading.Thread):
    """Collects news while a pass is at work, so that the loop can also wake without any."""

    def __init__(self, news: Iterator[set[str]], stop: threading.Event) -> None:
        super().__init__(name="watch-feed", daemon=True)
        self._news = news
        self._stop_event = stop
        self._waiting: set[str] = set()
        self._changed = threading.Condition()

    def run(self) -> None:
        """Gather what the watcher tells."""
        for paths in self._news:
            with self._changed:
                self._waiting |= paths
                self._changed.notify()
            if self._stop_event.is_set():
                return

    def take(self, timeout: float) -> set[str]:
        """What has come, waiting for it at most ``timeout`` seconds."""
        with self._changed:
            if not self._waiting and timeout:
                self._changed.wait(timeout)
            paths, self._waiting = self._waiting, set()
            return paths


def _is_away(vault: Vault) -> bool:
    """Whether the root is missing, empty, without its ``.synapse``, or not to be read now."""
    try:
        _ = vault.id
        return root_problem(vault) is not None
    except (OSError, SynapseError):
        return True


def _attempt(work: Callable[[], ScanReport]) -> ScanReport | None:
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - whatever it was, the next pass makes it good; the thread must live
        reason = error.code.value if isinstance(error, SynapseError) else type(error).__name__
        logger.warning("changes of the vault could not be taken in; they are tried again", extra={"reason": reason})
        return None
