"""What one process does at a time, of all machines that share a vault's database.

On one machine it is a lock of the vault (flock). Where PostgreSQL holds the index there may be several machines, with
disks on which such a lock may reach no further than one of them: there an advisory lock of the database comes on top.
Both are freed at once when their holder dies, by the kernel and by the server.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.db import connection

from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from wiki import deadlines

#: How often a lock of another machine is looked at while one waits for it, in seconds.
_PAUSE: Final = 0.05


@contextmanager
def try_exclusive(name: str, *, timeout: float = 0.0) -> Iterator[bool]:
    """Hold the lock ``name`` for the length of the block; False if it is not got within ``timeout`` seconds.

    A thread that holds it may take it again. Raises ``storage_error`` where the disk allows no lock.
    """
    deadline = time.monotonic() + timeout
    with current_vault().try_lock(name, timeout=timeout) as ours:
        if not ours or connection.vendor != "postgresql":
            yield ours
            return
        granted = _granted(name, deadline)
        try:
            yield granted
        finally:
            if granted and connection.connection is not None and not connection.connection.closed:
                with deadlines.lifted():
                    _ask("SELECT pg_advisory_unlock(%s)", name)


@contextmanager
def exclusive(name: str, *, timeout: float) -> Iterator[None]:
    """As :func:`try_exclusive`, but raises ``conflict`` if the lock is not got."""
    with try_exclusive(name, timeout=timeout) as ours:
        if not ours:
            raise SynapseError(ErrorCode.CONFLICT, "Another process is at work on this. Try again in a moment.")
        yield


def lock_number(name: str) -> int:
    """The name as PostgreSQL wants it: 64 bits with a sign."""
    return int.from_bytes(hashlib.sha256(f"synapse {name}".encode()).digest()[:8], "big", signed=True)


def _granted(name: str, deadline: float) -> bool:
    while not (granted := _ask("SELECT pg_try_advisory_lock(%s)", name)) and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return granted


def _ask(question: str, name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(question, [lock_number(name)])
        return bool(cursor.fetchone()[0])
