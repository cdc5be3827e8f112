"""What can go wrong around Synapse, each with one sentence: what happened, what is safe, what to do.

`serve`'s log, /health/ready, ``doctor``, and the answers of REST, MCP and commands say these and no others.
:mod:`wiki.services.health` looks for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from django.db import DatabaseError, InterfaceError, OperationalError

from vault.errors import ErrorCode, SynapseError

#: Seconds that a caller is told to wait where the database does not answer.
RETRY_AFTER: Final = 5


class Fault(StrEnum):
    """Its name, as programs see it."""

    VAULT_GONE = "vault_gone"
    VAULT_EMPTY = "vault_empty"
    SCAN_STOPPED = "scan_stopped"
    VAULT_WITHOUT_ID = "vault_without_id"
    VAULT_READ_ONLY = "vault_read_only"
    STATE_NOT_WRITABLE = "state_not_writable"
    DISK_FULL = "disk_full"
    DATABASE_AWAY = "database_away"
    DATABASE_LOCKED = "database_locked"
    DATABASE_FULL = "database_full"
    DATABASE_DAMAGED = "database_damaged"
    DATABASE_FOREIGN = "database_foreign"
    TABLES_MISSING = "tables_missing"
    BROKER_AWAY = "broker_away"
    VECTORS_AWAY = "vectors_away"
    EMBEDDER_AWAY = "embedder_away"
    EMBEDDER_OTHER = "embedder_other"
    WATCHER_BLIND = "watcher_blind"
    CLOCK_BEHIND = "clock_behind"
    HISTORY_LARGE = "history_large"


@dataclass(frozen=True, slots=True)
class Words:
    """The three parts of a fault's sentence. ``stops``: nothing can be served until it is over."""

    happened: str
    safe: str
    to_do: str
    stops: bool = False

    def __str__(self) -> str:
        return f"{self.happened} {self.safe} {self.to_do}"


SAID: Final[dict[Fault, Words]] = {
    Fault.VAULT_GONE: Words(
        "The vault's folder is not there.",
        "Nothing was changed, and no page counts as deleted.",
        "Mount it, or correct SYNAPSE_VAULT; a running server goes on by itself.",
        stops=True,
    ),
    Fault.VAULT_EMPTY: Words(
        "The vault's folder is empty, although the index knows files in it.",
        "Nothing was changed, and no page counts as deleted.",
        "Mount it; if all files were really deleted, run `manage.py rescan --allow-deletions`.",
    ),
    Fault.SCAN_STOPPED: Words(
        "Scans stop, because more files of the vault are gone than people delete at once.",
        "Nothing counts as deleted, and the index is as it was.",
        "Mount what is missing; if it was really deleted, run `manage.py rescan --allow-deletions`.",
    ),
    Fault.VAULT_WITHOUT_ID: Words(
        "The vault's folder has lost its .synapse folder, or the id in it can't be read.",
        "The index is as it was, and no page is changed.",
        "Mount the vault, or put .synapse back from a copy.",
        stops=True,
    ),
    Fault.VAULT_READ_ONLY: Words(
        "The vault's folder can't be written.",
        "Reading and searching go on; every change is refused, and none is lost.",
        "Give Synapse's user write access or mount it writable, or set SYNAPSE_READ_ONLY=true to say that it is meant.",
    ),
    Fault.STATE_NOT_WRITABLE: Words(
        "The .synapse folder in the vault can't be written.",
        "Reading and searching go on; changes are refused, because nothing could be kept of what they replace.",
        "Give Synapse's user write access to .synapse; `manage.py doctor --repair` does it where it may.",
    ),
    Fault.DISK_FULL: Words(
        "The disk is full, or nearly.",
        "A change that does not fit is refused before anything is replaced.",
        "Free some space; `manage.py history prune` says what the history could give.",
    ),
    Fault.DATABASE_AWAY: Words(
        "The database does not answer.",
        "Your files are as they were, and nothing was changed.",
        "Start it or correct DATABASE_URL; then the same request works again.",
        stops=True,
    ),
    Fault.DATABASE_LOCKED: Words(
        "The database is held by another process for longer than is waited for.",
        "Nothing was changed.",
        "Try again in a moment; if it stays so, end the program that has the index open.",
    ),
    Fault.DATABASE_FULL: Words(
        "The database can't write: its disk is full or read-only.",
        "Your files are safe, and what is written to them is indexed later.",
        "Free some space where SYNAPSE_DATA or the database lies, or make it writable.",
    ),
    Fault.DATABASE_DAMAGED: Words(
        "The database finds its file damaged.",
        "Your files are safe: pages are indexed anew from them.",
        "Stop Synapse, move the index's folder out of SYNAPSE_DATA, run `make serve`, and take a backup in with "
        "`manage.py restore`.",
        stops=True,
    ),
    Fault.DATABASE_FOREIGN: Words(
        "The database holds the index of another vault, or of this one at another place.",
        "Neither the vault nor the index was changed.",
        "Correct SYNAPSE_VAULT or DATABASE_URL, or let the index follow this vault with `manage.py doctor --adopt`.",
        stops=True,
    ),
    Fault.TABLES_MISSING: Words(
        "The index has not been made, or is from an older version.",
        "Your files are as they were.",
        "Run `make serve` or `manage.py rescan` once.",
        stops=True,
    ),
    Fault.BROKER_AWAY: Words(
        "The broker (CELERY_BROKER_URL) does not answer.",
        "Reading, writing and deciding go on; what workers are to do waits in the database.",
        "Start Redis, or correct CELERY_BROKER_URL.",
    ),
    Fault.VECTORS_AWAY: Words(
        "Qdrant (QDRANT_URL) does not answer as it should.",
        "Pages are found by their words alone, and no vector is lost.",
        "Start it, or correct QDRANT_URL and QDRANT_API_KEY; what it missed is made up for by itself.",
    ),
    Fault.EMBEDDER_AWAY: Words(
        "The embedder can't be had, or does not answer.",
        "Pages are found by their words alone; those that wait for vectors go on waiting.",
        "`manage.py doctor` names the reason; EMBEDDER=off says that words are enough.",
    ),
    Fault.EMBEDDER_OTHER: Words(
        "The vectors of the index are of another model than the embedder's, or of another length.",
        "Pages are found by their words alone, and the vectors are kept.",
        "Run `manage.py reembed`, or set EMBEDDER back.",
    ),
    Fault.WATCHER_BLIND: Words(
        "The system gives no notice of changed files, most likely because it is out of inotify watches.",
        "Changes are found all the same, by looking, up to half a minute later.",
        "Raise fs.inotify.max_user_watches (sysctl), and start the server again.",
    ),
    Fault.CLOCK_BEHIND: Words(
        "This machine's clock is behind what was recorded before.",
        "Nothing counts as older because of it, and versions go by their numbers, not by times.",
        "Set the clock.",
    ),
    Fault.HISTORY_LARGE: Words(
        "The history is larger than SYNAPSE_HISTORY_MAX_MB.",
        "What is younger than 30 days, and the newest version of each page, is kept all the same.",
        "Raise the limit or free space elsewhere; older versions are removed by themselves.",
    ),
}


def sentence(fault: Fault) -> str:
    """What people are told of it."""
    return str(SAID[fault])


#: Of what SQLite calls a failure, and of the first characters of PostgreSQL's SQLSTATE.
_SQLITE: Final = {
    "SQLITE_BUSY": Fault.DATABASE_LOCKED,
    "SQLITE_LOCKED": Fault.DATABASE_LOCKED,
    "SQLITE_FULL": Fault.DATABASE_FULL,
    "SQLITE_READONLY": Fault.DATABASE_FULL,
    "SQLITE_CORRUPT": Fault.DATABASE_DAMAGED,
    "SQLITE_NOTADB": Fault.DATABASE_DAMAGED,
}
_SQLSTATE: Final = {
    "42P01": Fault.TABLES_MISSING,
    "42703": Fault.TABLES_MISSING,
    "53100": Fault.DATABASE_FULL,
    "25006": Fault.DATABASE_FULL,
    "55P03": Fault.DATABASE_LOCKED,
    "40P01": Fault.DATABASE_LOCKED,
    "40001": Fault.DATABASE_LOCKED,
    "XX001": Fault.DATABASE_DAMAGED,
    "XX002": Fault.DATABASE_DAMAGED,
}


def of_database(error: BaseException) -> Fault | None:
    """Which fault a failure of the database is; None for a mistake of ours, such as a statement that can't be."""
    if not isinstance(error, DatabaseError | InterfaceError):
        return None
    cause: Any = error.__cause__
    name = str(getattr(cause, "sqlite_errorname", None) or "")
    for known, fault in _SQLITE.items():
        if name.startswith(known):
            return fault
    if name == "SQLITE_ERROR" and str(cause).startswith(("no such table", "no such column")):
        return Fault.TABLES_MISSING
    if state := str(getattr(cause, "sqlstate", None) or ""):
        if state in _SQLSTATE:
            return _SQLSTATE[state]
        # Connection, authorisation, catalog name, resources, operator intervention, system.
        return Fault.DATABASE_AWAY if state[:2] in ("08", "28", "3D", "53", "57", "58") else None
    if name == "SQLITE_ERROR":
        return None
    return Fault.DATABASE_AWAY if isinstance(error, OperationalError | InterfaceError) else None


def as_error(error: BaseException) -> SynapseError | None:
    """What a caller is answered where the database failed: ``dependency_missing`` with ``retry_after`` in seconds,
    or ``storage_error`` for a disk that is full. None for a mistake of ours."""
    fault = of_database(error)
    if fault is None:
        return None
    if fault in (Fault.DATABASE_FULL, Fault.DATABASE_DAMAGED):
        return SynapseError(ErrorCode.STORAGE_ERROR, sentence(fault))
    return SynapseError(ErrorCode.DEPENDENCY_MISSING, sentence(fault), retry_after=RETRY_AFTER)
