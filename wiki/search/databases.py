"""What searching needs to know of a database's failures."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.db import connection, transaction

from wiki.deadlines import was_cancelled

__all__ = ["savepoint", "was_cancelled"]


def savepoint() -> AbstractContextManager[Any]:
    """On PostgreSQL a failed statement spoils the caller's transaction unless it fails in a savepoint of its own."""
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        return transaction.atomic()
    return nullcontext()
