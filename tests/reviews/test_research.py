"""Research runs: opened once for an item, held by one caller at a time, ended once."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from reviews.models import ResearchRun, ReviewItem, RunStatus, Status
from reviews.services import research
from reviews.services.research import claim_run, complete_run, fail_run, get_run, list_runs, open_run, run_as_dict
from tests.indexed import indexed
from vault.errors import ErrorCode, SynapseError
from vault.history import Author

ADA = Author("token:ada", "rest")
BOB = Author("token:bob", "rest")
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _backend(settings: Any) -> None:
    settings.SYNAPSE_RESEARCH_BACKEND = "agent"


def item(title: str = "What is a monad?", **fields: Any) -> ReviewItem:
    """A pending item."""
    return ReviewItem.objects.create(
        item_type="suggestion",
        rule="agent",
        origin="agent",
        title=title,
        target=title,
        content_key=uuid4().hex,
        **fields,
    )


def opened(title: str = "What is a monad?", **fields: Any) -> ResearchRun:
    """A run as it is once the decision that opened it stands."""
    asked = item(title, **fields)
    made = open_run(item=asked, author=ADA)
    ReviewItem.objects.filter(pk=asked.pk).update(
        research_run=made, status=Status.DEEP_RESEARCHED, reviewed_at=timezone.now()
    )
    return made


@pytest.mark.parametrize("status", ["", "running", "CLAIMED"])
def test_a_status_that_nobody_knows_is_refused(status: str) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        ResearchRun.objects.filter(pk=opened().pk).update(status=status)


def lapse(made: ResearchRun) -> None:
    """Let the lease end."""
    ResearchRun.objects.filter(pk=made.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def refused(code: ErrorCode, service: Any, **arguments: Any) -> SynapseError:
    with pytest.raises(SynapseError) as caught:
        service(**arguments)
    assert caught.value.code is code, caught.value.message
    return caught.value


# --- opening ------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["none", "claude"])
def test_without_a_backend_nothing_is_opened(settings: Any, backend: str) -> None:
    settings.SYNAPSE_RESEARCH_BACKEND = backend
    error = refused(ErrorCode.DEPENDENCY_MISSING, open_run, item=item(), author=ADA)
    assert "SYNAPSE_RESEARCH_BACKEND" in error.message
    assert not ResearchRun.objects.exists()


def test_topic_and_queries_are_the_items(settings: Any) -> None:
    made = opened("Page missing: Monad", proposed_title="Monad", search_queries=["monad laws", "monad history"])
    assert (made.topic, made.queries, made.backend) == ("Monad", ["monad laws", "monad history"], "agent")
    bare = opened("x" * 900)
    assert bare.queries == [bare.topic] == ["x" * 500]


def test_an_item_has_one_run_however_often_it_is_tried() -> None:
    asked = item()
    assert open_run(item=asked, author=ADA) == open_run(item=asked, author=BOB)
    assert ResearchRun.objects.count() == 1


def test_a_run_of_a_decision_that_never_came_to_its_end_is_nobodys() -> None:
    made = open_run(item=item(), author=ADA)
    assert list_runs(status="all")["total"] == 0
    refused(ErrorCode.NOT_FOUND, claim_run, run_id=made.pk, author=ADA)


# --- claiming -----------------------------------------------------------------------------------


def test_a_claim_holds_for_the_lease_that_was_asked_for() -> None:
    before = timezone.now()
    held = claim_run(run_id=opened().pk, author=ADA).run
    assert (held.status, held.claimed_by, held.attempts) == (RunStatus.CLAIMED, "token:ada", 1)
    assert held.lease_until is not None
    assert timedelta(seconds=899) < held.lease_until - before < timedelta(seconds=960)
    hour = claim_run(run_id=opened().pk, author=ADA, lease_seconds=3600).run
    assert hour.lease_until is not None
    assert hour.lease_until - before > timedelta(minutes=59)


@pytest.mark.parametrize("seconds", [59, 3601, 0, -900])
def test_a_lease_has_bounds(seconds: int) -> None:
    made = opened()
    refused(ErrorCode.INVALID_PARAM_VALUE, claim_run, run_id=made.pk, author=ADA, lease_seconds=seconds)
    assert get_run(made.pk).attempts == 0


def test_a_held_run_is_nobody_elses() -> None:
    made = opened()
    held = claim_run(run_id=made.pk, author=ADA).run
    error = refused(ErrorCode.CONFLICT, claim_run, run_id=made.pk, author=BOB)
    assert error.repair["claimed_by"] == "token:ada"
    assert (get_run(made.pk).attempts, get_run(made.pk).lease_until) == (1, held.lease_until)


@pytest.mark.parametrize("seconds", [60, 3600])
def test_the_holder_renews_its_lease_without_a_further_claim(seconds: int) -> None:
    made = opened()
    before = timezone.now()
    for turn in range(research.MAX_CLAIMS + 1):
        held = claim_run(run_id=made.pk, author=ADA)
        renewed = claim_run(run_id=made.pk, author=ADA, lease_seconds=seconds)
        assert (held.changed, renewed.changed, renewed.run.attempts) == (turn == 0, False, 1)
        assert renewed.run.lease_until is not None
        assert timedelta(seconds=seconds - 1) < renewed.run.lease_until - before < timedelta(seconds=seconds + 60)
    lapse(made)
    taken = claim_run(run_id=made.pk, author=ADA)
    assert (taken.changed, taken.run.attempts) == (True, 2), "what has lapsed is claimed anew"


def test_a_lapsed_claim_is_anybodys_and_no_more_the_holders() -> None:
    made = opened()
    page = indexed("Monad")
    claim_run(run_id=made.pk, author=ADA)
    lapse(made)
    assert run_as_dict(get_run(made.pk))["status"] == "queued"
    refused(ErrorCode.CONFLICT, complete_run, run_id=made.pk, page_id=page.uid, author=ADA)
    assert claim_run(run_id=made.pk, author=BOB).run.claimed_by == "token:bob"
    refused(ErrorCode.CONFLICT, complete_run, run_id=made.pk, page_id=page.uid, author=ADA)
    refused(ErrorCode.CONFLICT, fail_run, run_id=made.pk, author=ADA)
    assert complete_run(run_id=made.pk, page_id=page.uid, author=BOB).changed


def test_a_lease_given_under_a_clock_that_was_set_back_holds_nobody_up() -> None:
    made = opened()
    claim_run(run_id=made.pk, author=ADA, lease_seconds=3600)
    assert get_run(made.pk).lease_until - timezone.now() > timedelta(minutes=59)  # type: ignore[operator]
    refused(ErrorCode.CONFLICT, claim_run, run_id=made.pk, author=BOB)
    ResearchRun.objects.filter(pk=made.pk).update(lease_until=timezone.now() + timedelta(days=365))
    assert run_as_dict(get_run(made.pk))["status"] == "queued"
    refused(ErrorCode.CONFLICT, fail_run, run_id=made.pk, author=ADA)
    assert claim_run(run_id=made.pk, author=BOB).run.claimed_by == "token:bob"


def test_who_comes_between_reading_and_claiming_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    made = opened()
    whole = research.get_run
    rivals = [BOB]

    def slowly(run_id: Any) -> ResearchRun:
        found = whole(run_id)
        if rivals:
            claim_run(run_id=run_id, author=rivals.pop())
        return found

    monkeypatch.setattr(research, "get_run", slowly)
    refused(ErrorCode.CONFLICT, claim_run, run_id=made.pk, author=ADA)
    assert (whole(made.pk).claimed_by, whole(made.pk).attempts) == ("token:bob", 1)


def test_a_run_that_is_dropped_again_and_again_has_failed() -> None:
    made = opened()
    for turn in range(research.MAX_CLAIMS):
        assert run_as_dict(get_run(made.pk))["attempts_left"] == research.MAX_CLAIMS - turn
        claim_run(run_id=made.pk, author=ADA)
        lapse(made)
    shown = run_as_dict(get_run(made.pk))
    assert (shown["status"], shown["attempts_left"]) == ("failed", 0)
    assert shown["finished_at"]
    assert [row["id"] for row in list_runs(status="failed")["result"]] == [str(made.pk)]
    assert list_runs(status="queued")["total"] == list_runs(status="claimed")["total"] == 0
    refused(ErrorCode.CONFLICT, claim_run, run_id=made.pk, author=BOB)
    assert get_run(made.pk).attempts == research.MAX_CLAIMS


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "x",
        "{}",
        "{8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01}",
        "8d3f5a1c5f0e4f3b9a512f6f0d1b7c01",
        "8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01",
        "\x00",
    ],
)
def test_an_id_that_is_none(bad: str) -> None:
    page = indexed("Monad")
    refused(ErrorCode.NOT_FOUND, claim_run, run_id=bad, author=ADA)
    refused(ErrorCode.NOT_FOUND, complete_run, run_id=bad, page_id=page.uid, author=ADA)
    refused(ErrorCode.NOT_FOUND, fail_run, run_id=bad, author=ADA)


# --- ending -------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["page_id", "title", "path"])
def test_a_run_ends_with_the_page_and_the_item_stays_as_it_was_decided(named: str) -> None:
    page = indexed("Monad")
    made = opened()
    before = ReviewItem.objects.values().get(research_run=made)
    claim_run(run_id=made.pk, author=ADA)
    given: dict[str, Any] = {named: {"page_id": page.uid, "title": page.title, "path": page.path}[named]}
    ended = complete_run(run_id=made.pk, note=" Three sources. ", author=ADA, **given)
    shown = run_as_dict(ended.run)
    assert ended.changed
    assert shown["status"] == "done"
    assert shown["page"] == {"id": str(page.uid), "title": "Monad", "path": page.path}
    assert (shown["note"], shown["claimed_by"]) == ("Three sources.", None)
    assert shown["finished_at"]
    assert ReviewItem.objects.values().get(research_run=made) == before
    event = ReviewItem.objects.get(research_run=made).events.get()
    assert (event.what, event.who, event.door, event.note) == ("researched", "token:ada", "rest", "Three sources.")


def test_the_same_end_once_more_changes_nothing_and_another_is_refused() -> None:
    page, other = indexed("Monad"), indexed("Functor")
    made = opened()
    claim_run(run_id=made.pk, author=ADA)
    complete_run(run_id=made.pk, page_id=page.uid, note="first", author=ADA)
    again = complete_run(run_id=made.pk, title="Monad", note="second", author=ADA)
    assert (again.changed, again.run.note) == (False, "first")
    error = refused(ErrorCode.CONFLICT, complete_run, run_id=made.pk, page_id=other.uid, author=ADA)
    assert error.repair["page"]["title"] == "Monad"
    refused(ErrorCode.CONFLICT, fail_run, run_id=made.pk, author=ADA)
    refused(ErrorCode.CONFLICT, claim_run, run_id=made.pk, author=ADA)
    assert ReviewItem.objects.get(research_run=made).events.count() == 1


def test_failing_for_good() -> None:
    page = indexed("Monad")
    made = opened()
    claim_run(run_id=made.pk, author=ADA)
    assert fail_run(run_id=made.pk, note="nothing found", author=ADA).changed
    assert not fail_run(run_id=made.pk, note="again", author=ADA).changed
    assert run_as_dict(get_run(made.pk))["note"] == "nothing found"
    refused(ErrorCode.CONFLICT, complete_run, run_id=made.pk, page_id=page.uid, author=ADA)
    refused(ErrorCode.CONFLICT, claim_run, run_id=made.pk, author=BOB)
    assert ReviewItem.objects.get(research_run=made).events.get().what == "research failed"


def test_giving_back_for_another_try_until_none_is_left() -> None:
    made = opened()
    for turn in range(research.MAX_CLAIMS):
        claim_run(run_id=made.pk, author=ADA if turn % 2 else BOB)
        given_back = fail_run(run_id=made.pk, note="busy", retry=True, author=ADA if turn % 2 else BOB)
        assert given_back.changed
    assert get_run(made.pk).status == RunStatus.FAILED


@pytest.mark.parametrize("end", ["complete", "fail"])
def test_only_the_holder_ends_a_run(end: str) -> None:
    page = indexed("Monad")

    def ending(author: Author) -> Any:
        if end == "fail":
            return fail_run(run_id=made.pk, author=author)
        return complete_run(run_id=made.pk, page_id=page.uid, author=author)

    made = opened()
    refused(ErrorCode.CONFLICT, ending, author=ADA)
    claim_run(run_id=made.pk, author=ADA)
    refused(ErrorCode.CONFLICT, ending, author=BOB)
    assert get_run(made.pk).status == RunStatus.CLAIMED
    assert ending(Author("token:ada", "mcp-http")).changed


def test_the_page_must_be_live_and_named_once() -> None:
    made = opened()
    gone = indexed("Gone", deleted_at=timezone.now())
    indexed("Twice", path="wiki/a.md")
    indexed("Twice", path="wiki/b.md")
    claim_run(run_id=made.pk, author=ADA)
    for code, given in [
        (ErrorCode.MISSING_REQUIRED_PARAMS, {}),
        (ErrorCode.PAGE_NOT_FOUND, {"page_id": gone.uid}),
        (ErrorCode.PAGE_NOT_FOUND, {"page_id": uuid4()}),
        (ErrorCode.PAGE_NOT_FOUND, {"title": "Gone"}),
        (ErrorCode.PAGE_NOT_FOUND, {"path": "wiki/c.md"}),
        (ErrorCode.PATH_NOT_ALLOWED, {"path": "../c.md"}),
        (ErrorCode.AMBIGUOUS_TITLE, {"title": "Twice"}),
        (ErrorCode.INVALID_PARAM_VALUE, {"page_id": gone.uid, "title": "Gone"}),
    ]:
        refused(code, complete_run, run_id=made.pk, author=ADA, **given)
    assert complete_run(run_id=made.pk, title="Twice", path="wiki/b.md", author=ADA).changed


def test_a_page_that_goes_later_is_still_named_by_its_path() -> None:
    page = indexed("Monad")
    made = opened()
    claim_run(run_id=made.pk, author=ADA)
    complete_run(run_id=made.pk, page_id=page.uid, author=ADA)
    page.delete()
    assert run_as_dict(get_run(made.pk))["page"] == {"id": None, "title": None, "path": "wiki/concepts/Monad.md"}


def test_notes_are_bounded() -> None:
    made = opened()
    claim_run(run_id=made.pk, author=ADA)
    refused(ErrorCode.INVALID_PARAM_VALUE, fail_run, run_id=made.pk, note="x" * 2_001, author=ADA)
    refused(ErrorCode.INVALID_CONTENT, fail_run, run_id=made.pk, note="a\x00", author=ADA)


def test_a_vault_that_is_served_read_only_keeps_its_runs_as_they_are(settings: Any) -> None:
    page = indexed("Monad")
    made = opened()
    settings.SYNAPSE_READ_ONLY = True
    refused(ErrorCode.READ_ONLY, claim_run, run_id=made.pk, author=ADA)
    refused(ErrorCode.READ_ONLY, complete_run, run_id=made.pk, page_id=page.uid, author=ADA)
    refused(ErrorCode.READ_ONLY, fail_run, run_id=made.pk, author=ADA)
    assert list_runs()["total"] == 1


# --- listing ------------------------------------------------------------------------------------


def test_lists_are_complete_whatever_is_opened_or_claimed_meanwhile() -> None:
    at = timezone.now()
    made = [opened(f"Question {number}") for number in range(9)]
    ResearchRun.objects.update(created_at=at)  # all of one moment: the id decides
    first = list_runs(limit=4)
    seen = [row["id"] for row in first["result"]]
    claim_run(run_id=seen[0], author=ADA)
    late = opened("Later")
    rest = list_runs(limit=100, cursor=first["next_cursor"])
    seen += [row["id"] for row in rest["result"]]
    assert sorted(seen) == sorted(str(run.pk) for run in [*made, late])
    assert (first["total"], rest["total"], rest["next_cursor"]) == (9, 9, None)


def test_lists_by_standing_and_what_a_run_shows() -> None:
    page = indexed("Category")
    asked = opened("Why?", page=page, page_path=page.path, rationale="Nobody knows.")
    held, done = opened(), opened()
    claim_run(run_id=held.pk, author=ADA)
    claim_run(run_id=done.pk, author=ADA)
    complete_run(run_id=done.pk, page_id=page.uid, author=ADA)
    for status, expected in [("queued", asked), ("claimed", held), ("done", done)]:
        assert [row["id"] for row in list_runs(status=status)["result"]] == [str(expected.pk)]
    assert list_runs(status="all")["total"] == 3
    (shown,) = list_runs()["result"]
    assert json.loads(json.dumps(shown)) == shown
    assert shown["item"]["rationale"] == "Nobody knows."
    assert shown["item"]["page"]["path"] == page.path
    refused(ErrorCode.INVALID_PARAM_VALUE, list_runs, status="open")


def test_a_cursor_is_good_for_its_list_only() -> None:
    for number in range(3):
        opened(f"Question {number}")
    cursor = list_runs(limit=1)["next_cursor"]
    refused(ErrorCode.INVALID_CURSOR, list_runs, status="all", cursor=cursor)
    refused(ErrorCode.INVALID_CURSOR, list_runs, cursor="x")


def test_a_list_costs_the_same_for_any_length(django_assert_num_queries: Any) -> None:
    page = indexed("Category")
    for number in range(12):
        opened(f"Question {number}", page=page)
    with django_assert_num_queries(4):
        assert len(list_runs()["result"]) == 12
