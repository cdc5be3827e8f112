"""What ``doctor`` looks at: each check answers one question and says how to mend what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.core.checks import run_checks
from django.core.checks.messages import ERROR
from django.db import DatabaseError, connection

from vault.current import current_vault
from vault.disk.confined import Mechanism, best_mechanism
from vault.drafts import list_drafts
from vault.errors import SynapseError
from vault.history import history_size
from wiki import faults, jobs
from wiki.binding import check_binding
from wiki.embedding.progress import in_words, progress
from wiki.models import Link, LinkState, Page, Token, VaultState
from wiki.services import troubles
from wiki.startup import pending_migrations
from wiki.sync import scan
from wiki.vectors.embedders import current_embedder, embedder_problem
from wiki.vectors.rows import model_problem


class Verdict(StrEnum):
    """How a finding is to be taken."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """One answer: what was asked, how it stands, and what to do about it (empty when nothing)."""

    name: str
    verdict: Verdict
    text: str
    fix: str = ""

    def as_dict(self) -> dict[str, Any]:
        """JSON-serialisable."""
        return asdict(self)


def _settings_and_root() -> Iterator[Finding]:
    problems = run_checks(tags=["synapse", "vault"])
    for problem in problems:
        verdict = Verdict.ERROR if problem.level >= ERROR else Verdict.WARNING
        yield Finding("settings", verdict, str(problem.msg), str(problem.hint or ""))
    if not problems:
        yield Finding("settings", Verdict.OK, f"vault at {settings.SYNAPSE_VAULT}, index below {settings.SYNAPSE_DATA}")


def _surroundings() -> Iterator[Finding]:
    for trouble in troubles():
        verdict = Verdict.ERROR if trouble.stops else Verdict.WARNING
        words = faults.SAID[trouble.fault]
        what = f"{words.happened} {words.safe} {trouble.more}".rstrip()
        yield Finding(trouble.fault.value.replace("_", " "), verdict, what, words.to_do)


def _identity() -> Iterator[Finding]:
    vault = current_vault()
    yield Finding("vault id", Verdict.OK, str(vault.id))
    if not vault.writable:
        yield Finding("vault", Verdict.NOTE, "The root can't be written: pages can be read and searched, not changed.")
    if best_mechanism() is Mechanism.OPENAT2:
        yield Finding("confinement", Verdict.OK, "openat2: the kernel keeps every path below the root")
    else:
        yield Finding("confinement", Verdict.NOTE, "openat2 is missing here; paths are walked folder by folder instead")


def _database() -> Iterator[Finding]:
    missing = pending_migrations()
    if missing:
        yield Finding(
            "database", Verdict.ERROR, f"{missing} migrations are missing", "Run `make serve`, or `manage.py migrate`."
        )
        return
    check_binding()
    yield Finding("database", Verdict.OK, f"{connection.vendor}, bound to this vault")
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA quick_check(1)")
            answer = cursor.fetchone()[0]
        if answer != "ok":
            words = faults.SAID[faults.Fault.DATABASE_DAMAGED]
            yield Finding("database", Verdict.ERROR, f"{words.happened} {words.safe}", words.to_do)


def _index() -> Iterator[Finding]:
    pages = Page.objects.live()
    flagged = pages.exclude(flags=[])
    links = Link.objects.filter(source__deleted_at__isnull=True)
    broken = links.filter(state=LinkState.BROKEN).count()
    yield Finding("index", Verdict.OK, f"{pages.count():,} pages, {links.count():,} links, {broken:,} broken")
    yield _compared_with_the_vault()
    for page in flagged.order_by("path")[:10]:
        reasons = "; ".join(str(flag.get("reason", flag.get("code"))) for flag in page.flags)
        yield Finding(
            "page", Verdict.NOTE, f"{page.path}: {reasons}", "Correct the file; it is never rewritten by itself."
        )
    if (more := flagged.count() - 10) > 0:
        yield Finding("page", Verdict.NOTE, f"and {more:,} more pages with a flag (see the admin)")


def _compared_with_the_vault() -> Finding:
    report = scan(dry_run=True)
    state = VaultState.objects.first()
    if report.stopped:
        return Finding("scan", Verdict.WARNING, report.stopped)
    if report.running:
        return Finding("scan", Verdict.NOTE, "A scan is at work at this moment.")
    if report.differences:
        what = f"{report.differences:,} files differ from the index."
        return Finding(
            "scan", Verdict.WARNING, what, "Run `manage.py rescan`; while `make serve` runs it does so itself."
        )
    if state is None or state.last_scan_at is None:
        return Finding(
            "scan", Verdict.NOTE, "There is no file in the vault.", "Put notes into it, or correct SYNAPSE_VAULT."
        )
    return Finding("scan", Verdict.OK, f"as the vault is; last change found {state.last_scan_at:%Y-%m-%d %H:%M} UTC")


def _kept_by_us() -> Iterator[Finding]:
    vault = current_vault()
    size, limit = history_size(vault), settings.SYNAPSE_HISTORY_MAX_MB
    if limit and size > limit * 1_000_000:
        words = faults.SAID[faults.Fault.HISTORY_LARGE]
        what = f"{words.happened} {words.safe} It has {size / 1e6:.1f} of {limit:,} MB."
        yield Finding("history", Verdict.WARNING, what, words.to_do)
    else:
        most = f" of at most {limit:,}" if limit else ""
        what = f"{size / 1e6:.1f} MB{most} of displaced versions, kept for {settings.SYNAPSE_HISTORY_DAYS} days"
        yield Finding("history", Verdict.OK, what)
    drafts = list_drafts(vault)
    if drafts:
        yield Finding(
            "drafts",
            Verdict.NOTE,
            f"{len(drafts)} texts could not be written over someone else's version; "
            f"they are kept for {settings.SYNAPSE_DRAFTS_DAYS} days",
            "`manage.py drafts list` shows them, `drafts apply` writes one, `drafts drop` forgets it.",
        )
    waiting = jobs.waiting()
    if waiting:
        yield Finding("jobs", Verdict.NOTE, f"{waiting} jobs wait", "`make serve` works them off.")


def _meaning() -> Iterator[Finding]:
    figures = progress()
    if figures["state"] == "off":
        yield Finding("meaning", Verdict.NOTE, f"{embedder_problem()}")
        return
    embedder = current_embedder()
    problem = model_problem(embedder.model_id, embedder.dim) if embedder else embedder_problem()
    if problem:
        yield Finding("meaning", Verdict.WARNING, problem)
    else:
        verdict = Verdict.OK if figures["state"] in ("done", "running") else Verdict.NOTE
        yield Finding("meaning", verdict, in_words(figures))


_REMOTE_WRITING = {
    "true": "on",
    "staged": "staged: over HTTP agents' changes wait for a person",
    "false": "off: over HTTP agents only read",
}


def _doors() -> Iterator[Finding]:
    tokens = Token.objects.filter(revoked_at__isnull=True).count()
    yield Finding("tokens", Verdict.OK, f"{tokens} in force")
    mode = settings.MCP_REMOTE_WRITE_ENABLED
    yield Finding("remote writing", Verdict.OK, _REMOTE_WRITING[mode])


CHECKS: list[Callable[[], Iterator[Finding]]] = [
    _settings_and_root,
    _surroundings,
    _identity,
    _database,
    _index,
    _meaning,
    _kept_by_us,
    _doors,
]


def examine() -> list[Finding]:
    """Ask every question. A check that fails is a finding itself and ends the rest, which stand on it."""
    found: list[Finding] = []
    for check in CHECKS:
        try:
            found.extend(check())
        except SynapseError as error:
            found.append(Finding(check.__name__.strip("_").replace("_", " "), Verdict.ERROR, error.message))
        except DatabaseError as error:
            words = faults.SAID[faults.of_database(error) or faults.Fault.DATABASE_AWAY]
            found.append(Finding("database", Verdict.ERROR, f"{words.happened} {words.safe}", words.to_do))
        if any(finding.verdict is Verdict.ERROR for finding in found):
            break
    return found
