"""Looking at the queue: which items a list shows, in parts that fit together, and one item whole."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.utils import timezone

from reviews.models import ReviewItem, Status
from tests.conftest import VaultFolder
from tests.reviews.api.conftest import NO_IDS_IN_ADDRESSES, Rest, asked, asked_many, decided, page, refused
from wiki.models import Page

QUEUE = "/review/queue"


def titles(rest: Rest, query: str = "") -> list[str]:
    return [row["title"] for row in rest.get(f"{QUEUE}{query and '?'}{query}").json()["result"]]


@pytest.fixture
def one_of_each(vault: Any) -> None:
    """An item of every status, titled by it."""
    asked("pending")
    for status in Status:
        if status is not Status.PENDING:
            decided(status, status.value)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", {"pending"}),
        ("status=pending", {"pending"}),
        ("status=resolved", {"created", "resolved", "auto_resolved", "deep_researched"}),
        ("status=dismissed", {"dismissed", "skipped"}),
        ("status=all", {status.value for status in Status}),
    ],
)
def test_statuses_come_in_groups(rita: Rest, one_of_each: None, query: str, shown: set[str]) -> None:
    answer = rita.get(f"{QUEUE}?{query}").json()
    assert {row["title"] for row in answer["result"]} == {row["status"] for row in answer["result"]} == shown
    assert answer["total"] == len(shown)


@pytest.mark.parametrize("status", ["open", "created", "skipped", "PENDING", "null", "pending,resolved", "%00", "../x"])
def test_a_status_that_no_list_has(rita: Rest, status: str) -> None:
    refused(rita.get(f"{QUEUE}?status={status}"), 400, "invalid_param_value")


def test_the_oldest_comes_first_or_what_most_rests_on(rita: Rest, vault: Any) -> None:
    for title, rank in [("first", 1), ("second", 9), ("third", 5)]:
        asked(title, rank=rank)
    assert titles(rita) == ["first", "second", "third"]
    assert titles(rita, "order=rank") == ["second", "third", "first"]


def test_by_type_by_origin_and_by_page(rita: Rest, vault: Any) -> None:
    turing = page("Alan Turing", kind="entity")
    other = page("Computability")
    asked("About Turing", page=turing)
    asked("Rests on Turing", item_type="missing-page", references=[turing])
    asked("About another", page=other)
    assert titles(rita, "item_type=missing-page") == ["Rests on Turing"]
    assert titles(rita, "item_type=confirm") == []
    assert titles(rita, "origin=rule") == []
    assert len(titles(rita, "origin=agent")) == 3
    for named in (str(turing.uid), str(turing.uid).upper(), quote(turing.path)):
        assert titles(rita, f"page={named}") == ["About Turing", "Rests on Turing"]
    assert titles(rita, f"page={other.uid}&item_type=suggestion") == ["About another"]
    assert titles(rita, f"page={uuid4()}") == titles(rita, "page=wiki/nothing.md") == []


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("item_type=person", 400, "invalid_param_value"),
        ("origin=me", 400, "invalid_param_value"),
        ("order=password", 400, "invalid_param_value"),
        ("ordering=-created_at", 400, "invalid_param_value"),
        ("status__in=pending", 400, "invalid_param_value"),
        ("title__startswith=A", 400, "invalid_param_value"),
        ("reviewed_by=ada", 400, "invalid_param_value"),
        ("vault=other", 400, "invalid_param_value"),
        ("format=csv", 400, "invalid_param_value"),
        ("status=all&status=pending", 400, "invalid_param_value"),
        ("limit=many", 400, "invalid_param_type"),
        ("limit=1.5", 400, "invalid_param_type"),
        ("limit=", 400, "invalid_param_type"),
        ("cursor=x", 400, "invalid_cursor"),
        ("cursor=%00", 422, "invalid_content"),
        ("page=../secret.md", 403, "path_not_allowed"),
        ("page=%00", 403, "path_not_allowed"),
        ("page=", 400, "invalid_param_value"),
        ("page=%20", 400, "invalid_param_value"),
        ("page=/etc/passwd", 403, "path_not_allowed"),
        ("page='%20OR%201=1", None, None),
        ("page=%25%27", None, None),
        ("%00=1", 400, "invalid_param_value"),
    ],
)
def test_parameters_are_those_that_are_listed(rita: Rest, item: ReviewItem, query: str, status: Any, code: Any) -> None:
    answer = rita.get(f"{QUEUE}?{query}")
    if code is None:
        assert answer.json()["result"] == []
    else:
        refused(answer, status, code)


@pytest.mark.parametrize(
    ("limit", "shown"), [("0", 1), ("-5", 1), ("1", 1), ("100", 100), ("101", 100), ("9" * 30, 100)]
)
def test_the_limit_is_clamped(rita: Rest, vault: Any, limit: str, shown: int) -> None:
    asked_many(103)
    answer = rita.get(f"{QUEUE}?limit={limit}").json()
    assert (len(answer["result"]), answer["total"]) == (shown, 103)
    assert len(rita.get(QUEUE).json()["result"]) == 50


@pytest.mark.parametrize("order", ["oldest", "rank"])
def test_parts_of_a_list_neither_repeat_nor_hide(rita: Rest, wanda: Rest, vault: Any, order: str) -> None:
    moment = timezone.now()
    ids = [str(asked(f"Question {number}", rank=number % 3).pk) for number in range(17)]
    ReviewItem.objects.update(created_at=moment)  # all of one moment: the id decides
    seen: list[str] = []
    cursor, late = "", None
    while cursor is not None:
        part = rita.get(f"{QUEUE}?order={order}&limit=4{cursor and f'&cursor={cursor}'}").json()
        seen += [row["id"] for row in part["result"]]
        cursor = part["next_cursor"]
        if late is None:  # meanwhile one that was shown is decided, and another question comes
            assert wanda.post(f"{QUEUE}/{seen[0]}/skip").status_code == 200
            late = asked("Asked meanwhile", rank=0)
    assert len(seen) == len(set(seen))
    assert set(ids) <= set(seen) <= {*ids, str(late.pk)}  # type: ignore[union-attr]


def test_a_cursor_is_good_for_its_list_only(rita: Rest, vault: Any) -> None:
    asked_many(3)
    cursor = rita.get(f"{QUEUE}?limit=1").json()["next_cursor"]
    for query in ("status=all", "order=rank", "item_type=suggestion", "origin=agent"):
        refused(rita.get(f"{QUEUE}?{query}&cursor={cursor}"), 400, "invalid_cursor")
    for bad in (cursor[:-1] + ("A" if cursor[-1] != "A" else "B"), cursor[:-4], "null", cursor * 40):
        refused(rita.get(f"{QUEUE}?cursor={bad}"), 400, "invalid_cursor")
    runs = rita.get("/research/runs").json()["next_cursor"]
    assert runs is None
    refused(rita.get(f"/research/runs?cursor={cursor}"), 400, "invalid_cursor")


def test_a_list_leaves_the_texts_out(rita: Rest, vault: Any) -> None:
    turing = page("Alan Turing", "Short.\n", kind="entity")
    asked("Better", page=turing, proposed_body="Long.\n" * 100, base_hash=turing.content_hash)
    (row,) = rita.get(QUEUE).json()["result"]
    assert (row["proposed_body"], row["has_proposal"]) == (None, True)
    assert row["page"] == {"id": str(turing.uid), "title": "Alan Turing", "path": turing.path}


def test_one_item_whole(rita: Rest, vault: Any) -> None:
    turing: Page = page("Alan Turing", "Short.\n", kind="entity")
    item = asked("Better", page=turing, proposed_body="Longer.\n", base_hash=turing.content_hash, search_queries=["a"])
    shown = rita.get(f"{QUEUE}/{item.pk}").json()
    assert shown["actions"] == ["skip", "dismiss", "mark-resolved", "create", "deep-research"]
    assert (shown["proposed_body"], shown["conflict"], shown["research"]) == ("Longer.\n", False, None)
    assert "+Longer." in shown["diff"]["unified"]
    assert [(event["what"], event["who"]) for event in shown["events"]] == [("filed", "claude")]
    assert rita.get(f"{QUEUE}/{str(item.pk).upper()}/").json()["id"] == str(item.pk)


def test_a_missing_page_shows_the_stub_that_would_be_made(rita: Rest, wanda: Rest, vault: VaultFolder) -> None:
    turing = page("Alan Turing", "About [[Computability]].\n", kind="entity")
    item = asked(
        "Computability is missing", item_type="missing-page", proposed_title="Computability", references=[turing]
    )
    (row,) = rita.get(QUEUE).json()["result"]
    assert "diff" not in row
    shown = rita.get(f"{QUEUE}/{item.pk}").json()
    assert (shown["conflict"], shown["diff"]["new_page"], shown["diff"]["problem"]) == (False, True, None)
    added = [line.removeprefix("+") for line in shown["diff"]["unified"].split("\n") if line.startswith("+")]
    made = wanda.post(f"{QUEUE}/{item.pk}/create").json()["item"]["created_page"]
    assert made["path"] == shown["diff"]["path"]
    assert "\n".join(added[1:]) in (vault.root / made["path"]).read_text()
    assert rita.get(f"{QUEUE}/{item.pk}").json()["diff"] is None, "it stands"


def test_an_item_whose_page_has_moved_on_says_so(rita: Rest, vault: Any) -> None:
    turing = page("Alan Turing", "Short.\n", kind="entity")
    item = asked("Better", page=turing, proposed_body="Longer.\n", base_hash=turing.content_hash)
    page("Alan Turing", "Edited meanwhile.\n", kind="entity")
    shown = rita.get(f"{QUEUE}/{item.pk}").json()
    assert (shown["conflict"], shown["diff"]["conflict"]) == (True, True)
    assert "Edited meanwhile." in shown["diff"]["texts"]["current"]


def test_an_id_that_names_nothing(rita: Rest) -> None:
    for bad in NO_IDS_IN_ADDRESSES:
        refused(rita.get(f"{QUEUE}/{bad}"), 404, "review_not_found")


def test_one_item_takes_no_parameters(rita: Rest, item: ReviewItem) -> None:
    refused(rita.get(f"{QUEUE}/{item.pk}?whole=true"), 400, "invalid_param_value")
