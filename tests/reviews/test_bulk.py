"""One action on many items: those named, each once, and one failure hides no other."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from reviews.models import ReviewEvent, ReviewItem
from reviews.services import BulkOutcome, bulk, creating, resolve
from tests.conftest import VaultFolder
from tests.reviews.queue import ALICE, BOB, CLAUDE, file_all, finding, history, pending, pending_of_type, state
from vault.errors import ErrorCode, SynapseError
from wiki.models import Audit, Page
from wiki.services import PageWritten
from wiki.sync import scan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("vault_folder")]

SIMPLE = {"skip": "skipped", "dismiss": "dismissed", "mark-resolved": "resolved"}
SOURCES = {"sources": ["raw/sources/a.md"]}


def many(count: int) -> list[str]:
    """Ids of new items."""
    return [str(item.pk) for item in file_all(*(finding(f"t{number}") for number in range(count))).filed]


def take(ids: Any, action: str = "skip", note: str = "", author: Any = ALICE) -> BulkOutcome:
    return bulk(ids=ids, action=action, note=note, author=author)


def refused(ids: Any, action: str = "skip", **given: Any) -> SynapseError:
    before = state()
    with pytest.raises(SynapseError) as caught:
        take(ids, action, **given)
    assert state() == before, "nothing was done"
    return caught.value


def failures(outcome: BulkOutcome) -> list[tuple[str, str]]:
    return [(entry["id"], entry["error_code"]) for entry in outcome.failed]


# --- what is taken ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "code"),
    [
        ([], ErrorCode.TOO_MANY_IDS),
        (None, ErrorCode.INVALID_PARAM_TYPE),
        ("all", ErrorCode.INVALID_PARAM_TYPE),
        ({"filter": {}}, ErrorCode.INVALID_PARAM_TYPE),
        (["x"] * 201, ErrorCode.TOO_MANY_IDS),
        (["x"] * 10_001, ErrorCode.TOO_MANY_IDS),
    ],
)
def test_what_is_no_list_of_ids(ids: Any, code: ErrorCode) -> None:
    pending()
    assert refused(ids).code is code


def test_201_ids_are_too_many_even_where_they_are_one() -> None:
    (item,) = many(1)
    error = refused([item] * 201)
    assert (error.code, error.repair["limit"]) == (ErrorCode.TOO_MANY_IDS, 200)


@pytest.mark.parametrize("action", ["", "merge", None, ["skip"]])
def test_an_unknown_action(action: Any) -> None:
    assert refused(many(2), action).code is ErrorCode.INVALID_ACTION


def test_a_note_that_is_too_long() -> None:
    assert refused(many(2), note="n" * 2_001).code is ErrorCode.INVALID_PARAM_VALUE


@pytest.mark.parametrize("action", ["skip", "create"])
def test_who_may_not_decide_one_may_not_decide_many(settings: Any, action: str) -> None:
    ids = many(2)
    settings.SYNAPSE_AGENT_MAY_DECIDE = False
    assert refused(ids, action, author=CLAUDE).code is ErrorCode.FORBIDDEN
    settings.SYNAPSE_READ_ONLY = True
    assert refused(ids, action).code is ErrorCode.READ_ONLY


# --- what becomes of each --------------------------------------------------------------------------


@pytest.mark.parametrize("action", SIMPLE)
def test_200_ids(action: str) -> None:
    ids = many(200)
    outsider = pending("outsider")
    outcome = take(ids[::-1], action, note="all of them")
    assert (outcome.updated, outcome.already, outcome.not_found, outcome.failed) == (ids[::-1], [], [], [])
    decided = ReviewItem.objects.exclude(pk=outsider.pk)
    assert set(decided.values_list("status", "note", "reviewed_by", "reviewed_via")) == {
        (SIMPLE[action], "all of them", "user:alice", "admin")
    }
    assert ReviewEvent.objects.filter(what="decided", to_status=SIMPLE[action]).count() == 200
    assert Audit.objects.filter(action="decide", detail__decision=action).count() == 200
    assert history(outsider) == [("filed", "synapse", "pending")]
    again = take(ids, action, author=BOB)
    assert (again.updated, again.already) == ([], ids)
    assert set(decided.values_list("reviewed_by", flat=True)) == {"user:alice"}
    assert ReviewEvent.objects.filter(what="decided").count() == 200, "of those decided before nothing is told"


def test_a_bulk_takes_the_same_few_statements_for_one_and_for_200() -> None:
    ids = many(201)

    def statements(some: list[str]) -> int:
        with CaptureQueriesContext(connection) as queries:
            take(some)
        return len(queries)

    assert statements(ids[:1]) == statements(ids[1:]) <= 8


@pytest.mark.parametrize("action", ["skip", "create"])
def test_good_bad_unknown_and_twice(action: str) -> None:
    """[7, 7, 8, 999]: an answer for each, in the order given, each once."""
    new, twice, skipped, dismissed = (
        pending(name, proposed_title=name.title(), proposed_frontmatter=SOURCES)
        for name in ("new one", "twice", "skipped", "dismissed")
    )
    for item, decision in ((skipped, "skip"), (dismissed, "dismiss")):
        resolve(item_id=item.pk, action=decision, author=BOB)
    unknown = str(uuid4())
    ids: list[Any] = [
        unknown,
        str(twice.pk),
        "999",
        str(skipped.pk),
        str(twice.pk).upper(),
        7,
        7,
        str(new.pk),
        None,
        {"a": 1},
        "",
        unknown,
        str(dismissed.pk),
        "x" * 3_000,
        "a\0b",
        new.pk,
    ]
    outcome = take(ids, action)
    assert outcome.updated == [str(twice.pk), str(new.pk)]
    assert outcome.already == [str(skipped.pk), str(dismissed.pk)]
    assert outcome.statuses == {str(skipped.pk): "skipped", str(dismissed.pk): "dismissed"}
    assert outcome.not_found == [unknown, "999", "7", "null", '{"a": 1}', "", "x" * 100, "a?b"]
    assert outcome.failed == []
    assert [what for what, *_ in history(twice)] == ["filed", "decided"]


def test_items_that_the_action_does_not_fit_fail_and_the_others_do_not() -> None:
    fits, does_not = pending("ada", proposed_title="Ada", proposed_frontmatter=SOURCES), pending_of_type("confirm")
    outcome = take([str(does_not.pk), str(fits.pk)], "approve")
    assert outcome.updated == [str(fits.pk)]
    assert failures(outcome) == [(str(does_not.pk), "action_not_supported")]
    assert outcome.failed[0]["supported"] == ["skip", "dismiss", "mark-resolved"]
    assert ReviewItem.objects.get(pk=does_not.pk).status == "pending"
    assert Page.objects.filter(title="Ada").exists()


@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize("error", [SynapseError(ErrorCode.STORAGE_ERROR, "The disk is full."), ZeroDivisionError("x")])
def test_one_failure_hides_no_other(monkeypatch: pytest.MonkeyPatch, failing: int, error: Exception) -> None:
    items = [pending(f"t{n}", proposed_title=f"T{n}", proposed_frontmatter=SOURCES) for n in range(3)]
    carry_out = creating.carry_out

    def sometimes(item: ReviewItem, **given: Any) -> PageWritten:
        if item.pk == items[failing].pk:
            raise error
        return carry_out(item, **given)

    monkeypatch.setattr(creating, "carry_out", sometimes)
    outcome = take([item.pk for item in items], "create")
    code = "storage_error" if isinstance(error, SynapseError) else "internal_error"
    assert failures(outcome) == [(str(items[failing].pk), code)]
    assert outcome.updated == [str(item.pk) for number, item in enumerate(items) if number != failing]
    stored = ReviewItem.objects.get(pk=items[failing].pk)
    assert (stored.status, stored.claim, bool(stored.failure)) == ("pending", None, True)


def test_research_without_a_backend_fails_item_by_item(settings: Any) -> None:
    settings.SYNAPSE_RESEARCH_BACKEND = "none"
    ids = many(2)
    assert failures(take(ids, "deep-research")) == [(one, "dependency_missing") for one in ids]


def test_an_item_that_is_being_carried_out_is_left_to_it() -> None:
    busy, free = many(2)
    ReviewItem.objects.filter(pk=busy).update(claim=uuid4(), claimed_at=timezone.now())
    outcome = take([busy, free])
    assert (outcome.updated, failures(outcome)) == ([free], [(busy, "conflict")])
    assert ReviewItem.objects.get(pk=busy).status == "pending"


def test_a_bulk_is_one_line_of_the_log(vault_folder: VaultFolder, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        take(many(3))
        take(["nothing"])
    log = vault_folder.read("wiki/log.md").decode()
    assert [line.partition("] ")[2] for line in log.splitlines() if line.startswith("## ")] == [
        "resolve | 3 reviews (skipped)"
    ]


def test_a_failure_names_its_item_and_not_the_page_that_stands_in_the_way(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/concepts/t0.md", "---\ntitle: t0\n---\nSomebody was here.\n")
    (one,) = many(1)
    scan()
    outcome = take([one], "create")
    assert failures(outcome) == [(one, "conflict")]
    assert outcome.failed[0]["path"] == "wiki/concepts/t0.md"
