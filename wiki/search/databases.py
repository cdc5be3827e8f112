"""What searching needs to know of a database's failures."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.db import DatabaseError, connection, transaction


def savepoint() -> AbstractContextManager[Any]:
    """On PostgreSQL a failed statement spoils the caller's transaction unless it fails in a savepoint of its own."""
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        return transaction.atomic()
    return nullcontext()


def was_cancelled(error: DatabaseError) -> bool:
    """Whether a time limit ended the statement; that is the caller's to report."""
    cause = error.__cause__
    return getattr(cause, "sqlite_errorname", "") == "SQLITE_INTERRUPT" or getattr(cause, "sqlstate", "") == "57014"
