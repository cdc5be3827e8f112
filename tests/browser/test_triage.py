"""A person goes through the queue: by keyboard, many at once, twice, back and forth, while others write."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.site import Site

PATH = "/admin/reviews/reviewitem/"
ADA = "---\ntype: entity\ntitle: Ada\nlang: en\nsources: [raw/sources/a.md]\n---\n"
#: Two pages that lead to each other, and nothing that a scan would ask about.
FILES = {
    "wiki/entities/ada.md": f"{ADA}Born in 1815, a friend of [[Bob]].\n",
    "wiki/entities/bob.md": f"{ADA.replace('Ada', 'Bob')}A friend of [[Ada]].\n",
    "raw/sources/a.md": "Notes.\n",
}
_QUEUE = """
from uuid import uuid4
from reviews import services
from reviews.models import ReviewItem
from vault.history import Author
from wiki.models import Page

claude = Author("claude", "mcp-http")
ReviewItem.objects.all().delete()

def file(title, rank=0, item_type="duplicate", **fields):
    return ReviewItem.objects.create(
        title=title, rank=rank, item_type=item_type, rule="agent", origin="agent", target=title,
        content_key=uuid4().hex, filed_by="claude", filed_via="mcp-http", **fields
    )
"""


#: An agent proposes another text for the page Ada.
ADA_STAGED = """
from wiki.sync import scan
scan()
page = Page.objects.get(title="Ada")
services.stage_write(
    title="Ada", content="Born in 1816, a friend of [[Bob]].\\n", base_hash=page.content_hash, author=claude,
    frontmatter={"type": "entity", "title": "Ada", "lang": "en", "sources": ["raw/sources/a.md"]},
)
"""


@pytest.fixture(scope="module")
def site(serve: Callable[..., Site]) -> Site:
    return serve(files=FILES)


def queue(site: Site, code: str) -> str:
    """Make the queue anew, of what the code files."""
    return site.run(_QUEUE + code)


def statuses(site: Site) -> dict[str, int]:
    """How many of what was filed here stand where; rules may have asked about pages that were written meanwhile."""
    filed = "ReviewItem.objects.filter(rule__in=['agent', 'staged'])"
    counted = f"from reviews.models import *; print(*{filed}.values_list('status', flat=True))"
    found = site.run(counted).split()
    return {status: found.count(status) for status in found}


def open_list(page: Page, site: Site, query: str = "") -> None:
    page.goto(f"{site.url}{PATH}{query}")
    expect(page.locator(".review-views").first).to_be_visible()


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1, name=text)).to_be_visible()


def messages(page: Page, text: str) -> None:
    expect(page.locator("body")).to_contain_text(text)


def test_twenty_items_are_triaged_without_a_mouse(site: Site, person: Callable[..., Page]) -> None:
    queue(
        site,
        """
for number in range(18):
    file(f"Case {number}", rank=90 - number)
for number in (18, 19):
    file(f"Case {number}", rank=90 - number, item_type="suggestion", proposed_title=f"New {number}",
         proposed_page_type="concept", proposed_body="Told by [[Ada]] and [[Bob]].",
         proposed_frontmatter={"sources": ["raw/sources/a.md"], "lang": "en"})
""",
    )
    page = person(site)
    open_list(page, site, "?rule=agent")
    page.keyboard.press("j")
    expect(page.locator("tr.data-row a:focus")).to_have_text("Case 0")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator("tr.data-row a:focus")).to_have_text("Case 1")
    page.keyboard.press("k")
    page.keyboard.press("o")
    for number, key in enumerate("sdr" * 6):
        heading(page, f"Case {number}")
        page.keyboard.press(key)
    for number in (18, 19):
        heading(page, f"Case {number}")
        page.keyboard.press("a")
    expect(page.locator(".review-empty")).to_be_visible()
    assert statuses(site) == {"skipped": 6, "dismissed": 6, "resolved": 6, "created": 2}
    assert (site.vault / "wiki/concepts/new-19.md").read_text().endswith("Told by [[Ada]] and [[Bob]].")
    open_list(page, site, "?view=done&rule=agent")
    expect(page.locator("tr.data-row")).to_have_count(20)
    expect(page.locator("tr.data-row").first).to_contain_text(f"user:{site.username} (admin)")
    expect(page.locator("tr.data-row").first).to_contain_text("created")


def test_keys_search_help_and_what_does_not_fit(site: Site, person: Callable[..., Page]) -> None:
    queue(site, 'file("Alpha", rank=2)\nfile("Beta", rank=1, item_type="confirm")')
    page = person(site)
    open_list(page, site)
    page.keyboard.press("/")
    expect(page.locator("#searchbar")).to_be_focused()
    page.keyboard.type("beta d s r")  # keys are letters in a field
    expect(page.locator("#searchbar")).to_have_value("beta d s r")
    page.keyboard.press("Control+A")
    page.keyboard.type("Beta")
    page.keyboard.press("Enter")
    expect(page.locator("tr.data-row")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.locator("#review-keys dl")).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("#review-keys dl")).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("o")
    heading(page, "Beta")
    for key, action in (("a", "create"), ("e", "deep-research")):
        page.keyboard.press(key)
        expect(page.get_by_role("status").filter(has_text=f"“{action}” does not fit")).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#searchbar")).to_be_focused()
    assert statuses(site) == {"pending": 2}


def test_a_bulk_of_thirty_seven(
    site: Site, person: Callable[..., Page], faultless: Callable[[Page], None], shoot: Callable[..., None]
) -> None:
    queue(
        site,
        """
for number in range(37):
    file(f"Pair {number}", rank=50 - number)
for number in range(4):
    file(f"Other {number}", item_type="confirm")
""",
    )
    page = person(site)
    open_list(page, site, "?item_type=duplicate")
    page.locator("#action-toggle").focus()
    page.keyboard.press("Space")
    expect(page.locator("input.action-select:checked")).to_have_count(37)
    site.run(_QUEUE.replace("ReviewItem.objects.all().delete()", "") + 'file("Pair that came meanwhile", rank=99)')
    page.keyboard.press("d")
    button = page.get_by_role("button", name="Dismiss 37")
    expect(button).to_be_focused()
    expect(page.locator(".review-lines li")).to_have_count(37)
    expect(page.locator(".review-lines")).not_to_contain_text("meanwhile")
    expect(page.locator(".review-lines li").last).to_contain_text("never comes back")
    faultless(page)
    shoot(page, "review-bulk")
    page.locator(".review-lines input").last.uncheck()
    expect(page.get_by_role("button", name="Dismiss 36")).to_be_visible()
    page.locator(".review-lines input").last.check()
    page.get_by_role("button", name="Dismiss 37").press("Enter")
    expect(page.get_by_role("heading", name="37 dismissed")).to_be_visible()
    expect(page.get_by_role("link", name="Back to the list")).to_be_focused()
    faultless(page)
    assert statuses(site) == {"dismissed": 37, "pending": 5}

    # Back and forth, and loading again: all of it is told once more, and nothing is done.
    page.reload()
    expect(page.get_by_role("heading", name="37 dismissed")).to_be_visible()
    page.go_back()
    expect(page.locator("body")).to_contain_text("None of them can be decided that way")
    expect(page.locator(".review-lines input:checked")).to_have_count(0)
    expect(page.get_by_role("button", name="Dismiss 0")).to_be_disabled()
    page.go_back()
    expect(page.locator("tr.data-row")).to_have_count(1)  # in the place of one that had been ticked
    expect(page.locator("input.action-select:checked")).to_have_count(0)
    page.go_forward()
    page.go_forward()
    page.get_by_role("link", name="Back to the list").press("Enter")
    expect(page).to_have_url(re.compile(r"item_type=duplicate$"))
    expect(page.locator("tr.data-row")).to_have_count(1)
    assert statuses(site) == {"dismissed": 37, "pending": 5}


def test_all_that_match_are_those_that_were_shown(site: Site, person: Callable[..., Page]) -> None:
    queue(site, 'for number in range(60):\n    file(f"Pair {number}", rank=70 - number)')
    page = person(site)
    open_list(page, site)
    expect(page.locator("tr.data-row")).to_have_count(50)
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.get_by_label("all 60 that match").check()
    site.run(_QUEUE.replace("ReviewItem.objects.all().delete()", "") + 'file("Came meanwhile", rank=99)')
    page.locator("tr.data-row a").first.focus()
    page.keyboard.press("s")
    page.get_by_role("button", name="Skip 60").press("Enter")
    expect(page.get_by_role("heading", name="60 skipped")).to_be_visible()
    assert statuses(site) == {"skipped": 60, "pending": 1}


def test_what_fails_is_told_item_by_item(site: Site, person: Callable[..., Page]) -> None:
    queue(
        site,
        """
page = Page.objects.get(title="Bob")
new = {"item_type": "suggestion", "proposed_page_type": "concept", "proposed_body": "Of [[Ada]].",
       "proposed_frontmatter": {"sources": ["raw/sources/a.md"], "lang": "en"}}
file("Good", rank=4, proposed_title="Good page", **new)
file("Decided elsewhere", rank=3, proposed_title="Other page", **new)
file("Taken", rank=2, proposed_title="Taken page", **new)
file("Unfit", rank=1)
""",
    )
    page = person(site)
    open_list(page, site)
    page.locator("#action-toggle").check()
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Create 3")).to_be_visible()
    expect(page.locator(".review-lines li").last).to_contain_text("Not ticked: create does not fit")
    by_hand = f"{ADA.replace('Ada', 'Taken page')}Somebody was here.\n"
    site.write("wiki/concepts/taken-page.md", by_hand)
    site.manage("rescan")
    site.run(
        _QUEUE.replace("ReviewItem.objects.all().delete()", "")
        + 'one = ReviewItem.objects.get(title="Decided elsewhere")\n'
        + 'services.resolve(item_id=one.pk, action="skip", author=claude)'
    )
    page.get_by_role("button", name="Create 3").click()
    for said in ("1 created", "1 decided before, left as they were", "1 not done, still waiting"):
        expect(page.get_by_role("heading", name=said)).to_be_visible()
    expect(page.locator(".review-lines").last).to_contain_text("Taken")
    assert statuses(site) == {"created": 1, "skipped": 1, "pending": 2}
    assert (site.vault / "wiki/concepts/taken-page.md").read_text() == by_hand
    page.get_by_role("link", name="Taken").first.click()
    page.go_back()
    expect(page.get_by_role("heading", name="1 created")).to_be_visible()


def test_a_conflict_that_comes_while_the_form_is_open(
    site: Site, person: Callable[..., Page], faultless: Callable[[Page], None], shoot: Callable[..., None]
) -> None:
    site.write("wiki/entities/ada.md", FILES["wiki/entities/ada.md"])
    queue(
        site,
        ADA_STAGED,
    )
    page = person(site)
    open_list(page, site)
    page.keyboard.press("j")
    page.keyboard.press("o")
    heading(page, "Change the page Ada")
    expect(page.locator(".review-diff del").first).to_have_text("1815")
    expect(page.locator(".review-diff ins").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    shoot(page, "review-item")
    by_hand = f"{ADA}Born in 1815, a close friend of [[Bob]].\n"
    site.write("wiki/entities/ada.md", by_hand)
    page.keyboard.press("a")
    messages(page, "Nothing was written: what stands there has changed")
    heading(page, "Change the page Ada")
    expect(page.get_by_role("alert").filter(has_text="Conflict")).to_be_visible()
    since = page.get_by_role("region", name="when it was filed and now text")
    expect(since.locator("ins")).to_have_text("close ")
    expect(since).not_to_contain_text("1816")
    assert site.vault.joinpath("wiki/entities/ada.md").read_text() == by_hand
    assert statuses(site) == {"pending": 1}
    faultless(page)
    shoot(page, "review-conflict")
    page.keyboard.press("d")
    messages(page, "Change the page Ada: dismissed")
    assert statuses(site) == {"dismissed": 1}


def test_a_double_click_decides_once(site: Site, person: Callable[..., Page]) -> None:
    queue(site, 'for number in range(3):\n    file(f"Case {number}", rank=9 - number)')
    page = person(site)
    open_list(page, site)
    page.get_by_role("link", name="Case 0").click()
    heading(page, "Case 0")
    page.get_by_role("button", name="Dismiss").dblclick(no_wait_after=True)
    heading(page, "Case 1")
    assert statuses(site) == {"dismissed": 1, "pending": 2}
    events = "from reviews.models import *; print(ReviewEvent.objects.filter(what='decided').count())"
    assert site.run(events).strip() == "1"


def test_going_back_to_a_decided_item_offers_nothing_to_decide(site: Site, person: Callable[..., Page]) -> None:
    queue(site, 'for number in range(3):\n    file(f"Case {number}", rank=9 - number)')
    page = person(site)
    open_list(page, site)
    page.keyboard.press("j")
    page.keyboard.press("o")
    heading(page, "Case 0")
    page.keyboard.press("d")
    heading(page, "Case 1")
    page.go_back()
    heading(page, "Case 0")
    expect(page.locator(".review-status")).to_have_text("dismissed")
    expect(page.get_by_role("button", name="Ask again")).to_be_visible()
    for key in "srde":
        page.keyboard.press(key)
    expect(page.get_by_role("status").filter(has_text="does not fit")).to_be_visible()
    assert statuses(site) == {"dismissed": 1, "pending": 2}


def test_the_next_item_is_one_of_the_same_list(site: Site, person: Callable[..., Page]) -> None:
    queue(
        site,
        """
for number in range(6):
    file(f"Case {number}", rank=9 - number, item_type="confirm" if number % 2 else "duplicate")
""",
    )
    page = person(site)
    open_list(page, site)
    page.get_by_role("navigation", name="By type").get_by_role("link", name="confirm 3").click()
    expect(page.locator("tr.data-row")).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("s")  # from the list, at once
    for number in (3, 5):
        heading(page, f"Case {number}")
        expect(page).to_have_url(re.compile("_changelist_filters=item_type%3Dconfirm"))
        page.keyboard.press("s")
    expect(page.get_by_role("heading", name="Nothing here fits")).to_be_visible()
    expect(page.locator(".review-empty")).to_contain_text("The filter hides 3 items that wait for a decision")
    page.get_by_role("link", name="Show the whole Inbox").click()
    expect(page.locator("tr.data-row")).to_have_count(3)
    assert statuses(site) == {"skipped": 3, "pending": 3}


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_a_decision_needs_no_script(site: Site, person: Callable[..., Page], phone: bool) -> None:
    queue(site, 'for number in range(2):\n    file(f"Case {number}", rank=9 - number)')
    page = person(site, scripts=False, phone=phone)
    open_list(page, site)
    page.get_by_role("link", name="Case 0").click()
    heading(page, "Case 0")
    page.get_by_role("button", name="Dismiss").click()
    heading(page, "Case 1")
    assert statuses(site) == {"dismissed": 1, "pending": 1}


def test_on_a_phone_a_proposal_stands_under_what_it_changes(site: Site, person: Callable[..., Page]) -> None:
    site.write("wiki/entities/ada.md", FILES["wiki/entities/ada.md"])
    queue(
        site,
        ADA_STAGED,
    )
    page = person(site, phone=True)
    open_list(page, site)
    page.get_by_role("link", name="Change the page Ada").click()
    frame = page.locator(".review-diff-frame").first
    assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth")
    expect(frame.get_by_text("title: Ada").locator("visible=true")).to_have_count(1)


def test_filters_open_by_keyboard(site: Site, person: Callable[..., Page]) -> None:
    queue(site, 'file("Alpha")')
    page = person(site)
    open_list(page, site)
    page.get_by_role("button", name="Filters").press("Enter")
    expect(page.get_by_role("link", name="orphan")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="orphan")).to_be_hidden()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_why_a_list_is_empty_can_be_read_by_everyone(
    site: Site, person: Callable[..., Page], faultless: Callable[[Page], None], phone: bool, dark: bool
) -> None:
    queue(site, "")
    page = person(site, phone=phone, dark=dark)
    for query, title, says in (
        ("", "Nothing to decide", "manage.py reviews sweep --full"),
        ("?view=done", "Nothing has been decided yet", "manage.py reviews sweep --full"),
        ("?view=conflicts", "Nothing to decide", "Neither a scan nor an agent"),
    ):
        open_list(page, site, query)
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        expect(page.locator(".review-empty")).to_contain_text(says)
        faultless(page)
