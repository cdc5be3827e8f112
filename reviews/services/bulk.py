"""One action on many items: those named, each once, and never a filter."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from reviews.actions import Action, action_named
from reviews.models import ReviewItem, Status
from reviews.services import events
from reviews.services.deciding import being_carried_out, decision, free_items, log_decision, resolve
from reviews.services.rules import as_id, check_may_decide, check_note, check_writes_allowed
from vault.errors import ErrorCode, SynapseError
from vault.history import Author

logger = logging.getLogger(__name__)

MAX_IDS: Final = 200
#: Characters of an id that is none, in the answer.
_SHOWN: Final = 100
#: What an item answers alone, where three texts are not too much.
_TEXTS: Final = ("base", "current", "proposed")
#: Actions with an effect of their own, carried out item by item.
_ONE_BY_ONE: Final = (Status.CREATED, Status.DEEP_RESEARCHED)


@dataclass(frozen=True, slots=True)
class BulkOutcome:
    """What became of each id, in the order given, each once.

    ``updated``: decided by this call. ``already``: decided before, ``statuses`` says how. ``not_found``: unknown, or no
    id at all. ``failed``: {id, error, error_code, …} without the texts of a conflict, still pending. ``warnings``: what
    there is to know of pages that were written, by the item's id.
    """

    action: Action
    updated: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)
    not_found: list[str] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, list[str]] = field(default_factory=dict)


def bulk(*, ids: Sequence[object], action: str, note: str = "", author: Author) -> BulkOutcome:
    """Take one action on 1 to 200 items, counted as given; one failure hides no other.

    Raises ``invalid_action``, ``invalid_param_type`` for ids that are no list, ``too_many_ids`` for another number of
    them, ``read_only``, ``forbidden``: then nothing has been done.
    """
    wanted = action_named(action)
    note = check_note(note)
    named = _named(ids)
    check_writes_allowed()
    check_may_decide(author)
    outcome = BulkOutcome(wanted)
    if wanted.status in _ONE_BY_ONE:
        _one_by_one(named, outcome, note, author)
    else:
        _at_once(named, outcome, note, author)
    return outcome


def _named(ids: object) -> dict[str, UUID | None]:
    """The ids as they are shown, each once, and what they name."""
    if not isinstance(ids, list | tuple):
        raise SynapseError(ErrorCode.INVALID_PARAM_TYPE, "ids must be a list of item ids. A filter is not taken.")
    if not 1 <= len(ids) <= MAX_IDS:
        raise SynapseError(
            ErrorCode.TOO_MANY_IDS, f"Name 1 to {MAX_IDS} items in ids; send more of them in parts.", limit=MAX_IDS
        )
    found = ((as_id(given), given) for given in ids)
    return {str(item_id) if item_id else _shown(given): item_id for item_id, given in found}


def _shown(given: object) -> str:
    """What was sent in the place of an id: a text as it is, anything else as its JSON text."""
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=lambda _: "?")
    return "".join(letter if letter.isprintable() else "?" for letter in text[:_SHOWN])


def _at_once(named: dict[str, UUID | None], outcome: BulkOutcome, note: str, author: Author) -> None:
    """One conditional UPDATE for all, with its events, in one transaction."""
    wanted = outcome.action
    with transaction.atomic():
        known = {
            item.pk: item
            for item in ReviewItem.objects.filter(pk__in=[item_id for item_id in named.values() if item_id])
            .order_by("pk")
            .select_for_update(of=("self",))
            .select_related("page")
            .only("status", "title", "page_path", "created_path", "created_page", "page__uid")
        }
        now = timezone.now()
        free = set(free_items(known, now).values_list("pk", flat=True))
        free_items(free, now).update(**decision(wanted.status, note, author, now))
        decided = [known[item_id] for item_id in named.values() if item_id is not None and item_id in free]
        events.decided(decided, wanted, author=author, at=now, note=note)
        if decided:
            log_decision(wanted, decided[0].title if len(decided) == 1 else f"{len(decided)} reviews")
    for shown, item_id in named.items():
        if item_id is None or item_id not in known:
            outcome.not_found.append(shown)
        elif item_id in free:
            outcome.updated.append(shown)
        elif known[item_id].status != Status.PENDING:
            outcome.already.append(shown)
            outcome.statuses[shown] = known[item_id].status
        else:
            outcome.failed.append({"id": shown, **being_carried_out().envelope()})


def _brief(error: SynapseError) -> dict[str, Any]:
    """An envelope without whole texts, of which 200 conflicts would have 600, and without the id of a page."""
    return {name: value for name, value in error.envelope().items() if name not in (*_TEXTS, "id")}


def _unexpected() -> SynapseError:
    return SynapseError(ErrorCode.INTERNAL_ERROR, "It could not be carried out; the log says why. The item is pending.")


def _one_by_one(named: dict[str, UUID | None], outcome: BulkOutcome, note: str, author: Author) -> None:
    for shown, item_id in named.items():
        if item_id is None:
            outcome.not_found.append(shown)
            continue
        try:
            resolved = resolve(item_id=item_id, action=outcome.action.name, note=note, author=author)
        except SynapseError as error:
            if error.code is ErrorCode.REVIEW_NOT_FOUND:
                outcome.not_found.append(shown)
            elif error.code is ErrorCode.REVIEW_TERMINAL:
                outcome.already.append(shown)
                outcome.statuses[shown] = error.repair["status"]
            else:
                outcome.failed.append({"id": shown, **_brief(error)})
            continue
        except Exception:
            logger.exception("a decision failed")
            outcome.failed.append({"id": shown, **_unexpected().envelope()})
            continue
        if resolved.changed:
            outcome.updated.append(shown)
            if resolved.warnings:
                outcome.warnings[shown] = resolved.warnings
        else:
            outcome.already.append(shown)
            outcome.statuses[shown] = resolved.item.status
