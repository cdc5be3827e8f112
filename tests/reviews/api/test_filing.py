"""Filing over REST: up to 20 items a call, each with its own answer."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.models import ReviewItem, Status
from tests.reviews.api.conftest import Rest, page, refused

QUEUE = "/review/queue"
QUESTION = {"item_type": "suggestion", "title": "Say when Alan Turing was born"}


def test_each_item_has_its_answer_and_the_caller_is_named(paula: Rest, vault: Any) -> None:
    answer = paula.post(QUEUE, {"items": [QUESTION, {"item_type": "person", "title": "x"}, {"title": "no type"}]})
    assert answer.status_code == 201
    told = answer.json()
    assert [row["outcome"] for row in told["result"]] == ["filed", "refused", "refused"]
    assert [row.get("error_code") for row in told["result"][1:]] == ["invalid_param_value", "missing_required_params"]
    assert (told["filed"], told["refused"]) == (1, 2)
    item = ReviewItem.objects.get()
    assert (str(item.pk), item.filed_by, item.filed_via) == (told["result"][0]["id"], "token:paula", "rest")
    assert (item.origin, item.rule, item.status) == ("agent", "agent", "pending")


def test_the_same_question_again_is_the_same_item(paula: Rest, vault: Any) -> None:
    first = paula.post(QUEUE, {"items": [QUESTION]}).json()["result"][0]["id"]
    answer = paula.post(f"{QUEUE}/", {"items": [QUESTION, QUESTION]})
    assert answer.status_code == 200
    assert [(row["outcome"], row["id"]) for row in answer.json()["result"]] == [("unchanged", first)] * 2
    reworded = paula.post(QUEUE, {"items": [{**QUESTION, "rationale": "The source says so."}]}).json()["result"][0]
    assert (reworded["outcome"], reworded["id"]) == ("refreshed", first)


def test_what_was_dismissed_is_refused_with_the_item(paula: Rest, wanda: Rest, vault: Any) -> None:
    first = paula.post(QUEUE, {"items": [QUESTION]}).json()["result"][0]["id"]
    wanda.post(f"{QUEUE}/{first}/dismiss")
    answer = paula.post(QUEUE, {"items": [QUESTION]})
    assert answer.status_code == 200
    (told,) = answer.json()["result"]
    assert (told["outcome"], told["id"], told["status"]) == ("refused", first, "dismissed")
    assert told["error_code"] == "review_terminal"


def test_an_edit_is_filed_with_the_version_it_changes(paula: Rest, vault: Any) -> None:
    turing = page("Alan Turing", "Short.\n", kind="entity")
    edit = {**QUESTION, "page": turing.path, "proposed_body": "Longer.\n"}
    (told,) = paula.post(QUEUE, {"items": [edit]}).json()["result"]
    assert (told["outcome"], told["error_code"], told["content_hash"]) == (
        "refused",
        "base_required",
        turing.content_hash,
    )
    (told,) = paula.post(QUEUE, {"items": [{**edit, "base_hash": turing.content_hash}]}).json()["result"]
    assert told["outcome"] == "filed"
    shown = paula.get(f"{QUEUE}/{told['id']}").json()
    assert (shown["page"]["id"], shown["base_hash"]) == (str(turing.uid), turing.content_hash)


@pytest.mark.parametrize("count", [0, 21])
def test_one_to_twenty_items_a_call(paula: Rest, vault: Any, count: int) -> None:
    body = {"items": [{**QUESTION, "title": f"Question {number}"} for number in range(count)]}
    refused(paula.post(QUEUE, body), 400, "invalid_param_value")
    assert not ReviewItem.objects.exists()


def test_twenty_items(paula: Rest, vault: Any) -> None:
    body = {"items": [{**QUESTION, "title": f"Question {number}"} for number in range(20)]}
    assert paula.post(QUEUE, body).json()["filed"] == ReviewItem.objects.count() == 20


@pytest.mark.parametrize("items", [None, 7, "x", {}, {"0": QUESTION}])
def test_items_are_a_list(paula: Rest, vault: Any, items: Any) -> None:
    refused(paula.post(QUEUE, {"items": items}), 400, "invalid_param_type")


@pytest.mark.parametrize("entry", [None, 7, "x", [], [QUESTION], True])
def test_what_is_no_object_is_refused_alone(paula: Rest, vault: Any, entry: Any) -> None:
    told = paula.post(QUEUE, {"items": [entry, QUESTION]}).json()["result"]
    assert (told[0]["outcome"], told[0]["error_code"]) == ("refused", "invalid_param_type")
    assert told[1]["outcome"] == "filed"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", "00000000-0000-4000-8000-000000000000"),
        ("status", "created"),
        ("rule", "missing-page"),
        ("origin", "rule"),
        ("rank", 10**6),
        ("filed_by", "user:ada"),
        ("reviewed_by", "user:ada"),
        ("reviewed_at", "2026-01-01T00:00:00Z"),
        ("created_at", "2026-01-01T00:00:00Z"),
        ("content_key", "x"),
        ("target", "x"),
        ("proposed_text", "x"),
        ("created_page", 1),
        ("claim", None),
        ("vault", "other"),
    ],
)
def test_nothing_else_of_an_item_can_be_set(paula: Rest, vault: Any, name: str, value: Any) -> None:
    (told,) = paula.post(QUEUE, {"items": [{**QUESTION, name: value}]}).json()["result"]
    assert (told["outcome"], told["error_code"]) == ("refused", "invalid_param_value")
    assert not ReviewItem.objects.exists()
    refused(paula.post(QUEUE, {"items": [QUESTION], name: value}), 400, "invalid_param_value")
    assert not ReviewItem.objects.exists()


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({**QUESTION, "title": ""}, "missing_required_params"),
        ({**QUESTION, "title": "x" * 201}, "invalid_param_value"),
        ({**QUESTION, "title": "two\nlines"}, "invalid_param_value"),
        ({**QUESTION, "title": "a\ud800"}, "invalid_content"),
        ({**QUESTION, "title": 7}, "invalid_param_type"),
        ({**QUESTION, "rationale": "x" * 4_001}, "invalid_param_value"),
        ({**QUESTION, "page": "wiki/nothing.md"}, "page_not_found"),
        ({**QUESTION, "page": "../x.md"}, "page_not_found"),
        ({**QUESTION, "proposed_page_type": "person"}, "invalid_param_value"),
        ({**QUESTION, "proposed_frontmatter": [1]}, "invalid_param_type"),
        ({**QUESTION, "proposed_frontmatter": {"a": "\x00"}}, "invalid_content"),
        ({**QUESTION, "referenced_pages": ["x"] * 9}, "invalid_param_value"),
        ({**QUESTION, "search_queries": ["a", "b", "c", "d"]}, "invalid_param_value"),
        ({**QUESTION, "search_queries": [["a"]]}, "invalid_param_type"),
        ({**QUESTION, "item_type": "missing-page"}, "missing_required_params"),
    ],
)
def test_each_mistake_has_its_code(paula: Rest, vault: Any, entry: dict[str, Any], code: str) -> None:
    (told,) = paula.post(QUEUE, {"items": [entry]}).json()["result"]
    assert (told["outcome"], told["error_code"]) == ("refused", code), told
    assert not ReviewItem.objects.exists()


def test_a_vault_that_is_served_read_only(paula: Rest, settings: Any) -> None:
    settings.SYNAPSE_READ_ONLY = True
    refused(paula.post(QUEUE, {"items": [QUESTION]}), 403, "read_only")


def test_to_propose_is_no_decision(paula: Rest, vault: Any, settings: Any) -> None:
    settings.SYNAPSE_AGENT_MAY_DECIDE = False
    assert paula.post(QUEUE, {"items": [QUESTION]}).status_code == 201
    assert ReviewItem.objects.get().status == Status.PENDING
