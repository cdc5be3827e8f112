"""P23: a retry is safe: one key, however often and wherever it is sent, is one effect and one answer.

Over real HTTP, against processes that share nothing but the vault and the database.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx2 as httpx
import pytest

from benchmarks.scan import ROOT
from tests.promises.engines import ENGINES
from tests.promises.figures import Measured, figure
from tests.promises.house import House, Server, house_on, wait_for

AGE = """
import django; django.setup()
from datetime import timedelta
from django.utils import timezone
from wiki.models import IdempotencyKey
IdempotencyKey.objects.filter(status=None).update(alive_at=timezone.now() - timedelta(seconds=61))
"""


@pytest.fixture(scope="module", params=ENGINES)
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    with house_on(request.param) as made:
        yield made


REPEATS = ["five_times", "at_once"]
#: How many keys are sent five times each.
KEYS = figure(2, 50)


def the_one(answers: list[Any], status: int) -> Any:
    """The answer that all of them are: one is the first, the others are copies of it, byte for byte."""
    told = {(one.status_code, one.content, one.headers.get("ETag"), one.headers.get("Location")) for one in answers}
    assert len(told) == 1, told
    assert len([one for one in answers if "Idempotency-Replayed" not in one.headers]) == 1
    assert answers[0].status_code == status, answers[0].text
    return answers[0]


def a_page(title: str, content: str = "Text.\n") -> dict[str, Any]:
    known = {"type": "concept", "title": title, "sources": ["raw/sources/a.md"], "lang": "en"}
    return {"title": title, "content": content, "frontmatter": known}


def refused(answer: Any, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)


@pytest.mark.parametrize("repeat", REPEATS)
def test_a_page_is_created_once(house: House, repeat: str) -> None:
    title, key = f"Created {repeat}", str(uuid4())
    answers = getattr(house, repeat)("POST", "/pages", a_page(title), key)
    created = the_one(answers, 201)
    assert house.versions(created.json()["id"]) == 1
    assert created.headers["Location"] == f"/pages/{created.json()['id']}"
    for server in house.servers:
        refused(house.send(server, "POST", "/pages", a_page(title, "Other.\n"), key), 422, "idempotency_conflict")
    assert house.versions(created.json()["id"]) == 1


@pytest.mark.parametrize("repeat", REPEATS)
def test_a_page_is_replaced_once(house: House, repeat: str) -> None:
    page = house.ask("POST", "/pages", a_page(f"Replaced {repeat}"))
    path, key = page.headers["Location"], str(uuid4())
    answers = getattr(house, repeat)("PUT", path, {"text": "Mine.\n"}, key, If_Match=page.headers["ETag"])
    put = the_one(answers, 200)
    assert house.versions(page.json()["id"]) == 2
    other = house.send(house.servers[1], "PUT", path, {"text": "Mine.\n"}, key, If_Match=put.headers["ETag"])
    refused(other, 422, "idempotency_conflict")
    assert house.versions(page.json()["id"]) == 2


@pytest.mark.parametrize("repeat", REPEATS)
def test_a_refusal_is_the_same_refusal_and_keeps_one_draft(house: House, repeat: str) -> None:
    page = house.ask("POST", "/pages", a_page(f"Refused {repeat}"))
    stale = f'"{"0" * 64}"'
    answers = getattr(house, repeat)("PUT", page.headers["Location"], {"text": f"{repeat}\n"}, "r", If_Match=stale)
    the_one(answers, 412)
    drafts = subprocess.run(
        [sys.executable, "manage.py", "drafts", "list", "--json"],
        cwd=ROOT,
        env=house.environment,
        capture_output=True,
        check=True,
    )
    found = [draft for draft in json.loads(drafts.stdout) if draft["path"] == page.json()["path"]]
    assert len(found) == 1


@pytest.mark.parametrize("repeat", REPEATS)
def test_reviews_are_decided_once(house: House, repeat: str) -> None:
    asked = [{"item_type": "suggestion", "title": f"{repeat} {number}"} for number in range(4)]
    ids = [item["id"] for item in house.ask("POST", "/review/queue", {"items": asked}).json()["result"]]
    answers = getattr(house, repeat)("POST", "/review/queue/bulk-resolve", {"ids": ids, "action": "skip"}, repeat)
    decided = the_one(answers, 200).json()
    assert (sorted(decided["resolved"]), decided["already"]) == (sorted(ids), [])
    for one in ids:
        item = house.ask("GET", f"/review/queue/{one}").json()
        assert [event["what"] for event in item["events"]] == ["filed", "decided"]


@pytest.mark.parametrize("where", ["before the effect", "before the answer is kept"])
def test_a_run_that_was_killed_is_retaken_by_one(house: House, where: str) -> None:
    """What it had done stands; nobody does it a second time, and all are told the same."""
    title, key = f"Killed {where}", str(uuid4())
    dying = Server(house.environment, where).wait()
    with pytest.raises(httpx.TransportError):
        house.send(dying, "POST", "/pages", a_page(title), key)
    assert dying.process.wait(timeout=20) == -signal.SIGKILL
    early = house.send(house.servers[0], "POST", "/pages", a_page(title), key)
    refused(early, 409, "conflict")
    assert early.headers["Retry-After"] == "1"
    subprocess.run([sys.executable, "-c", AGE], cwd=ROOT, env=house.environment, check=True)
    answers = house.at_once("POST", "/pages", a_page(title), key)
    the_one(answers, 201 if where == "before the effect" else 409)
    (page,) = [page for page in house.ask("GET", "/pages?limit=100").json()["result"] if page["title"] == title]
    assert house.versions(page["id"]) == 1
    refused(house.send(house.servers[1], "POST", "/pages", a_page(title, "Other.\n"), key), 422, "idempotency_conflict")


def test_an_answer_that_was_lost_is_given_to_the_retry(house: House) -> None:
    """The connection breaks while the page is being written: that goes on, and what came of it is not lost."""
    slow, key, body = Server(house.environment, "slow").wait(), str(uuid4()), json.dumps(a_page("Lost")).encode()
    try:
        head = (
            f"POST /pages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {house.token}\r\n"
            f"Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", slow.port)) as connection:
            connection.sendall(head.encode() + body)
            wait_for((house.signs / "begun").exists)
        answers: list[Any] = []

        def retry() -> bool:
            answers.append(house.send(house.servers[0], "POST", "/pages", json.loads(body), key))
            return "Retry-After" not in answers[-1].headers

        assert not retry()
        refused(answers[0], 409, "conflict")
        (house.signs / "go").touch()
        wait_for(retry)
        assert (answers[-1].status_code, answers[-1].headers["Idempotency-Replayed"]) == (201, "true")
        assert house.versions(answers[-1].json()["id"]) == 1
    finally:
        slow.process.terminate()
        slow.process.wait(timeout=20)


def test_five_times_each_of_many_keys(house: House, measured: Measured) -> None:
    """Creations, changes, refusals, moves, proposals and decisions: one effect each, and one body."""
    bodies, effects = 0, 0
    for number in range(KEYS):
        title = f"Many {number}"
        created = the_one(house.five_times("POST", "/pages", a_page(title), f"create-{number}"), 201)
        path, tag = created.headers["Location"], created.headers["ETag"]
        change = {"text": f"Changed {number}.\n"}
        put = the_one(house.five_times("PUT", path, change, f"put-{number}", If_Match=tag), 200)
        the_one(house.five_times("PUT", path, {"text": "Late.\n"}, f"late-{number}", If_Match=tag), 412)
        move = {"path": f"wiki/moved/many-{number}.md"}
        the_one(house.five_times("POST", f"{path}/move", move, f"move-{number}", If_Match=put.headers["ETag"]), 200)
        asked = {"items": [{"item_type": "suggestion", "title": f"Many {number}?"}]}
        filed = the_one(house.five_times("POST", "/review/queue", asked, f"file-{number}"), 201).json()["result"]
        review = f"/review/queue/{filed[0]['id']}"
        the_one(house.five_times("POST", f"{review}/skip", {}, f"decide-{number}"), 200)
        bodies += 6
        item = house.ask("GET", review).json()
        assert [event["what"] for event in item["events"]] == ["filed", "decided"]
        assert house.versions(created.json()["id"]) == 3
        effects += 3 + 2
    assert house.said() == Counter()
    measured(
        "P23",
        f"{bodies:,} requests, each key five times at two servers: {effects:,} effects, one body each",
        on=house.engine,
    )


def test_a_tool_called_five_times_does_it_once(house: House) -> None:
    """No tool takes a key: what they answer to the same call again names the same page, item and decision."""
    page = a_page("By a tool")
    answers = [house.call(server, "write_page", **page) for server in (house.servers * 3)[:5]]
    assert [answer["created"] for answer in answers] == [True, False, False, False, False]
    assert len({(answer["id"], answer["content_hash"]) for answer in answers}) == 1
    assert house.versions(answers[0]["id"]) == 1
    items = [{"item_type": "suggestion", "title": "By a tool?"}]
    filed = [house.call(server, "propose_review", items=items) for server in (house.servers * 3)[:5]]
    assert [answer["filed"] for answer in filed] == [1, 0, 0, 0, 0]
    (review,) = {answer["result"][0]["id"] for answer in filed}
    decided = [house.call(server, "resolve_review", id=review, action="skip") for server in (house.servers * 3)[:5]]
    assert [answer["changed"] for answer in decided] == [True, False, False, False, False]
    assert [event["what"] for event in house.ask("GET", f"/review/queue/{review}").json()["events"]] == [
        "filed",
        "decided",
    ]
