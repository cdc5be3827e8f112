"""Going through the queue: rows of links, all that match, the next item, conflicts that come meanwhile, 5,000 items."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from reviews import services
from reviews.admin.naming import packed, unpacked
from reviews.models import BaseText, Evidence, ReviewItem, Status
from tests.conftest import VaultFolder
from tests.indexed import indexed
from tests.reviews.triage import LIST, ask, confirm, decide, item, own, shown, snapshot, text_of, ticked
from vault.history import Author
from wiki.models import Page
from wiki.sync import scan

CLAUDE = Author("claude", "mcp-stdio")
ADA = "---\ntitle: Ada\ntype: entity\nlang: en\nsources: [a]\n---\n"

pytestmark = pytest.mark.django_db


def links(answer: Any, row: str) -> dict[str, tuple[str, int, bool]]:
    """The links of a row: name to query, count and whether it is the current one."""
    nav = re.search(rf'<nav [^>]*aria-label="{row}">(.*?)</nav>', answer.content.decode(), re.S)
    found = re.findall(
        r'<a href="([^"]*)"( aria-current="\w+")?>(\S+) <span class="review-count">(\d+)</span>', nav[1] if nav else ""
    )
    return {
        name: (address.replace("&amp;", "&").removeprefix(LIST), int(count), bool(current))
        for address, current, name, count in found
    }


def staged(page: str, content: str) -> ReviewItem:
    """An agent's new text for a page, which waits for a person."""
    frontmatter = {"type": "entity", "title": page, "lang": "en", "sources": ["a"]}
    standing = Page.objects.get(title=page).content_hash
    return services.stage_write(
        title=page, content=content, frontmatter=frontmatter, base_hash=standing, author=Author("claude", "mcp-http")
    )


# --- rows of links --------------------------------------------------------------------------------


def test_types_and_origins_are_links_that_count_what_waits(boss: Client) -> None:
    for kind, origin, count in (("missing-page", "rule", 3), ("suggestion", "rule", 2), ("suggestion", "agent", 4)):
        for number in range(count):
            item(f"{kind} {origin} {number}", item_type=kind, origin=origin)
    item("over", item_type="confirm", status=Status.SKIPPED, reviewed_at=timezone.now())
    answer = boss.get(LIST)
    assert links(answer, "Views") == {
        "Inbox": ("", 9, True),
        "Conflicts": ("?view=conflicts", 0, False),
        "Done": ("?view=done", 1, False),
    }
    assert links(answer, "By type") == {
        "all": ("", 9, True),
        "missing-page": ("?item_type=missing-page", 3, False),
        "suggestion": ("?item_type=suggestion", 6, False),
    }
    assert links(answer, "By origin") == {
        "all": ("", 9, True),
        "rule": ("?origin=rule", 5, False),
        "agent": ("?origin=agent", 4, False),
    }


def test_each_link_leads_to_as_many_as_it_says(boss: Client) -> None:
    for number, (kind, origin) in enumerate(
        (kind, origin) for kind in ("missing-page", "suggestion", "duplicate") for origin in ("rule", "agent", "system")
    ):
        for copy in range(number):
            item(f"{kind} {origin} {copy}", item_type=kind, origin=origin)
    seen, open_ = set(), [""]
    while open_:
        query = open_.pop()
        if query in seen:
            continue
        seen.add(query)
        answer = boss.get(LIST + query)
        for row in ("By type", "By origin"):
            for address, count, current in links(answer, row).values():
                assert not current or count == len(shown(answer))
                assert boss.get(LIST + address).context["cl"].result_count == count
                open_.append(address)
    assert len(seen) > 12


def test_evidence_is_how_many_pages_an_item_rests_on(boss: Client) -> None:
    waits = item("staged", rank=1_000)
    Evidence.objects.bulk_create(Evidence(item=waits, page=indexed(f"page {number}")) for number in range(3))
    item("nothing", rank=7)
    rows = re.findall(r'data-label="Evidence"[^>]*>\s*(?:<[^>]*>\s*)*(\d+)', boss.get(LIST).content.decode(), re.I)
    assert rows == ["3", "0"]
    assert "rests on 3 pages" in " ".join(text_of(boss.get(own(waits))).split())


# --- all that match -------------------------------------------------------------------------------


def matching(answer: Any) -> str:
    """The list's field that names all that match."""
    field = re.search(r'name="matching_ids" value="([^"]*)"', answer.content.decode())
    return field[1] if field else ""


def test_all_that_match_are_those_that_the_list_had_when_it_was_shown(boss: Client) -> None:
    wanted = [item(f"Page {number}", rank=number, item_type="duplicate") for number in range(120)]
    item("of another type", rank=500)
    answer = boss.get(f"{LIST}?item_type=duplicate")
    assert "all 120 that match" in " ".join(text_of(answer).split())
    item("came meanwhile", rank=1_000, item_type="duplicate")
    asked = boss.post(
        f"{LIST}?item_type=duplicate",
        {"action": "dismiss", "_selected_action": str(wanted[119].pk), "index": "0"}
        | {"matching": "1", "matching_ids": matching(answer)},
        follow=True,
    )
    assert ticked(asked) == [str(one.pk) for one in reversed(wanted)]
    assert "Dismiss 120" in text_of(asked)
    assert "came meanwhile" not in text_of(asked)
    told = confirm(boss, "dismiss", *ticked(asked), _changelist_filters="item_type=duplicate")
    assert "120 dismissed" in text_of(told)
    assert sorted(ReviewItem.objects.filter(status=Status.PENDING).values_list("title", flat=True)) == [
        "came meanwhile",
        "of another type",
    ]


def test_of_more_than_can_be_decided_at_once_the_first_are_meant(boss: Client) -> None:
    for number in range(230):
        item(f"Page {number}", rank=number)
    answer = boss.get(LIST)
    assert "the first 200 of 230 that match" in " ".join(text_of(answer).split())
    assert len(unpacked(matching(answer))) == 200


def test_without_the_tick_only_the_ticked_are_meant(boss: Client) -> None:
    wanted = [item(f"Page {number}") for number in range(60)]
    given = {"matching_ids": matching(boss.get(LIST))}
    assert ticked(ask(boss, "skip", wanted[3], **given)) == [str(wanted[3].pk)]


def test_a_list_of_one_page_has_nothing_else_to_select(boss: Client) -> None:
    item()
    assert not matching(boss.get(LIST))


@given(st.lists(st.uuids(), max_size=200))
def test_ids_come_back_as_they_were(ids: list[UUID]) -> None:
    assert unpacked(packed(ids)) == ids
    assert len(packed(ids)) < 4_400


@given(st.text())
def test_any_text_in_their_place_is_no_failure(text: str) -> None:
    assert len(unpacked(text)) <= 200


# --- going back, sending twice ----------------------------------------------------------------------


def test_the_preview_and_the_outcome_are_addresses_that_do_nothing(boss: Client) -> None:
    items = [item(f"Page {number}") for number in range(3)]
    asked = ask(boss, "dismiss", *items)
    preview = asked.redirect_chain[-1][0]
    told = confirm(boss, "dismiss", *items[:2])
    outcome = told.redirect_chain[-1][0]
    after = snapshot()
    assert "2 dismissed" in text_of(boss.get(outcome))
    again = boss.get(preview)
    assert ticked(again) == [str(items[2].pk)]
    assert "decided already: dismissed by user:boss (admin)" in text_of(again)
    assert "not kept any more" in text_of(boss.get(f"{LIST}bulk/outcome/?of=other", follow=True))
    assert snapshot() == after


def test_an_outcome_is_shown_to_whoever_decided_alone(boss: Client) -> None:
    address = confirm(boss, "dismiss", item()).redirect_chain[-1][0]
    other = Client()
    other.force_login(User.objects.create_superuser("other"))
    assert "not kept any more" in text_of(other.get(address, follow=True))


def test_after_what_somebody_else_has_decided_comes_what_was_shown_as_the_next(boss: Client) -> None:
    items = [item(f"Page {number}", rank=9 - number) for number in range(5)]
    form = boss.get(own(items[2])).content.decode()
    following = re.search(r'name="next" value="([^"]*)"', form)
    assert following and following[1] == str(items[3].pk)
    services.resolve(item_id=items[2].pk, action="dismiss", author=CLAUDE)
    answer = decide(boss, items[2], "dismiss", next=following[1])
    assert answer.context["item"] == items[3]
    assert "decided already, dismissed by claude" in text_of(answer)


def test_a_next_item_that_is_not_there_is_passed_over(boss: Client) -> None:
    first, second = item("first", rank=2), item("second", rank=1)
    for nonsense in (str(uuid4()), "x", str(second.pk)):
        assert decide(boss, second, "skip", next=nonsense).context["item"] == first


# --- what changes while a form is open --------------------------------------------------------------


def seen(answer: Any) -> str:
    """The form's mark of what it shows."""
    found = re.search(r'name="seen" value="([^"]*)"', answer.content.decode())
    assert found
    return found[1]


def test_a_conflict_that_comes_while_the_form_is_open_is_shown_with_what_has_changed(
    boss: Client, vault_folder: VaultFolder
) -> None:
    vault_folder.write("wiki/entities/ada.md", ADA + "born 1815\ndied 1852\n")
    scan()
    one = staged("Ada", "born 1816\ndied 1852\n")
    form = boss.get(own(one))
    assert 'role="alert"' not in form.content.decode()
    vault_folder.write("wiki/entities/ada.md", ADA + "born 1815\ndied on 27 November 1852\n")
    answer = decide(boss, one, "create", seen=seen(form))
    read = " ".join(text_of(answer).split())
    assert "Nothing was written: what stands there has changed" in read
    since = answer.content.decode().split("What has changed since it was filed")[1].split("<h2>")[0]
    assert "<ins>on 27 November</ins>" in re.sub(r"<ins>\s*(.*?)\s*</ins>", r"<ins>\1</ins>", since)
    assert "1816" not in since
    assert ReviewItem.objects.get(pk=one.pk).status == Status.PENDING
    assert vault_folder.read("wiki/entities/ada.md").decode() == ADA + "born 1815\ndied on 27 November 1852\n"
    assert list(boss.get(f"{LIST}?view=conflicts").context["cl"].result_list) == []  # nobody has scanned yet
    scan()
    assert shown(boss.get(f"{LIST}?view=conflicts")) == [one.title]


def test_a_version_that_is_not_kept_is_said_to_be_missing(boss: Client, vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/entities/ada.md", ADA + "one\n")
    scan()
    one = staged("Ada", "two\n")
    BaseText.objects.all().delete()
    vault_folder.write("wiki/entities/ada.md", ADA + "three\n")
    assert "is not kept, so what has changed can't be told" in text_of(boss.get(own(one)))


def test_versions_are_kept_while_a_proposal_waits_for_them(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/entities/ada.md", ADA + "one\n")
    vault_folder.write("wiki/entities/bob.md", ADA.replace("Ada", "Bob") + "one\n")
    scan()
    ada, bob = staged("Ada", "two\n"), staged("Bob", "two\n")
    assert set(BaseText.objects.values_list("content_hash", flat=True)) == {ada.base_hash, bob.base_hash}
    services.resolve(item_id=ada.pk, action="dismiss", author=Author("user:boss", "admin"))
    staged("Bob", "three\n")
    assert list(BaseText.objects.values_list("content_hash", "text")) == [
        (bob.base_hash, ADA.replace("Ada", "Bob") + "one\n")
    ]
    services.forget_all()
    assert not BaseText.objects.exists()


def test_what_an_agent_proposes_for_a_page_keeps_its_version_too(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/entities/ada.md", ADA + "one\n")
    scan()
    base = Page.objects.get().content_hash
    given = {"item_type": "suggestion", "title": "?", "page": "Ada", "proposed_body": "two\n", "base_hash": base}
    assert services.propose(items=[given], author=CLAUDE)["filed"] == 1
    assert BaseText.objects.get().content_hash == base


def test_a_text_that_was_not_shown_is_not_written(boss: Client, vault_folder: VaultFolder) -> None:
    """A stub names who asks for the page; when more do by now, the stub is another one."""
    vault_folder.write("wiki/concepts/a.md", "On [[Looms]].\n")
    scan()
    filed = services.propose(
        items=[{"item_type": "missing-page", "title": "Looms", "proposed_title": "Looms", "referenced_pages": ["a"]}],
        author=CLAUDE,
    )
    one = ReviewItem.objects.get(pk=filed["result"][0]["id"])
    mark = seen(boss.get(own(one)))
    vault_folder.write("wiki/concepts/b.md", "Also on [[Looms]].\n")
    scan()
    ReviewItem.objects.filter(pk=one.pk).update(proposed_body="Woven.\n")
    answer = decide(boss, one, "create", seen=mark)
    assert "is not what was shown to you any more" in text_of(answer)
    assert vault_folder.files() == ["wiki/concepts/a.md", "wiki/concepts/b.md"]
    assert "wrote Looms" in " ".join(text_of(decide(boss, one, "create", seen=seen(answer))).split())
    assert b"Woven." in vault_folder.read("wiki/concepts/looms.md")


def test_what_is_not_created_needs_no_text_that_was_shown(boss: Client) -> None:
    one = item()
    assert ": dismissed." in " ".join(text_of(decide(boss, one, "dismiss", seen="x")).split())


# --- 5,000 items ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["", "?view=conflicts", "?view=done", "?item_type=suggestion&origin=agent", "?q=title", "?o=5&p=3"]
)
def test_five_thousand_items_take_at_most_twelve_queries(boss: Client, query: str) -> None:
    now = timezone.now()
    pages = [indexed(f"page {number}") for number in range(20)]
    made = ReviewItem.objects.bulk_create(
        ReviewItem(
            item_type="suggestion" if number % 2 else "missing-page",
            rule="agent",
            origin="agent",
            title=f"title {number}",
            target=str(number),
            rank=number % 7,
            page=pages[number % 20],
            page_path=pages[number % 20].path,
            proposed_body="x" if number % 2 else None,
            base_hash="1" * 64 if number % 2 else "",
            content_key=f"{number:064}",
            created_at=now - timedelta(minutes=number),
            status=Status.SKIPPED if number >= 5_000 else Status.PENDING,
            reviewed_at=now if number >= 5_000 else None,
        )
        for number in range(5_200)
    )
    Evidence.objects.bulk_create(Evidence(item=one, page=pages[0]) for one in made)
    boss.get(LIST)
    with CaptureQueriesContext(connection) as queries:
        answer = boss.get(f"{LIST}{query}")
    assert answer.status_code == 200 and len(shown(answer)) == 50
    assert len(queries) <= 12, [query["sql"] for query in queries]
