"""Every page of desk and admin by axe-core's rules: light and dark, on a desk and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.house import ADMIN, DESK, FILES, SEED, one_of_each
from tests.browser.watching import Watch

_PHONE = {"width": 390, "height": 844}
_WIDE = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def site(serve):  # type: ignore[no-untyped-def]
    return serve(files=FILES, seed=SEED)


def looked_at_in_all_ways(page: Page, faultless) -> None:  # type: ignore[no-untyped-def]
    """The page light and dark, wide and narrow: in none may it have a fault, nor be wider than a phone."""
    page.set_viewport_size(_WIDE)
    # What is narrow is laid out alike in both schemes: its colours are looked at in one of them.
    for scheme, size in (("light", _WIDE), ("dark", _WIDE), ("dark", _PHONE)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(size)
        faultless(page)
    too_wide = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
    assert too_wide <= 0, f"{page.url} is {too_wide} px wider than a phone"


def faults_of(addresses: dict[str, str], site, page: Page, faultless) -> str:  # type: ignore[no-untyped-def]
    """All that is wrong, so that one run tells everything."""
    found = []
    for name, address in addresses.items():
        page.goto(site.url + address)
        try:
            looked_at_in_all_ways(page, faultless)
        except AssertionError as fault:
            found.append(f"--- {name}: {fault}")
    return "\n".join(found)


def test_the_desk(site, person, faultless) -> None:  # type: ignore[no-untyped-def]
    found = faults_of(DESK, site, person(site), faultless)
    assert not found, found


def test_the_admin(site, person, faultless) -> None:  # type: ignore[no-untyped-def]
    found = faults_of(ADMIN, site, person(site), faultless)
    assert not found, found


def test_single_rows(site, person, faultless) -> None:  # type: ignore[no-untyped-def]
    found = faults_of(one_of_each(site), site, person(site), faultless)
    assert not found, found


def test_the_rules_find_what_is_wrong(site, person, faultless) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(f"{site.url}/keys")
    page.evaluate("() => document.querySelector('main').append(document.createElement('button'))")
    with pytest.raises(AssertionError, match="button-name"):
        faultless(page)


def test_what_no_page_may_do_is_seen(site, chromium) -> None:  # type: ignore[no-untyped-def]
    context = chromium.new_context(storage_state=site.session or None)
    watch = Watch(context, site.url, ())
    page = context.new_page()
    page.goto(f"{site.url}/admin/login/")
    page.evaluate("() => { new Image().src = 'https://example.org/x.png'; setTimeout(() => { throw new Error('x') }) }")
    page.evaluate("() => alert('x')")
    page.evaluate("() => document.body.append(Object.assign(document.createElement('script'), {text: 'let x'}))")
    page.wait_for_timeout(300)
    context.close()
    told = "\n".join(watch.faults)
    for sign in ("alert dialog", "uncaught", "Content Security Policy", "img-src", "script-src"):
        assert sign in told, told


def test_the_admin_is_dark_for_whoever_says_so(site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(f"{site.url}/admin/")
    shade = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(shade)
    page.get_by_text(site.username, exact=True).click()
    page.get_by_text("Dark", exact=True).click()
    assert page.evaluate(shade) != light
    page.reload()
    assert page.evaluate(shade) != light
    page.emulate_media(color_scheme="dark")
    page.get_by_text(site.username, exact=True).click()
    page.get_by_text("Light", exact=True).click()
    assert page.evaluate(shade) == light
