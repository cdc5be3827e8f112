"""P21: a review is decided once. Of a hundred decisions at once, from ten processes, one wins and 99 are told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from benchmarks.scan import ROOT, own_place, run

ONE = ["skip", "create", "deep-research"]
STATUS = {
    "skip": "skipped",
    "dismiss": "dismissed",
    "mark-resolved": "resolved",
    "create": "created",
    "deep-research": "deep_researched",
}


def raced(*scenarios: str) -> dict[str, Any]:
    """What came of scenarios of tests/racing.py, over a vault and a database of their own."""
    with own_place() as environment:
        environment |= {"SYNAPSE_RESEARCH_BACKEND": "agent"}
        run(environment, "manage.py", "init_vault")
        run(environment, "manage.py", "rescan", "--json")
        command = [sys.executable, "-m", "tests.racing", *scenarios]
        process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert (process.returncode, process.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(process.stdout)
    return answer


@pytest.fixture(scope="module")
def races() -> dict[str, Any]:
    return raced(*ONE, "mixed", "bulk_overlapping", "file_same")


@pytest.mark.parametrize("scenario", [*ONE, "mixed"])
def test_one_wins_and_99_are_told(races: dict[str, Any], scenario: str) -> None:
    attempts, item = races[scenario]["attempts"], races[scenario]["item"]
    assert len(attempts) == 100
    (winner,) = [one for one in attempts if one["changed"]]
    assert winner["status"] == item["status"] == STATUS[winner["action"]]
    assert item["reviewed_by"] == winner["who"]
    for loser in attempts:
        if loser is winner:
            continue
        assert loser["status"] == item["status"], "whoever lost hears how it was decided"
        told = "" if loser["action"] == winner["action"] else "review_terminal"
        assert loser.get("error_code", "") == told
        if told:
            assert (loser["reviewed_by"], loser["reviewed_at"]) == (item["reviewed_by"], item["reviewed_at"])
    events = [event["what"] for event in item["events"]]
    assert (events, item["audits"]) == (["filed", "decided"], 1)
    assert item["failure"] == ""


def test_the_page_is_written_once(races: dict[str, Any]) -> None:
    item = races["create"]["item"]
    assert (item["versions"], item["created_page"]["title"]) == (1, "Decide By Create")


def test_one_research_run_is_opened(races: dict[str, Any]) -> None:
    assert races["deep-research"]["item"]["research_run"]


def test_bulks_that_overlap_share_the_items_out(races: dict[str, Any]) -> None:
    answers, items = races["bulk_overlapping"]["answers"], races["bulk_overlapping"]["items"]
    winners = {one: answer for answer in answers for one in answer["updated"]}
    assert Counter(one for answer in answers for one in answer["updated"]).most_common(1)[0][1] == 1
    assert all(answer["failed"] == [] for answer in answers)
    for item in items:
        winner = winners.get(item["id"])
        if winner is None:
            assert item["status"] == "pending"
            continue
        assert (item["status"], item["reviewed_by"]) == (winner["status"], winner["who"])
        assert ([event["what"] for event in item["events"]], item["audits"]) == (["filed", "decided"], 1)


def test_a_question_filed_by_many_is_one_item(races: dict[str, Any]) -> None:
    race = races["file_same"]
    assert len(race["items"]) == race["events"] == 40
    assert sorted(race["filed"]) == sorted(race["items"]), "each was new to exactly one of them"
