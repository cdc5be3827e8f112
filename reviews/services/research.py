"""Research runs: a question that a decision handed on, taken by an agent, ended by the page that the agent wrote.

A run waits (``queued``), is taken for a while (``claimed``, until its lease ends), and ends as ``done`` or
``failed``. A claim whose lease has ended is nobody's: the run counts as waiting again, or as failed once it has been
claimed :data:`MAX_CLAIMS` times. Nothing has to run for that: whoever reads compares the lease with the clock.
A run counts only while an item names it, so one that a decision opened without coming to its end is never handed out.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Case, CharField, Exists, F, OuterRef, Q, Value, When
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from reviews.models import ResearchRun, ReviewItem, RunStatus
from reviews.services import events
from reviews.services.naming import iso, named_page
from reviews.services.rules import as_id, check_note, check_writes_allowed
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki import audit
from wiki.models import Page
from wiki.services import page_by_id, page_by_title
from wiki.services.cursors import make_cursor, read_cursor

LEASE_SECONDS: Final = 900
SHORTEST_LEASE: Final = 60
LONGEST_LEASE: Final = 3600
MAX_CLAIMS: Final = 5
MAX_LIST: Final = 100
_TOPIC_CHARACTERS: Final = 500
#: A lease that ends later than this was given under a clock that has been set back since: it is nobody's, too.
_LATEST_END: Final = timedelta(seconds=LONGEST_LEASE + 60)
#: What the row of a run of each standing says: so much of the choice an index can make.
_STORED: Final = {
    "queued": (RunStatus.QUEUED, RunStatus.CLAIMED),
    "claimed": (RunStatus.CLAIMED,),
    "done": (RunStatus.DONE,),
    "failed": (RunStatus.FAILED, RunStatus.CLAIMED),
}


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run as it stands, and whether this call is what ended it."""

    run: ResearchRun
    changed: bool


@dataclass(frozen=True, slots=True)
class RunClaimed:
    """A run that the caller holds, and whether this call is what took it, or only made its lease longer."""

    run: ResearchRun
    changed: bool


def open_run(*, item: ReviewItem, author: Author) -> ResearchRun:
    """Hand the item's question to the configured backend; the same item has the same run, however often it is tried.

    Touches the database only. Raises ``dependency_missing`` while SYNAPSE_RESEARCH_BACKEND names no backend.
    """
    del author  # who asked is in the item's event
    if settings.SYNAPSE_RESEARCH_BACKEND != "agent":
        raise SynapseError(
            ErrorCode.DEPENDENCY_MISSING,
            "Nobody does research here. Set SYNAPSE_RESEARCH_BACKEND=agent, so that runs wait for a connected agent, "
            "or take another action.",
            setting="SYNAPSE_RESEARCH_BACKEND",
        )
    topic = (item.proposed_title or item.title)[:_TOPIC_CHARACTERS]
    run, _ = ResearchRun.objects.get_or_create(
        pk=uuid.uuid5(item.pk, "research"),
        defaults={"topic": topic, "queries": item.search_queries or [topic], "backend": "agent"},
    )
    return run


def list_runs(*, status: str = "queued", limit: int = 50, cursor: str | None = None) -> dict[str, Any]:
    """Runs, oldest first: ``result`` (as :func:`run_as_dict`), ``next_cursor`` (or null), ``total``.

    ``status`` is queued (can be claimed now), claimed, done, failed or all; ``limit`` is clamped to 1..100. Runs
    opened meanwhile neither repeat nor hide others. Raises ``invalid_param_value``, ``invalid_cursor``.
    """
    if status not in (*_STORED, "all"):
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"status must be one of {', '.join(_STORED)}, or all.")
    limit = max(1, min(limit, MAX_LIST))
    runs = _runs() if status == "all" else _runs().filter(status__in=_STORED[status], standing=status)
    name = f"runs:{status}"
    rest = runs
    if cursor:
        at, pk = _position(read_cursor(name, cursor)[0])
        rest = runs.filter(created_at__gte=at).filter(Q(created_at__gt=at) | Q(pk__gt=pk))
    rows = list(rest.order_by("created_at", "pk")[: limit + 1])
    more, rows = len(rows) > limit, rows[:limit]
    after = f"{rows[-1].created_at.isoformat()} {rows[-1].pk}" if more else ""
    return {
        "result": [run_as_dict(run) for run in rows],
        "next_cursor": make_cursor(name, after=after, pk=0) if more else None,
        "total": runs.count(),
    }


def get_run(run_id: uuid.UUID | str) -> ResearchRun:
    """The run with this id, its ``standing`` worked out. Raises ``not_found``, for an id that is none too."""
    known = as_id(run_id)
    run: ResearchRun | None = _runs().filter(pk=known).first() if known else None
    if run is None:
        raise SynapseError(ErrorCode.NOT_FOUND, "No research run has this id. List the runs, and use one given there.")
    return run


def run_as_dict(run: ResearchRun) -> dict[str, Any]:
    """The run as REST, and whatever else shows it, has it; ``run`` comes from :func:`get_run` or a list."""
    standing: str = run.standing  # type: ignore[attr-defined]
    held = standing == RunStatus.CLAIMED
    item = run.items.first()
    return {
        "id": str(run.pk),
        "topic": run.topic,
        "queries": run.queries,
        "backend": run.backend,
        "status": standing,
        "claimed_by": run.claimed_by if held else None,
        "lease_until": iso(run.lease_until) if held else None,
        "attempts": run.attempts,
        "attempts_left": max(0, MAX_CLAIMS - run.attempts),
        "page": named_page(run.page, run.page_path),
        "note": run.note,
        "created_at": iso(run.created_at),
        "finished_at": iso(run.finished_at or (run.lease_until if standing == RunStatus.FAILED else None)),
        "item": _asking(item) if item else None,
    }


def research_of(item: ReviewItem) -> dict[str, Any] | None:
    """What an item shows of its run: id, status, the page that came of it, note; None without a run."""
    run = _runs().filter(pk=item.research_run_id).first() if item.research_run_id else None
    if run is None:
        return None
    shown = run_as_dict(run)
    return {name: shown[name] for name in ("id", "status", "page", "note")}


def claim_run(*, run_id: uuid.UUID | str, author: Author, lease_seconds: int = LEASE_SECONDS) -> RunClaimed:
    """Take a waiting run for ``lease_seconds`` (60 to 3600); of several at once exactly one gets it.

    Who holds the run gets a new lease that begins now, ``changed`` False: it is no further claim. Callers are told
    apart by their names.

    Raises ``read_only``, ``invalid_param_value``, ``not_found``, and ``conflict`` for a run that somebody else holds,
    has ended, or has been claimed :data:`MAX_CLAIMS` times.
    """
    check_writes_allowed()
    if not SHORTEST_LEASE <= lease_seconds <= LONGEST_LEASE:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, f"lease_seconds is a number from {SHORTEST_LEASE} to {LONGEST_LEASE}."
        )
    run = get_run(run_id)
    now = timezone.now()
    # One statement without a join: where two come at once, the second one looks at the row that the first has left.
    free = Q(status=RunStatus.QUEUED) | Q(status=RunStatus.CLAIMED) & ~_in_force(now)
    with transaction.atomic():
        won = ResearchRun.objects.filter(free, pk=run.pk, attempts__lt=MAX_CLAIMS).update(
            status=RunStatus.CLAIMED,
            claimed_by=events.who(author),
            lease_until=now + timedelta(seconds=lease_seconds),
            attempts=F("attempts") + 1,
        )
        if won:
            audit.record(action="research", author=author, detail={"run": str(run.pk), "what": "claimed"})
    if not won and not _held(run, author).update(lease_until=now + timedelta(seconds=lease_seconds)):
        raise _conflict(get_run(run.pk), "Take another one.")
    return RunClaimed(get_run(run.pk), bool(won))


def complete_run(
    *,
    run_id: uuid.UUID | str,
    page_id: uuid.UUID | str | None = None,
    title: str | None = None,
    path: str | None = None,
    note: str = "",
    author: Author,
) -> RunEnded:
    """End a run that the caller has claimed with the page that answers it, which must be live.

    The page is named by its id, or by its title or path (of namesakes, ``path`` decides). The same answer once more
    changes nothing. The item stays decided as it is; the page is shown with it.

    Raises ``read_only``, ``not_found``, ``missing_required_params`` where no page is named, ``invalid_param_value``
    where it is named twice or the note is too long, ``page_not_found``, ``ambiguous_title``, and ``conflict`` for a
    run that the caller does not hold, or that ended otherwise. Callers are told apart by their names, which say what
    kind they are (`token:…`, `user:…`), whichever door they take.
    """
    check_writes_allowed()
    note = check_note(note)
    run = get_run(run_id)
    page = _page_meant(page_id, title, path)
    if _end(run, author, status=RunStatus.DONE, page=page, page_path=page.path, note=note, finished_at=timezone.now()):
        return RunEnded(get_run(run.pk), True)
    run = get_run(run.pk)
    if run.status == RunStatus.DONE and run.page_id == page.pk:
        return RunEnded(run, False)
    raise _conflict(run, "Claim a run before you complete it.")


def fail_run(*, run_id: uuid.UUID | str, note: str = "", retry: bool = False, author: Author) -> RunEnded:
    """Give back a run that the caller has claimed: for good, or with ``retry`` for another try while any is left.

    The same answer once more changes nothing. Raises ``read_only``, ``not_found``, ``invalid_param_value`` for a note
    that is too long, and ``conflict`` for a run that the caller does not hold, or that ended otherwise.
    """
    check_writes_allowed()
    note = check_note(note)
    run = get_run(run_id)
    again = retry and run.attempts < MAX_CLAIMS
    done = (
        _end(run, author, status=RunStatus.QUEUED, note=note, claimed_by="", lease_until=None)
        if again
        else _end(run, author, status=RunStatus.FAILED, note=note, finished_at=timezone.now())
    )
    run = get_run(run.pk)
    if done:
        return RunEnded(run, True)
    if run.status == RunStatus.FAILED:
        return RunEnded(run, False)
    raise _conflict(run, "Claim a run before you give it back.")


def _runs() -> Any:
    """The runs that an item names, each with its ``standing``: the status, seen with the lease."""
    lapsed = Q(status=RunStatus.CLAIMED) & ~_in_force(timezone.now())
    standing = Case(
        When(lapsed & Q(attempts__gte=MAX_CLAIMS), then=Value(RunStatus.FAILED.value)),
        When(lapsed, then=Value(RunStatus.QUEUED.value)),
        default=F("status"),
        output_field=CharField(),
    )
    named = Exists(ReviewItem.objects.filter(research_run=OuterRef("pk")))
    return (
        ResearchRun.objects.filter(named)
        .annotate(standing=standing)
        .select_related("page")
        .prefetch_related("items__page")
    )


def _in_force(now: datetime) -> Q:
    """Claims whose lease has not ended."""
    return Q(lease_until__gt=now, lease_until__lte=now + _LATEST_END)


def _held(run: ResearchRun, author: Author) -> Any:
    """The run as rows, if the caller holds it at this moment."""
    return ResearchRun.objects.filter(
        _in_force(timezone.now()), pk=run.pk, status=RunStatus.CLAIMED, claimed_by=events.who(author)
    )


def _asking(item: ReviewItem) -> dict[str, Any]:
    """What an agent has to know of the item that asked."""
    return {
        "id": str(item.pk),
        "item_type": item.item_type,
        "title": item.title,
        "rationale": item.rationale,
        "page": named_page(item.page, item.page_path),
        "referenced_pages": item.referenced_pages,
    }


def _end(run: ResearchRun, author: Author, **fields: Any) -> bool:
    """Write how a run ends, if the caller holds it at this moment; its item's events tell."""
    with transaction.atomic():
        if not _held(run, author).update(**fields):
            return False
        what = {RunStatus.DONE: "researched", RunStatus.FAILED: "research failed"}.get(fields["status"], "given back")
        named = ReviewItem.objects.filter(research_run=run).values_list("pk", flat=True)
        events.append(named, what=what, author=author, at=timezone.now(), note=fields["note"])
        detail = {"run": str(run.pk), "what": what}
        audit.record(action="research", author=author, path=fields.get("page_path", ""), detail=detail)
    return True


def _page_meant(page_id: uuid.UUID | str | None, title: str | None, path: str | None) -> Page:
    if page_id is None and title is None and path is None:
        raise SynapseError(
            ErrorCode.MISSING_REQUIRED_PARAMS, "Name the page that answers the question: page_id, or title, or path."
        )
    if page_id is None:
        return page_by_title(title or "", path=path)
    if title is not None or path is not None:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "Name the page once: by page_id, or by title and path.")
    known = as_id(page_id)
    if known is None:
        raise SynapseError(ErrorCode.PAGE_NOT_FOUND, "No page has such an id. Use one that reading a page gave.")
    return page_by_id(known)


def _conflict(run: ResearchRun, advice: str) -> SynapseError:
    """Why a run can't be had, or ended, by this caller now."""
    standing: str = run.standing  # type: ignore[attr-defined]
    if standing == RunStatus.CLAIMED:
        return SynapseError(
            ErrorCode.CONFLICT,
            f"The run is claimed until its lease ends, by whoever `claimed_by` names. {advice}",
            status=standing,
            claimed_by=run.claimed_by,
            lease_until=iso(run.lease_until),
        )
    if standing == RunStatus.QUEUED:
        return SynapseError(ErrorCode.CONFLICT, f"Nobody holds the run at this moment. {advice}", status=standing)
    return SynapseError(
        ErrorCode.CONFLICT,
        "The run has ended, and stays as it is. List the runs that wait.",
        status=standing,
        page=named_page(run.page, run.page_path),
    )


def _position(text: str) -> tuple[datetime, uuid.UUID]:
    at, _, pk = text.partition(" ")
    moment = parse_datetime(at)
    if moment is None:
        raise SynapseError(ErrorCode.INVALID_CURSOR, "This cursor can't be read. Leave it out to start over.")
    return moment, uuid.UUID(pk)
