"""``doctor --repair``: what can be put right without touching a file of the user's.

Each repair says what it found, what it does, and whether it did it. Nothing is deleted that somebody may want: saves
that were cut off go to the history, lines that can't be read are kept beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection

from vault import upkeep
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author, recover_orphans
from wiki import audit, faults, jobs
from wiki.binding import check_binding
from wiki.embedding import reconcile
from wiki.exclusive import try_exclusive
from wiki.models import Job, Page
from wiki.search.rebuild import rebuild_words
from wiki.startup import ensure_tables, has_no_index, pending_migrations
from wiki.sync import scan
from wiki.vectors.stores import remote_store


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that was amiss: what was found, what the repair does, and whether it is done."""

    name: str
    found: str
    does: str
    done: bool

    def as_dict(self) -> dict[str, Any]:
        """JSON-serialisable."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    find: Callable[[], str]
    does: str
    mend: Callable[[], object]


def repair(*, author: Author, dry_run: bool = False) -> Iterator[Repair]:
    """Look for each kind, in an order in which the later ones stand on the earlier; mend what is found.

    What is still found after its repair is not done. One that fails does not keep the others from being tried, unless
    there are no tables. Never raises.
    """
    mended = []
    for kind in _KINDS:
        found, failed = _asked(kind.find)
        if not found and not failed:
            continue
        if failed:
            yield Repair(kind.name, failed, "", done=False)
            if kind.name == "tables":
                return
            continue
        if dry_run:
            yield Repair(kind.name, found, kind.does, done=False)
            continue
        _, failed = _asked(lambda mend=kind.mend: str(mend()))  # type: ignore[misc]
        still, problem = ("", failed) if failed else _asked(kind.find)
        done = not still and not problem
        yield Repair(kind.name, f"{found} {problem}".rstrip(), kind.does, done=done)
        if done:
            mended.append(kind.name)
    if mended:
        audit.record(action="repair", author=author, detail={"what": mended})


def _asked(question: Callable[[], str]) -> tuple[str, str]:
    """What was found, or why that can't be said."""
    try:
        return question(), ""
    except SynapseError as error:
        return "", error.message
    except DatabaseError as error:
        return "", faults.sentence(faults.of_database(error) or faults.Fault.DATABASE_AWAY)


def _tables() -> str:
    if has_no_index():
        if settings.VAULT_ID is None:  # made for the new id of a vault that has lost its own, it would be another index
            words = faults.sentence(faults.Fault.TABLES_MISSING)
            raise SynapseError(ErrorCode.STORAGE_ERROR, f"{words} If this vault had one, put its .synapse back first.")
        return "The index has not been made."
    missing = pending_migrations()
    if not missing:
        check_binding()
    return f"{missing} migrations are missing." if missing else ""


def _permissions() -> str:
    number = len(upkeep.loose(current_vault()))
    return f"{number:,} files or folders of .synapse may be written by others, or not by their owner." if number else ""


def _leftovers() -> str:
    number = upkeep.leftovers(current_vault())
    return f"{number:,} temporary files of interrupted saves lie in the vault." if number else ""


def _lines() -> str:
    number = sum(upkeep.broken_lines(current_vault()).values())
    return f"{number:,} lines of the ledger of ids or of the history can't be read." if number else ""


def _stuck() -> str:
    with try_exclusive(jobs.LOCK) as ours:
        number = Job.objects.filter(started_at__isnull=False, finished_at__isnull=True).count() if ours else 0
    return f"{number:,} jobs were begun by a process that is gone." if number else ""


def _release() -> None:
    with try_exclusive(jobs.LOCK) as ours:
        if ours:
            jobs.take_back_orphans()


def _rows() -> str:
    report = scan(full=True, dry_run=True)
    if report.stopped:
        return report.stopped
    return f"{report.differences:,} files differ from the index." if report.differences else ""


def _words() -> str:
    with connection.cursor() as cursor:
        if "wiki_words" not in connection.introspection.table_names(cursor):
            return "The words index is missing."
        cursor.execute("SELECT COUNT(*) FROM wiki_words")
        number = cursor.fetchone()[0]
    pages = Page.objects.listed().count()
    return f"The words index knows {number:,} of {pages:,} pages." if number != pages else ""


def _vectors() -> str:
    if remote_store() is None or reconcile.check().equal:
        return ""
    return "Qdrant does not have the passages that the database has."


_KINDS = (
    _Kind("tables", _tables, "Makes or upgrades them.", ensure_tables),
    _Kind("permissions", _permissions, "Lets their owner alone write them.", lambda: upkeep.tighten(current_vault())),
    _Kind(
        "interrupted saves",
        _leftovers,
        "Moves them to the history, where nothing is lost.",
        lambda: recover_orphans(current_vault()),
    ),
    _Kind(
        "broken lines",
        _lines,
        "Keeps them in a file beside, named .broken; the whole lines stay.",
        lambda: upkeep.set_aside_broken(current_vault()),
    ),
    _Kind("stuck jobs", _stuck, "Lets them be run again.", _release),
    _Kind("index", _rows, "Reads the whole vault again, and changes rows only.", lambda: scan(full=True)),
    _Kind("words", _words, "Makes the words index anew from the files.", rebuild_words),
    _Kind("vectors", _vectors, "Sends what is missing, and takes out what is too much.", reconcile.repair),
)
