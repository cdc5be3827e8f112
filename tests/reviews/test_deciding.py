"""Deciding: every action on every type, once, in the one order of checks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from reviews.actions import ACTIONS, action_for_status, action_named, supported, table
from reviews.models import ItemType, ResearchRun, ReviewEvent, ReviewItem, Status
from reviews.services import close, creating, deciding, resolve
from reviews.services.deciding import CLAIM_SECONDS, Resolved
from tests.conftest import VaultFolder
from tests.reviews.queue import ALICE, BOB, CLAUDE, SWEEP, TOKEN, history, pending, pending_of_type
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki.models import Audit, Page
from wiki.services import PageWritten

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("vault_folder")]

NAMES = [action.name for action in ACTIONS]
STATUSES = [status.value for status in Status if status != Status.PENDING]
BODY = "Alan Turing was a mathematician.\n"


def can(item_type: str, proposing: bool, action: str) -> bool:
    """The table of the specification, written out."""
    if action == "create":
        return item_type == "missing-page" or (item_type in ("suggestion", "contradiction") and proposing)
    return not (action == "deep-research" and item_type == "confirm")


def refusal(action: Callable[[], object]) -> SynapseError:
    with pytest.raises(SynapseError) as refused:
        action()
    return refused.value


def decide(item: ReviewItem, action: str, author: Author = ALICE, note: str = "") -> Resolved:
    return resolve(item_id=item.pk, action=action, note=note, author=author)


def now(item: ReviewItem) -> ReviewItem:
    return ReviewItem.objects.get(pk=item.pk)


# --- the table -------------------------------------------------------------------------------------


def test_names_and_aliases() -> None:
    found = {name: action_named(name).name for name in (*NAMES, "resolved", "approve")}
    assert found == {**{name: name for name in NAMES}, "resolved": "mark-resolved", "approve": "create"}
    assert [row["action"] for row in table()] == NAMES


@pytest.mark.parametrize("text", ["", "Skip", "skip ", "merge", "../x", "pending", None, 1, ["skip"], {"a": 1}])
def test_an_unknown_action_is_answered_with_the_known_ones(text: Any) -> None:
    item = pending()
    error = refusal(lambda: resolve(item_id=item.pk, action=text, author=ALICE))
    assert (error.code, error.repair["actions"]) == (ErrorCode.INVALID_ACTION, NAMES)
    assert now(item).status == "pending"


def test_a_status_stands_for_the_action_that_leads_to_it() -> None:
    assert {status: action_for_status(status).name for status in STATUSES if status != "auto_resolved"} == {
        "created": "create",
        "skipped": "skip",
        "dismissed": "dismiss",
        "resolved": "mark-resolved",
        "deep_researched": "deep-research",
    }
    for other in ("pending", "auto_resolved", "approved", "", None, 5, ["created"]):
        assert refusal(lambda given=other: action_for_status(given)).code is ErrorCode.INVALID_ACTION  # type: ignore[misc]


# --- every action on every type --------------------------------------------------------------------


@pytest.mark.parametrize("proposing", [True, False])
@pytest.mark.parametrize("item_type", ItemType.values)
@pytest.mark.parametrize("action", NAMES)
def test_each_action_on_each_type(settings: Any, action: str, item_type: str, proposing: bool) -> None:
    settings.SYNAPSE_RESEARCH_BACKEND = "agent"
    proposal = {"proposed_title": "Alan Turing", "proposed_body": BODY} if proposing else {}
    frontmatter = {"sources": ["raw/sources/a.md"]}
    item = pending_of_type(item_type, proposed_frontmatter=frontmatter, **proposal)
    assert (action in supported(item)) == can(item_type, proposing, action)
    if not can(item_type, proposing, action):
        error = refusal(lambda: decide(item, action))
        assert (error.code, error.repair["supported"]) == (ErrorCode.ACTION_NOT_SUPPORTED, supported(item))
        assert now(item).status == "pending"
        assert history(item) == [("filed", "synapse", "pending")]
        return
    resolved = decide(item, action, note=" seen ")
    stored = now(item)
    assert (resolved.changed, resolved.item.status) == (True, stored.status)
    assert stored.status == action_named(action).status
    assert (stored.note, stored.reviewed_by, stored.reviewed_via) == ("seen", "user:alice", "admin")
    assert stored.reviewed_at is not None
    assert (stored.claim, stored.failure) == (None, "")
    assert history(stored)[1:] == [("decided", "user:alice", stored.status)]
    (audit,) = Audit.objects.filter(action="decide")
    assert (audit.actor, audit.door, audit.detail) == (
        "user:alice",
        "admin",
        {"review": str(item.pk), "decision": action},
    )
    assert (stored.created_page is not None) == (action == "create")
    assert (stored.research_run is not None) == (action == "deep-research")
    if stored.created_page:
        assert (stored.created_path, audit.page_uid) == (stored.created_page.path, stored.created_page.uid)


@pytest.mark.parametrize(("action", "status"), list(itertools.product(NAMES, STATUSES)))
@pytest.mark.parametrize("item_type", ItemType.values)
def test_a_decided_item_never_changes(action: str, status: str, item_type: str) -> None:
    item = pending_of_type(item_type)
    decided = timezone.now() - timedelta(days=1)
    ReviewItem.objects.filter(pk=item.pk).update(status=status, reviewed_at=decided, reviewed_by="user:bob", note="n")
    before = ReviewItem.objects.filter(pk=item.pk).values().get()
    if action_named(action).status == status:
        resolved = decide(item, action, note="another")
        assert (resolved.changed, resolved.item.status, resolved.item.note) == (False, status, "n")
    else:
        error = refusal(lambda: decide(item, action))
        assert error.code is ErrorCode.REVIEW_TERMINAL
        assert (error.repair["status"], error.repair["reviewed_by"]) == (status, "user:bob")
        assert error.repair["reviewed_at"] == decided.isoformat().replace("+00:00", "Z")
    assert ReviewItem.objects.filter(pk=item.pk).values().get() == before
    assert (len(history(item)), Audit.objects.filter(action="decide").count()) == (1, 0)


def test_an_alias_is_the_same_decision() -> None:
    item = pending()
    assert decide(item, "resolved").changed
    assert not decide(item, "mark-resolved").changed
    assert not decide(item, "resolved", BOB).changed


def test_a_decision_is_told_in_the_log(vault_folder: VaultFolder, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        decide(pending(title="Ada is missing"), "skip")
    assert b"resolve | Ada is missing (skipped)\n" in vault_folder.read("wiki/log.md")


# --- the order of the checks -----------------------------------------------------------------------


def test_the_checks_come_in_one_order(settings: Any) -> None:
    """Each step takes away the reason that was given, and the next one shows."""
    confirm, decided = pending_of_type("confirm"), pending("other")
    settings.SYNAPSE_READ_ONLY = True
    settings.SYNAPSE_AGENT_MAY_DECIDE = False
    ReviewItem.objects.filter(pk=decided.pk).update(status="dismissed", reviewed_at=timezone.now())

    def code(item_id: Any, action: str) -> ErrorCode:
        return refusal(lambda: resolve(item_id=item_id, action=action, author=CLAUDE)).code

    assert code("no id", "nothing") is ErrorCode.INVALID_ACTION
    assert code("no id", "create") is ErrorCode.REVIEW_NOT_FOUND
    assert code(str(uuid4()), "create") is ErrorCode.REVIEW_NOT_FOUND
    assert code(decided.pk, "create") is ErrorCode.REVIEW_TERMINAL
    assert resolve(item_id=decided.pk, action="dismiss", author=CLAUDE).changed is False
    assert code(confirm.pk, "create") is ErrorCode.ACTION_NOT_SUPPORTED
    assert code(confirm.pk, "skip") is ErrorCode.READ_ONLY
    settings.SYNAPSE_READ_ONLY = False
    assert code(confirm.pk, "skip") is ErrorCode.FORBIDDEN
    settings.SYNAPSE_AGENT_MAY_DECIDE = True
    assert resolve(item_id=confirm.pk, action="skip", author=CLAUDE).changed


@pytest.mark.parametrize(
    "given",
    [
        "",
        "7",
        "x" * 5_000,
        "\0",
        "{" + "8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01" + "}",
        "8d3f5a1c5f0e4f3b9a512f6f0d1b7c01",
        "urn:uuid:",
        None,
        7,
    ],
)
def test_what_is_no_id_is_not_found(given: Any) -> None:
    assert refusal(lambda: resolve(item_id=given, action="skip", author=ALICE)).code is ErrorCode.REVIEW_NOT_FOUND


def test_an_id_may_be_in_any_case() -> None:
    assert resolve(item_id=str(pending().pk).upper(), action="skip", author=ALICE).changed


@pytest.mark.parametrize(
    ("note", "code"),
    [
        ("n" * 2_001, ErrorCode.INVALID_PARAM_VALUE),
        ("a\0b", ErrorCode.INVALID_CONTENT),
        ("\ud800", ErrorCode.INVALID_CONTENT),
        (7, ErrorCode.INVALID_PARAM_TYPE),
    ],
)
def test_a_note_is_bounded(note: Any, code: ErrorCode) -> None:
    item = pending()
    assert refusal(lambda: decide(item, "skip", note=note)).code is code
    assert now(item).status == "pending"
    assert decide(item, "skip", note="n" * 2_000).item.note == "n" * 2_000


@pytest.mark.parametrize("author", [CLAUDE, TOKEN, Author("agent:x", "mcp-http"), Author("token:admin", "mcp-http")])
@pytest.mark.parametrize("action", ["skip", "create", "deep-research"])
def test_deciding_can_be_kept_to_people(settings: Any, author: Author, action: str) -> None:
    settings.SYNAPSE_AGENT_MAY_DECIDE = False
    item = pending()
    assert refusal(lambda: decide(item, action, author)).code is ErrorCode.FORBIDDEN
    assert history(item) == [("filed", "synapse", "pending")]
    for number, person in enumerate((ALICE, BOB, Author("user:token:x", "rest"), Author("ann", "command"))):
        assert decide(pending(str(number)), "skip", person).changed


# --- effects ---------------------------------------------------------------------------------------


def creatable(**values: Any) -> ReviewItem:
    given = {"sources": ["raw/sources/a.md"]}
    return pending("alan turing", proposed_title="Alan Turing", proposed_frontmatter=given, **values)


def test_create_writes_the_page_and_names_it(vault_folder: VaultFolder) -> None:
    item = decide(creatable(proposed_body=BODY), "approve").item
    page = Page.objects.get(title="Alan Turing")
    assert (item.created_page, item.created_path) == (page, page.path)
    assert BODY.encode() in vault_folder.read(page.path)
    assert set(Audit.objects.values_list("action", "actor")) == {("write", "user:alice"), ("decide", "user:alice")}


def test_a_failed_create_leaves_the_item_pending_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    item = creatable()
    full = SynapseError(ErrorCode.STORAGE_ERROR, "The disk is full.")

    def fails(*arguments: Any, **named: Any) -> PageWritten:
        raise full

    monkeypatch.setattr(creating, "carry_out", fails)
    assert refusal(lambda: decide(item, "create")) is full
    stored = now(item)
    assert (stored.status, stored.failure, stored.claim, stored.claimed_at) == (
        "pending",
        "The disk is full.",
        None,
        None,
    )
    assert history(item)[1:] == [("failed", "user:alice", "")]
    monkeypatch.undo()
    assert decide(item, "create").changed
    assert now(item).failure == ""


def test_a_bug_leaves_the_item_pending_and_free(monkeypatch: pytest.MonkeyPatch) -> None:
    item = creatable()

    def fails(*arguments: Any, **named: Any) -> PageWritten:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(creating, "carry_out", fails)
    with pytest.raises(ZeroDivisionError):
        decide(item, "create")
    stored = now(item)
    assert (stored.status, stored.claim) == ("pending", None)
    assert stored.failure
    assert "secret" not in stored.failure


def test_research_without_a_backend_leaves_the_item_pending(settings: Any) -> None:
    settings.SYNAPSE_RESEARCH_BACKEND = "none"
    item = pending()
    error = refusal(lambda: decide(item, "deep-research"))
    stored = now(item)
    assert (error.code, stored.status, stored.failure) == (ErrorCode.DEPENDENCY_MISSING, "pending", error.message)
    assert (stored.reviewed_at, stored.reviewed_by, ResearchRun.objects.count()) == (None, "", 0)
    assert history(item)[1:] == [("failed", "user:alice", "")]


def test_research_that_fails_opens_no_run(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SYNAPSE_RESEARCH_BACKEND = "agent"
    item = pending()

    def fails(*arguments: Any, **named: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(deciding, "_record", fails)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        decide(item, "deep-research")
    assert (now(item).status, ResearchRun.objects.count()) == ("pending", 0)


# --- claims ----------------------------------------------------------------------------------------


def claimed(item: ReviewItem, *, seconds_ago: float) -> ReviewItem:
    """Somebody else is carrying it out."""
    at = timezone.now() - timedelta(seconds=seconds_ago)
    ReviewItem.objects.filter(pk=item.pk).update(claim=uuid4(), claimed_at=at)
    return now(item)


@pytest.mark.parametrize("action", ["create", "skip", "deep-research"])
def test_a_live_claim_is_waited_for_and_then_a_conflict(monkeypatch: pytest.MonkeyPatch, action: str) -> None:
    item = claimed(creatable(), seconds_ago=1)
    monkeypatch.setattr(deciding, "WAIT_SECONDS", 0.1)
    error = refusal(lambda: decide(item, action))
    assert error.code is ErrorCode.CONFLICT
    assert ReviewItem.objects.filter(pk=item.pk).values().get() == {
        field.attname: getattr(item, field.attname) for field in item._meta.concrete_fields
    }


@pytest.mark.parametrize(("status", "changed"), [("created", False), ("skipped", None)])
def test_whoever_waits_hears_how_it_ended(monkeypatch: pytest.MonkeyPatch, status: str, changed: bool | None) -> None:
    item = claimed(creatable(), seconds_ago=1)
    looks = iter(range(100))

    def ends(seconds: float) -> None:
        if next(looks) == 2:
            ReviewItem.objects.filter(pk=item.pk).update(
                status=status, claim=None, claimed_at=None, reviewed_at=timezone.now()
            )

    monkeypatch.setattr(deciding.time, "sleep", ends)
    if changed is None:
        assert refusal(lambda: decide(item, "create")).code is ErrorCode.REVIEW_TERMINAL
    else:
        assert decide(item, "create").changed is changed


def test_whoever_waits_goes_on_when_the_other_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    item = claimed(creatable(), seconds_ago=1)

    def fails(seconds: float) -> None:
        ReviewItem.objects.filter(pk=item.pk).update(claim=None, claimed_at=None, failure="The disk is full.")

    monkeypatch.setattr(deciding.time, "sleep", fails)
    assert decide(item, "create").changed
    assert now(item).failure == ""


@pytest.mark.parametrize("seconds_ago", [CLAIM_SECONDS + 1, -CLAIM_SECONDS - 1])
@pytest.mark.parametrize("action", ["create", "skip"])
def test_a_claim_that_is_too_old_or_from_the_future_is_nobodys(action: str, seconds_ago: float) -> None:
    item = claimed(creatable(), seconds_ago=seconds_ago)
    assert decide(item, action).changed
    assert now(item).claim is None


def test_whoever_lost_the_claim_writes_nothing(monkeypatch: pytest.MonkeyPatch, vault_folder: VaultFolder) -> None:
    """A process that slept longer than its claim holds wakes up before its write."""
    item = creatable()
    carry_out = creating.carry_out

    def late(one: ReviewItem, *, author: Author, note_intent: Callable[[str], None]) -> PageWritten:
        ReviewItem.objects.filter(pk=one.pk).update(claim=uuid4())
        return carry_out(one, author=author, note_intent=note_intent)

    monkeypatch.setattr(creating, "carry_out", late)
    assert refusal(lambda: decide(item, "create")).code is ErrorCode.CONFLICT
    assert not Page.objects.exists()
    assert vault_folder.files() == []


def test_a_crash_after_the_write_is_finished_without_a_second_write(monkeypatch: pytest.MonkeyPatch) -> None:
    item = creatable(proposed_body=BODY)

    class PowerCut(BaseException):
        """Ends the process where it stands."""

    def dies(*arguments: Any, **named: Any) -> None:
        raise PowerCut

    with monkeypatch.context() as patch:
        patch.setattr(deciding, "_record", dies)
        patch.setattr(deciding, "_note_failure", lambda *arguments, **named: None)
        with pytest.raises(PowerCut):
            decide(item, "create")
    left = now(item)
    assert (left.status, left.claim is not None, len(left.write_hash)) == ("pending", True, 64)
    page = Page.objects.get(title="Alan Turing")
    claimed(item, seconds_ago=CLAIM_SECONDS + 1)
    resolved = decide(item, "create", BOB)
    assert (resolved.changed, resolved.item.created_page) == (True, page)
    assert Audit.objects.filter(action="write").count() == 1
    assert [event.what for event in ReviewEvent.objects.filter(item=item)] == ["filed", "decided"]


def test_a_database_that_fails_after_the_write_can_be_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    item = creatable(proposed_body=BODY)

    def fails(*arguments: Any, **named: Any) -> None:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr(deciding, "_record", fails)
        with pytest.raises(OperationalError):
            decide(item, "create")
    assert (now(item).status, now(item).claim) == ("pending", None)
    assert decide(item, "create").changed
    assert Audit.objects.filter(action="write").count() == 1
    assert [what for what, *_ in history(item)] == ["filed", "failed", "decided"]


# --- the sweep -------------------------------------------------------------------------------------


def test_closing_is_for_pending_items_alone() -> None:
    items = [pending(str(number)) for number in range(6)]
    decide(items[0], "dismiss")
    claimed(items[1], seconds_ago=1)
    claimed(items[2], seconds_ago=CLAIM_SECONDS + 1)
    assert close(items=items, note="no longer so", author=SWEEP) == 4
    assert [now(item).status for item in items] == ["dismissed", "pending", *["auto_resolved"] * 4]
    closed = now(items[5])
    assert (closed.reviewed_by, closed.reviewed_via, closed.note) == ("synapse", "sweep", "no longer so")
    assert history(closed)[1:] == [("closed", "synapse", "auto_resolved")]
    assert close(items=items, note="again", author=SWEEP) == 0
    assert close(items=[], note="", author=SWEEP) == 0
    assert history(closed)[1:] == [("closed", "synapse", "auto_resolved")]


def test_nothing_is_closed_while_the_vault_is_read_only(settings: Any) -> None:
    item = pending()
    settings.SYNAPSE_READ_ONLY = True
    assert refusal(lambda: close(items=[item], note="", author=SWEEP)).code is ErrorCode.READ_ONLY
