"""Embedding in the background of a process: one of the machine at a time, behind everything else."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from typing import Any, Final

from django.db import DatabaseError, close_old_connections, connection

from vault.errors import ErrorCode, SynapseError
from wiki import faults
from wiki.broker import has_broker
from wiki.embedding import waiting
from wiki.embedding.pipeline import Outcome, embed_some
from wiki.embedding.progress import LOCK, Stopwatch
from wiki.embedding.reconcile import complete, repair
from wiki.embedding.state import is_paused, note_problem
from wiki.exclusive import try_exclusive
from wiki.signals import page_written, rescan_finished
from wiki.vectors.embedders import batch_size, current_embedder, embedder_problem, embeddings_wanted
from wiki.vectors.stores import StoreError, remote_store

logger = logging.getLogger(__name__)

#: How often it looks for work of other processes; the look is one row of a partial index.
POLL_SECONDS: Final = 2.0
#: A process that stands in waits this long first, and looks this often whether somebody else does the work.
STAND_IN_SECONDS: Final = 5.0
#: After a failure: at first, and at most.
BACK_OFF: Final = (2.0, 300.0)
#: How often a store elsewhere is compared with the rows, as it may have lost what it was told; and after a failure.
COMPARE_SECONDS: Final = (3_600.0, 60.0)
#: What the thread has of the processor when others want it (nice); only Linux gives a thread a number of its own.
_NICE: Final = 15
UNEXPECTED: Final = "The embedder failed in a way that was not foreseen; it is tried again. The log names the error."


class EmbedThread(threading.Thread):
    """Embeds what waits until ``stop`` is set; idle while it is paused or another process does it.

    Where a broker is named Celery's workers embed, by :meth:`look`, and the thread ends at once.

    A server takes the work at once. A process that serves one agent (``stand_in``) leaves it to a server for a while.
    """

    def __init__(self, stop: threading.Event, *, stand_in: bool = False) -> None:
        super().__init__(name="embedding", daemon=True)
        self._stop_event = stop
        self._stand_in = stand_in
        self._news = threading.Event()
        self._wait = 0.0
        self._besides: set[int] = set()
        self._compare_at = 0.0

    def run(self) -> None:
        """Wake for news of this process, every POLL_SECONDS for that of others, later after a failure."""
        if not embeddings_wanted() or has_broker():
            return
        _stand_back()
        for signal in (page_written, rescan_finished):
            signal.connect(self._heard, weak=False, dispatch_uid=self.name)
        try:
            if self._stand_in:
                self._stop_event.wait(STAND_IN_SECONDS)
            while not self._stop_event.is_set():
                close_old_connections()
                self.look()
                if not self._stand_in:
                    self.compare()
                self._news.wait(self._wait or (STAND_IN_SECONDS if self._stand_in else POLL_SECONDS))
                self._news.clear()
        finally:
            for signal in (page_written, rescan_finished):
                signal.disconnect(dispatch_uid=self.name)
            connection.close()

    def end(self, timeout: float) -> None:
        """Stop after the passages in hand; waits ``timeout`` seconds at most."""
        self._stop_event.set()
        self._news.set()
        if self.is_alive():
            self.join(timeout)

    def look(self) -> None:
        """Embed until nothing waits, it is paused, fails, or another process does it. Never raises."""
        try:
            if is_paused() or not waiting.anything_waits():
                self._done()
                return
            with try_exclusive(LOCK) as ours:
                if ours:
                    self._work()
        except (SynapseError, DatabaseError) as error:
            self._failed(error, error.message if isinstance(error, SynapseError) else UNEXPECTED)
        except Exception as error:  # noqa: BLE001 - whatever an embedder raises, the thread must live and say so
            self._failed(error, UNEXPECTED)

    def compare(self) -> None:
        """Once an hour, bring a store elsewhere to what the rows say; sooner after a failure. Never raises."""
        if time.monotonic() < self._compare_at:
            return
        each, again = COMPARE_SECONDS
        self._compare_at = time.monotonic() + each
        try:
            if remote_store():
                with try_exclusive(LOCK) as ours:
                    if ours:
                        repair()
        except Exception as error:  # noqa: BLE001 - searches say that the store is away; the thread must live
            logger.warning("vectors can't be compared; it is tried again", extra={"reason": type(error).__name__})
            self._compare_at = time.monotonic() + again

    def _work(self) -> None:
        embedder = current_embedder()
        if embedder is None:
            raise SynapseError(ErrorCode.DEPENDENCY_MISSING, embedder_problem() or UNEXPECTED)
        while not self._should_stop():
            watch = Stopwatch()
            outcome = embed_some(
                max(8, 4 * batch_size(embedder)),
                embedder=embedder,
                store=remote_store(),
                stop=self._should_stop,
                besides=self._besides,
            )
            watch.stop(outcome.chunks)
            self._besides.update(outcome.failed)
            if outcome.problem:
                note_problem(outcome.problem, of_store=outcome.store_failed)
            if outcome == Outcome():
                break
            self._wait = 0.0
        if self._besides:
            # All others are done. These are tried again, less and less often.
            self._besides.clear()
            self._later()
        elif not self._should_stop():
            complete()
            self._done()

    def _done(self) -> None:
        self._wait = 0.0
        if not self._besides and not is_paused():
            note_problem("")

    def _failed(self, error: Exception, sentence: str) -> None:
        fault = faults.of_database(error)
        reason = fault or (error.code if isinstance(error, SynapseError) else type(error).__name__)
        logger.warning("embedding stands still; it is tried again", extra={"reason": str(reason)})
        self._later()
        if _is_elsewhere(error):
            return  # readiness looks for these itself; noted here they would be told as the embedder's
        try:
            note_problem(sentence, of_store=isinstance(error, StoreError))
        except DatabaseError:
            return  # then there is no place to say so

    def _later(self) -> None:
        first, most = BACK_OFF
        self._wait = min(most, max(first, 2 * self._wait))

    def _should_stop(self) -> bool:
        return self._stop_event.is_set() or is_paused()

    def _heard(self, **_: Any) -> None:
        self._news.set()


def _is_elsewhere(error: Exception) -> bool:
    """Whether it is the vault's disk or the database that failed, and not the embedder."""
    if isinstance(error, SynapseError):
        return error.code is ErrorCode.STORAGE_ERROR
    return faults.of_database(error) is not None


def _stand_back() -> None:
    """Let everything else of this machine go first."""
    if sys.platform == "linux":
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        except OSError:
            logger.debug("the thread keeps its priority")
