"""Signing in and out."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

FILES = {"wiki/harbour.md": "# Harbour\n\nShips lie here.\n"}


@pytest.fixture(scope="module")
def site(serve):  # type: ignore[no-untyped-def]
    return serve(files=FILES)


def test_a_stranger_signs_in_and_reads_what_they_came_for(site, person, faultless) -> None:  # type: ignore[no-untyped-def]
    page = person(site, signed_in=False)
    page.goto(f"{site.url}/read/wiki/harbour.md")
    expect(page.locator("body")).not_to_contain_text("Ships lie here")
    faultless(page)
    page.get_by_label("Username").fill(site.username)
    page.get_by_label("Password").fill("not this one")
    page.keyboard.press("Enter")
    expect(page.locator("body")).to_contain_text("correct username and password")
    faultless(page)
    page.get_by_label("Password").fill(site.password)
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("Ships lie here")
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{site.url}/read/wiki/harbour.md")
    expect(page).to_have_url(f"{site.url}/admin/login/?next=/read/wiki/harbour.md")
