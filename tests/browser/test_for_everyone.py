"""Every page of desk and admin by axe-core's rules: light and dark, on a desk and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.house import ADMIN, DESK, FILES, SEED, one_of_each

_PHONE = {"width": 390, "height": 844}
_WIDE = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def site(serve):  # type: ignore[no-untyped-def]
    return serve(files=FILES, seed=SEED)


def looked_at_in_all_ways(page: Page, faultless) -> None:  # type: ignore[no-untyped-def]
    """The page light and dark, wide and narrow: none of the four may have a fault, or be wider than a phone."""
    page.set_viewport_size(_WIDE)
    for scheme, size in (("light", _WIDE), ("dark", _WIDE), ("dark", _PHONE), ("light", _PHONE)):
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
