"""Reading, searching, versions: by mouse, by keyboard, on a phone, and without a script."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.house import FILES, SEED

SPRING = "/read/wiki/concepts/spring-tide.md"
BORE = "/read/wiki/concepts/tidal-bore.md"


@pytest.fixture(scope="module")
def site(serve):  # type: ignore[no-untyped-def]
    return serve(files=FILES, seed=SEED)


def is_read(page: Page, url: str) -> None:
    """What a page of the vault shows, whoever reads it and with what."""
    page.goto(url + SPRING)
    prose = page.locator(".prose")
    expect(page.locator("h1")).to_have_text("Spring tide")
    expect(prose.get_by_role("link", name="neap", exact=True)).to_have_attribute(
        "href", "/read/wiki/concepts/neap-tide.md"
    )
    expect(prose.locator(".link-broken")).to_have_text("Storm surge")
    expect(prose.locator(".callout .name")).to_have_text("Not at the same hour everywhere")
    expect(prose.locator("table tbody tr")).to_have_count(3)
    expect(prose.locator("pre")).to_contain_text("def range_of(day: float)")
    expect(prose.locator(".embed")).to_contain_text("pull at right angles")
    expect(prose.locator("input[type=checkbox]:checked")).to_have_count(1)
    picture = prose.locator("img")
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("naturalWidth", 240)
    expect(page.locator(".footnotes li")).to_contain_text("a day or two later")
    expect(page.locator("#links-here-title")).to_have_text("4 pages link here")
    expect(page.locator(".backlinks")).to_contain_text("Its part of a Spring tide is a third")
    expect(page.get_by_label("About this page")).to_contain_text("raw/sources/tides.md")


@pytest.mark.parametrize("how", [{}, {"phone": True}, {"scripts": False}, {"phone": True, "dark": True}])
def test_a_page(site, person, shoot, how: dict[str, bool]) -> None:  # type: ignore[no-untyped-def]
    page = person(site, **how)
    is_read(page, site.url)
    if how == {}:
        page.evaluate("() => scrollTo(0, 0)")
        shoot(page, "reader")
    if how.get("dark"):
        page.evaluate("() => scrollTo(0, 0)")
        shoot(page, "reader-phone-dark")


def test_everything_can_be_done_without_a_script(site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site, scripts=False)
    page.goto(site.url)
    page.get_by_label("Search the wiki").fill("right angles")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Neap tide").click()
    expect(page.locator("h1")).to_have_text("Neap tide")
    page.goto(site.url + BORE)
    page.get_by_role("link", name="History").click()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".diff ins").first).to_be_visible()
    page.goto(f"{site.url}/map")
    expect(page.get_by_role("link", name="Spring tide").first).to_be_visible()
    page.goto(f"{site.url}/drafts")
    page.locator("main").get_by_role("link", name="Tidal bore").first.click()
    expect(page.locator(".diff")).to_contain_text("narrowing")


def test_no_property_makes_a_page_wider(site, person) -> None:  # type: ignore[no-untyped-def]
    name, value = "name_of_a_property_" * 4, "valuewithoutablank" * 6
    site.write("wiki/concepts/wide.md", f"---\ntitle: Wide\ntype: concept\n{name}: {value}\n---\nText.\n")
    site.manage("rescan")
    for phone in (False, True):
        page = person(site, phone=phone)
        page.goto(f"{site.url}/read/wiki/concepts/wide.md")
        expect(page.get_by_role("rowheader", name=name)).to_be_visible()
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        box = page.get_by_role("cell", name="concept").bounding_box()
        assert box and box["height"] < 60, "a short value is not broken by the letter"


def test_a_page_is_found_on_the_map(site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(site.url + SPRING)
    page.get_by_role("link", name="On the map").click()
    expect(page.locator("[data-card]")).to_contain_text("Spring tide")


def test_links_lead_on(site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(site.url + SPRING)
    page.locator(".footnotes .back").click()
    expect(page).to_have_url(re.compile("#at-fnref1$"))
    page.get_by_label("Contents").get_by_role("link", name="How much").click()
    expect(page.locator(":target")).to_have_text(re.compile("^How much"))
    page.locator(".around a", has_text="Moon").click()
    expect(page.locator("h1")).to_have_text("Moon")
    page.locator(".backlinks").get_by_role("link", name="Spring tide").first.click()
    expect(page.locator("h1")).to_have_text("Spring tide")


def test_search_as_one_types_with_keys_alone(site, person, shoot) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(f"{site.url}/read?q=sun")
    page.keyboard.press("/")
    page.keyboard.type("tide moo")
    expect(page.locator(".hit").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"q=tide\+moo"))
    expect(page.locator(".why .badge").first).to_have_text("words")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".hit a").first).to_be_focused()
    shoot(page, "search")
    page.keyboard.press("j")
    expect(page.locator(".hit a").nth(1)).to_be_focused()
    page.keyboard.press("k")
    title = page.locator(".hit a").first.inner_text()
    page.keyboard.press("o")
    expect(page.locator("h1")).to_have_text(title)
    page.go_back()
    expect(page.locator(".hit").first).to_be_visible()
    page.locator(".hit a").first.focus()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Search the wiki")).to_be_focused()


def test_the_list_of_pages_is_searched_as_one_types(site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(f"{site.url}/read?type=entity")
    page.keyboard.press("/")
    page.keyboard.type("moo")
    expect(page).to_have_url(re.compile("q=moo"))
    expect(page.locator("h1")).to_have_text("Search")
    expect(page.locator(".hit", has_text="wiki/entities/moon.md")).to_have_count(1)
    expect(page.locator(".hit", has_text="wiki/concepts")).to_have_count(0)
    page.get_by_label("Type").select_option("concept")
    page.get_by_role("button", name="Filter").click()
    expect(page).to_have_url(re.compile("q=moo.*type=concept"))


def test_filters_hold_while_one_types(site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(f"{site.url}/read?q=tide")
    expect(page.locator(".hit", has_text="wiki/entities/moon.md")).to_have_count(1)
    page.get_by_label("Type").select_option("concept")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".hit", has_text="wiki/concepts/neap-tide.md")).to_have_count(1)
    expect(page.locator(".hit", has_text="wiki/entities")).to_have_count(0)
    page.get_by_label("Search the wiki").fill("moon")
    expect(page).to_have_url(re.compile("q=moon"))
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator(".hit", has_text="wiki/entities")).to_have_count(0)


def test_keys_on_a_page(site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(site.url + SPRING)
    page.keyboard.press("b")
    expect(page.locator("#links-here")).to_be_focused()
    page.keyboard.press("h")
    expect(page).to_have_url(site.url + SPRING + "/history")


def test_the_first_tab_skips_to_the_content(site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(site.url + SPRING)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_versions_are_compared_and_one_restored(site, person, shoot) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(site.url + BORE)
    page.keyboard.press("h")
    page.get_by_role("link", name="What it changed").first.click()
    expect(page.locator(".diff ins").first).to_contain_text("against its current")
    shoot(page, "diff")
    page.get_by_role("link", name="Back to the history").click()
    page.get_by_role("row", name=re.compile("^1 ")).get_by_role("link", name="Restore").click()
    expect(page.locator(".diff del").first).to_contain_text("against its current")
    before = site.vault.joinpath("wiki/concepts/tidal-bore.md").read_text()
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_role("status")).to_contain_text("is what version 1 was")
    expect(page.locator(".prose")).to_have_text("A wave that runs up a river.")
    page.keyboard.press("h")
    page.get_by_role("row", name=re.compile("^2 ")).get_by_role("link", name="Restore").click()
    page.get_by_role("button", name="Restore version 2").click()
    expect(page.locator(".prose")).to_contain_text("against its current")
    assert site.vault.joinpath("wiki/concepts/tidal-bore.md").read_text() == before


def test_a_version_is_not_restored_over_what_was_not_seen(site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(f"{site.url}{BORE}/restore?version=1")
    file = site.vault / "wiki/concepts/tidal-bore.md"
    changed = file.read_text() + "\nAn edit made outside.\n"
    file.write_text(changed)
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was changed")
    expect(page.locator(".diff")).to_contain_text("An edit made outside.")
    assert file.read_text() == changed
