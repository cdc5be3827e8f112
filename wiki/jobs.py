"""Work to be done, as rows: a lost message costs delay, never data.

Rows are made inside the transaction that gives rise to them (:func:`enqueue`) and drained by one process at a time,
whichever holds the lock ``jobs``: the server's :class:`JobThread`, else the one of a stdio process, else a command
before it exits (:func:`drain`). Where a broker is named, Celery's workers drain them instead, and whoever makes a row
tells them so (:mod:`wiki.broker`). The lock of a process that dies is free at once; the row it had begun is then begun
again, so each job may run twice and must not mind.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import DatabaseError, IntegrityError, close_old_connections, connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from vault.errors import SynapseError
from wiki import broker, catchup
from wiki.exclusive import try_exclusive
from wiki.idempotency import forget_expired
from wiki.models import Job

logger = logging.getLogger(__name__)

#: What runs a kind of job, by dotted path: services enqueue jobs, so importing them here would be a circle.
#: Each takes the job's payload and returns what is worth keeping of its outcome, JSON-serialisable.
HANDLERS: Final[dict[str, str]] = {
    "catalog": "wiki.services.catalog.run_job",
    "catch_up": "wiki.services.recording.run_job",
    "edges": "wiki.graph.settle.run_job",
    "layout": "wiki.graph.layout.run_job",
    "prune": "wiki.services.keeping.run_job",
    "rescan": "wiki.services.rescan.run_job",
}
_HOURLY: Final[set[str]] = {"prune"}
MAX_ATTEMPTS: Final = 5
#: How often a job may have ended the process that ran it before it is given up; restarts of the machine count too.
MAX_DEATHS: Final = 10
KEEP_FINISHED: Final = timedelta(days=30)
#: No job is put off for longer. One that is due later was put off by a clock that has been set back since, and is due.
LONGEST_DELAY: Final = timedelta(hours=1)
POLL_SECONDS: Final = 1.0
TIDY_SECONDS: Final = 3_600.0
#: Whoever holds this lock (:mod:`wiki.exclusive`) runs jobs, or does what must not happen beside them.
LOCK: Final = "jobs"

_news = threading.Event()


def register(kind: str, handler: str, *, hourly: bool = False) -> None:
    """Let jobs of ``kind`` be run by ``handler`` (a dotted path): how a room above this one adds its own, at start.

    ``hourly`` has one asked for every hour. Raises ValueError when the kind has another handler already.
    """
    if HANDLERS.setdefault(kind, handler) != handler:
        raise ValueError(f"jobs of kind {kind!r} have another handler")
    if hourly:
        _HOURLY.add(kind)


def enqueue(kind: str, key: str = "", *, payload: dict[str, Any] | None = None, delay: float = 0.0) -> None:
    """Have ``kind`` done after ``delay`` seconds. One waiting row a (kind, key): asking again changes nothing.

    Call it inside the transaction that makes the work necessary; the drainer sees the row once that commits.
    """
    if kind not in HANDLERS:
        raise ValueError(f"no handler for jobs of kind {kind!r}")
    job = Job(kind=kind, key=key, payload=payload or {}, run_after=timezone.now() + timedelta(seconds=delay))
    Job.objects.bulk_create([job], ignore_conflicts=True)
    transaction.on_commit(partial(_announce, delay))


def _announce(delay: float) -> None:
    _news.set()
    broker.tell(broker.DRAIN, delay=delay)


def is_waiting(kind: str, key: str = "") -> bool:
    """Whether a job of this kind and key waits to be begun: a look that spares a write."""
    return Job.objects.filter(kind=kind, key=key, started_at__isnull=True, finished_at__isnull=True).exists()


def waiting() -> int:
    """How many jobs are not done: the backlog of /status."""
    return Job.objects.filter(finished_at__isnull=True).count()


def run_due(*, now: bool = False, stop: threading.Event | None = None) -> int:
    """Run the jobs that are due, oldest first, and return how many ran; 0 where another process drains.

    ``now`` also runs those whose delay is not over: a short command does not wait for it. ``stop`` ends the
    round after the job in hand.
    """
    return _round(now=now, stop=stop) or 0


def run_all_due() -> int:
    """Rounds until nothing is due or another process drains; how many jobs ran.

    A last look follows after the lock is free: whoever came for a new row while it was held has gone away.
    """
    ran = 0
    while (more := _round(now=False, stop=None)) is not None:
        ran += more
        if not _queue(now=False).exists():
            break
    return ran


def _round(*, now: bool, stop: threading.Event | None) -> int | None:
    """One round of :func:`run_due`; None where another process drains."""
    with try_exclusive(LOCK) as ours:
        if not ours:
            return None
        take_back_orphans()
        if catchup.noted():
            enqueue("catch_up")
        begun: dict[int, tuple[str, str]] = {}
        while not (stop and stop.is_set()):
            job = _next(now=now, begun=begun)
            if job is None:
                break
            begun[job.pk] = (job.kind, job.key)
            _run(job)
        return len(begun)


def drain() -> int:
    """What a short command does before it exits: all that waits, without its delay. Never raises.

    With a broker it leaves the work to Celery, and only waits a moment for the message to go out.
    """
    if broker.has_broker():
        broker.flush()
        return 0
    try:
        return run_due(now=True)
    except (SynapseError, DatabaseError):
        logger.warning("jobs wait for the next process that drains them")
        return 0


def take_back_orphans() -> None:
    """Let rows wait again that were begun by a process that died. The caller holds LOCK, which that one held."""
    for job in Job.objects.filter(started_at__isnull=False, finished_at__isnull=True):
        if job.attempts < MAX_DEATHS:
            _put_back(job, timezone.now())
        else:
            logger.error("job given up: its process died each time", extra={"kind": job.kind})
            _finish(job, {"failed": "process_died"})


def _queue(*, now: bool) -> QuerySet[Job]:
    queue = Job.objects.filter(started_at__isnull=True, finished_at__isnull=True)
    if now:
        return queue
    moment = timezone.now()
    return queue.filter(Q(run_after__lte=moment) | Q(run_after__gt=moment + LONGEST_DELAY))


def _next(*, now: bool, begun: dict[int, tuple[str, str]]) -> Job | None:
    """The job to run next, marked as begun; none a second time in one round, so that a failing one waits.

    What has been done in this round and is asked for again keeps its delay even where others need not wait for theirs:
    as long as somebody writes, a round would have no end.
    """
    done = set(begun.values())
    for job in _queue(now=now).exclude(pk__in=list(begun)).order_by("run_after", "pk")[:100]:
        at = timezone.now()
        if job.run_after > at and (job.kind, job.key) in done:
            continue
        if Job.objects.filter(pk=job.pk, started_at__isnull=True).update(started_at=at, attempts=F("attempts") + 1):
            job.started_at, job.attempts = at, job.attempts + 1
            return job
    return None


def _run(job: Job) -> None:
    """Run one job; a failure is tried again later, and given up after MAX_ATTEMPTS."""
    try:
        handler: Callable[[dict[str, Any]], Any] = import_string(HANDLERS[job.kind])
        outcome = handler(job.payload) or {}
    except Exception as error:  # noqa: BLE001 - one job must not stop the others; the row says that it failed
        reason = error.code.value if isinstance(error, SynapseError) else type(error).__name__
        logger.warning("job failed", extra={"kind": job.kind, "attempts": job.attempts, "reason": reason})
        if job.attempts < MAX_ATTEMPTS:
            _put_back(job, timezone.now() + timedelta(seconds=2**job.attempts))
        else:
            _finish(job, {"failed": reason})
    else:
        _finish(job, outcome)


def _finish(job: Job, outcome: dict[str, Any]) -> None:
    Job.objects.filter(pk=job.pk).update(finished_at=timezone.now(), outcome=outcome)


def _put_back(job: Job, run_after: datetime) -> None:
    """Let a begun row wait again, unless another of its kind and key has come to wait meanwhile."""
    try:
        with transaction.atomic():
            Job.objects.filter(pk=job.pk).update(started_at=None, run_after=run_after)
    except IntegrityError:
        _finish(job, {"superseded": True})


def forget_finished() -> None:
    """Remove rows that ended longer ago than KEEP_FINISHED."""
    Job.objects.filter(Q(finished_at__lt=timezone.now() - KEEP_FINISHED)).delete()


def ask_for_map() -> None:
    """Have the map of the vault made again if the index has changed since; the job itself looks."""
    enqueue("layout")


def ask_for_upkeep() -> None:
    """Have done what is to be done once an hour."""
    for kind in sorted(_HOURLY):
        enqueue(kind)


class JobThread(threading.Thread):
    """Drains the jobs until ``stop`` is set; idle while another process does it, and done where Celery does."""

    def __init__(self, stop: threading.Event) -> None:
        super().__init__(name="jobs", daemon=True)
        self._stop_event = stop
        self._trouble = ""

    def run(self) -> None:
        """Wake at once for news of this process, every POLL_SECONDS for that of others and for delays."""
        if broker.has_broker():
            return
        tidied = -TIDY_SECONDS
        while not self._stop_event.is_set():
            if time.monotonic() - tidied >= TIDY_SECONDS:
                tidied = time.monotonic()
                self._step(forget_finished)
                self._step(forget_expired)
                self._step(ask_for_map)
                self._step(ask_for_upkeep)
            _news.wait(POLL_SECONDS)
            _news.clear()
            self._step(self._round)
        connection.close()

    def end(self, timeout: float) -> None:
        """Stop after the job in hand, without waiting for the next look; waits ``timeout`` seconds at most."""
        self._stop_event.set()
        _news.set()
        self.join(timeout)

    def _round(self) -> None:
        run_due(stop=self._stop_event)

    def _step(self, work: Callable[[], object]) -> None:
        close_old_connections()
        try:
            work()
        except (DatabaseError, SynapseError) as error:
            # A database or disk that is away for a while must not end the thread, nor fill the log; rows wait.
            reason = error.code.value if isinstance(error, SynapseError) else type(error).__name__
            if reason != self._trouble:
                logger.warning("jobs can't be drained now", extra={"reason": reason})
            self._trouble = reason
            self._stop_event.wait(POLL_SECONDS)
        else:
            self._trouble = ""
