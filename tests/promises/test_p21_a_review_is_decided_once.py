"""P21: a review is decided once. Of a hundred decisions at once, from ten processes, one wins and 99 are told."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.promises.engines import ENGINES, place_on, raced, sessions
from tests.promises.figures import Measured, figure
from tests.promises.house import House, house_on

REQUESTS = figure(24, 100)
ONE = ["skip", "create", "deep-research"]
STATUS = {
    "skip": "skipped",
    "dismiss": "dismissed",
    "mark-resolved": "resolved",
    "create": "created",
    "deep-research": "deep_researched",
}


@pytest.fixture(scope="module", params=ENGINES)
def races(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What came of each race, and ``engine``."""
    with place_on(request.param) as environment:
        environment |= {"SYNAPSE_RESEARCH_BACKEND": "agent"}
        found = raced(environment, *ONE, "mixed", "bulk_overlapping", "file_same")
    return {**found, "engine": request.param}


@pytest.mark.parametrize("scenario", [*ONE, "mixed"])
def test_one_wins_and_99_are_told(races: dict[str, Any], scenario: str, measured: Measured) -> None:
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
    told = sum(one["status"] == item["status"] for one in attempts if one is not winner)
    measured("P21", f"{scenario}: {len(attempts)} decisions by 10 processes: 1 won, {told} told", on=races["engine"])


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


@pytest.fixture(scope="module", params=ENGINES)
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    with house_on(request.param) as made:
        yield made


@pytest.mark.parametrize("actions", [["skip"], ["skip", "dismiss", "create"]], ids=" ".join)
def test_a_hundred_requests_at_once(house: House, actions: list[str], measured: Measured) -> None:
    """Over REST and as many over MCP, at two servers: whoever is told to come again does."""
    title = f"At once {len(actions)}"
    asked = {
        "item_type": "missing-page",
        "title": title,
        "proposed_title": title,
        "proposed_frontmatter": {"sources": ["raw/sources/a.md"], "lang": "en"},
    }
    (filed,) = house.ask("POST", "/review/queue", {"items": [asked]}).json()["result"]
    answers = house.together([partial(_decide, house, number, filed["id"], actions) for number in range(REQUESTS)])
    item = house.ask("GET", f"/review/queue/{filed['id']}").json()
    (winner,) = [answer for answer in answers if answer.get("changed")]
    told = [answer for answer in answers if answer is not winner]
    assert {answer.get("item", answer)["status"] for answer in answers} == {item["status"]}
    assert {answer.get("error_code", "review_terminal") for answer in told} <= {"review_terminal"}
    assert [event["what"] for event in item["events"]] == ["filed", "decided"]
    assert house.said() == Counter()
    if house.engine == "postgresql":
        assert "idle in transaction" not in sessions(house.environment)
    how = " or ".join(actions)
    measured(
        "P21", f"{how}: {len(answers)} at once over REST and MCP: 1 won, {len(told)} told, 0 × 500", on=house.engine
    )


def _decide(house: House, number: int, review: str, actions: list[str]) -> dict[str, Any]:
    server, action = house.servers[number % 2], actions[number % len(actions)]
    while True:
        if number % 4 < 2:
            found = house.send(server, "POST", f"/review/queue/{review}/{action}", {}).json()
        else:
            found = house.call(server, "resolve_review", id=review, action=action)
        if "retry_after" not in found:
            return dict(found)
        time.sleep(0.1)
