"""Filing: which findings become items, which refresh one, and which have been decided for good."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from reviews.models import Evidence, ItemType, Origin, ReviewItem, Status
from reviews.services import events
from reviews.services.findings import Filed, Finding, Outcome, content_key, item_values, pages_rested_on
from reviews.services.reading import get_item
from reviews.services.rules import check_may_decide, check_writes_allowed
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki import audit, deadlines
from wiki.rows import chunks, insert, select, update

#: Items written in one transaction.
_BATCH: Final = 500
#: The lock that those who file take in turn on PostgreSQL (the bytes of "reviews").
_FILING_LOCK: Final = 0x72657669657773
#: How often a batch is tried when somebody who does not take the lock files the same question meanwhile.
_TRIES: Final = 3

FOLLOWS_EVIDENCE: Final = (Status.SKIPPED, Status.RESOLVED, Status.DEEP_RESEARCHED)
_VALUES: Final = (
    "title",
    "rationale",
    "rank",
    "page_id",
    "page_path",
    "file_id",
    "file_path",
    "proposed_title",
    "proposed_page_type",
    "proposed_frontmatter",
    "proposed_body",
    "proposed_text",
    "base_hash",
    "referenced_pages",
    "search_queries",
    "evidence_hash",
)
_KNOWN: Final = "SELECT DISTINCT content_key FROM reviews_reviewitem WHERE content_key IN {items}"
_COLUMNS: Final = tuple(name.removesuffix("_id") for name in _VALUES)
#: What a new item holds where nothing is said, in the order of its columns; the id comes first.
_DEFAULTS: Final = {field.attname: field.get_default() for field in ReviewItem._meta.concrete_fields}


@dataclass(slots=True)
class _Question:
    """One finding on its way: its key, the values of its item, and what becomes of it."""

    finding: Finding
    key: str
    values: dict[str, Any]
    pages: frozenset[int]
    outcome: Outcome
    previous: ReviewItem | None = None
    why: str = ""


def file(*, findings: Iterable[Finding], origin: str, author: Author, cap: int | None = None) -> Filed:
    """Put findings before the queue; the answer says what became of each.

    A question that is pending is refreshed in place, and nothing is written when it says the same. One that was
    dismissed is refused for good; skipped, resolved and deep_researched ones until the evidence differs; one that was
    created or closed comes back as a new item that names the old one. ``cap`` limits new items, best rank first.

    Raises ``read_only``.
    """
    check_writes_allowed()
    outcomes: list[Outcome] = []
    questions: dict[str, _Question] = {}
    for finding in findings:
        key = content_key(finding, origin=origin)
        if key in questions:  # asked twice in one breath: the first wording stands
            outcomes.append(questions[key].outcome)
            continue
        values, pages = item_values(finding), pages_rested_on(finding)
        question = _Question(finding, key, values, pages, Outcome(finding, ""))
        questions[key] = question
        outcomes.append(question.outcome)
    _judge(questions.values())
    _hold_back(questions.values(), cap)
    to_write = sorted(
        (question for question in questions.values() if question.outcome.what in ("filed", "refreshed")),
        key=_by_rank,
    )
    if to_write:
        deadlines.lift()
    for batch in chunks(to_write, _BATCH):
        _write(batch, origin=origin, author=author)
    return Filed(outcomes)


def reopen(*, item_id: UUID | str, author: Author) -> ReviewItem:
    """File a decided item's question anew, as a pending item that names the old one.

    Where the question is pending already, that item is the answer. Raises ``review_not_found``, ``read_only``,
    ``forbidden``.
    """
    old = get_item(item_id)
    check_writes_allowed()
    check_may_decide(author)
    with transaction.atomic():
        filing_lock()
        standing = ReviewItem.objects.filter(content_key=old.content_key, status=Status.PENDING).first()
        if standing is not None:
            return standing
        now = timezone.now()
        item = ReviewItem.objects.create(
            item_type=old.item_type,
            rule=old.rule,
            origin=Origin.SYSTEM,
            target=old.target,
            content_key=old.content_key,
            filed_by=events.who(author),
            filed_via=events.door(author),
            created_at=now,
            previous=old,
            previous_reason="reopened",
            **{name: getattr(old, name) for name in _VALUES},
        )
        pages = Evidence.objects.filter(item=old).values_list("page_id", flat=True)
        insert(Evidence, ("item", "page"), [(item.pk, page) for page in pages])
        events.append([item.pk], what="filed", author=author, at=now, to_status=Status.PENDING, note="reopened")
        audit.record(action="reopen", author=author, path=item.page_path, detail={"review": str(item.pk)})
    return item


def _by_rank(question: _Question) -> tuple[int, str, str]:
    return -question.values["rank"], question.finding.target, question.key


def _hold_back(questions: Iterable[_Question], cap: int | None) -> None:
    """Let only the ``cap`` best of the new questions through."""
    if cap is None:
        return
    new = sorted((question for question in questions if question.outcome.what == "filed"), key=_by_rank)
    for question in new[max(0, cap) :]:
        question.outcome.what = "held_back"


def _judge(questions: Iterable[_Question], *, lock: bool = False) -> None:
    """Say what has to become of each question as the queue is now; with ``lock`` the items stay as they are read."""
    for batch in chunks(questions):
        # Most questions after a change are new, and that is told in a tenth of the time that whole items take.
        keys = {key for (key,) in select(_KNOWN, [question.key for question in batch])}
        rows = ReviewItem.objects.filter(content_key__in=keys).order_by("pk")
        found: dict[str, list[ReviewItem]] = {}
        for item in (rows.select_for_update() if lock else rows) if keys else ():
            found.setdefault(item.content_key, []).append(item)
        pending = [item.pk for items in found.values() for item in items if item.status == Status.PENDING]
        evidence: dict[UUID, set[int]] = {}
        standing = Evidence.objects.filter(item__in=pending).values_list("item_id", "page_id") if pending else ()
        for item_id, page in standing:
            evidence.setdefault(item_id, set()).add(page)
        for question in batch:
            _judge_one(question, found.get(question.key, []), evidence)


def _judge_one(question: _Question, items: list[ReviewItem], evidence: dict[UUID, set[int]]) -> None:
    outcome = question.outcome
    item = next((item for item in items if item.status == Status.PENDING), None)
    if item is not None:
        outcome.item = item
        same = evidence.get(item.pk, set()) == question.pages and _same(item, question.values)
        outcome.what = "unchanged" if same else "refreshed"
        return
    question.previous = outcome.item = last = last_of(items)
    if last is None:
        outcome.what = "filed"
    elif last.status == Status.DISMISSED:
        outcome.what = "refused"
        outcome.reason = "It was dismissed, and does not come back by itself. A person can reopen it."
    elif last.status in FOLLOWS_EVIDENCE:
        if last.evidence_hash == question.values["evidence_hash"]:
            outcome.what = "refused"
            outcome.reason = f"It was decided ({last.status}), and what it rests on has not changed since."
        else:
            outcome.what, question.why = "filed", "changed"
    else:
        outcome.what, question.why = "filed", "regressed"


def last_of(items: list[ReviewItem]) -> ReviewItem | None:
    """The item that no other one follows: each names the one before it, so that no clock has to be trusted."""
    followed = {item.previous_id for item in items}
    ends = [item for item in items if item.pk not in followed]
    return max(ends, key=lambda item: (item.created_at, item.pk), default=None)


def _same(item: ReviewItem, values: dict[str, Any]) -> bool:
    return all(getattr(item, name) == value for name, value in values.items())


def _write(batch: list[_Question], *, origin: str, author: Author) -> None:
    """Write what a batch needs, judged once more where nobody else can file."""
    for attempt in range(_TRIES):
        try:
            with transaction.atomic():
                filing_lock()
                _judge(batch, lock=True)
                _insert([question for question in batch if question.outcome.what == "filed"], origin, author)
                _refresh([question for question in batch if question.outcome.what == "refreshed"], author)
            return
        except IntegrityError:
            if attempt == _TRIES - 1:
                raise SynapseError(
                    ErrorCode.CONFLICT, "Somebody else is filing the same questions. Try again."
                ) from None


def _insert(questions: Collection[_Question], origin: str, author: Author) -> None:
    if not questions:
        return
    now = timezone.now()
    rows = []
    for number, question in enumerate(questions):
        finding = question.finding
        values = {
            **_DEFAULTS,
            "id": uuid4(),
            "item_type": ItemType(finding.item_type),
            "rule": finding.rule,
            "origin": Origin(origin),
            "target": finding.target,
            "content_key": question.key,
            "filed_by": events.who(author),
            "filed_via": events.door(author),
            # Items of one moment keep the order in which they were given, in lists by time.
            "created_at": now + timedelta(microseconds=number),
            "previous_id": question.previous.pk if question.previous else None,
            "previous_reason": question.why,
            **question.values,
        }
        rows.append([values[name] for name in _DEFAULTS])
        question.outcome.item = ReviewItem.from_db(connection.alias, list(_DEFAULTS), rows[-1])
    insert(ReviewItem, [field.name for field in ReviewItem._meta.concrete_fields], rows)
    insert(Evidence, ("item", "page"), _evidence_rows(questions))
    events.append([row[0] for row in rows], what="filed", author=author, at=now, to_status=Status.PENDING)
    if origin != Origin.RULE:  # what a rule finds follows from the vault; its events say so
        audit.record(action="file", author=author, detail={"items": len(rows), "first": str(rows[0][0])})


def _refresh(questions: Collection[_Question], author: Author) -> None:
    """Give pending items the values of their findings; id and created_at stay."""
    if not questions:
        return
    now = timezone.now()
    rows = []
    ids = []
    for question in questions:
        item = question.outcome.item
        if item is None:
            continue
        for name, value in question.values.items():
            setattr(item, name, value)
        item.refreshed_at = now
        ids.append(item.pk)
        rows.append((*(question.values[name] for name in _VALUES), now, item.pk))
    update(ReviewItem, (*_COLUMNS, "refreshed_at"), rows)
    Evidence.objects.filter(item__in=ids).delete()
    insert(Evidence, ("item", "page"), _evidence_rows(questions))
    events.refreshed(ids, author=author, at=now)


def _evidence_rows(questions: Iterable[_Question]) -> list[tuple[UUID, int]]:
    return [
        (question.outcome.item.pk, page)
        for question in questions
        if question.outcome.item is not None
        for page in sorted(question.pages)
    ]


def filing_lock() -> None:
    """Let those who file take turns; SQLite's IMMEDIATE transactions do so by themselves."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_FILING_LOCK])
