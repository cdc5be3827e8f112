"""Versions, what lies between them, and the ways back: each through the service, with the version that was seen."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from reviews.services import diff
from tests.conftest import VaultFolder
from vault.errors import SynapseError
from vault.history import Author
from wiki.models import Audit, Page
from wiki.services import draft_list, page_history, write_page
from wiki.sync import scan

CLAUDE = Author("claude", "mcp-stdio")
ADDRESS = "/read/wiki/concepts/kept.md"


def write(content: str, base: str | None = None) -> Page:
    frontmatter = {"type": "concept", "title": "Kept", "sources": ["x"], "lang": "en"}
    return write_page(title="Kept", content=content, frontmatter=frontmatter, base_hash=base, author=CLAUDE).page


@pytest.fixture
def kept(wiki: VaultFolder) -> Page:
    """A page with two versions."""
    write("The first text.\n")
    return write("The second text.\n")


def field(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert found, html
    return found[1]


def test_the_history_says_who_when_and_through_which_door(reader: Client, kept: Page) -> None:
    html = reader.get(f"{ADDRESS}/history").content.decode()
    assert html.count('claude <span class="badge">mcp-stdio</span>') == 2 and html.count("<time") == 2
    assert "Restore</a>" not in html  # this person may change nothing


def test_what_is_not_kept_any_more_is_not_offered(boss: Client, kept: Page, wiki: VaultFolder) -> None:
    assert boss.get(f"{ADDRESS}/history").content.decode().count("Restore</a>") == 2
    for file in (wiki.root / ".synapse" / "history" / str(kept.uid)).glob("*.md"):
        file.unlink()
    assert boss.get(f"{ADDRESS}/history").content.decode().count("Restore</a>") == 1


def test_two_versions_beside_each_other(reader: Client, kept: Page) -> None:
    old, new = (str(version["number"]) for version in reversed(page_history(kept)))
    html = reader.get(f"{ADDRESS}/history?old={old}&new={new}").content.decode()
    assert "<del>first</del>" in html and "<ins>second</ins>" in html
    assert "<ins>second</ins>" in reader.get(f"{ADDRESS}/history?old={old}").content.decode()
    assert "Both are the same" in reader.get(f"{ADDRESS}/history?old={new}&new=now").content.decode()
    assert "<del>first</del>" in reader.get(f"{ADDRESS}/history?old={new}d&new={new}").content.decode()


def test_of_texts_that_are_too_long_it_is_told_how_much_they_have(
    reader: Client, kept: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diff, "MAX_LINES", 3)
    html = reader.get(f"{ADDRESS}/history?old=1").content.decode()
    assert not re.search(r"\b0 lines added|\b0 removed", html) and "Not all of it is shown" in html


@pytest.mark.parametrize("name", ["99", "x", "-1", "1e", "99999999999", "1d"])
def test_a_version_that_is_not_kept_is_told(reader: Client, kept: Page, name: str) -> None:
    assert reader.get(f"{ADDRESS}/history?old={name}").status_code == 404


def test_a_version_comes_back_after_a_question(boss: Client, kept: Page, wiki: VaultFolder) -> None:
    first = page_history(kept)[-1]["number"]
    html = boss.get(f"{ADDRESS}/restore?version={first}").content.decode()
    assert "<ins>first</ins>" in html and "Restore version" in html
    before = wiki.read(kept.path)
    answer = boss.post(f"{ADDRESS}/restore", {"version": first, "base": field(html, "base")}, follow=True)
    assert b"The first text." in wiki.read(kept.path) and wiki.read(kept.path) != before
    assert "What it replaced is in the history." in answer.content.decode()
    row = Audit.objects.first()
    assert row and (row.action, row.actor, row.door) == ("restore", "user:boss", "desk")


def test_a_page_that_changed_meanwhile_is_not_overwritten(boss: Client, kept: Page, wiki: VaultFolder) -> None:
    first = page_history(kept)[-1]["number"]
    base = field(boss.get(f"{ADDRESS}/restore?version={first}").content.decode(), "base")
    wiki.write(kept.path, "An edit made outside.\n")
    answer = boss.post(f"{ADDRESS}/restore", {"version": first, "base": base})
    html = answer.content.decode()
    assert answer.status_code in (409, 412)
    assert "Nothing was changed" in html and "An edit made outside." in html
    assert wiki.read(kept.path) == b"An edit made outside.\n"
    assert field(html, "base") != base  # the next answer is to what is shown now


def test_sending_the_form_twice_does_no_harm(boss: Client, kept: Page, wiki: VaultFolder) -> None:
    first = page_history(kept)[-1]["number"]
    base = field(boss.get(f"{ADDRESS}/restore?version={first}").content.decode(), "base")
    for _ in range(2):
        boss.post(f"{ADDRESS}/restore", {"version": first, "base": base})
    assert [version["action"] for version in page_history(kept)].count("restore") == 1


def test_a_deleted_page_comes_back(boss: Client, kept: Page, wiki: VaultFolder) -> None:
    (wiki.root / kept.path).unlink()
    scan()
    newest = page_history(kept)[0]["number"]
    answer = boss.get(f"{ADDRESS}/restore?version={newest}d")
    assert answer.status_code == 200 and "comes back" in answer.content.decode()
    assert boss.post(f"{ADDRESS}/restore", {"version": f"{newest}d"}).status_code == 302
    assert b"The first text." in wiki.read(kept.path)


@pytest.mark.parametrize("address", [f"{ADDRESS}/restore", "/drafts/{draft}"])
def test_who_may_not_write_changes_nothing(reader: Client, kept: Page, wiki: VaultFolder, address: str) -> None:
    draft = make_draft()
    before = wiki.read(kept.path)
    for data in ({"version": "1"}, {"do": "apply"}, {"do": "discard"}):
        assert reader.post(address.format(draft=draft), data).status_code == 403
    assert wiki.read(kept.path) == before and len(draft_list()) == 1


def test_a_form_of_another_site_is_refused(kept: Page, boss: Client, wiki: VaultFolder) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = boss.cookies
    assert strict.post(f"{ADDRESS}/restore", {"version": "1"}).status_code == 403
    assert strict.get(f"{ADDRESS}/restore?version=1").status_code == 200


# --- drafts ---


def make_draft(content: str = "A text that came too late.\n") -> str:
    with pytest.raises(SynapseError):
        write(content, base="0" * 64)
    return str(draft_list()[0]["id"])


def test_drafts_are_listed_and_shown_beside_the_page(reader: Client, kept: Page) -> None:
    draft = make_draft()
    listed = reader.get("/drafts").content.decode()
    assert f"/drafts/{draft}" in listed and draft_list()[0]["expires"][:10] in listed
    html = reader.get(f"/drafts/{draft}").content.decode()
    assert "too late" in html and "second" in html and "claude" in html


def test_a_draft_is_written_over_the_page(boss: Client, kept: Page, wiki: VaultFolder) -> None:
    draft = make_draft()
    base = field(boss.get(f"/drafts/{draft}").content.decode(), "base")
    answer = boss.post(f"/drafts/{draft}", {"do": "apply", "base": base})
    assert answer["Location"] == ADDRESS
    assert b"too late" in wiki.read(kept.path) and not draft_list()
    assert boss.post(f"/drafts/{draft}", {"do": "apply", "base": base}).status_code == 404


def test_a_draft_meets_a_page_that_changed_meanwhile(boss: Client, kept: Page, wiki: VaultFolder) -> None:
    draft = make_draft()
    base = field(boss.get(f"/drafts/{draft}").content.decode(), "base")
    wiki.write(kept.path, "An edit made outside.\n")
    answer = boss.post(f"/drafts/{draft}", {"do": "apply", "base": base})
    assert answer.status_code in (409, 412)
    assert "Nothing was changed" in answer.content.decode() and "An edit made outside." in answer.content.decode()
    assert wiki.read(kept.path) == b"An edit made outside.\n" and draft_list()


def test_a_draft_is_discarded(boss: Client, kept: Page, wiki: VaultFolder) -> None:
    before = wiki.read(kept.path)
    assert boss.post(f"/drafts/{make_draft()}", {"do": "discard"})["Location"] == "/drafts"
    assert not draft_list() and wiki.read(kept.path) == before


def test_a_draft_whose_page_is_gone_can_still_be_read(boss: Client, kept: Page, wiki: VaultFolder) -> None:
    draft = make_draft()
    (wiki.root / kept.path).unlink()
    scan()
    html = boss.get(f"/drafts/{draft}").content.decode()
    assert "too late" in html and "not there any more" in html and 'value="apply"' not in html


@pytest.mark.parametrize("draft", ["0" * 16, "x", "..%2f..%2fvault-id"])
def test_a_draft_that_is_not_there_is_told(boss: Client, wiki: VaultFolder, draft: str) -> None:
    assert boss.get(f"/drafts/{draft}").status_code == 404
