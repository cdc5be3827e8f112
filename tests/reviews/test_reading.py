"""Reads of the queue: groups, filters, pages of a list that changes meanwhile, and one item whole."""

from __future__ import annotations

import hashlib
import json
import random
import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.models import ReviewItem, Status
from reviews.services import bulk, events, get_item, item_as_dict, item_detail, list_items, reopen, resolve
from tests.conftest import VaultFolder
from tests.indexed import indexed
from tests.reviews.queue import ALICE, SCAN, file_all, finding, pending, pending_of_type
from vault.errors import ErrorCode, SynapseError
from wiki.models import File, Page
from wiki.sync import scan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("vault_folder")]

IDENTITY = ["id", "item_type", "rule", "origin", "status", "title", "rationale", "rank", "page", "file"]
PROPOSAL = ["title", "page_type", "frontmatter", "body"]
KEYS = [
    *IDENTITY,
    *(f"proposed_{name}" for name in PROPOSAL),
    *["has_proposal", "base_hash", "referenced_pages", "search_queries", "created_page", "research_run", "note"],
    *["failure", "previous", "previous_reason", "filed_by", "created_at", "reviewed_at", "reviewed_by", "reviewed_via"],
]


def ids(answer: dict[str, Any]) -> list[str]:
    return [item["id"] for item in answer["result"]]


def targets(**filters: Any) -> set[str]:
    found = ids(list_items(limit=100, **filters))
    return set(ReviewItem.objects.filter(pk__in=found).values_list("target", flat=True))


def code(**filters: Any) -> ErrorCode:
    with pytest.raises(SynapseError) as refused:
        list_items(**filters)
    return refused.value.code


# --- groups and filters ----------------------------------------------------------------------------


def test_groups_of_statuses() -> None:
    for status in Status:
        item = pending(status.value)
        if status != Status.PENDING:
            ReviewItem.objects.filter(pk=item.pk).update(status=status, reviewed_at=timezone.now())
    assert targets() == targets(status=None) == targets(status="pending") == {"pending"}
    assert targets(status="resolved") == {"created", "resolved", "auto_resolved", "deep_researched"}
    assert targets(status="dismissed") == {"dismissed", "skipped"}
    assert targets(status="all") == set(Status.values)
    assert list_items(status="all")["total"] == 7


@pytest.mark.parametrize(
    "filters",
    [
        {"status": "created"},
        {"status": ""},
        {"status": "PENDING"},
        {"item_type": "stub"},
        {"item_type": ""},
        {"origin": "person"},
        {"order": "password"},
        {"order": "-rank"},
    ],
)
def test_an_unknown_value_of_a_filter(filters: dict[str, str]) -> None:
    assert code(**filters) is ErrorCode.INVALID_PARAM_VALUE


def test_filters_go_together() -> None:
    pending("rule")
    pending_of_type("suggestion", "agent")
    pending_of_type("confirm", "other")
    decided = pending("decided")
    resolve(item_id=decided.pk, action="skip", author=ALICE)
    reopen(item_id=decided.pk, author=ALICE)
    assert targets(item_type="missing-page") == {"rule", "decided"}
    assert targets(origin="agent") == {"agent", "other"}
    assert targets(origin="system") == {"decided"}
    assert targets(origin="agent", item_type="confirm") == {"other"}
    assert list_items(origin="agent", item_type="duplicate") == {"result": [], "next_cursor": None, "total": 0}


def test_items_of_a_page_are_about_it_or_rest_on_it() -> None:
    ada, bob = indexed("Ada", path="wiki/A é.md"), indexed("Bob")
    pending("about", page=ada)
    pending("asks", references=[bob, ada])
    pending("rests", rests_on=[ada.pk])
    pending("other", page=bob)
    pending("none")
    for named in (str(ada.uid), str(ada.uid).upper(), ada.path, "wiki/A é.md"):
        assert targets(page=named) == {"about", "asks", "rests"}
        assert list_items(page=named)["total"] == 3
    ada.path = "wiki/moved.md"
    ada.path_key = "wiki/moved"
    ada.save()
    assert targets(page="wiki/moved.md") == {"about", "asks", "rests"}
    assert targets(page="wiki/A é.md") == {"about"}, "what was filed under the old path is still found"
    assert targets(page=str(uuid4())) == targets(page="wiki/nothing.md") == set()
    assert code(page="") is ErrorCode.INVALID_PARAM_VALUE
    for path in ("../x.md", "/etc/passwd", "a\0b"):
        assert code(page=path) is ErrorCode.PATH_NOT_ALLOWED


# --- pages of a list -------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "got"), [(-5, 1), (0, 1), (1, 1), (100, 100), (101, 100), (10_000, 100)])
def test_the_limit_is_clamped(limit: int, got: int) -> None:
    file_all(*(finding(f"t{number}") for number in range(101)))
    answer = list_items(limit=limit)
    assert (len(answer["result"]), answer["total"]) == (got, 101)
    assert answer["next_cursor"]


def walk(order: str, limit: int, between: Any = lambda number: None) -> list[str]:
    seen: list[str] = []
    cursor, number = None, 0
    while True:
        answer = list_items(limit=limit, cursor=cursor, order=order)
        seen += ids(answer)
        cursor = answer["next_cursor"]
        if cursor is None:
            return seen
        between(number)
        number += 1


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=25), st.integers(1, 9))
def test_a_list_holds_each_item_once_in_its_order(given_rows: list[tuple[int, int]], limit: int) -> None:
    """Many items of one moment and one rank: the id decides."""
    ReviewItem.objects.all().delete()
    start = timezone.now()
    file_all(*(finding(f"t{number}", rank=rank) for number, (rank, _) in enumerate(given_rows)))
    for number, (_, second) in enumerate(given_rows):
        ReviewItem.objects.filter(target=f"t{number}").update(created_at=start + timedelta(seconds=second))
    rows = list(ReviewItem.objects.all())
    by_time = sorted(rows, key=lambda item: (item.created_at, item.pk))
    by_rank = sorted(rows, key=lambda item: (-item.rank, item.created_at, item.pk))
    assert walk("oldest", limit) == [str(item.pk) for item in by_time]
    assert walk("rank", limit) == [str(item.pk) for item in by_rank]


@pytest.mark.parametrize("order", ["oldest", "rank"])
def test_a_list_that_changes_while_it_is_read_repeats_and_hides_nothing(order: str) -> None:
    chance = random.Random(7)
    file_all(*(finding(f"t{number}", rank=chance.randrange(4)) for number in range(60)))
    stay = {str(pk) for pk in ReviewItem.objects.values_list("pk", flat=True)}

    def change(number: int) -> None:
        file_all(*(finding(f"new {number} {more}", rank=chance.randrange(6)) for more in range(3)))
        gone = chance.sample(sorted(stay), 2)
        stay.difference_update(gone)
        bulk(ids=gone, action="skip", author=ALICE)

    seen = walk(order, 7, change)
    assert len(seen) == len(set(seen))
    assert stay <= set(seen)


def test_a_cursor_belongs_to_its_list() -> None:
    file_all(*(finding(f"t{number}") for number in range(5)))
    cursor = list_items(limit=2)["next_cursor"]
    assert len(list_items(limit=100, cursor=cursor)["result"]) == 3
    for filters in ({"status": "all"}, {"order": "rank"}, {"item_type": "missing-page"}, {"origin": "rule"}):
        assert code(cursor=cursor, **filters) is ErrorCode.INVALID_CURSOR
    for broken in ("x", cursor[:-1], cursor + "x", "W10:1:2", "\0"):
        assert code(cursor=broken) is ErrorCode.INVALID_CURSOR


def test_a_list_takes_the_same_two_statements_whatever_its_length() -> None:
    pages = [indexed(f"P{number}") for number in range(12)]

    def fill(count: int) -> None:
        file_all(*(finding(f"{count} {n}", page=pages[n % 12], references=pages[: n % 9]) for n in range(count)))

    def statements(**filters: Any) -> int:
        with CaptureQueriesContext(connection) as queries:
            list_items(limit=100, **filters)
        return len(queries)

    fill(3)
    few = [statements(), statements(order="rank"), statements(page=str(pages[0].uid))]
    fill(90)
    assert [statements(), statements(order="rank"), statements(page=str(pages[0].uid))] == few == [2, 2, 2]


def test_texts_of_proposals_are_not_read_for_a_list() -> None:
    pending_of_type("suggestion", proposed_title="T", proposed_body="the body")
    with CaptureQueriesContext(connection) as queries:
        (item,) = list_items()["result"]
    assert (item["proposed_body"], item["has_proposal"]) == (None, True)
    selected = queries[0]["sql"].partition(" FROM ")[0]
    assert '"proposed_body" IS NOT NULL' in selected
    assert not re.search(r'"proposed_(body|text)",', selected)


# --- one item --------------------------------------------------------------------------------------


def test_what_an_item_shows() -> None:
    page = indexed("Ada")
    file = File.objects.create(path="raw/sources/a.pdf", path_key="raw/sources/a.pdf", name_key="a.pdf")
    item = pending("t", page=page, file=file, references=[page], rationale="why", rank=2, search_queries=["q"])
    shown = item_as_dict(item)
    assert list(shown) == KEYS
    json.dumps(shown)
    assert (shown["id"], shown["status"], shown["item_type"], shown["origin"]) == (
        str(item.pk),
        "pending",
        "missing-page",
        "rule",
    )
    reference = {"id": str(page.uid), "title": "Ada", "path": page.path}
    assert (shown["page"], shown["referenced_pages"], shown["file"]) == (
        reference,
        [reference],
        {"path": "raw/sources/a.pdf"},
    )
    assert (shown["filed_by"], shown["has_proposal"], shown["created_page"], shown["previous"]) == (
        "synapse",
        False,
        None,
        None,
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", shown["created_at"])
    assert (shown["reviewed_at"], shown["reviewed_by"], shown["reviewed_via"]) == (None, "", "")
    assert ids(list_items()) == [shown["id"]]
    assert list_items()["result"][0] == shown


def test_a_page_is_shown_as_it_is_called_now_and_its_path_outlives_its_row() -> None:
    page = indexed("Ada")
    item = pending("t", page=page)
    Page.objects.filter(pk=page.pk).update(title="Countess", path="wiki/c.md")
    assert item_as_dict(get_item(item.pk))["page"] == {"id": str(page.uid), "title": "Countess", "path": "wiki/c.md"}
    page.delete()
    assert item_as_dict(get_item(item.pk))["page"] == {"id": None, "title": None, "path": "wiki/concepts/Ada.md"}


def test_a_new_item_in_memory_shows_what_the_database_will() -> None:
    (item,) = file_all(finding(page=indexed("Ada"), rank=3)).filed
    assert item_as_dict(item) == item_as_dict(get_item(item.pk))


def test_an_item_whole(vault_folder: VaultFolder) -> None:
    text = "---\ntitle: Ada\n---\nOld.\n"
    vault_folder.write("wiki/ada.md", text)
    scan()
    page = Page.objects.get(path="wiki/ada.md")
    base = hashlib.sha256(text.encode()).hexdigest()
    item = pending_of_type("suggestion", page=page, proposed_body="New.\n", base_hash=base)
    detail = item_detail(get_item(item.pk))
    json.dumps(detail)
    assert detail["proposed_body"] == "New.\n"
    assert detail["actions"] == ["skip", "dismiss", "mark-resolved", "create", "deep-research"]
    assert detail["conflict"] is False
    assert detail["diff"]["added"]
    assert [(event["what"], event["who"], event["to_status"]) for event in detail["events"]] == [
        ("filed", "synapse", "pending")
    ]
    vault_folder.write("wiki/ada.md", text + "More.\n")
    assert item_detail(get_item(item.pk))["conflict"] is True, "whether the index knows it or not"
    resolve(item_id=item.pk, action="skip", note="n", author=ALICE)
    detail = item_detail(get_item(item.pk))
    assert (detail["actions"], detail["conflict"], detail["events"][-1]["note"]) == ([], False, "n")


def test_a_finding_about_a_page_that_moved_on_is_a_conflict_without_a_text_too(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/ada.md", "Old.\n")
    scan()
    page = Page.objects.get(path="wiki/ada.md")
    item = pending("t", item_type="confirm", page=page, base_hash=page.content_hash)
    assert item_detail(get_item(item.pk))["conflict"] is False
    (vault_folder.root / "wiki/ada.md").unlink()
    assert item_detail(get_item(item.pk))["conflict"] is True


def test_nothing_can_be_decided_where_the_vault_is_read_only(settings: Any) -> None:
    item = pending()
    settings.SYNAPSE_READ_ONLY = True
    assert item_detail(get_item(item.pk))["actions"] == []


def test_the_newest_events_are_shown() -> None:
    item = pending()
    for _ in range(120):
        events.append([item.pk], what="refreshed", author=SCAN, at=timezone.now())
    shown = item_detail(get_item(item.pk))["events"]
    assert (len(shown), {event["what"] for event in shown}) == (100, {"refreshed"})
    assert [event["at"] for event in shown] == sorted(event["at"] for event in shown)
