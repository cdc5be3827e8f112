"""Running the producers: over what changed, over everything, and the sweep that closes what is no longer true.

One run at a time, under the lock of the jobs. Changes are forgotten only when every producer has acted on them, so a
run that dies is repeated; filing and closing twice changes nothing.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings

from reviews.models import Evidence, Origin, ReviewItem, Status
from reviews.producers import PRODUCERS, Preparing, Producer, Settling
from reviews.producers.answered import answered_proposals
from reviews.services import Finding, close, file
from reviews.services.producer_state import note_failure, note_pass, owing
from reviews.services.rules import check_writes_allowed
from vault.current import current_vault
from vault.history import Author
from wiki import changes, jobs
from wiki.binding import index_is_whole
from wiki.changes import Changed
from wiki.rows import chunks

logger = logging.getLogger(__name__)

SCAN: Final = Author("synapse", "scan")
SWEEP: Final = Author("synapse", "sweep")
#: How long a command waits for a run that is at work, in seconds.
WAIT_SECONDS: Final = 60.0
CLOSED: Final = "It is no longer true."
ANSWERED: Final = "The page is there."
# A decision about these is asked again when what they rest on changes, so that has to be looked at.
_LOOKED_AT: Final = (Status.PENDING, Status.SKIPPED, Status.RESOLVED, Status.DEEP_RESEARCHED)

Progress = Callable[[str, int, int], None]


class _ScanBegan(Exception):  # noqa: N818 - it never leaves this module
    """The index is half of one state and half of another: what would be found is not true of either."""


@dataclass(slots=True)
class _Outcome:
    """What a run did, as a job keeps it."""

    counts: Counter[str] = field(default_factory=Counter)
    held_back: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        counted = {name: self.counts[name] for name in ("filed", "refreshed", "closed")}
        return {**counted, "held_back": self.held_back, "failed": self.failed}


def run(*, rescanned: bool = False) -> dict[str, Any]:
    """File what the changes since the last run have made true, and close what they have made untrue.

    ``rescanned``: rules that hold something back, or have missed changes, look at everything. Returns ``filed``,
    ``refreshed`` and ``closed`` (numbers), ``held_back`` ({rule: findings over SYNAPSE_REVIEW_CAP}) and ``failed``
    ({rule: kind of error}); or ``waits`` with the reason why nothing was done: ``read_only``, or ``scan`` while one is
    at work. Changes then wait on.
    """
    return _run(rescanned=rescanned)


def run_everything(progress: Progress | None = None) -> dict[str, Any]:
    """As :func:`run`, with every rule looking at everything. ``progress`` hears (rule, done, total)."""
    return _run(everything=True, progress=progress)


def sweep() -> int:
    """Close the pending items that are no longer true, and file nothing; returns how many were closed.

    Of what agents filed only missing pages are looked at. Raises ``read_only``.
    """
    check_writes_allowed()
    closed = 0
    for producer in PRODUCERS:
        pending = _pending(producer.rule, None)
        if pending:
            closed += _close_untrue(pending, producer.find({item.target for item in pending}))
    return closed + close(items=answered_proposals(), note=ANSWERED, author=SWEEP)


def owes_a_look() -> bool:
    """Whether some rule is to look at everything after a scan."""
    return bool(owing({producer.rule for producer in PRODUCERS}))


def _run(*, rescanned: bool = False, everything: bool = False, progress: Progress | None = None) -> dict[str, Any]:
    if settings.SYNAPSE_READ_ONLY:
        return {"waits": "read_only"}
    with current_vault().lock(jobs.LOCK, timeout=WAIT_SECONDS):
        changed = changes.take()
        everything = everything or changed.everything
        due = owing({producer.rule for producer in PRODUCERS}) if rescanned else set()
        asked = {} if everything else _asked_before(changed)
        outcome = _Outcome()
        try:
            for number, producer in enumerate(PRODUCERS):
                if progress:
                    progress(producer.rule, number, len(PRODUCERS))
                full = everything or producer.rule in due
                if full or changed:
                    _run_one(producer, changed, asked.get(producer.rule, set()), outcome, full=full)
        except _ScanBegan:
            return {"waits": "scan"}
        if everything or changed:
            answered = answered_proposals(None if everything else changed.pages)
            outcome.counts["closed"] += close(items=answered, note=ANSWERED, author=SWEEP)
        changes.done(changed.upto)
    return outcome.as_dict()


def _run_one(producer: Producer, changed: Changed, asked: set[str], outcome: _Outcome, *, full: bool) -> None:
    """Let one producer look; if it fails the others go on, and it looks at everything after the next scan."""
    try:
        _check_whole()
        if isinstance(producer, Preparing):
            producer.prepare(Changed(everything=True) if full else changed)
        targets = None if full else producer.targets(changed) | asked
        if targets is not None and not targets:
            return
        if isinstance(producer, Settling):
            producer.settle(targets)
        pending = _pending(producer.rule, targets)
        found = list(producer.find(targets))
        _check_whole()
        filed = file(findings=found, origin=Origin.RULE, author=SCAN, cap=settings.SYNAPSE_REVIEW_CAP)
        closed = _close_untrue(pending, found)
        note_pass(rule=producer.rule, full=full, held_back=filed.held_back)
    except _ScanBegan:
        raise
    except Exception as error:  # noqa: BLE001 - one rule must not keep the others from looking
        logger.warning("a producer failed", extra={"rule": producer.rule, "reason": type(error).__name__})
        outcome.failed[producer.rule] = type(error).__name__
        note_failure(rule=producer.rule)
    else:
        outcome.counts.update(filed=len(filed.filed), refreshed=len(filed.refreshed), closed=closed)
        if filed.held_back:
            outcome.held_back[producer.rule] = filed.held_back


def _check_whole() -> None:
    if not index_is_whole():
        raise _ScanBegan


def _asked_before(changed: Changed) -> dict[str, set[str]]:
    """By rule the targets of items that are about what changed, or rest on it."""
    items = ReviewItem.objects.filter(status__in=_LOOKED_AT).order_by()
    resting = Evidence.objects.filter(item__status__in=_LOOKED_AT)
    found: dict[str, set[str]] = defaultdict(set)
    for chunk in chunks(changed.pages):
        rows = [*items.filter(page__in=chunk).values_list("rule", "target")]
        rows += resting.filter(page__in=chunk).values_list("item__rule", "item__target")
        for rule, target in rows:
            found[rule].add(target)
    for chunk in chunks(changed.files):
        for rule, target in items.filter(file__in=chunk).values_list("rule", "target"):
            found[rule].add(target)
    return found


def _pending(rule: str, targets: Collection[str] | None) -> list[ReviewItem]:
    """The rule's pending items among these targets, as light rows."""
    items = ReviewItem.objects.filter(rule=rule, status=Status.PENDING).order_by().only("pk", "target", "page_id")
    if targets is None:
        return list(items)
    return [item for chunk in chunks(sorted(targets)) for item in items.filter(target__in=chunk)]


def _close_untrue(pending: Iterable[ReviewItem], found: Iterable[Finding]) -> int:
    """Close the items whose question is not among what was found."""
    true = {(finding.target, finding.page.pk if finding.page else None) for finding in found}
    gone = [item for item in pending if (item.target, item.page_id) not in true]
    return close(items=gone, note=CLOSED, author=SWEEP)
