"""Telling Celery's workers that work waits, where CELERY_BROKER_URL names a broker; without one nothing is told.

Work is rows, so a message is only news: one that is lost costs the seconds until beat asks again, and never data.
Nobody waits for the broker. A thread of this process sends, several tellings of the same as one message, and what
can't be sent is dropped.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from typing import Any, Final

from django.conf import settings
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

#: The tasks that are told of, by dotted path: they stand above whoever tells.
DRAIN: Final = "wiki.tasks.drain"
EMBED: Final = "wiki.tasks.embed_pages"
#: At most one message of a kind in this many seconds.
GATHER_SECONDS: Final = 0.2
#: Later than this beat has asked anyway.
LONGEST_DELAY: Final = 10
#: A message that nobody has taken for so long is of no use.
EXPIRE_SECONDS: Final = 120
#: After a failure the broker is left alone for so long.
PAUSE_SECONDS: Final = 2.0


def has_broker() -> bool:
    """Whether Celery's workers do the work of this vault, and no thread of this process."""
    return bool(settings.CELERY_BROKER_URL)


def tell(task: str, *, delay: float = 0.0) -> None:
    """Have a worker run ``task`` in ``delay`` seconds, if it is well. Returns at once, and never raises."""
    if has_broker() and delay <= LONGEST_DELAY:
        _teller().add(task, math.ceil(delay))


def tell_to_embed(**_: Any) -> None:
    """Have a worker embed soon; hears ``page_written`` and ``rescan_finished``."""
    from wiki.vectors.embedders import embeddings_wanted

    if has_broker() and embeddings_wanted():
        tell(EMBED, delay=1.0)


def flush(timeout: float = 1.0) -> bool:
    """Wait until all is told or ``timeout`` seconds are over: for a process that is about to end. Whether all is."""
    return _current is None or _current.is_told(timeout)


class _Teller:
    """The thread that sends, and what it is to send."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._news: set[tuple[str, int]] = set()
        self._sending = False
        self._ending = False
        self._reason = ""
        threading.Thread(target=self._run, name="broker", daemon=True).start()

    def add(self, task: str, delay: int) -> None:
        with self._changed:
            self._news.add((task, delay))
            self._changed.notify_all()

    def is_told(self, timeout: float) -> bool:
        with self._changed:
            self._ending = True
            self._changed.notify_all()
            told = self._changed.wait_for(lambda: not self._news and not self._sending, timeout)
            self._ending = False
            return told

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._news)
                news, self._news, self._sending = sorted(self._news), set(), True
            well = all(self._send(task, delay) for task, delay in news)
            with self._changed:
                self._sending = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._ending, GATHER_SECONDS if well else PAUSE_SECONDS)

    def _send(self, task: str, delay: int) -> bool:
        """Send one message; what goes wrong is said once, until it goes well again."""
        try:
            options = {"countdown": delay} if delay else {}
            import_string(task).signature().apply_async(expires=time.time() + delay + EXPIRE_SECONDS, **options)
        except Exception as error:  # noqa: BLE001 - a broker's client raises what it likes; beat asks again
            reason = type(error).__name__
            if reason != self._reason:
                logger.warning("the broker can't be told of work; it waits for beat", extra={"reason": reason})
            self._reason = reason
            return False
        if self._reason:
            logger.warning("the broker can be told of work again")
        self._reason = ""
        return True


_current: _Teller | None = None
_making = threading.Lock()


def _teller() -> _Teller:
    global _current  # noqa: PLW0603 - one for each process
    with _making:
        _current = _current or _Teller()
        return _current


def _forget_in_child() -> None:
    """A forked child has no copy of the thread."""
    global _current, _making
    _current, _making = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_in_child)
