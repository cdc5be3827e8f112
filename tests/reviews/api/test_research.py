"""Research over REST: an agent sees what waits, takes it, writes a page, and says so."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.models import ResearchRun
from tests.reviews.api.conftest import NO_IDS_IN_ADDRESSES, UNKNOWN, Rest, asked, page, refused
from wiki.models import Scope
from wiki.tokens import create_token

RUNS = "/research/runs"


@pytest.fixture
def run(wanda: Rest, settings: Any) -> str:
    """The id of a run that a decision has opened."""
    settings.SYNAPSE_RESEARCH_BACKEND = "agent"
    item = asked("What is computability?", search_queries=["computability theory"])
    opened: str = wanda.post(f"/review/queue/{item.pk}/deep-research").json()["item"]["research_run"]
    return opened


def test_from_the_list_to_the_page_that_the_item_shows(paula: Rest, rita: Rest, run: str) -> None:
    (waiting,) = rita.get(f"{RUNS}/").json()["result"]
    assert (waiting["id"], waiting["queries"], waiting["status"]) == (run, ["computability theory"], "queued")
    held = paula.post(f"{RUNS}/{run}/claim", {"lease_seconds": 60}).json()
    assert (held["changed"], held["run"]["status"], held["run"]["claimed_by"]) == (True, "claimed", "token:paula")
    assert rita.get(RUNS).json()["result"] == []
    assert [row["id"] for row in rita.get(f"{RUNS}?status=claimed").json()["result"]] == [run]
    made = page("Computability")
    body = {"page_id": str(made.uid), "note": "From one source."}
    done = paula.post(f"{RUNS}/{run.upper()}/complete/", body).json()
    assert (done["changed"], done["run"]["status"], done["run"]["page"]["path"]) == (True, "done", made.path)
    assert paula.post(f"{RUNS}/{run}/complete", {"title": "Computability"}).json()["changed"] is False
    shown = rita.get(f"/review/queue/{done['run']['item']['id']}").json()
    assert (shown["status"], shown["research"]["page"]["id"]) == ("deep_researched", str(made.uid))
    assert [(event["what"], event["who"]) for event in shown["events"]][-1] == ("researched", "token:paula")


def test_a_run_is_one_callers_at_a_time(paula: Rest, wanda: Rest, run: str) -> None:
    assert paula.post(f"{RUNS}/{run}/claim", b"").status_code == 200
    assert refused(wanda.post(f"{RUNS}/{run}/claim"), 409, "conflict")["claimed_by"] == "token:paula"
    renewed = paula.post(f"{RUNS}/{run}/claim", {"lease_seconds": 3600}).json()
    assert (renewed["changed"], renewed["run"]["status"], renewed["run"]["attempts"]) == (False, "claimed", 1)
    page("Computability")
    refused(wanda.post(f"{RUNS}/{run}/complete", {"title": "Computability"}), 409, "conflict")
    refused(wanda.post(f"{RUNS}/{run}/fail", {}), 409, "conflict")
    given_back = paula.post(f"{RUNS}/{run}/fail", {"retry": True, "note": "busy"}).json()["run"]
    assert (given_back["status"], given_back["attempts_left"]) == ("queued", 4)
    assert wanda.post(f"{RUNS}/{run}/claim").status_code == 200


def test_failing_for_good(paula: Rest, run: str) -> None:
    paula.post(f"{RUNS}/{run}/claim")
    assert paula.post(f"{RUNS}/{run}/fail", {"note": "Nothing found."}).json()["run"]["status"] == "failed"
    assert paula.post(f"{RUNS}/{run}/fail").json()["changed"] is False
    page("Computability")
    refused(paula.post(f"{RUNS}/{run}/complete", {"title": "Computability"}), 409, "conflict")


def test_a_caller_is_known_by_the_token_and_not_by_its_scope(run: str) -> None:
    first, second = (Rest(create_token(name=name, scope=Scope.PROPOSE)[1]) for name in ("one", "two"))
    first.post(f"{RUNS}/{run}/claim")
    refused(second.post(f"{RUNS}/{run}/fail"), 409, "conflict")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"lease_seconds": "900"}, 400, "invalid_param_type"),
        ({"lease_seconds": True}, 400, "invalid_param_type"),
        ({"lease_seconds": None}, 400, "invalid_param_type"),
        ({"lease_seconds": 900.5}, 400, "invalid_param_type"),
        ({"lease_seconds": 59}, 400, "invalid_param_value"),
        ({"lease_seconds": 3601}, 400, "invalid_param_value"),
        ({"lease_seconds": 10**400}, 400, "invalid_param_value"),
    ],
)
def test_leases(paula: Rest, run: str, body: Any, status: int, code: str) -> None:
    refused(paula.post(f"{RUNS}/{run}/claim", body), status, code)
    assert ResearchRun.objects.get().attempts == 0


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "missing_required_params"),
        ({"note": "x"}, 400, "missing_required_params"),
        ({"page_id": UNKNOWN}, 404, "page_not_found"),
        ({"page_id": "x"}, 404, "page_not_found"),
        ({"page_id": 7}, 400, "invalid_param_type"),
        ({"title": None}, 400, "invalid_param_type"),
        ({"title": "Nothing"}, 404, "page_not_found"),
        ({"title": ""}, 404, "page_not_found"),
        ({"path": "wiki/nothing.md"}, 404, "page_not_found"),
        ({"path": "../secret.md"}, 403, "path_not_allowed"),
        ({"title": "a\x00"}, 422, "invalid_content"),
        ({"page_id": UNKNOWN, "path": "wiki/a.md"}, 400, "invalid_param_value"),
        ({"title": "Nothing", "note": "x" * 2_001}, 400, "invalid_param_value"),
        ({"title": "Nothing", "status": "done"}, 400, "invalid_param_value"),
    ],
)
def test_the_page_of_an_answer(paula: Rest, run: str, body: Any, status: int, code: str) -> None:
    paula.post(f"{RUNS}/{run}/claim")
    refused(paula.post(f"{RUNS}/{run}/complete", body), status, code)
    assert ResearchRun.objects.get().status == "claimed"


@pytest.mark.parametrize("retry", ["true", 1, None, []])
def test_retry_is_true_or_false(paula: Rest, run: str, retry: Any) -> None:
    paula.post(f"{RUNS}/{run}/claim")
    refused(paula.post(f"{RUNS}/{run}/fail", {"retry": retry}), 400, "invalid_param_type")


def test_a_run_that_there_is_not(paula: Rest, vault: Any) -> None:
    page("Computability")
    for bad in NO_IDS_IN_ADDRESSES:
        for end, body in [("claim", {}), ("complete", {"title": "Computability"}), ("fail", {})]:
            refused(paula.post(f"{RUNS}/{bad}/{end}", body), 404, "not_found")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("status=open", "invalid_param_value"),
        ("status=all&status=done", "invalid_param_value"),
        ("limit=x", "invalid_param_type"),
        ("cursor=x", "invalid_cursor"),
        ("backend=agent", "invalid_param_value"),
    ],
)
def test_parameters_are_those_that_are_listed(rita: Rest, query: str, code: str) -> None:
    refused(rita.get(f"{RUNS}?{query}"), 400, code)


def test_a_vault_that_is_served_read_only(paula: Rest, run: str, settings: Any) -> None:
    settings.SYNAPSE_READ_ONLY = True
    for end, body in [("claim", {}), ("complete", {"title": "x"}), ("fail", {})]:
        refused(paula.post(f"{RUNS}/{run}/{end}", body), 403, "read_only")
    assert paula.get(RUNS).json()["total"] == 1
