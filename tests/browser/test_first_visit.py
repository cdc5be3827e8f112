"""What somebody sees who comes for the first time: of each state what to do next, with the command."""

from __future__ import annotations

import shutil

from playwright.sync_api import expect

MANAGE = ".venv/bin/python manage.py"


def test_an_empty_vault(serve, person, faultless, shoot) -> None:  # type: ignore[no-untyped-def]
    site = serve()
    page = person(site)
    page.goto(site.url)
    expect(page.locator(".notice")).to_contain_text("There is no page yet")
    expect(page.locator(".notice .command")).to_have_text(f"{MANAGE} token create laptop --scope read")
    faultless(page)
    shoot(page, "first-visit")
    for address in ("/map", "/read", "/drafts", "/read?q=tide", "/admin/reviews/reviewitem/", "/admin/wiki/page/"):
        page.goto(site.url + address)
        expect(page.locator("h1, h2").first).to_be_visible()
        faultless(page)
    site.write("wiki/first.md", "# First\n\nThe first page.\n")
    page.goto(site.url)
    for _ in range(40):
        page.reload()
        if page.get_by_role("link", name="First").count():
            break
        page.wait_for_timeout(500)
    expect(page.get_by_role("link", name="First").first).to_be_visible()


def test_nothing_to_decide(serve, person, faultless) -> None:  # type: ignore[no-untyped-def]
    site = serve(files={"notes/a.md": "# A\n\nSee [[B]].\n", "notes/b.md": "# B\n\nSee [[A]].\n"})
    page = person(site)
    page.goto(site.url)
    expect(page.locator(".notice.good")).to_contain_text("Nothing waits for a decision")
    expect(page.locator(".notice.good .command")).to_have_text(f"{MANAGE} reviews sweep")
    assert site.manage("reviews", "sweep")
    faultless(page)
    page.get_by_role("link", name="Queue").click()
    expect(page.locator("#main")).to_contain_text("manage.py")
    faultless(page)


def test_a_vault_that_is_gone(serve, person, faultless) -> None:  # type: ignore[no-untyped-def]
    site = serve(files={"wiki/a.md": "# A\n\nWords.\n"})
    page = person(site)
    shutil.move(site.vault, site.vault.with_name("elsewhere"))
    page.goto(site.url)
    expect(page.locator(".notice.bad")).to_contain_text("The vault can't be read")
    expect(page.locator(".notice.bad .command")).to_have_text(f"{MANAGE} doctor")
    faultless(page)
    for address in ("/read/wiki/a.md", "/drafts", "/read/wiki/a.md/history"):
        page.goto(site.url + address)
        expect(page.locator(".command")).to_have_text(f"{MANAGE} doctor")
        faultless(page)
    # The index needs no vault: what it holds is found and can be decided about.
    for address in ("/read", "/map", "/admin/wiki/page/", "/admin/reviews/reviewitem/"):
        page.goto(site.url + address)
        expect(page.locator("h1, h2").first).to_be_visible()
        expect(page.locator("body")).not_to_contain_text("Traceback")
    shutil.move(site.vault.with_name("elsewhere"), site.vault)
    page.goto(f"{site.url}/read/wiki/a.md")
    expect(page.locator(".prose")).to_contain_text("Words.")
