"""Deciding: the only way out of ``pending``, once.

The transition is one conditional UPDATE. ``create`` writes a file, which no transaction holds: it claims the item,
writes, and makes the transition with that claim.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from reviews.actions import Action, action_named, check_supported
from reviews.models import ReviewItem, Status
from reviews.services import creating, events, research
from reviews.services.naming import iso
from reviews.services.reading import get_item
from reviews.services.rules import check_may_decide, check_note, check_writes_allowed
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki import deadlines
from wiki.rows import chunks
from wiki.services.logbook import append_log

logger = logging.getLogger(__name__)

#: After so many seconds a claim is a dead process's, and anybody may take over.
CLAIM_SECONDS: Final = 120
#: How long a decision waits for one that is being carried out, and how often it looks.
WAIT_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Resolved:
    """An item after a decision, and whether this call is what decided it.

    ``warnings`` are what its author should know of the page that it has written.
    """

    item: ReviewItem
    changed: bool
    warnings: list[str] = field(default_factory=list)


def resolve(*, item_id: UUID | str, action: str, note: str = "", author: Author) -> Resolved:
    """Decide about an item. Of many at once exactly one does; the others hear how it was decided.

    The same decision once more is answered with ``changed`` False. If the effect fails the item stays pending, says
    why in ``failure``, and the error is raised.

    Raises ``invalid_action``, ``invalid_param_value``, ``review_not_found``, ``review_terminal``,
    ``action_not_supported``, ``read_only``, ``forbidden``; ``conflict`` while somebody else carries it out; and what
    writing a page or opening a research run raises.
    """
    wanted = action_named(action)
    note = check_note(note)
    item = get_item(item_id)
    if item.status != Status.PENDING:
        return _settled(item, wanted)
    check_supported(wanted, item)
    check_writes_allowed()
    check_may_decide(author)
    deadline = time.monotonic() + WAIT_SECONDS
    carry_out = _create if wanted.status is Status.CREATED else _transition
    while True:
        warnings = carry_out(item, wanted, note, author)
        if warnings is not None:
            return Resolved(get_item(item.pk), True, warnings)
        item = get_item(item.pk)
        if item.status != Status.PENDING:
            return _settled(item, wanted)
        if time.monotonic() > deadline:
            raise being_carried_out()
        time.sleep(_POLL_SECONDS)


def close(*, items: Iterable[ReviewItem], note: str, author: Author) -> int:
    """Close pending items that are no longer true (``auto_resolved``); returns how many were still pending.

    For the sweep alone. Items that are being carried out are left to it. Raises ``read_only``.
    """
    check_writes_allowed()
    closed = 0
    for batch in chunks(item.pk for item in items):
        with transaction.atomic():
            now = timezone.now()
            ids = list(_lock(batch).values_list("pk", flat=True))
            free_items(ids, now).update(**decision(Status.AUTO_RESOLVED, note, author, now))
            events.append(
                ids,
                what="closed",
                author=author,
                at=now,
                from_status=Status.PENDING,
                to_status=Status.AUTO_RESOLVED,
                note=note,
            )
            closed += len(ids)
    return closed


def free_items(ids: Iterable[UUID], now: datetime) -> Any:
    """Those of the items that can be decided at this moment: pending, and nobody is carrying them out."""
    lease = timedelta(seconds=CLAIM_SECONDS)
    # A claim from the future was made under a clock that has been set back since: nobody's, too.
    unclaimed = Q(claim__isnull=True) | Q(claimed_at__lt=now - lease) | Q(claimed_at__gt=now + lease)
    return ReviewItem.objects.filter(unclaimed, pk__in=list(ids), status=Status.PENDING)


def decision(status: Status, note: str, author: Author, now: datetime) -> dict[str, Any]:
    """The fields that a decision sets, whatever its effect."""
    return {
        "status": status,
        "note": note,
        "failure": "",
        "reviewed_at": now,
        "reviewed_by": events.who(author),
        "reviewed_via": events.door(author),
        "claim": None,
        "claimed_at": None,
    }


def being_carried_out() -> SynapseError:
    """The answer to whoever comes while another decision takes its effect."""
    return SynapseError(
        ErrorCode.CONFLICT,
        "The item is being carried out by somebody else at this moment. Look at it again shortly.",
        retry_after=5,
    )


def terminal(item: ReviewItem) -> SynapseError:
    """The refusal to decide what has been decided otherwise."""
    return SynapseError(
        ErrorCode.REVIEW_TERMINAL,
        f"The item has been decided already ({item.status}), and a decision is never changed. "
        "Reopen it, if the question stands again.",
        status=item.status,
        reviewed_by=item.reviewed_by,
        reviewed_at=iso(item.reviewed_at),
    )


def log_decision(action: Action, title: str) -> None:
    """Have wiki/log.md tell of a decision, once it is committed."""
    transaction.on_commit(partial(append_log, "resolve", f"{title} ({action.status})"), robust=True)


def _lock(ids: Iterable[UUID]) -> Any:
    """The free items among these, locked in one order by all, so that no two wait for each other."""
    return free_items(ids, timezone.now()).order_by("pk").select_for_update()


def _settled(item: ReviewItem, wanted: Action) -> Resolved:
    if item.status == wanted.status:
        return Resolved(item, False)
    raise terminal(item)


def _transition(item: ReviewItem, wanted: Action, note: str, author: Author) -> list[str] | None:
    """Decide in one transaction, an effect on rows included; None when somebody else has the item."""
    deadlines.lift()
    try:
        with transaction.atomic():
            now = timezone.now()
            if not free_items([item.pk], now).update(**decision(wanted.status, note, author, now)):
                return None
            if wanted.status is Status.DEEP_RESEARCHED:
                run = research.open_run(item=item, author=author)
                ReviewItem.objects.filter(pk=item.pk).update(research_run=run)
            _record(item, wanted, author, now, note)
        return []
    except SynapseError as error:
        _note_failure(item, error.message, author)
        raise


def _create(item: ReviewItem, wanted: Action, note: str, author: Author) -> list[str] | None:
    """Claim, write the page outside of any transaction, decide; None when somebody else has the item.

    Returns the warnings of the write.
    """
    claim, now = uuid4(), timezone.now()
    if not free_items([item.pk], now).update(claim=claim, claimed_at=now):
        return None
    mine = ReviewItem.objects.filter(pk=item.pk, status=Status.PENDING, claim=claim)
    with _given_back_on_failure(item, claim, author):
        item.refresh_from_db()
        written = creating.carry_out(item, author=author, note_intent=_intent(mine))
        with transaction.atomic():
            now = timezone.now()
            page = written.page
            item.created_page, item.created_path = (page if page.pk else None), page.path
            outcome = {"created_page": item.created_page, "created_path": item.created_path}
            if not mine.update(**decision(wanted.status, note, author, now), **outcome):
                return None
            _record(item, wanted, author, now, note)
    return written.warnings


def _record(item: ReviewItem, wanted: Action, author: Author, now: datetime, note: str) -> None:
    events.decided([item], wanted, author=author, at=now, note=note)
    log_decision(wanted, item.title)


def _intent(mine: Any) -> Callable[[str], None]:
    """What keeps the digest of the bytes about to be written, as long as the claim is still ours."""

    def note(content_hash: str) -> None:
        if not mine.update(write_hash=content_hash):
            raise being_carried_out()

    return note


@contextmanager
def _given_back_on_failure(item: ReviewItem, claim: UUID, author: Author) -> Iterator[None]:
    """Whatever goes wrong, the item is pending and free again, and says why."""
    try:
        yield
    except BaseException as error:
        told = deadlines.as_reported(error)
        reason = told.message if isinstance(told, SynapseError) else "It could not be carried out; the log says why."
        _note_failure(item, reason, author, claim=claim)
        raise


def _note_failure(item: ReviewItem, reason: str, author: Author, *, claim: UUID | None = None) -> None:
    """Free a claimed item again, and keep why it could not be carried out."""
    try:
        with deadlines.lifted(), transaction.atomic():
            now = timezone.now()
            held = ReviewItem.objects.filter(pk=item.pk, status=Status.PENDING, claim=claim)
            if (held if claim else free_items([item.pk], now)).update(claim=None, claimed_at=None, failure=reason):
                events.append([item.pk], what="failed", author=author, at=now, note=reason)
    except Exception as error:  # noqa: BLE001 - the caller must hear what came first; the claim ends by itself
        logger.warning("a failed decision could not be noted", extra={"reason": type(error).__name__})
