"""Deciding over REST: one transition, by PATCH or by an address that names the action."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.models import ResearchRun, ReviewItem, Status
from tests.conftest import VaultFolder
from tests.reviews.api.conftest import NO_IDS_IN_ADDRESSES, UNKNOWN, Rest, asked, decided, page, refused
from wiki.models import Audit, Page
from wiki.sync import scan

QUEUE = "/review/queue"
TO_STATUS = {
    "skip": "skipped",
    "dismiss": "dismissed",
    "mark-resolved": "resolved",
    "create": "created",
    "deep-research": "deep_researched",
}
ALIASES = {"resolved": "resolved", "approve": "created"}


@pytest.fixture(autouse=True)
def _backend(settings: Any) -> None:
    settings.SYNAPSE_RESEARCH_BACKEND = "agent"


def missing(title: str = "Computability") -> ReviewItem:
    """An item that every action fits."""
    asking = page("Alan Turing", f"He asked what [[{title}]] is.\n", kind="entity")
    return asked(
        f"A page on {title}",
        item_type="missing-page",
        proposed_title=title,
        target=title.casefold(),
        references=[asking],
    )


@pytest.mark.parametrize(("action", "status"), [*TO_STATUS.items(), ("approve", "created")])
def test_an_address_for_each_action(wanda: Rest, vault: VaultFolder, action: str, status: str) -> None:
    item = missing()
    answer = wanda.post(f"{QUEUE}/{item.pk}/{action}", {"note": " Seen. "}).json()
    assert (answer["changed"], answer["item"]["status"], answer["item"]["note"]) == (True, status, "Seen.")
    assert (answer["item"]["reviewed_by"], answer["item"]["reviewed_via"]) == ("token:wanda", "rest")
    item.refresh_from_db()
    assert item.status == status
    again = wanda.post(f"{QUEUE}/{item.pk}/{action}/", b"").json()
    assert (again["changed"], again["item"]) == (False, answer["item"])


def test_what_there_is_to_know_of_the_page_is_told(wanda: Rest, vault: VaultFolder) -> None:
    item = missing("Turing Machine")
    vault.write("wiki/by-a-person.md", "Nobody has written of the [[Turing Machine]].")
    scan()
    (warning,) = wanda.post(f"{QUEUE}/{item.pk}/create").json()["warnings"]
    assert "Obsidian does not lead [[Turing Machine]] to wiki/concepts/turing-machine.md" in warning
    assert wanda.post(f"{QUEUE}/{missing('Logic').pk}/create").json()["warnings"] == []


@pytest.mark.parametrize(("action", "status"), [*TO_STATUS.items(), *ALIASES.items()])
def test_a_patch_by_action(wanda: Rest, vault: VaultFolder, action: str, status: str) -> None:
    answer = wanda.patch(f"{QUEUE}/{missing().pk}", {"action": action, "note": "Seen."}).json()
    assert (answer["changed"], answer["item"]["status"], answer["item"]["note"]) == (True, status, "Seen.")


@pytest.mark.parametrize("status", TO_STATUS.values())
def test_a_patch_by_status_has_the_same_effect(wanda: Rest, vault: VaultFolder, status: str) -> None:
    answer = wanda.patch(f"{QUEUE}/{missing().pk}/", {"status": status}).json()
    assert (answer["changed"], answer["item"]["status"]) == (True, status)
    assert Page.objects.filter(title="Computability").exists() is (status == "created")
    assert ResearchRun.objects.exists() is (status == "deep_researched")


def test_create_writes_and_the_item_names_the_page(wanda: Rest, vault: VaultFolder) -> None:
    item = missing()
    made = wanda.post(f"{QUEUE}/{item.pk}/create").json()["item"]["created_page"]
    assert (made["title"], made["path"]) == ("Computability", "wiki/concepts/computability.md")
    assert wanda.get(f"/pages/{made['id']}").json()["title"] == "Computability"
    history = wanda.get(f"/pages/{made['id']}/history").json()["result"]
    assert (history[0]["author"], history[0]["door"]) == ("token:wanda", "rest")


def test_an_edit_is_written_on_the_version_it_was_made_from_or_not_at_all(wanda: Rest, vault: VaultFolder) -> None:
    turing = page("Alan Turing", "Short.\n", kind="entity")
    item = asked("Better", page=turing, proposed_body="Longer.\n", base_hash=turing.content_hash)
    page("Alan Turing", "Edited meanwhile.\n", kind="entity")
    before = vault.read(turing.path)
    envelope = refused(wanda.post(f"{QUEUE}/{item.pk}/create"), 409, "conflict")
    assert "Edited meanwhile." in envelope["current"]
    assert "Longer." in envelope["proposed"]
    assert vault.read(turing.path) == before
    shown = wanda.get(f"{QUEUE}/{item.pk}").json()
    assert shown["status"] == "pending"
    assert shown["failure"]
    fresh = asked("Better still", page=turing, proposed_body="Longest.\n", base_hash=turing_hash(turing))
    assert wanda.post(f"{QUEUE}/{fresh.pk}/create").json()["changed"]
    assert b"Longest." in vault.read(turing.path)


def turing_hash(turing: Page) -> str:
    turing.refresh_from_db()
    return turing.content_hash


def test_deep_research_opens_a_run(wanda: Rest, vault: VaultFolder, settings: Any) -> None:
    item = missing()
    settings.SYNAPSE_RESEARCH_BACKEND = "none"
    envelope = refused(wanda.post(f"{QUEUE}/{item.pk}/deep-research"), 503, "dependency_missing")
    assert "SYNAPSE_RESEARCH_BACKEND" in envelope["error"]
    assert wanda.get(f"{QUEUE}/{item.pk}").json()["status"] == "pending"
    settings.SYNAPSE_RESEARCH_BACKEND = "agent"
    run = wanda.post(f"{QUEUE}/{item.pk}/deep-research").json()["item"]["research_run"]
    assert [row["id"] for row in wanda.get("/research/runs").json()["result"]] == [run]
    assert wanda.get(f"{QUEUE}/{item.pk}").json()["research"]["status"] == "queued"


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.PENDING])
def test_a_decision_is_never_changed(wanda: Rest, vault: VaultFolder, status: Status) -> None:
    item = decided(status)
    before = ReviewItem.objects.values().get(pk=item.pk)
    for action, leads_to in TO_STATUS.items():
        for answer in (
            wanda.post(f"{QUEUE}/{item.pk}/{action}"),
            wanda.patch(f"{QUEUE}/{item.pk}", {"action": action}),
            wanda.patch(f"{QUEUE}/{item.pk}", {"status": leads_to}),
        ):
            if leads_to == status:
                assert answer.json()["changed"] is False
                continue
            envelope = refused(answer, 409, "review_terminal")
            assert (envelope["status"], envelope["reviewed_by"]) == (status, "user:ada")
            assert envelope["reviewed_at"].endswith("Z")
    assert ReviewItem.objects.values().get(pk=item.pk) == before
    assert not Audit.objects.filter(action="decide").exists()


@pytest.mark.parametrize("action", ["", "reopen", "../x", "SKIP", "pending", "created", ["a"], {}, 5, True, None])
def test_an_action_that_there_is_not(wanda: Rest, item: ReviewItem, action: Any) -> None:
    envelope = refused(wanda.patch(f"{QUEUE}/{item.pk}", {"action": action}), 422, "invalid_action")
    assert envelope["actions"] == list(TO_STATUS)
    item.refresh_from_db()
    assert item.status == Status.PENDING


@pytest.mark.parametrize("status", ["", "pending", "auto_resolved", "skip", "SKIPPED", ["skipped"], {}, 5, None])
def test_a_status_that_nobody_can_choose(wanda: Rest, item: ReviewItem, status: Any) -> None:
    envelope = refused(wanda.patch(f"{QUEUE}/{item.pk}", {"status": status}), 422, "invalid_action")
    assert sorted(envelope["statuses"]) == sorted(TO_STATUS.values())


@pytest.mark.parametrize("second", ["skipped", "dismissed", None, 7])
def test_action_and_status_together(wanda: Rest, item: ReviewItem, second: Any) -> None:
    refused(wanda.patch(f"{QUEUE}/{item.pk}", {"action": "skip", "status": second}), 422, "invalid_action")
    item.refresh_from_db()
    assert item.status == Status.PENDING


def test_a_patch_of_nothing(wanda: Rest, item: ReviewItem) -> None:
    for body in ({}, {"note": "x"}, b""):
        refused(wanda.patch(f"{QUEUE}/{item.pk}", body), 400, "missing_required_params")


@pytest.mark.parametrize(
    ("item_type", "action", "supported"),
    [
        ("confirm", "deep-research", ["skip", "dismiss", "mark-resolved"]),
        ("confirm", "create", ["skip", "dismiss", "mark-resolved"]),
        ("duplicate", "create", ["skip", "dismiss", "mark-resolved", "deep-research"]),
        ("suggestion", "create", ["skip", "dismiss", "mark-resolved", "deep-research"]),
    ],
)
def test_an_action_that_does_not_fit(
    wanda: Rest, vault: VaultFolder, item_type: str, action: str, supported: list[str]
) -> None:
    item = asked("Is it so?", item_type=item_type)
    for answer in (wanda.post(f"{QUEUE}/{item.pk}/{action}"), wanda.patch(f"{QUEUE}/{item.pk}", {"action": action})):
        assert refused(answer, 422, "action_not_supported")["supported"] == supported
    assert wanda.get(f"{QUEUE}/{item.pk}").json()["actions"] == supported


@pytest.mark.parametrize("action", [*TO_STATUS, "approve", "reopen"])
def test_an_id_that_names_nothing(wanda: Rest, vault: VaultFolder, action: str) -> None:
    for bad in NO_IDS_IN_ADDRESSES:
        refused(wanda.post(f"{QUEUE}/{bad}/{action}"), 404, "review_not_found")
        refused(wanda.patch(f"{QUEUE}/{bad}", {"action": "skip"}), 404, "review_not_found")


def test_which_refusal_comes_first(wanda: Rest, vault: VaultFolder, settings: Any) -> None:
    refused(wanda.patch(f"{QUEUE}/{UNKNOWN}", {"action": "merge"}), 422, "invalid_action")
    done, confirm = decided(Status.SKIPPED), asked("Is it so?", item_type="confirm")
    settings.SYNAPSE_READ_ONLY, settings.SYNAPSE_AGENT_MAY_DECIDE = True, False
    refused(wanda.post(f"{QUEUE}/{UNKNOWN}/skip"), 404, "review_not_found")
    refused(wanda.post(f"{QUEUE}/{done.pk}/dismiss"), 409, "review_terminal")
    assert wanda.post(f"{QUEUE}/{done.pk}/skip").json()["changed"] is False
    refused(wanda.post(f"{QUEUE}/{confirm.pk}/create"), 422, "action_not_supported")
    refused(wanda.post(f"{QUEUE}/{confirm.pk}/skip"), 403, "read_only")
    settings.SYNAPSE_READ_ONLY = False
    refused(wanda.post(f"{QUEUE}/{confirm.pk}/skip"), 403, "forbidden")


@pytest.mark.parametrize(
    ("note", "status", "code"),
    [
        ("x" * 2_001, 400, "invalid_param_value"),
        (7, 400, "invalid_param_type"),
        (None, 400, "invalid_param_type"),
        (["x"], 400, "invalid_param_type"),
        ("a\x00b", 422, "invalid_content"),
        ("a\ud800b", 422, "invalid_content"),
    ],
)
def test_notes(wanda: Rest, item: ReviewItem, note: Any, status: int, code: str) -> None:
    refused(wanda.patch(f"{QUEUE}/{item.pk}", {"action": "skip", "note": note}), status, code)
    refused(wanda.post(f"{QUEUE}/{item.pk}/skip", {"note": note}), status, code)
    refused(wanda.post(f"{QUEUE}/bulk", {"action": "skip", "ids": [str(item.pk)], "note": note}), status, code)
    item.refresh_from_db()
    assert item.status == Status.PENDING


def test_reopening_asks_anew_and_leaves_the_old_item_alone(wanda: Rest, item: ReviewItem) -> None:
    wanda.post(f"{QUEUE}/{item.pk}/dismiss")
    before = ReviewItem.objects.values().get(pk=item.pk)
    new = wanda.post(f"{QUEUE}/{item.pk}/reopen").json()["item"]
    assert (new["status"], new["previous"], new["previous_reason"]) == ("pending", str(item.pk), "reopened")
    assert ReviewItem.objects.values().get(pk=item.pk) == before
    assert wanda.post(f"{QUEUE}/{item.pk}/reopen").json()["item"]["id"] == new["id"]
    assert wanda.post(f"{QUEUE}/{new['id']}/reopen/").json()["item"]["id"] == new["id"]


def test_a_sweep_closes_what_is_no_longer_true(wanda: Rest, vault: VaultFolder) -> None:
    missing("Computability")
    missing("Decidability")
    assert wanda.post(f"{QUEUE}/sweep").json() == {"auto_resolved": 0}
    page("Computability")
    assert wanda.post(f"{QUEUE}/sweep/").json() == {"auto_resolved": 1}
    assert ReviewItem.objects.get(status="auto_resolved").proposed_title == "Computability"
