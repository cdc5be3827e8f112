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
from vault.identity import is_folder
from wiki import faults


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
    ensure_index_folder()
    try:
        pending = pending_migrations()
        if pending:
            call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError as error:
        raise database_problem(error) from None
    return pending


def ensure_index_folder() -> None:
    """Make the folder of the built-in index. Raises ``storage_error``."""
    if connection.vendor != "sqlite":
        return
    try:
        settings.SYNAPSE_DATA.mkdir(mode=0o700, parents=True, exist_ok=True)  # its texts are nobody else's
        # Of its own too: a folder that was there before, or is made by hand, may be open to all.
        Path(str(settings.DATABASES["default"]["NAME"])).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise SynapseError(
            ErrorCode.STORAGE_ERROR,
            "The folder for the index can't be made. Name one that can be written in SYNAPSE_DATA.",
        ) from None


def database_problem(error: DatabaseError) -> SynapseError:
    """What a command says of a database that fails: the fault's sentence, where it is one that is known."""
    away = faults.as_error(error)
    if away is not None and faults.of_database(error) is not faults.Fault.DATABASE_AWAY:
        return away
    if away is not None and connection.vendor != "sqlite":
        return away
    return SynapseError(
        ErrorCode.STORAGE_ERROR,
        "The database can't be opened or upgraded. Check DATABASE_URL, or that SYNAPSE_DATA can be written and has "
        "room; `manage.py doctor` says more.",
    )


def require_tables() -> None:
    """Refuse to go on without tables: ``storage_error`` that names the command which makes them.

    Raises ``dependency_missing`` where the database does not answer.
    """
    try:
        missing = 0 if has_no_index() else pending_migrations()
    except DatabaseError as error:
        raise database_problem(error) from None
    if missing or has_no_index():
        raise _no_tables()


def failure_in_words(error: DatabaseError) -> str | None:
    """What is said of a database that failed under a command that is not ours; None for a mistake in what was asked."""
    if faults.of_database(error) is None:
        return None
    return (_no_tables() if has_no_index() else database_problem(error)).message


def _no_tables() -> SynapseError:
    # Which index is meant is read in the vault: without its folder, another place was looked at.
    gone = connection.vendor == "sqlite" and not is_folder(Path(settings.SYNAPSE_VAULT))
    fault = faults.Fault.VAULT_GONE if gone else faults.Fault.TABLES_MISSING
    return SynapseError(ErrorCode.STORAGE_ERROR, faults.sentence(fault))


def has_no_index() -> bool:
    """Whether the built-in index is a file that nobody has made yet."""
    file = Path(str(connection.settings_dict["NAME"]))
    return connection.vendor == "sqlite" and file.is_absolute() and not file.exists()
