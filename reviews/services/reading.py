"""Reads of the queue: lists by cursor, one item, and the dicts that every door shows."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import BooleanField, Case, Exists, OuterRef, Q, QuerySet, Value, When
from django.utils.dateparse import parse_datetime

from reviews.actions import proposes_text, supported
from reviews.models import Evidence, ItemType, Origin, ReviewEvent, ReviewItem, Status
from reviews.services.diff import item_diff
from reviews.services.naming import iso, named_page
from reviews.services.research import research_of
from reviews.services.rules import as_id
from vault.errors import ErrorCode, SynapseError
from vault.links import path_key
from vault.paths import check_path
from wiki.models import Page
from wiki.services import read_page
from wiki.services.cursors import make_cursor, read_cursor

MAX_LIST: Final = 100
#: Events of an item that are shown: the newest.
MAX_EVENTS: Final = 100
#: The groups that lists are asked for by.
STATUS_GROUPS: Final[dict[str, tuple[Status, ...]]] = {
    "pending": (Status.PENDING,),
    "resolved": (Status.CREATED, Status.RESOLVED, Status.AUTO_RESOLVED, Status.DEEP_RESEARCHED),
    "dismissed": (Status.DISMISSED, Status.SKIPPED),
    "all": tuple(Status),
}
ORDERS: Final = ("oldest", "rank")


def items() -> QuerySet[ReviewItem]:
    """Items with what :func:`item_as_dict` shows of them, their texts left where they are."""
    proposes = Q(proposed_body__isnull=False) | ~Q(proposed_text="")
    return (
        ReviewItem.objects.select_related("page", "file", "created_page")
        .defer("proposed_body", "proposed_text", *_heavy("page"), *_heavy("created_page"))
        .annotate(proposes=Case(When(proposes, then=Value(True)), default=False, output_field=BooleanField()))
    )


def _heavy(name: str) -> tuple[str, ...]:
    return tuple(f"{name}__{field}" for field in ("frontmatter", "sources", "flags", "summary"))


def list_items(
    *,
    status: str | None = None,
    item_type: str | None = None,
    origin: str | None = None,
    page: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
    order: str = "oldest",
) -> dict[str, Any]:
    """Items as ``result`` (as :func:`item_as_dict`), ``next_cursor`` (or null) and ``total``.

    ``status`` is pending (also when null), resolved, dismissed or all; ``page`` a page's id or vault path: items about
    it, or resting on it. ``limit`` is clamped to 1..100. ``order`` is oldest or rank (most rests on it first). Items
    filed or decided meanwhile neither repeat nor hide others.

    Raises ``invalid_param_value``, ``invalid_cursor``, ``path_not_allowed``.
    """
    group = _one_of("status", "pending" if status is None else status, STATUS_GROUPS)
    _one_of("order", order, ORDERS)
    chosen = [_in_group(STATUS_GROUPS[group])]
    if item_type is not None:
        chosen.append(Q(item_type=_one_of("item_type", item_type, ItemType.values)))
    if origin is not None:
        chosen.append(Q(origin=_one_of("origin", origin, Origin.values)))
    if page is not None:
        chosen.append(_about(page))
    name = ":".join(("reviews", order, group, item_type or "", origin or "", page or ""))
    limit = max(1, min(limit, MAX_LIST))
    rest = items().filter(*chosen)
    if cursor:
        rest = rest.filter(_after(*_position(name, cursor), by_rank=order == "rank"))
    ordering = ("-rank", "created_at", "pk") if order == "rank" else ("created_at", "pk")
    rows = list(rest.order_by(*ordering)[: limit + 1])
    more, rows = len(rows) > limit, rows[:limit]
    return {
        "result": [item_as_dict(item) for item in rows],
        "next_cursor": _cursor(name, rows[-1]) if more else None,
        "total": ReviewItem.objects.filter(*chosen).count(),
    }


def get_item(item_id: UUID | str) -> ReviewItem:
    """The item with this id; ``review_not_found``, for a text that is no id too."""
    known = as_id(item_id)
    found = (
        ReviewItem.objects.select_related("page", "file", "created_page").filter(pk=known).first() if known else None
    )
    if found is None:
        raise SynapseError(
            ErrorCode.REVIEW_NOT_FOUND, "No review item has this id. List the queue, and use an id given there."
        )
    return found


def item_as_dict(item: ReviewItem, *, whole: bool = False) -> dict[str, Any]:
    """An item as every door shows it; ``whole`` with the proposed body, which is null otherwise."""
    return {
        "id": str(item.pk),
        "item_type": str(item.item_type),
        "rule": item.rule,
        "origin": str(item.origin),
        "status": str(item.status),
        "title": item.title,
        "rationale": item.rationale,
        "rank": item.rank,
        "page": named_page(item.page, item.page_path),
        "file": {"path": item.file_path} if item.file_path else None,
        "proposed_title": item.proposed_title,
        "proposed_page_type": item.proposed_page_type,
        "proposed_frontmatter": item.proposed_frontmatter,
        "proposed_body": item.proposed_body if whole else None,
        "has_proposal": proposes_text(item),
        "base_hash": item.base_hash,
        "referenced_pages": item.referenced_pages,
        "search_queries": item.search_queries,
        "created_page": named_page(item.created_page, item.created_path),
        "research_run": str(item.research_run_id) if item.research_run_id else None,
        "note": item.note,
        "failure": item.failure,
        "previous": str(item.previous_id) if item.previous_id else None,
        "previous_reason": item.previous_reason,
        "filed_by": item.filed_by,
        "created_at": iso(item.created_at),
        "reviewed_at": iso(item.reviewed_at),
        "reviewed_by": item.reviewed_by,
        "reviewed_via": item.reviewed_via,
    }


def item_detail(item: ReviewItem) -> dict[str, Any]:
    """An item whole: with its newest events, the actions that can be taken now, and as a diff what ``create`` writes.

    ``research`` is where its run stands, with the page that came of it. ``conflict`` tells that the page is no longer
    the version that the proposal was made from. Reads files.
    """
    pending = item.status == Status.PENDING
    diff = item_diff(item, stubs=True)
    newest = ReviewEvent.objects.filter(item=item).order_by("-pk")[:MAX_EVENTS]
    return {
        **item_as_dict(item, whole=True),
        "actions": supported(item) if pending and not settings.SYNAPSE_READ_ONLY else [],
        # A diff that could not be made, whatever the reason, can't tell; the hash of the file still does.
        "conflict": pending and ((diff is not None and diff.conflict) or _has_moved_on(item)),
        "diff": diff.as_dict() if diff else None,
        "research": research_of(item),
        "events": [_event(event) for event in reversed(newest)],
    }


def _event(event: ReviewEvent) -> dict[str, Any]:
    return {
        "at": iso(event.at),
        "what": event.what,
        "who": event.who,
        "door": event.door,
        "from_status": event.from_status,
        "to_status": event.to_status,
        "note": event.note,
    }


def _has_moved_on(item: ReviewItem) -> bool:
    if not item.base_hash:
        return False
    if item.page is None or item.page.deleted_at is not None:
        return True
    try:
        return read_page(item.page).content_hash != item.base_hash
    except SynapseError:
        return True


def _in_group(statuses: tuple[Status, ...]) -> Q:
    """An index on the status serves one value, with the order of the rows behind it; for all no condition is needed."""
    if len(statuses) == len(Status):
        return Q()
    return Q(status=statuses[0]) if len(statuses) == 1 else Q(status__in=statuses)


def _one_of(name: str, value: str, known: Any) -> str:
    if value not in known:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, f"{name} must be one of {', '.join(known)}.", allowed=list(known)
        )
    return value


def _about(page: str) -> Q:
    """Items about a page, or resting on it, by its id or its path (as it is, or as it was when they were filed)."""
    if not page.strip():
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            "page must be the id or the vault path of a page. Leave it out for all items.",
        )
    uid = as_id(page)
    if uid is not None:
        pages, named = Page.objects.filter(uid=uid), Q()
    else:
        path = unicodedata.normalize("NFC", check_path(page))
        pages, named = (
            Page.objects.filter(path_key=path_key(path), path__in={path, page}),
            Q(page_path__in={path, page}),
        )
    rests = Exists(Evidence.objects.filter(item=OuterRef("pk"), page__in=pages.values("pk")))
    return named | Q(page__in=pages.values("pk")) | Q(rests)


def _after(at: datetime, pk: UUID, rank: int, *, by_rank: bool) -> Q:
    # The first condition alone lets an index start in the right place.
    later = Q(created_at__gte=at) & (Q(created_at__gt=at) | Q(pk__gt=pk))
    return Q(rank__lte=rank) & (Q(rank__lt=rank) | later) if by_rank else later


def _cursor(name: str, item: ReviewItem) -> str:
    return make_cursor(name, after=f"{item.created_at.isoformat()} {item.pk}", pk=item.rank)


def _position(name: str, cursor: str) -> tuple[datetime, UUID, int]:
    after, rank = read_cursor(name, cursor)
    at, _, pk = after.partition(" ")
    moment, item_id = parse_datetime(at), as_id(pk)
    if moment is None or item_id is None:
        raise SynapseError(ErrorCode.INVALID_CURSOR, "This cursor can't be read. Leave it out to start over.")
    return moment, item_id, rank
