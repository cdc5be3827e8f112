"""One action on many items over REST: those that are named, each with its own answer."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.models import ReviewItem, Status
from tests.conftest import VaultFolder
from tests.reviews.api.conftest import NO_IDS, UNKNOWN, Rest, asked, asked_many, decided, page, refused
from wiki.sync import scan

BULK = "/review/queue/bulk"
RESOLVE = "/review/queue/bulk-resolve"
BOTH = pytest.mark.parametrize("address", [BULK, RESOLVE, f"{BULK}/", f"{RESOLVE}/"])


def test_bulk_answers_item_by_item(wanda: Rest, vault: VaultFolder) -> None:
    first, second = asked_many(2)
    done, other = decided(Status.SKIPPED, "a"), decided(Status.CREATED, "b")
    ids = [second, UNKNOWN, str(done.pk), first, str(other.pk), "x"]
    answer = wanda.post(BULK, {"action": "skip", "ids": ids, "note": "Not now."}).json()
    assert (answer["updated"], answer["skipped_terminal"]) == ([second, first], [str(done.pk), str(other.pk)])
    assert [(row["id"], row["error_code"]) for row in answer["failed"]] == [
        (UNKNOWN, "review_not_found"),
        ("x", "review_not_found"),
    ]
    rows = ReviewItem.objects.filter(pk__in=[first, second])
    assert set(rows.values_list("status", "note", "reviewed_by")) == {("skipped", "Not now.", "token:wanda")}
    assert ReviewItem.objects.get(pk=other.pk).reviewed_by == "user:ada"


def test_bulk_resolve_tells_apart_what_is_not_found(wanda: Rest, vault: VaultFolder) -> None:
    first, second = asked_many(2)
    done = decided(Status.DISMISSED)
    ids = [UNKNOWN, first, str(done.pk), "x", second]
    assert wanda.post(RESOLVE, {"ids": ids, "action": "resolved"}).json() == {
        "resolved": [first, second],
        "not_found": [UNKNOWN, "x"],
        "already": [str(done.pk)],
        "failed": [],
        "count": 2,
    }
    assert wanda.post(RESOLVE, {"ids": ids, "action": "mark-resolved"}).json()["already"] == [
        first,
        str(done.pk),
        second,
    ]


@BOTH
def test_what_there_is_to_know_of_pages_is_told_by_item(wanda: Rest, vault: VaultFolder, address: str) -> None:
    asking = page("Alan Turing", "He asked what [[Logic]] is.\n", kind="entity")
    told, silent = (
        str(asked(title, item_type="missing-page", proposed_title=title, references=[asking]).pk)
        for title in ("Turing Machine", "Logic")
    )
    vault.write("wiki/by-a-person.md", "Nobody has written of the [[Turing Machine]].")
    scan()
    answer = wanda.post(address, {"action": "create", "ids": [silent, told]}).json()
    assert answer.get("resolved", answer.get("updated")) == [silent, told]
    ((item, (warning,)),) = answer["warnings"].items()
    assert item == told
    assert "Obsidian does not lead [[Turing Machine]] to wiki/concepts/turing-machine.md" in warning
    assert "warnings" not in wanda.post(address, {"action": "create", "ids": [silent, told]}).json()


def test_an_id_given_twice_counts_once_however_it_is_spelled(wanda: Rest, vault: VaultFolder) -> None:
    (first,) = asked_many(1)
    ids = [first, first.upper(), first, "x", "x", 7, 7, None, True, [1]]
    answer = wanda.post(RESOLVE, {"ids": ids, "action": "skip"}).json()
    assert (answer["resolved"], answer["not_found"], answer["count"]) == (
        [first],
        ["x", "7", "null", "true", "[1]"],
        1,
    )
    assert ReviewItem.objects.get().events.filter(what="decided").count() == 1


@BOTH
def test_what_is_no_id_names_nothing(wanda: Rest, vault: VaultFolder, address: str) -> None:
    (first,) = asked_many(1)
    answer = wanda.post(address, {"ids": [*NO_IDS, first], "action": "skip"})
    assert answer.status_code == 200
    told = answer.json()
    assert told.get("resolved", told.get("updated")) == [first]
    missed = told.get("not_found", [row["id"] for row in told["failed"]])
    assert 10 < len(missed) <= len(NO_IDS)
    assert all(len(shown) <= 100 and shown.isprintable() for shown in missed)


@BOTH
@pytest.mark.parametrize("ids", [[], [UNKNOWN] * 201, ["x"] * 201, [None] * 5_000])
def test_one_to_two_hundred_ids_as_they_are_given(
    wanda: Rest, vault: VaultFolder, address: str, ids: list[Any]
) -> None:
    envelope = refused(wanda.post(address, {"ids": ids, "action": "skip"}), 422, "too_many_ids")
    assert envelope["limit"] == 200


def test_two_hundred_ids(wanda: Rest, vault: VaultFolder) -> None:
    ids = asked_many(201)
    refused(wanda.post(RESOLVE, {"ids": ids, "action": "dismiss"}), 422, "too_many_ids")
    refused(wanda.post(RESOLVE, {"ids": ids[:1] * 201, "action": "dismiss"}), 422, "too_many_ids")
    assert ReviewItem.objects.filter(status="pending").count() == 201
    assert wanda.post(RESOLVE, {"ids": ids[:200], "action": "dismiss"}).json()["count"] == 200
    assert [str(item.pk) for item in ReviewItem.objects.filter(status="pending")] == ids[200:]


@BOTH
@pytest.mark.parametrize("ids", [None, "x", UNKNOWN, 7, {}, {"0": UNKNOWN}, True])
def test_ids_are_a_list(wanda: Rest, vault: VaultFolder, address: str, ids: Any) -> None:
    refused(wanda.post(address, {"ids": ids, "action": "skip"}), 400, "invalid_param_type")


@BOTH
@pytest.mark.parametrize(
    "extra",
    [
        {"filter": {}},
        {"filter": {"status": "pending"}},
        {"status": "pending"},
        {"all": True},
        {"query": "x"},
        {"status": "skipped"},
        {"vault": "other"},
        {"reviewed_by": "user:ada"},
    ],
)
def test_a_filter_is_not_taken(wanda: Rest, item: ReviewItem, address: str, extra: dict[str, Any]) -> None:
    envelope = refused(wanda.post(address, {"action": "skip", **extra}), 400, "invalid_param_value")
    assert "Known: action, ids, note." in envelope["error"]
    refused(wanda.post(address, {"action": "skip", "ids": [str(item.pk)], **extra}), 400, "invalid_param_value")
    item.refresh_from_db()
    assert item.status == Status.PENDING


@BOTH
def test_what_is_left_out(wanda: Rest, item: ReviewItem, address: str) -> None:
    envelope = refused(wanda.post(address, {}), 400, "missing_required_params")
    assert set(envelope["fields"]) == {"action", "ids"}
    refused(wanda.post(address, {"ids": [str(item.pk)]}), 400, "missing_required_params")


@BOTH
@pytest.mark.parametrize("action", ["merge", "", "created", "pending", None, ["skip"], 5])
def test_an_action_that_there_is_not(wanda: Rest, item: ReviewItem, address: str, action: Any) -> None:
    envelope = refused(wanda.post(address, {"ids": [str(item.pk)], "action": action}), 422, "invalid_action")
    assert "skip" in envelope["actions"]
    item.refresh_from_db()
    assert item.status == Status.PENDING


@BOTH
def test_one_failure_hides_no_other(wanda: Rest, vault: VaultFolder, address: str) -> None:
    turing = page("Alan Turing", "Short.\n", kind="entity")
    stale = asked("Better", page=turing, proposed_body="Longer.\n", base_hash=turing.content_hash)
    page("Alan Turing", "Edited meanwhile.\n", kind="entity")
    bare = asked("What now?")
    titles = ("Computability", "Decidability")
    good = [asked(title, item_type="missing-page", proposed_title=title, references=[turing]) for title in titles]
    ids = [str(item.pk) for item in (good[0], stale, bare, good[1])]
    told = wanda.post(address, {"ids": ids, "action": "approve"}).json()
    assert told.get("resolved", told.get("updated")) == [ids[0], ids[3]]
    assert [(row["id"], row["error_code"]) for row in told["failed"]] == [
        (ids[1], "conflict"),
        (ids[2], "action_not_supported"),
    ]
    assert "current" not in told["failed"][0]
    assert "wiki/concepts/decidability.md" in vault.files()
    assert set(ReviewItem.objects.filter(pk__in=ids[1:3]).values_list("status", flat=True)) == {"pending"}


@BOTH
def test_a_vault_that_is_served_read_only_and_decisions_that_are_peoples(
    wanda: Rest, item: ReviewItem, address: str, settings: Any
) -> None:
    settings.SYNAPSE_READ_ONLY = True
    refused(wanda.post(address, {"ids": [str(item.pk)], "action": "skip"}), 403, "read_only")
    settings.SYNAPSE_READ_ONLY, settings.SYNAPSE_AGENT_MAY_DECIDE = False, False
    refused(wanda.post(address, {"ids": [str(item.pk)], "action": "skip"}), 403, "forbidden")
    item.refresh_from_db()
    assert item.status == Status.PENDING
