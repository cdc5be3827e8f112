"""The drawn map in a browser: what is seen, found, filtered and opened, by mouse, by touch and by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.site import Site

_FILES = {
    "wiki/concepts/tide.md": "---\ntype: concept\ntitle: Tide\n---\n[[Moon]], [[Sun]], [[Harbour]].\n",
    "wiki/concepts/moon.md": "---\ntype: entity\ntitle: Moon\n---\n[[Tide]], [[Sun]].\n",
    "wiki/concepts/sun.md": "---\ntype: entity\ntitle: Sun\n---\n[[Moon]].\n",
    "wiki/concepts/harbour.md": "---\ntype: concept\ntitle: Harbour\n---\n[[Crane]].\n",
    "wiki/concepts/crane.md": "---\ntype: entity\ntitle: Crane\n---\n[[Harbour]].\n",
    "wiki/concepts/alone #1?.md": "---\ntype: source\ntitle: 'Alone & <b>bold</b> #?'\n---\nNo links.\n",
}
_BIG = "from benchmarks.map import seed; seed(20000, 60000)"
_WITHIN = 30_000  # ms; many times what it takes, for machines with all cores taken


@pytest.fixture(scope="module")
def site(serve: Callable[..., Site]) -> Site:
    """A small vault with its map."""
    found = serve(files=_FILES)
    found.manage("layout", "--force")
    return found


def opened(page: Page, site: Site, query: str = "") -> Page:
    page.goto(f"{site.url}/map{query}")
    page.wait_for_selector("canvas[data-drawn]", timeout=_WITHIN)
    return page


def spoken(page: Page) -> str:
    return page.locator("[data-spoken]").inner_text()


@pytest.mark.parametrize("how", [{}, {"dark": True}, {"phone": True}, {"dark": True, "phone": True}])
def test_it_has_no_serious_fault(site: Site, person: Any, faultless: Any, how: dict[str, bool]) -> None:
    page = opened(person(site, **how), site)
    assert "6 pages, 5 ties" in page.locator("[data-count]").inner_text()
    faultless(page)


def test_a_page_is_found_and_opened_by_keyboard(site: Site, person: Any) -> None:
    page = opened(person(site), site)
    page.keyboard.press("f")
    page.keyboard.type("hArB")
    page.keyboard.press("ArrowDown")
    assert page.locator("#map-found [aria-selected=true]").inner_text().startswith("Harbour")
    page.keyboard.press("Enter")
    assert spoken(page) == "Harbour, 2 ties"
    assert "Crane" in page.locator("[data-card]").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url("**/read/wiki/concepts/harbour.md")


def test_it_is_moved_and_read_by_keyboard(site: Site, person: Any) -> None:
    page = opened(person(site), site)
    page.focus("canvas")
    page.keyboard.press("+")
    told = set()
    for key in ["ArrowLeft"] * 6 + ["ArrowRight"] * 12 + ["ArrowUp"] * 4 + ["ArrowDown"] * 8:
        page.keyboard.press(key)
        told.add(spoken(page))
    assert len(told - {""}) > 1  # whichever page is in the middle is told
    page.keyboard.press("0")
    assert spoken(page) == ""


def test_who_is_pointed_at_is_named_and_a_click_opens(site: Site, person: Any) -> None:
    page = opened(person(site), site, "?at=wiki/concepts/moon.md")
    box = page.locator("canvas").bounding_box()
    side = page.locator("[data-side]").bounding_box()
    middle = ((side["x"] + side["width"] + box["width"]) / 2, box["y"] + box["height"] / 2)
    page.mouse.move(middle[0] + 5, middle[1] + 3)
    assert page.locator("[data-card] .title").inner_text() == "Moon"
    page.mouse.click(*middle)
    page.wait_for_url("**/read/wiki/concepts/moon.md")


def test_a_touch_names_a_page_and_its_name_opens_it(site: Site, person: Any) -> None:
    page = opened(person(site, phone=True), site, "?at=wiki/concepts/moon.md")
    page.locator("[data-card] .title").tap()
    page.wait_for_url("**/read/wiki/concepts/moon.md")


def test_groups_and_untied_pages_are_filtered(site: Site, person: Any) -> None:
    page = opened(person(site), site)
    page.select_option("[data-by]", "type")
    entry = page.locator("[data-legend] button", has_text="concept")
    assert entry.inner_text().split() == ["concept", "2"]
    entry.click()
    assert entry.get_attribute("aria-pressed") == "true"
    assert page.locator("[data-seen]").inner_text() == "2 of 6 pages shown"
    entry.click()
    page.uncheck("[data-loose]")
    assert page.locator("[data-seen]").inner_text() == "5 of 6 pages shown"


def test_titles_stay_text_and_addresses_whole(site: Site, person: Any) -> None:
    page = opened(person(site), site)
    page.fill("#map-search", "alone")
    assert "<b>bold</b>" in page.locator("#map-found").inner_text()
    page.press("#map-search", "Enter")
    assert page.locator("[data-card] .title").inner_text() == "Alone & <b>bold</b> #?"
    page.locator("[data-card] .title").click()
    page.wait_for_url("**/read/wiki/concepts/alone%20%231%3F.md")
    assert page.locator("h1").inner_text() == "Alone & <b>bold</b> #?"


def test_the_picture_follows_the_wiki(serve: Callable[..., Site], person: Any) -> None:
    site = serve(files=_FILES)
    site.manage("layout", "--force")
    site.write("wiki/concepts/new.md", "---\ntype: concept\ntitle: New\n---\n[[Moon]].\n")
    site.manage("rescan")
    page = opened(person(site), site)
    page.wait_for_function("document.querySelector('[data-count]').textContent.startsWith('7 pages')", timeout=_WITHIN)


def test_without_scripts_communities_are_listed(site: Site, person: Any) -> None:
    page = person(site, scripts=False)
    page.goto(f"{site.url}/map")
    assert page.locator("canvas").is_hidden()
    assert page.locator(".chip", has_text="Moon").is_visible()


def test_twenty_thousand_pages_are_drawn_and_dragged(serve: Callable[..., Site], person: Any) -> None:
    site = serve(files={"a.md": "# A"}, seed=_BIG)
    page = opened(person(site), site)
    assert page.locator("[data-count]").inner_text() == "20,002 pages, 60,001 ties"
    page.evaluate("() => { window.frames_ = 0; const next = () => (frames_++, requestAnimationFrame(next)); next(); }")
    before = page.locator("canvas").screenshot()
    page.mouse.move(800, 300)
    page.mouse.down()
    page.mouse.move(600, 400, steps=20)
    page.mouse.up()
    assert page.evaluate("frames_") > 3  # frames were drawn while it was dragged
    assert page.locator("canvas").screenshot() != before


def test_a_vault_that_somebody_keeps_is_drawn(
    serve: Callable[..., Site], person: Any, shoot: Any, shared: Path
) -> None:
    site = serve(copy=shared / "vaults" / "quartz-docs")
    site.manage("layout", "--force")
    for name, dark in (("vault-map", False), ("vault-map-dark", True)):
        page = opened(person(site, dark=dark, viewport={"width": 880, "height": 560}), site)
        assert page.locator("[data-legend] button").count() > 4
        page.wait_for_function("document.querySelector('[data-stale]:not([hidden])') === null", timeout=_WITHIN)
        page.wait_for_timeout(1_000)  # until the picture is as sharp as it gets
        shoot(page, name)
