"""The review desk: what is shown, that a GET changes nothing, and that what was not seen is never touched."""

from __future__ import annotations

import hashlib
import html
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from reviews import services
from reviews.admin.display import age, visible_text
from reviews.models import ItemType, ProducerState, ResearchRun, ReviewEvent, ReviewItem, Status
from tests.conftest import VaultFolder
from tests.indexed import indexed
from tests.reviews.triage import BULK, LIST, ask, confirm, decide, item, own, shown, snapshot, staff, text_of, ticked
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki.models import Page
from wiki.services import PageWritten
from wiki.sync import scan

CLAUDE = Author("claude", "mcp-stdio")
NAMES = ["skip", "dismiss", "mark-resolved", "create", "deep-research"]
HOSTILE = '<script>alert(1)</script> "q" \u202egnp.exe <img src=https://evil.example/x.png onerror=alert(1)>'

pytestmark = pytest.mark.django_db


# --- the list -------------------------------------------------------------------------------------


def test_what_most_rests_on_comes_first_then_the_oldest(boss: Client) -> None:
    now = timezone.now()
    item("young", rank=1, created_at=now - timedelta(hours=1))
    item("old", rank=1, created_at=now - timedelta(days=3))
    item("wanted", rank=9, created_at=now)
    answer = boss.get(LIST)
    assert shown(answer) == ["wanted", "old", "young"]
    assert "3 d" in text_of(answer) and "1 h" in text_of(answer)


def test_views_have_counts_and_show_what_is_theirs(boss: Client, vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/concepts/a.md", "one\n")
    scan()
    page = Page.objects.get()
    item("waits")
    item("stale", page=page, page_path=page.path, item_type="suggestion", proposed_text="x", base_hash="0" * 64)
    item(
        "fresh", page=page, page_path=page.path, item_type="suggestion", proposed_text="x", base_hash=page.content_hash
    )
    item("over", status=Status.SKIPPED, reviewed_at=timezone.now(), reviewed_by="user:ann", reviewed_via="rest")
    answer = boss.get(LIST)
    assert sorted(shown(answer)) == ["fresh", "stale", "waits"]
    assert re.findall(
        r"(Inbox|Conflicts|Done)\s+(\d+)\s", re.sub(r"<[^>]*>", " ", answer.content.decode().split("review-views")[1])
    ) == [
        ("Inbox", "3"),
        ("Conflicts", "1"),
        ("Done", "1"),
    ]
    assert shown(boss.get(f"{LIST}?view=conflicts")) == ["stale"]
    done = boss.get(f"{LIST}?view=done")
    assert shown(done) == ["over"]
    assert "user:ann (rest)" in text_of(done)
    assert len(shown(boss.get(f"{LIST}?view=all"))) == 4


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("", ["a", "b", "c"]),
        ("item_type=duplicate", ["b"]),
        ("origin=agent", ["c"]),
        ("rule=agent", ["c"]),
        ("rule=orphan", []),
        ("status=dismissed", ["d"]),
        ("view=done&status=skipped", []),
        ("q=notes/b", ["b"]),
        ("q=c", ["c"]),
        ("item_type=duplicate&origin=agent", []),
        ("view=nonsense", ["a", "b", "c"]),
        ("item_type=nonsense", []),
        ("rule=%00", []),
        ("status=%00", []),
        ("o=2&p=0", ["a", "b", "c"]),
    ],
)
def test_filters_and_search(boss: Client, query: str, titles: list[str]) -> None:
    item("a")
    item("b", item_type="duplicate", rule="duplicate-title", page_path="notes/b.md")
    item("c", origin="agent", rule="agent", item_type="suggestion")
    item("d", status=Status.DISMISSED, reviewed_at=timezone.now())
    answer = boss.get(f"{LIST}?{query}")
    assert answer.status_code == 200
    assert sorted(shown(answer)) == titles


def test_choices_say_how_many_wait(boss: Client) -> None:
    item("a")
    item("b")
    item("c", item_type="duplicate", rule="duplicate-title")
    read = text_of(boss.get(LIST))
    for choice in ("missing-page (2)", "duplicate (1)", "duplicate-title (1)", "rule (3)"):
        assert choice in read


def test_the_sidebar_says_how_many_wait_to_those_who_may_see(boss: Client) -> None:
    for number in range(7):
        item(str(number))
    sidebar = boss.get("/admin/").content.decode()
    assert re.search(r">\s*7\s*</span>", sidebar)
    assert sidebar.index("Inbox") < sidebar.index("Pages")
    assert LIST not in staff("view_page").get("/admin/").content.decode()


@pytest.mark.parametrize("query", ["", "?view=conflicts", "?view=done", "?item_type=suggestion&q=title"])
def test_the_cost_of_a_list_does_not_grow_with_its_rows(boss: Client, query: str) -> None:
    def fill(start: int, stop: int) -> None:
        for number in range(start, stop):
            page = indexed(f"page {number}")
            done = {"status": Status.SKIPPED, "reviewed_at": timezone.now()} if number % 2 else {}
            fields = {"page": page, "page_path": page.path, "proposed_body": "x", "base_hash": "1" * 64, **done}
            item(f"title {number}", item_type="suggestion", rule="agent", **fields)

    fill(0, 120)
    boss.get(f"{LIST}{query}")
    with CaptureQueriesContext(connection) as few:
        boss.get(f"{LIST}{query}")
    fill(120, 304)
    with CaptureQueriesContext(connection) as many:
        answer = boss.get(f"{LIST}{query}")
    assert len(shown(answer)) == 50
    assert len(many) == len(few) <= 12, [query["sql"] for query in many]
    # What only an item's own page shows is not read for a list.
    assert not any('proposed_body",' in query["sql"] for query in many if "LIMIT 100" in query["sql"])


@pytest.mark.parametrize(
    ("prepare", "query", "says"),
    [
        (None, "", "No scan has found any file yet"),
        ("scanned", "", "Nothing to decide"),
        ("done", "", "All done"),
        ("waiting", "?q=nowhere", "The filter hides 2 items that wait for a decision"),
        ("waiting", "?item_type=duplicate", "The filter hides 2 items"),
        ("waiting", "?view=conflicts", "No conflicts"),
        ("waiting", "?view=done", "Nothing has been decided yet"),
        ("done", "?view=done&status=created", "The filter hides 1 item that was decided"),
        ("done", "?q=nowhere", "All done"),
        (None, "?view=done", "No scan has found any file yet"),
        (None, "?view=conflicts", "No scan has found any file yet"),
        ("scanned", "?view=done", "Nothing has been decided yet"),
    ],
)
def test_an_empty_list_says_why(
    boss: Client, vault_folder: VaultFolder, prepare: str | None, query: str, says: str
) -> None:
    if prepare:
        vault_folder.write("wiki/concepts/a.md", "[[b]]\n")
        scan()
    if prepare == "done":
        item(status=Status.SKIPPED, reviewed_at=timezone.now())
    if prepare == "waiting":
        item("a")
        item("b")
    assert says in " ".join(text_of(boss.get(f"{LIST}{query}")).split())


def test_what_was_held_back_is_told(boss: Client) -> None:
    ProducerState.objects.create(rule="missing-page", held_back=1_240)
    ProducerState.objects.create(rule="orphan", held_back=0)
    read = " ".join(text_of(boss.get(LIST)).split())
    assert "1240 more findings of missing-page are held back" in read
    assert "of orphan" not in read


def test_ages_are_in_the_largest_unit_that_fits() -> None:
    now = timezone.now()
    for seconds, says in ((5, "0 min"), (3_599, "59 min"), (3_600, "1 h"), (86_400 * 40, "40 d"), (-60, "0 min")):
        assert f">{says}<" in age(now - timedelta(seconds=seconds))


# --- bulk -----------------------------------------------------------------------------------------


def test_a_preview_names_each_item_and_changes_nothing(boss: Client) -> None:
    items = [item(f"Page {number}") for number in range(37)]
    item("not ticked")
    before = snapshot()
    answer = ask(boss, "dismiss", *items)
    assert answer.status_code == 200
    assert "Dismiss 37" in text_of(answer)
    assert ticked(answer) == [str(one.pk) for one in items]
    assert "not ticked" not in text_of(answer)
    assert "never comes back" in text_of(answer)
    assert snapshot() == before


def test_what_can_not_be_decided_is_unticked_with_the_reason(boss: Client, vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/concepts/a.md", "one\n")
    scan()
    page = Page.objects.get()
    edit = {"item_type": "suggestion", "page": page, "page_path": page.path, "proposed_text": "x"}
    good = item("Good")
    fresh = item("Fresh", base_hash=page.content_hash, **edit)
    stale = item("Stale", base_hash="0" * 64, **edit)
    unfit = item("Unfit", item_type="confirm", rule="source-gone")
    over = item("Over", status=Status.SKIPPED, reviewed_at=timezone.now(), reviewed_by="user:ann", reviewed_via="rest")
    answer = ask(boss, "create", good, fresh, stale, unfit, over, str(uuid4()), "no id at all")
    assert ticked(answer) == [str(good.pk), str(fresh.pk)]
    read = " ".join(text_of(answer).split())
    assert "Create 2" in read
    assert "Makes the page “Good”" in read and "Changes wiki/concepts/a.md" in read
    assert "the page has changed since this was proposed" in read
    assert "create does not fit an item of type confirm" in read
    assert "decided already: skipped by user:ann (rest)" in read
    assert "1 of the items you named is not there any more" in read


@pytest.mark.parametrize("text", ["new text\n", None], ids=["a text", "a title alone"])
def test_a_new_page_is_no_change_of_the_page_that_gave_rise_to_it(
    text: str | None, boss: Client, vault_folder: VaultFolder
) -> None:
    vault_folder.write("wiki/concepts/a.md", "---\ntype: concept\ntitle: Old\nsources: [x]\nlang: en\n---\none\n")
    scan()
    given = {"item_type": "suggestion", "title": "?", "page": "Old", "proposed_title": "New"}
    filed = services.propose(items=[given | ({"proposed_body": text} if text else {})], author=CLAUDE)
    one = ReviewItem.objects.get(pk=filed["result"][0]["id"])
    read = " ".join(text_of(ask(boss, "create", one)).split())
    assert f"Makes the page “New”{' as proposed' if text else ', as a stub'}" in read
    assert "Changes" not in read
    confirm(boss, "create", one)
    assert ReviewItem.objects.get(pk=one.pk).created_page == Page.objects.get(title="New")
    assert b"one" in vault_folder.read("wiki/concepts/a.md")


def test_exactly_the_ticked_items_are_decided(boss: Client) -> None:
    items = [item(f"Page {number}") for number in range(5)]
    asked = ask(boss, "dismiss", *items)
    newcomer = item("came while the preview was open")
    answer = confirm(boss, "dismiss", *ticked(asked)[:3], note="not ours")
    assert set(ReviewItem.objects.filter(status=Status.DISMISSED)) == set(items[:3])
    assert set(ReviewItem.objects.filter(status=Status.PENDING)) == {*items[3:], newcomer}
    decided = ReviewItem.objects.get(pk=items[0].pk)
    assert (decided.note, decided.reviewed_by, decided.reviewed_via) == ("not ours", "user:boss", "admin")
    assert "3 dismissed" in text_of(answer)


def test_what_there_is_to_know_of_a_page_is_told_beside_it(boss: Client, vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/a.md", "By [[E. M. Forster]].\n")
    scan()
    one = item("E. M. Forster", proposed_frontmatter={"sources": ["raw/sources/a.md"]})
    read = text_of(decide(boss, one, "create"))
    assert "wrote E. M. Forster" in " ".join(read.split())
    assert "Obsidian does not lead [[E. M. Forster]] to wiki/concepts/e-m-forster.md" in read


def test_select_all_means_what_was_shown(boss: Client) -> None:
    seen = [item(f"Page {number}") for number in range(30)]
    for number in range(5):
        item(f"new {number}")
    answer = ask(boss, "skip", *seen, select_across="1")
    assert len(ticked(answer)) == 30
    assert "new 1" not in text_of(answer)
    assert "to select the objects across all pages" not in boss.get(LIST).content.decode()
    # Nothing ticked and "all": nothing is meant.
    before = snapshot()
    boss.post(LIST, {"action": "skip", "index": "0", "select_across": "1"})
    assert snapshot() == before


def test_the_outcome_is_told_item_by_item(boss: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    fine, over, broken, gone = item("Fine"), item("Over"), item("Broken"), item("Gone")
    ask(boss, "create", fine, over, broken, gone)
    services.resolve(item_id=over.pk, action="skip", author=CLAUDE)
    ReviewItem.objects.filter(pk=gone.pk).delete()

    def refuse(one: ReviewItem, **_: Any) -> Any:
        if one.title == "Broken":
            raise SynapseError(ErrorCode.STORAGE_ERROR, "The disk is full.")
        page = Page.objects.create(path="wiki/concepts/fine.md", title="Fine", content_hash="0" * 64)
        return PageWritten(page, page.content_hash, created=True, warnings=["Obsidian <b>does not</b>."])

    monkeypatch.setattr("reviews.services.creating.carry_out", refuse)
    read = " ".join(text_of(confirm(boss, "create", fine, over, broken, gone)).split())
    assert "1 created Fine wrote Fine . Obsidian <b>does not</b>." in read
    assert "1 decided before, left as they were Over skipped" in read
    assert "1 not done, still waiting Broken The disk is full." in read
    assert f"1 no longer there {gone.pk}" in read
    assert ReviewItem.objects.get(pk=broken.pk).status == Status.PENDING


def test_a_second_submit_changes_nothing_more(boss: Client) -> None:
    one = item()
    confirm(boss, "dismiss", one)
    after = snapshot()
    read = " ".join(text_of(confirm(boss, "dismiss", one)).split())
    assert "1 decided before, left as they were Ada Lovelace dismissed" in read
    assert snapshot() == after


def test_no_more_than_two_hundred_at_once(boss: Client) -> None:
    ids = [str(item(str(number)).pk) for number in range(201)]
    before = snapshot()
    given = {"action": "skip", "_selected_action": ids, "index": "0"}
    assert "at most 200" in text_of(boss.post(LIST, given, follow=True))
    assert "1 to 200" in text_of(boss.post(BULK, given, follow=True))
    assert snapshot() == before
    assert "Skip 200" in text_of(ask(boss, "skip", *ids[:200]))


@pytest.mark.parametrize("action", ["", "delete_selected", "auto_resolved", "create'--"])
def test_unknown_actions_are_a_sentence(boss: Client, action: str) -> None:
    one = item()
    before = snapshot()
    for answer in (
        boss.post(BULK, {"action": action, "_selected_action": [str(one.pk)]}, follow=True),
        boss.post(own(one, "decide/"), {"action": action}, follow=True),
    ):
        assert "There is no such action" in text_of(answer)
    boss.post(LIST, {"action": action, "_selected_action": [str(one.pk)], "index": "0"}, follow=True)
    assert snapshot() == before


def test_a_bulk_of_nothing_says_so(boss: Client) -> None:
    assert "nothing has been done" in text_of(boss.post(BULK, {"action": "skip"}, follow=True))
    assert "None of these items is there" in text_of(ask(boss, "skip", str(uuid4())))


@pytest.mark.parametrize("action", ["create", "dismiss"])
def test_a_preview_of_many_costs_no_more_queries(boss: Client, action: str) -> None:
    edit = {"item_type": "suggestion", "proposed_title": "", "proposed_body": "x"}
    items = [item(f"Page {number}", **edit) for number in range(200)]
    with CaptureQueriesContext(connection) as few:
        ask(boss, action, *items[:2])
    with CaptureQueriesContext(connection) as many:
        assert len(ticked(ask(boss, action, *items))) == 200
    assert len(many) == len(few) <= 14


# --- rows and items -------------------------------------------------------------------------------


def test_a_row_leads_to_the_question(boss: Client) -> None:
    one = item()
    before = snapshot()
    links = re.findall(rf'href="({own(one, "ask-")}[a-z-]+/)"', boss.get(LIST).content.decode())
    assert len(links) == len(NAMES)
    for link in links:
        answer = boss.get(link)
        assert answer.status_code == 200
        assert ticked(answer) in ([str(one.pk)], [])
    assert snapshot() == before


def test_an_item_shows_why_what_and_what_happened(boss: Client, vault_folder: VaultFolder) -> None:
    old = "---\ntitle: Ada\n---\nborn 1815\ndied 1852\n"
    vault_folder.write("wiki/entities/ada.md", old)
    vault_folder.write("wiki/entities/ref.md", "---\ntitle: Analytical Engine\n---\nA machine that was never built.\n")
    scan()
    page, ref = (Page.objects.get(path=f"wiki/entities/{name}.md") for name in ("ada", "ref"))
    one = item(
        "Correct the year",
        item_type="suggestion",
        rationale="The source says\n1816.",
        page=page,
        page_path=page.path,
        proposed_text=old.replace("1815", "1816"),
        base_hash=page.content_hash,
        referenced_pages=[
            {"id": str(ref.uid), "title": "old name", "path": ref.path},
            {"id": str(uuid4()), "title": "Lost", "path": "wiki/lost.md"},
        ],
        search_queries=["ada birth year"],
    )
    ReviewEvent.objects.create(item=one, what="filed", who="claude", door="mcp-http", note="first")
    answer = boss.get(own(one))
    page_text, read = answer.content.decode(), " ".join(text_of(answer).split())
    assert "The source says 1816." in read
    assert "<del>1815</del>" in page_text and "<ins>1816</ins>" in page_text
    assert reverse("admin:wiki_page_change", args=[ref.pk]) in page_text
    assert "A machine that was never built." in read
    assert "wiki/lost.md (gone)" in read
    assert "ada birth year" in read
    assert "filed claude mcp-http first" in read
    assert re.findall(r'name="action" value="([a-z-]+)"', page_text) == NAMES
    assert "Conflict" not in read.split("What would change")[0].split("Correct the year")[-1]


@pytest.mark.parametrize(
    ("fields", "actions"),
    [
        ({}, NAMES),
        ({"item_type": "confirm"}, ["skip", "dismiss", "mark-resolved"]),
        ({"item_type": "duplicate"}, ["skip", "dismiss", "mark-resolved", "deep-research"]),
        ({"status": "skipped", "reviewed_at": timezone.now()}, ["reopen"]),
    ],
)
def test_only_legal_actions_are_buttons(
    boss: Client, settings: Any, fields: dict[str, Any], actions: list[str]
) -> None:
    one = item(**fields)
    found = re.findall(r'name="action" value="([a-z-]+)"', boss.get(own(one)).content.decode())
    assert sorted(found) == sorted(actions)
    settings.SYNAPSE_READ_ONLY = True
    shown = boss.get(own(one)).content.decode()
    assert 'name="action"' not in shown
    assert "The texts are the same" not in shown


def test_after_a_decision_the_next_item_of_the_same_list_opens(boss: Client) -> None:
    a, b, c = (item(name, rank=rank, item_type="duplicate") for name, rank in (("a", 9), ("b", 5), ("c", 1)))
    item("of another type", rank=7)
    query = "_changelist_filters=item_type%3Dduplicate"
    listed = boss.get(f"{LIST}?item_type=duplicate").content.decode()
    assert html.escape(f"{own(b)}?{query}") in listed
    opened = boss.get(f"{own(a)}?{query}").content.decode()
    assert f"{own(b)}?{query}" in opened
    answer = decide(boss, a, "skip", follow=False, _changelist_filters="item_type=duplicate")
    assert answer["Location"] == f"{own(b)}?{query}"
    assert decide(boss, c, "skip", follow=False, _changelist_filters="item_type=duplicate")["Location"].startswith(
        own(b)
    )
    last = decide(boss, b, "skip", follow=False, _changelist_filters="item_type=duplicate")
    assert last["Location"] == f"{LIST}?item_type=duplicate"


def test_an_item_leads_to_its_neighbours_in_the_list(boss: Client) -> None:
    query = "_changelist_filters=item_type%3Dduplicate"
    a, b, c = (item(name, rank=rank, item_type="duplicate") for name, rank in (("a", 9), ("b", 5), ("c", 1)))
    other = item("of another type", rank=7)
    neighbours = {one.title: boss.get(f"{own(one)}?{query}") for one in (a, b, c, other)}
    assert {title: (answer.context["before"], answer.context["next"]) for title, answer in neighbours.items()} == {
        "a": ("", f"{own(b)}?{query}"),
        "b": (f"{own(a)}?{query}", f"{own(c)}?{query}"),
        "c": (f"{own(b)}?{query}", f"{own(a)}?{query}"),
        "of another type": ("", f"{own(a)}?{query}"),
    }
    assert f'href="{own(a)}?{query}" data-review-before' in neighbours["b"].content.decode()


def test_pages_that_an_item_is_about_and_names_can_be_read(
    boss: Client, vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault_folder.write("wiki/concepts/a b.md", "one\n")
    vault_folder.write("wiki/concepts/gone.md", "two\n")
    vault_folder.write("wiki/concepts/ref?.md", "three\n")
    scan()
    page, gone, ref = (Page.objects.get(path=f"wiki/concepts/{name}.md") for name in ("a b", "gone", "ref?"))
    Page.objects.filter(pk=gone.pk).update(deleted_at=timezone.now())
    names = [{"id": str(named.uid), "title": named.title, "path": named.path} for named in (ref, gone)]
    one = item(page=page, page_path=page.path, referenced_pages=names)
    links = re.findall(r'<a href="(/read/[^"]*)"', boss.get(own(one)).content.decode())
    assert links == ["/read/wiki/concepts/a%20b.md", "/read/wiki/concepts/ref%3F.md"]
    for link in links:
        assert boss.get(link).status_code == 200

    monkeypatch.setattr(Page, "get_absolute_url", lambda _: "")  # as without a reader
    assert "/read/" not in boss.get(own(one)).content.decode()


def test_rooms_below_the_desk_do_not_name_its_addresses() -> None:
    root = Path(__file__).resolve().parents[2]
    files = [file for room in ("reviews", "wiki") for kind in ("*.py", "*.html") for file in (root / room).rglob(kind)]
    assert len(files) > 100
    assert not [file.name for file in files if re.search(r"""["']desk:\w""", file.read_text(encoding="utf-8"))]


# --- by keyboard ----------------------------------------------------------------------------------


def test_what_the_keys_use_is_there_without_them(boss: Client) -> None:
    """The script looks for these: it presses what stands on the page, or sends what the item's own form sends."""
    one = item()
    other = item("another")
    listed = boss.get(LIST).content.decode()
    opened = boss.get(own(other)).content.decode()
    for page in (listed, opened):
        assert re.search(r'<script src="/static/reviews/admin/keys[^"]*\.js"', page)
        assert 'id="review-keys"' in page
    for wanted in (
        'id="result_list"',
        'class="data-row ',
        'id="changelist-form"',
        "action-select",
        'name="csrfmiddlewaretoken"',
        'id="searchbar"',
        f'href="{own(one)}',
    ):
        assert wanted in listed, wanted
    assert re.search(r'<button[^>]*name="index"', listed)
    for name in NAMES:
        assert f'<option value="{name}">' in listed
        assert f'name="action" value="{name}"' in opened
    for wanted in ('class="review-decide"', "data-review-before", "data-review-next", "data-review-search"):
        assert wanted in opened, wanted


def test_every_key_is_told_and_every_key_that_decides_is_an_action(boss: Client) -> None:
    script = Path(finders.find("reviews/admin/keys.js") or "").read_text(encoding="utf-8")
    decisions = dict(re.findall(r'(\w): "([a-z-]+)"', script.split("DECISIONS = {")[1].split("}")[0]))
    assert sorted(decisions.values()) == sorted(NAMES)
    told = re.findall(r"<kbd>(.)</kbd>", boss.get(LIST).content.decode())
    assert sorted(told) == sorted([*decisions, "j", "k", "o", "x", "/", "?"])


def test_hostile_filters_lead_nowhere_else(boss: Client) -> None:
    one = item()
    for filters in ("//evil.example", "\r\nX: y", "item_type=x&o=99.99&p=zzz", "nosuch__field=1", "%00"):
        assert boss.get(own(one), {"_changelist_filters": filters}).status_code == 200
        answer = decide(boss, one, "skip", follow=False, _changelist_filters=filters)
        assert answer.status_code == 302
        assert answer["Location"].startswith(LIST)
        assert "X" not in answer


def test_the_outcome_of_a_decision_is_told(boss: Client) -> None:
    one = item()
    item("another")
    answer = decide(boss, one, "dismiss", note="no")
    assert "Ada Lovelace : dismissed." in " ".join(text_of(answer).split())
    assert answer.context["item"].title == "another"
    event = ReviewEvent.objects.get(item=one)
    assert (event.who, event.door, event.to_status, event.note) == ("user:boss", "admin", "dismissed", "no")


def test_a_decision_sent_twice_is_taken_once(boss: Client) -> None:
    one = item()
    decide(boss, one, "dismiss")
    after = snapshot()
    assert "decided already, dismissed by user:boss" in text_of(decide(boss, one, "dismiss"))
    assert "has been decided already (dismissed)" in text_of(decide(boss, one, "skip"))
    assert snapshot() == after


def test_a_conflict_is_shown_when_the_item_opens_and_told_again_when_it_is_decided(
    boss: Client, vault_folder: VaultFolder
) -> None:
    old = "---\ntitle: Ada\ntype: entity\nlang: en\nsources: [a]\n---\none\n"
    vault_folder.write("wiki/entities/ada.md", old)
    scan()
    page = Page.objects.get()
    one = item(
        "Change",
        item_type="suggestion",
        rule="staged",
        origin="agent",
        page=page,
        page_path=page.path,
        proposed_title="Ada",
        proposed_text=old + "two\n",
        proposed_body="one\ntwo\n",
        base_hash=page.content_hash,
    )
    assert 'role="alert"' not in boss.get(own(one)).content.decode()
    vault_folder.write("wiki/entities/ada.md", old + "by hand\n")
    answer = boss.get(own(one))
    assert "The page has changed since this was filed" in text_of(answer)
    assert "by hand" in text_of(answer)
    told = decide(boss, one, "create")
    assert told.redirect_chain[-1][0].startswith(own(one))
    assert "changed since" in text_of(told)
    one.refresh_from_db()
    assert one.status == Status.PENDING
    assert "what stands there has changed" in text_of(told)
    assert ReviewEvent.objects.get(item=one).what == "failed"
    assert vault_folder.read("wiki/entities/ada.md").decode() == old + "by hand\n"


def test_what_was_decided_can_be_asked_again(boss: Client) -> None:
    one = item(status=Status.DISMISSED, reviewed_at=timezone.now(), reviewed_by="user:ann")
    answer = decide(boss, one, "reopen")
    again = ReviewItem.objects.get(status=Status.PENDING)
    assert answer.context["item"] == again
    assert again.previous == one
    assert "an item that was dismissed" in text_of(answer)
    assert "as a new item (pending)" in text_of(boss.get(own(one)))


def test_an_item_that_is_not_there_leads_back_to_the_list(boss: Client) -> None:
    for name in (str(uuid4()), "nonsense", "%00", "1"):
        answer = boss.get(f"{LIST}{name}/change/", follow=True)
        assert answer.status_code == 200
        assert "No review item has this id" in text_of(answer)
    assert "No review item has this id" in text_of(
        boss.post(f"{LIST}{uuid4()}/decide/", {"action": "skip"}, follow=True)
    )


# --- who may, and how -----------------------------------------------------------------------------


def paths(one: ReviewItem) -> list[str]:
    asks = [own(one, f"ask-{name}/") for name in NAMES]
    return [LIST, f"{LIST}?view=done", own(one), own(one, "history/"), own(one, "decide/"), BULK, *asks]


def test_a_get_never_changes_anything(boss: Client) -> None:
    one = item()
    before = snapshot()
    for path in paths(one):
        for method in (boss.get, boss.head, boss.options):
            answer = method(path, {"action": "dismiss", "_selected_action": str(one.pk)})  # type: ignore[operator]
            assert answer.status_code in (200, 302, 403, 405)
    for path in (own(one, "decide/"), BULK):
        assert boss.get(path).status_code == 405
    assert snapshot() == before


@pytest.mark.parametrize(
    ("query", "offered"),
    [
        ("", {"create", "mark-resolved", "skip", "dismiss", "deep-research"}),
        ("?view=all", {"create", "mark-resolved", "skip", "dismiss", "deep-research"}),
        ("?item_type=duplicate", {"mark-resolved", "skip", "dismiss", "deep-research"}),
        ("?item_type=confirm", {"mark-resolved", "skip", "dismiss"}),
        ("?item_type=suggestion", {"create", "mark-resolved", "skip", "dismiss", "deep-research"}),
        ("?view=done", set()),
        ("?status=skipped", set()),
    ],
)
def test_the_menu_of_rows_holds_what_fits_the_list(boss: Client, query: str, offered: set[str]) -> None:
    for item_type in ItemType:
        item(item_type, item_type=item_type)
        item(item_type, item_type=item_type, status="skipped", reviewed_at=timezone.now())
    answer = boss.get(LIST + query)
    assert shown(answer)
    assert set(re.findall(r'href="[^"]*/ask-([a-z-]+)/"', answer.content.decode())) == offered


def test_rows_are_neither_added_nor_edited_nor_deleted(boss: Client) -> None:
    one = item()
    before = snapshot()
    for path in (f"{LIST}add/", own(one), own(one, "delete/")):
        assert boss.post(path, {"status": "dismissed", "post": "yes", "title": "x"}).status_code == 403
    boss.post(LIST, {"action": "delete_selected", "_selected_action": [str(one.pk)], "post": "yes"})
    assert snapshot() == before


@pytest.mark.parametrize(
    ("permissions", "sees", "decides"),
    [
        ((), False, False),
        (("change_page",), False, False),
        (("view_reviewitem",), True, False),
        (("view_reviewitem", "change_page"), True, False),
        (("view_reviewitem", "change_reviewitem"), True, False),
        (("view_reviewitem", "change_reviewitem", "change_page"), True, True),
    ],
)
def test_who_may_see_and_who_may_decide(
    vault_folder: VaultFolder, permissions: tuple[str, ...], sees: bool, decides: bool
) -> None:
    one = item()
    client = staff(*permissions)
    assert client.get(LIST).status_code == (200 if sees else 403)
    opened = client.get(own(one))
    assert opened.status_code == (200 if sees else 403)
    if sees:
        assert ('value="dismiss"' in opened.content.decode()) == decides
        assert ('name="_selected_action"' in client.get(LIST).content.decode()) == decides
        assert ("Deciding needs" in text_of(opened)) != decides
    for answer in (
        ask(client, "dismiss", one),
        client.get(own(one, "ask-dismiss/")),
        confirm(client, "dismiss", one),
        decide(client, one, "dismiss", follow=False),
    ):
        assert decides or answer.status_code == 403 or not ticked(answer)
    one.refresh_from_db()
    assert one.status == (Status.DISMISSED if decides else Status.PENDING)


def test_who_is_not_logged_in_is_asked_to(vault_folder: VaultFolder) -> None:
    one = item()
    before = snapshot()
    for path in paths(one):
        assert Client().get(path)["Location"].startswith("/admin/login/")
        assert Client().post(path, {"action": "dismiss"})["Location"].startswith("/admin/login/")
    assert snapshot() == before


def test_another_site_can_not_decide(vault_folder: VaultFolder) -> None:
    one = item()
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("boss"))
    before = snapshot()
    assert client.post(own(one, "decide/"), {"action": "dismiss"}).status_code == 403
    assert confirm(client, "dismiss", one).status_code == 403
    assert ask(client, "dismiss", one).status_code == 403
    assert snapshot() == before


def test_a_read_only_vault_decides_nothing(boss: Client, settings: Any) -> None:
    one = item()
    settings.SYNAPSE_READ_ONLY = True
    before = snapshot()
    assert "SYNAPSE_READ_ONLY" in text_of(decide(boss, one, "skip"))
    assert "SYNAPSE_READ_ONLY" in text_of(
        boss.post(BULK, {"action": "skip", "_selected_action": str(one.pk)}, follow=True)
    )
    assert snapshot() == before


# --- hostile texts ---------------------------------------------------------------------------------


def admin_attacks() -> list[str]:
    """What pages are made of in the known attacks on admins: HTML, links and pictures that must stay text."""
    cases = Path(__file__).resolve().parents[3] / "shared" / "cases" / "attacks.jsonl"
    if not cases.is_file():
        return []
    rows = [json.loads(line) for line in cases.read_text(encoding="utf-8").splitlines()]
    return [row["input"] for row in rows if row["surface"] == "admin" and re.search(r"[<\[=]", row["input"])]


@pytest.mark.parametrize("text", [HOSTILE, "}}{% load x %}{{ 1 }}", "</pre></td><script>1</script>", *admin_attacks()])
def test_nothing_that_a_page_or_an_agent_says_runs(boss: Client, vault_folder: VaultFolder, text: str) -> None:
    vault_folder.write("wiki/concepts/a.md", f"---\ntitle: a\n---\n{text}\nold\n")
    scan()
    page = Page.objects.get()
    Page.objects.update(title=text, summary=text)
    page.refresh_from_db()
    one = item(
        text,
        item_type="suggestion",
        rationale=text,
        page=page,
        page_path=page.path,
        proposed_title=text,
        proposed_text=f"---\ntitle: a\n---\n{text}\nnew {text}\n",
        proposed_frontmatter={text: text},
        base_hash="0" * 64,
        referenced_pages=[{"id": str(page.uid), "title": text, "path": text}, {"id": "x", "title": text, "path": text}],
        search_queries=[text],
        failure=text,
        note=text,
        filed_by=text[:120],
    )
    ReviewEvent.objects.create(item=one, what="filed", who=text[:120], door="rest", note=text)
    run = ResearchRun.objects.create(topic=text, backend="agent", note=text, page_path=text)
    answers = [
        boss.get(LIST),
        boss.get(LIST, {"q": text[:20]}),
        boss.get(own(one)),
        ask(boss, "create", one),
        boss.get("/admin/reviews/researchrun/"),
        boss.get(f"/admin/reviews/researchrun/{run.pk}/change/"),
        decide(boss, one, "dismiss"),
        boss.get(own(one)),
        boss.get(f"{LIST}?view=done"),
        confirm(boss, "skip", one),
    ]
    for answer in answers:
        assert answer.status_code == 200
        body = answer.content.decode()
        for form in (text, html.unescape(text)):
            if re.search(r"<\w", form):
                assert form not in body
        assert "\u202e" not in body
        assert not re.search(r"<(svg|base|iframe|object|embed)\b", body)
        assert not re.sub(r'<img src="/static/desk/mark\.svg"', "", body).count("<img"), "but the house's own mark"
        assert not re.search(r'(?:src|href|action)="\s*(?:https?:|//|javascript)', body)


def test_pages_of_the_desk_have_no_inline_scripts_or_styles() -> None:
    templates = Path(__file__).resolve().parents[2] / "reviews" / "templates"
    for template in templates.rglob("*.html"):
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|https?://", text), template.name
        assert "|safe" not in text and "autoescape off" not in text


def test_texts_of_several_lines_keep_their_breaks_and_hide_nothing() -> None:
    assert visible_text("a\tb\r\nc\u200bd\u202e") == "a\tb\\r\nc\\u200bd\\u202e"


def test_no_file_outside_is_touched_by_looking(boss: Client, vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/concepts/a.md", "one\n")
    scan()
    page = Page.objects.get()
    one = item(item_type="suggestion", page=page, page_path=page.path, proposed_text="two\n", base_hash="0" * 64)
    before = {path: hashlib.sha256(vault_folder.read(path)).hexdigest() for path in vault_folder.files()}
    boss.get(own(one))
    ask(boss, "create", one)
    assert {path: hashlib.sha256(vault_folder.read(path)).hexdigest() for path in vault_folder.files()} == before
