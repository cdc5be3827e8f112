"""What must be true before the index can be used: a vault with an id, and a database with today's tables."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError


def ensure_vault() -> None:
    """Give the vault its id if it has none.

    The index lies in a folder named after the id, and settings have been read before it existed; so the
    process starts over with the same arguments, once.
    """
    known = settings.VAULT_ID
    vault_id = str(current_vault().ensure_id())
    if known is None and not settings.DATABASES["default"]["NAME"].endswith(f"{vault_id}/index.sqlite3"):
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606


def pending_migrations() -> int:
    """How many migrations the database lacks."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def ensure_tables() -> int:
    """Make or upgrade the database's tables; the number of migrations applied (0: nothing was to do)."""
    if connection.vendor == "sqlite":
        try:
            Path(str(settings.DATABASES["default"]["NAME"])).parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise SynapseError(
                ErrorCode.STORAGE_ERROR,
                "The folder for the index can't be made. Name one that can be written in SYNAPSE_DATA.",
            ) from None
    try:
        pending = pending_migrations()
        if pending:
            call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError:
        raise SynapseError(
            ErrorCode.STORAGE_ERROR,
            "The database can't be opened or upgraded. Check DATABASE_URL, or that SYNAPSE_DATA can be written "
            "and has room.",
        ) from None
    return pending


def require_tables() -> None:
    """Refuse to go on without tables: ``storage_error`` that names the command which makes them."""
    try:
        missing = pending_migrations()
    except DatabaseError:
        missing = -1
    if missing:
        raise SynapseError(
            ErrorCode.STORAGE_ERROR,
            "The index has not been made, or is from an older version. Run `make serve` or `manage.py rescan` once.",
        )
