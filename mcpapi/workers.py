"""Threads in which Django's synchronous code runs, beside the event loop that speaks the protocol."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import anyio
import anyio.to_thread
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

T = TypeVar("T")

_SQLITE_SECONDS: Final = 60.0


class Workers:
    """At most ``threads`` threads, made when needed and kept until :meth:`close`.

    Kept, because each has a database connection: a thread that ends leaves its own to the garbage collector, and
    meanwhile the database counts it. Work that nobody waits for any more goes on to its end and holds its thread,
    so that slow calls can't pile up without bound.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._idle: dict[int, Sequence[BaseDatabaseWrapper]] = {}

    async def run(self, work: Callable[[], T]) -> T:
        """The work's result. Cancelled, the caller goes on at once, and work not begun yet is not done."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="mcp")
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._in_thread, self._pool, work)

    async def run_to_end(self, work: Callable[[], T]) -> T:
        """The work's result; the caller waits for it even when cancelled."""
        with anyio.CancelScope(shield=True):
            result = await self.run(work)
        return result  # noqa: RET504  (a `with` may swallow, for all a type checker knows)

    async def close(self) -> None:
        """Let the threads end, close their connections, and start anew at the next call."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            idle, self._idle = self._idle, {}
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_close_all, [*idle.values()])

    def _in_thread(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        with self._lock:
            self._idle.pop(threading.get_ident(), None)
        _close_old_connections()
        try:
            return work()
        finally:
            self._rest(pool)

    def _rest(self, pool: ThreadPoolExecutor) -> None:
        with self._lock:
            still_open = self._pool is pool
            if still_open:
                self._idle[threading.get_ident()] = connections.all(initialized_only=True)
        if not still_open:
            connections.close_all()


def _close_old_connections() -> None:
    """What Django does at a request's begin: close what is broken or too old.

    A connection to SQLite is too old at once by the settings, which is right where a thread serves one request. Ours
    stay, and opening one costs more than most calls ask of it.
    """
    for wrapper in connections.all(initialized_only=True):
        opened = wrapper.close_at
        if wrapper.vendor == "sqlite" and opened is not None:
            wrapper.close_at = opened + _SQLITE_SECONDS
        wrapper.close_if_unusable_or_obsolete()
        if wrapper.connection is not None:
            wrapper.close_at = opened


def _close_all(threads: Iterable[Sequence[BaseDatabaseWrapper]]) -> None:
    # Django guards a connection against use by another thread; the one that made it has ended.
    for wrappers in threads:
        for wrapper in wrappers:
            wrapper.inc_thread_sharing()
            wrapper.close()
