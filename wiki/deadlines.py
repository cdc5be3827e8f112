"""An end to how long one call may take, kept by the thread that works.

Waiting for a thread can be given up, but the thread would go on and be missing to the next call. So the limit is known
where time is spent: each statement is asked whether any is left, one that runs is ended by the database
(``statement_timeout`` on PostgreSQL, a progress handler on SQLite), waits for locks are cut to what is left, and loops
ask :func:`check`.

A change that has begun is never cut off: whoever is about to make one calls :func:`lift`, and from there on the call
has no limit. What was passed over before that has changed nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from django.db import DatabaseError, Error, OperationalError, connection

from vault.errors import ErrorCode, SynapseError

#: SQLite asks the handler each time it has done so many steps of its machine (some 50 microseconds).
_STEPS: Final = 2_000
#: What must be let through when time is over, or what has failed could not be undone.
_UNDOING: Final = ("ROLLBACK", "RELEASE")


class TimeOverError(OperationalError):
    """A statement that was not begun, since the call's time is over; to be taken like one that was cancelled."""


@dataclass(slots=True)
class _Limit:
    """``until`` in seconds of the monotonic clock; ``seconds`` is what the caller is told."""

    until: float
    seconds: float
    lifted: bool = False
    # The raw connection that knows of the limit, and how much time it was told of, in seconds.
    raw: Any = None
    told: float = math.inf
    # SQLite waits for another writer as long as is left, and not as long as it would.
    waits_less: bool = False

    def left(self) -> float:
        return self.until - time.monotonic()

    def passed(self) -> bool:
        return not self.lifted and self.left() <= 0


_current: ContextVar[_Limit | None] = ContextVar("deadline", default=None)


@contextmanager
def deadline(seconds: float, *, since: float | None = None) -> Iterator[None]:
    """End the block when ``seconds`` have gone by since ``since`` (of the monotonic clock; now).

    Raises ``tool_timeout``. Inside another deadline the earlier of the two holds.
    """
    outer = _current.get()
    until = (time.monotonic() if since is None else since) + seconds
    if outer is not None and (outer.lifted or outer.until <= until):
        yield
        return
    limit = _Limit(until, seconds)
    token = _current.set(limit)
    try:
        check()
        with connection.execute_wrapper(_asked):
            yield
    except DatabaseError as error:
        # One that failed otherwise when time was over (it waited for a lock) is told apart by nobody.
        if limit.lifted or not (was_cancelled(error) or limit.passed()):
            raise
        raise timed_out(seconds) from None
    finally:
        _current.reset(token)
        _take_back(limit)


def check() -> None:
    """Raise ``tool_timeout`` if the call's time is over."""
    limit = _current.get()
    if limit is not None and limit.passed():
        raise timed_out(limit.seconds)


def within(seconds: float) -> float:
    """So long may be waited for something that is worth ``seconds``: as long as the call has, not below 0."""
    limit = _current.get()
    return seconds if limit is None or limit.lifted else max(0.0, min(seconds, limit.left()))


def lift() -> None:
    """A change begins: raise ``tool_timeout`` if time is over, and set no limit to the rest of the call."""
    check()
    limit = _current.get()
    if limit is not None:
        limit.lifted = True
        _take_back(limit)


@contextmanager
def lifted() -> Iterator[None]:
    """No limit for the length of the block, whether or not time is over: for undoing what a failure leaves."""
    limit = _current.get()
    if limit is None or limit.lifted:
        yield
        return
    limit.lifted = True
    _take_back(limit)
    try:
        yield
    finally:
        limit.lifted = False


def timed_out(seconds: float) -> SynapseError:
    """The error of a call that took longer than its limit."""
    return SynapseError(
        ErrorCode.TOOL_TIMEOUT,
        f"This took longer than its {seconds:g} seconds and was ended before anything was changed. Ask for less at a "
        "time, or try again.",
        seconds=seconds,
    )


def as_reported(error: BaseException) -> BaseException:
    """A failure as it will be reported when it leaves the block: a statement that was cut off is ``tool_timeout``."""
    limit = _current.get()
    late = limit is not None and isinstance(error, DatabaseError) and was_cancelled(error)
    return timed_out(limit.seconds) if limit is not None and late else error


def was_cancelled(error: DatabaseError) -> bool:
    """Whether a time limit ended the statement; that is the caller's to report."""
    cause = error.__cause__
    return (
        isinstance(error, TimeOverError)
        or getattr(cause, "sqlite_errorname", "") == "SQLITE_INTERRUPT"
        or getattr(cause, "sqlstate", "") == "57014"
    )


def _asked(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Around each statement: none begins when time is over, and one that begins is told how long it may take."""
    limit = _current.get()
    if limit is not None and not limit.lifted and not str(sql).startswith(_UNDOING):
        left = limit.left()
        if left <= 0:
            raise TimeOverError
        raw = context["connection"].connection
        # Told again only when much less is left than was said: each time costs PostgreSQL a round trip.
        if raw is not limit.raw or left < limit.told / 2:
            _tell(limit, raw, left)
        # Who only reads waits for nobody, and need not be told.
        if connection.vendor == "sqlite" and not limit.waits_less and not str(sql).startswith("SELECT"):
            limit.waits_less = True
            raw.execute(f"PRAGMA busy_timeout = {_milliseconds(min(left, _busy_seconds()))}")
    return execute(sql, params, many, context)


def _tell(limit: _Limit, raw: Any, left: float) -> None:
    if connection.vendor == "postgresql":
        if raw.info.transaction_status.name == "INERROR":
            return  # the statement will hear of that by itself
        raw.execute(f"SET statement_timeout = {_milliseconds(left)}")
    else:
        raw.set_progress_handler(limit.passed, _STEPS)
    limit.raw, limit.told = raw, left


def _take_back(limit: _Limit) -> None:
    """Free the connection from the limit. More than once, too: a transaction that is rolled back brings it back."""
    raw, limit.told = limit.raw, math.inf
    if raw is None or raw is not connection.connection:
        return
    # What fails here fails in a transaction that has failed, and whose end takes it back.
    with suppress(Error), connection.wrap_database_errors:
        if connection.vendor == "postgresql":
            raw.execute("RESET statement_timeout")
        else:
            raw.set_progress_handler(None, 0)
            if limit.waits_less:
                limit.waits_less = False
                raw.execute(f"PRAGMA busy_timeout = {_milliseconds(_busy_seconds())}")


def _busy_seconds() -> float:
    """How long SQLite waits for another writer by the settings; Python's own default otherwise."""
    return float(connection.settings_dict.get("OPTIONS", {}).get("timeout", 5.0))


def _milliseconds(seconds: float) -> int:
    return max(1, int(seconds * 1_000))
