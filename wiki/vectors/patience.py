"""How long searches wait for meaning: a model that loads, an endpoint or a store that hangs cost them seconds, once.

A search has SECONDS for all of it. After one that waited in vain the others go without for AWAY_SECONDS; then one
tries, and the others go on without until it has an answer. What comes late goes on in its thread, so that a model
which takes a minute to load is there for the search after that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeVar

from django.db import DatabaseError

from vault.errors import ErrorCode, SynapseError

T = TypeVar("T")

#: Of one search, for the model, the query's vector and the nearest passages together.
SECONDS: Final = 3.0
#: How long searches go without meaning after one that waited in vain.
AWAY_SECONDS: Final = 10.0
#: What fails faster than this keeps nobody waiting, and is asked each time.
SLOW_SECONDS: Final = 0.5


def in_thread(question: Callable[[], T]) -> Future[T]:
    """Ask in a daemon thread. It must not use the database, whose connections belong to threads."""
    future: Future[T] = Future()

    def ask() -> None:
        try:
            future.set_result(question())
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it, as from any executor
            future.set_exception(error)

    threading.Thread(target=ask, name="meaning", daemon=True).start()
    return future


class _Late(NamedTuple):
    """What was not waited for any longer; ``once``: it need not be done again when it has succeeded."""

    asked: Future[Any]
    once: bool


class Turn:
    """The time that one search has for meaning."""

    def __init__(self, seconds: float, late: list[_Late]) -> None:
        self._until = time.monotonic() + seconds
        self._late = late

    @property
    def left(self) -> float:
        """Seconds that are left, 0 or more."""
        return max(0.0, self._until - time.monotonic())

    def ask(self, question: Callable[[], T], *, once: bool = False) -> T:
        """The answer to what may hang. ``once``: the process keeps it, as a model that is loaded.

        Raises ``dependency_missing`` when time is up, or what the question raises.
        """
        asked = in_thread(question)
        try:
            return asked.result(self.left)
        except TimeoutError:
            if asked.done():
                raise  # it is the question's own
            self._late.append(_Late(asked, once))
            raise SynapseError(
                ErrorCode.DEPENDENCY_MISSING,
                f"Meaning was not ready within {SECONDS:g} seconds, so these pages were found by their words alone. "
                "A model that is being loaded is there soon; `manage.py doctor` says if something is wrong.",
            ) from None


class Patience:
    """Whose turn it is to wait, for all threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: str | None = None
        self._until = 0.0
        self._late: list[_Late] = []

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Wait for meaning in this block. Raises ``dependency_missing`` at once, and why, where that was in vain."""
        self._begin()
        started = time.monotonic()
        try:
            yield Turn(SECONDS, self._late)
        except Exception as error:
            if time.monotonic() - started > SLOW_SECONDS and not isinstance(error, DatabaseError):
                self._end(error.message if isinstance(error, SynapseError) else "Meaning failed just now.")
            raise
        self._end(None)

    def _begin(self) -> None:
        with self._lock:
            if self._failed is None:
                return
            now = time.monotonic()
            ready = bool(self._late) and all(late.once and late.asked.done() for late in self._late)
            if not ready and (now < self._until or not all(late.asked.done() for late in self._late)):
                raise SynapseError(ErrorCode.DEPENDENCY_MISSING, self._failed)
            self._late.clear()
            self._until = now + AWAY_SECONDS  # this one tries; the others hear of it when it is done

    def _end(self, failed: str | None) -> None:
        with self._lock:
            self._failed = failed
            self._until = time.monotonic() + AWAY_SECONDS
