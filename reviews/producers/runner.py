"""Running the producers: over what changed, over everything, and the sweep that closes what is no longer true.

One run at a time, under the lock of the jobs. Changes are forgotten only when every producer has acted on them, so a
run that dies is repeated; filing and closing twice changes nothing.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings

from reviews.models import Origin, ReviewItem, Status
from reviews.producers import PRODUCERS, Preparing, Producer, Settling
from reviews.producers.answered import answered_proposals
from reviews.services import Filed, Finding, close, file
from reviews.services.producer_state import note_failure, note_pass, owing
from reviews.services.rules import check_writes_allowed
from vault.history import Author
from wiki import changes, jobs
from wiki.binding import index_is_whole
from wiki.changes import Changed
from wiki.exclusive import exclusive
from wiki.rows import chunks, select

logger = logging.getLogger(__name__)

SCAN: Final = Author("synapse", "scan")
SWEEP: Final = Author("synapse", "sweep")
#: How long a command waits for a run that is at work, in seconds.
WAIT_SECONDS: Final = 60.0
CLOSED: Final = "It is no longer true."
ANSWERED: Final = "The page is there."
# A decision about these is asked again when what they rest on changes, so that has to be looked at.
_LOOKED_AT: Final = "('pending', 'skipped', 'resolved', 'deep_researched')"
# The empty texts keep SQLite from walking all items of these states instead of those about a few pages.
_ABOUT_PAGES: Final = (
    "SELECT item.rule, item.target FROM reviews_reviewitem item "  # noqa: S608 - the names above
    f"WHERE item.page_id IN {{items}} AND item.status || '' IN {_LOOKED_AT} "
    "UNION SELECT item.rule, item.target FROM reviews_evidence evidence "
    "JOIN reviews_reviewitem item ON item.id = evidence.item_id "
    f"WHERE evidence.page_id IN {{items}} AND item.status || '' IN {_LOOKED_AT}"
)
_ABOUT_FILES: Final = (
    "SELECT rule, target FROM reviews_reviewitem "  # noqa: S608
    f"WHERE file_id IN {{items}} AND status || '' IN {_LOOKED_AT}"
)

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

    Of what agents filed only missing pages are looked at. While a scan is at work nothing is closed. Raises
    ``read_only``.
    """
    check_writes_allowed()
    closed = 0
    changed = changes.take()  # and not done: a run will act on it
    for producer in PRODUCERS:
        pending = _pending({producer.rule: None})[producer.rule]
        if pending:
            _prepare(producer, changed, full=changed.everything)
            found = list(producer.find({item.target for item in pending}))
            if not index_is_whole():
                return closed
            closed += _close_untrue(pending, found)
    return closed + _close_answered(None)


def owes_a_look() -> bool:
    """Whether some rule is to look at everything after a scan."""
    return bool(owing({producer.rule for producer in PRODUCERS}))


def _run(*, rescanned: bool = False, everything: bool = False, progress: Progress | None = None) -> dict[str, Any]:
    if settings.SYNAPSE_READ_ONLY:
        return {"waits": "read_only"}
    with exclusive(jobs.LOCK, timeout=WAIT_SECONDS):
        changed = changes.take()
        if not index_is_whole():
            return {"waits": "scan"}
        outcome = _Outcome()
        try:
            _look(changed, outcome, everything=everything or changed.everything, rescanned=rescanned, progress=progress)
        except _ScanBegan:
            return {"waits": "scan"}
        changes.done(changed.upto)
    return outcome.as_dict()


def _look(changed: Changed, outcome: _Outcome, *, everything: bool, rescanned: bool, progress: Progress | None) -> None:
    """Let each rule look at what it has to, and act on what it finds."""
    due = owing({producer.rule for producer in PRODUCERS}) if rescanned else set()
    asked = {} if everything else _asked_before(changed)
    targets: dict[str, set[str] | None] = {}
    for producer in PRODUCERS:
        full = everything or producer.rule in due
        if full or changed:
            with _guarded(producer, outcome):
                concerned = _concerned(producer, changed, full=full)
                if concerned is not None:
                    concerned |= asked.get(producer.rule, set())
                if concerned is None or concerned:
                    targets[producer.rule] = concerned
    pending = _pending(targets)
    for number, producer in enumerate(PRODUCERS):
        if progress:
            progress(producer.rule, number, len(PRODUCERS))
        if producer.rule in targets:
            with _guarded(producer, outcome):
                _look_at(producer, targets[producer.rule], pending[producer.rule], outcome)
    if everything or changed:
        outcome.counts["closed"] += _close_answered(None if everything else changed.pages)


def _prepare(producer: Producer, changed: Changed, *, full: bool) -> None:
    """Bring the producer's own rows up to date, if it has any."""
    if isinstance(producer, Preparing):
        producer.prepare(Changed(everything=True) if full else changed)


def _concerned(producer: Producer, changed: Changed, *, full: bool) -> set[str] | None:
    """The targets that the change concerns; None for all. Brings the producer's own rows up to date."""
    _prepare(producer, changed, full=full)
    return None if full else producer.targets(changed)


def _look_at(producer: Producer, targets: set[str] | None, pending: list[ReviewItem], outcome: _Outcome) -> None:
    """File what one rule finds among the targets, and close what of them it does not find any more."""
    if isinstance(producer, Settling):
        producer.settle(targets)
    found = list(producer.find(targets))
    filed = Filed()
    if (found or pending) and not index_is_whole():
        raise _ScanBegan
    if found:
        filed = file(findings=found, origin=Origin.RULE, author=SCAN, cap=settings.SYNAPSE_REVIEW_CAP)
    closed = _close_untrue(pending, found)
    note_pass(rule=producer.rule, full=targets is None, held_back=filed.held_back)
    outcome.counts.update(filed=len(filed.filed), refreshed=len(filed.refreshed), closed=closed)
    if filed.held_back:
        outcome.held_back[producer.rule] = filed.held_back


@contextmanager
def _guarded(producer: Producer, outcome: _Outcome) -> Iterator[None]:
    """If one rule fails the others go on, and it looks at everything after the next scan."""
    try:
        yield
    except _ScanBegan:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it is that rule's alone
        logger.warning("a producer failed", extra={"rule": producer.rule, "reason": type(error).__name__})
        outcome.failed[producer.rule] = type(error).__name__
        note_failure(rule=producer.rule)


def _asked_before(changed: Changed) -> dict[str, set[str]]:
    """By rule the targets of items that are about what changed, or rest on it."""
    found: dict[str, set[str]] = defaultdict(set)
    for rule, target in (*select(_ABOUT_PAGES, changed.pages), *select(_ABOUT_FILES, changed.files)):
        found[rule].add(target)
    return found


def _pending(targets: Mapping[str, Collection[str] | None]) -> dict[str, list[ReviewItem]]:
    """The pending items of each rule among its targets (None: all of them), as light rows."""
    items = ReviewItem.objects.filter(status=Status.PENDING).order_by().only("pk", "rule", "target", "page_id")
    found: dict[str, list[ReviewItem]] = {rule: [] for rule in targets}
    whole = [rule for rule, concerned in targets.items() if concerned is None]
    rows = list(items.filter(rule__in=whole)) if whole else []
    some = {rule: set(concerned) for rule, concerned in targets.items() if concerned is not None}
    for chunk in chunks(sorted(set().union(*some.values()))):
        rows += [item for item in items.filter(rule__in=some, target__in=chunk) if item.target in some[item.rule]]
    for item in rows:
        found[item.rule].append(item)
    return found


def _close_untrue(pending: Iterable[ReviewItem], found: Iterable[Finding]) -> int:
    """Close the items whose question is not among what was found."""
    true = {(finding.target, finding.page.pk if finding.page else None) for finding in found}
    gone = [item for item in pending if (item.target, item.page_id) not in true]
    return close(items=gone, note=CLOSED, author=SWEEP) if gone else 0


def _close_answered(pages: Collection[int] | None) -> int:
    answered = answered_proposals(pages)
    return close(items=answered, note=ANSWERED, author=SWEEP) if answered else 0
