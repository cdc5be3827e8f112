"""The doors for people: who is let in, what each page shows, what it costs."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reviews.services import propose
from tests.conftest import VaultFolder
from vault.current import forget_vault
from vault.history import Author
from wiki.graph.layout import make_map
from wiki.models import Page
from wiki.services import page_delete, write_page
from wiki.sync import scan

ADDRESSES = ["/", "/keys", "/map", "/drafts", "/read", "/read/notes/Alan.md", "/read?q=machines"]
CLAUDE = Author("claude", "mcp-stdio")


def shown(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, answer.content.decode()[:2000]
    return answer.content.decode()


@pytest.mark.parametrize("address", [*ADDRESSES, "/read/notes/Alan.md/history", "/raw-file/pictures/plan.png"])
def test_strangers_are_asked_to_sign_in_and_come_back(client: Client, wiki: VaultFolder, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 302
    assert answer["Location"] == f"/admin/login/?next={quote(address, safe='/')}"


def test_who_is_not_staff_is_not_let_in(client: Client, wiki: VaultFolder) -> None:
    client.force_login(User.objects.create_user("somebody"))
    assert client.get("/read/notes/Alan.md").status_code == 302


@pytest.mark.parametrize("address", ADDRESSES)
def test_each_page_opens_without_anything_inline(reader: Client, wiki: VaultFolder, address: str) -> None:
    html = shown(reader, address)
    assert "<style" not in html and " style=" not in html and "<script>" not in html and " onclick" not in html
    assert '<html lang="en">' in html and 'href="#content"' in html and 'id="content"' in html
    assert html.count("<h1") == 1


def test_pages_are_kept_by_nobody_else(reader: Client, wiki: VaultFolder) -> None:
    assert reader.get("/read/notes/Alan.md")["Cache-Control"] == "no-cache, private"


def test_the_admin_is_still_where_it_was(client: Client, db: None) -> None:
    assert client.get("/admin")["Location"] == "/admin/"


# --- the reader ---


def test_a_page_with_what_is_around_it(reader: Client, wiki: VaultFolder) -> None:
    wiki.write("notes/One.md", "He is [[Alan|the one]]. Another sentence.\n\nMore.\n")
    wiki.write("notes/Two.md", "---\nrelated: ['[[Alan]]']\n---\ntext\n")
    wiki.write(
        "notes/Alan.md", "---\ntitle: A & B\nsources: [raw/sources/paper.md, raw/sources/gone.md]\n---\n[[One]]\n"
    )
    scan()
    html = shown(reader, "/read/notes/Alan.md")
    assert "<title>A &amp; B · Synapse</title>" in html
    assert "He is <mark>the one</mark>." in html and "Another sentence" not in html
    assert "2 pages link here" in html and "in its property related" in html
    assert '<svg class="around"' in html and 'href="/read/notes/One.md"' in html
    assert 'href="/read/raw/sources/paper.md"' in html and "not in the vault" in html


def test_a_page_that_changed_since_the_scan_says_so(reader: Client, wiki: VaultFolder) -> None:
    wiki.write("notes/Alan.md", "Newer than the index.\n")
    html = shown(reader, "/read/notes/Alan.md")
    assert "Newer than the index." in html and "has changed since it was last indexed" in html


def test_a_page_with_a_fault_says_which(reader: Client, wiki: VaultFolder) -> None:
    wiki.write("notes/Bad.md", "---\na: [\n---\ntext\n")
    scan()
    assert "Something is wrong with this file" in shown(reader, "/read/notes/Bad.md")


@pytest.mark.parametrize("name", ["Ümläut & co?.md", "100%.md", "a#b.md", "日本語.md", "x.MD"])
def test_any_name_can_be_opened(reader: Client, wiki: VaultFolder, name: str) -> None:
    wiki.write(f"odd/{name}", "the text of it\n")
    scan()
    page = Page.objects.get(path__startswith="odd/")
    assert "the text of it" in shown(reader, f"/read/{quote(page.path)}")
    assert f"/read/{quote(page.path, safe='/~:@!$&()*+,;=')}" in shown(reader, "/read").replace("&#x27;", "'").replace(
        "&amp;", "&"
    ).replace("%27", "'")
    assert "No version" in shown(reader, f"/read/{quote(page.path)}/history") or "has not written" in shown(
        reader, f"/read/{quote(page.path)}/history"
    )


def test_a_path_without_its_extension_leads_on(reader: Client, wiki: VaultFolder) -> None:
    assert reader.get("/read/notes/Alan")["Location"] == "/read/notes/Alan.md"


@pytest.mark.parametrize("path", ["notes/Nobody.md", "nothing", "notes", ".synapse/vault-id", "../x.md", "a/../b.md"])
def test_what_is_not_there_is_told_with_a_way_on(reader: Client, wiki: VaultFolder, path: str) -> None:
    answer = reader.get(f"/read/{path}")
    assert answer.status_code in (403, 404)
    assert b"<main" in answer.content


def test_a_deleted_page_leads_to_its_history(boss: Client, wiki: VaultFolder) -> None:
    page_delete(page=Page.objects.get(path="notes/Alan.md"), base_hash=wiki_hash(), author=Author("boss", "admin"))
    assert "was deleted" in shown(boss, "/read/notes/Alan.md", 404)
    assert "Restore" in shown(boss, "/read/notes/Alan.md/history")


def wiki_hash() -> str:
    return Page.objects.get(path="notes/Alan.md").content_hash


def test_a_source_with_the_pages_that_rest_on_it(reader: Client, wiki: VaultFolder) -> None:
    wiki.write("notes/Rests.md", "---\nsources: [raw/sources/paper.md]\n---\nx\n")
    wiki.write("raw/sources/long.txt", "x" * 150_000)
    scan()
    html = shown(reader, "/read/raw/sources/paper.md")
    assert "The <em>paper</em>." in html and 'href="/read/notes/Rests.md"' in html
    assert "The *paper*." in shown(reader, "/read/raw/sources/paper.md?as=text")
    assert "?from=100000" in shown(reader, "/read/raw/sources/long.txt")
    assert "xxx" in shown(reader, "/read/raw/sources/long.txt?from=100000")
    for wrong in ("-1", "x", "²", "9" * 5_000):
        assert "?from=100000" in shown(reader, f"/read/raw/sources/long.txt?from={wrong}")
    assert "/raw-file/pictures/plan.png" in shown(reader, "/read/pictures/plan.png")


def test_two_thousand_backlinks_cost_no_more_than_fifty(reader: Client, wiki: VaultFolder) -> None:
    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            shown(reader, "/read/notes/Alan.md")
        return len(queries)

    for number in range(60):
        wiki.write(f"many/{number:04}.md", f"Number {number} is about [[Alan]].\n")
    scan()
    html = shown(reader, "/read/notes/Alan.md")
    few = cost()
    assert html.count('class="said"') == 50 and "All 60 pages that link here" in html
    for number in range(60, 300):
        wiki.write(f"many/{number:04}.md", f"Number {number} is about [[Alan]].\n")
    scan()
    assert shown(reader, "/read/notes/Alan.md").count('class="said"') == 50
    assert cost() == few
    first, second = shown(reader, "/read/notes/Alan.md/links"), shown(reader, "/read/notes/Alan.md/links?part=2")
    assert (first.count('class="said"'), second.count('class="said"')) == (200, 100)


# --- pictures ---


def test_a_picture_is_served_as_what_its_name_says(reader: Client, wiki: VaultFolder) -> None:
    answer = reader.get("/raw-file/pictures/plan.png")
    assert answer["Content-Type"] == "image/png" and answer.content.startswith(b"\x89PNG")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"].startswith("inline")
    again = reader.get("/raw-file/pictures/plan.png", headers={"If-None-Match": answer["ETag"]})
    assert again.status_code == 304 and not again.content


def test_a_drawing_that_could_run_is_sandboxed(reader: Client, wiki: VaultFolder) -> None:
    answer = reader.get("/raw-file/pictures/plan.svg")
    assert "sandbox" in answer["Content-Security-Policy"] and "default-src 'none'" in answer["Content-Security-Policy"]
    assert answer["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize(
    "path",
    ["notes/Alan.md", ".synapse/vault-id", "../vault/notes/x.png", "/etc/x.png", ".hidden/x.png", "no.png", "x.html"],
)
def test_nothing_else_is_served(reader: Client, wiki: VaultFolder, path: str) -> None:
    assert reader.get(f"/raw-file/{path}").status_code in (403, 404)


def test_a_picture_behind_a_symlink_is_not_served(reader: Client, wiki: VaultFolder, tmp_path: object) -> None:
    (wiki.root / "out.png").symlink_to("/etc/hostname")
    assert reader.get("/raw-file/out.png").status_code in (403, 404)


# --- search ---


def test_search_says_why(reader: Client, wiki: VaultFolder) -> None:
    wiki.write("notes/Near.md", "About [[Alan]].\n")
    scan()
    html = shown(reader, "/read?q=machines")
    assert 'href="/read/notes/Alan.md"' in html and "<mark>Machines</mark>" in html
    assert '<span class="badge">words</span>' in html and "matched words: machines" in html
    assert '<span class="badge">link</span>' in html and "linked from Alan Turing" in html


def test_search_while_typing_gives_only_the_results(reader: Client, wiki: VaultFolder) -> None:
    html = shown(reader, "/read?q=machi&live=1")
    assert "Alan Turing" in html and "<html" not in html and "<mark>Machines</mark>" in html


def test_search_says_whether_there_may_be_more(
    reader: Client, wiki: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        wiki.write(f"many/{number}.md", "engines\n")
    scan()
    assert "data-count>4 results" in shown(reader, "/read?q=engines")
    monkeypatch.setattr("desk.views.searching._RESULTS", 3)
    assert "data-count>The best 3 results" in shown(reader, "/read?q=engines")


def test_search_filters(reader: Client, wiki: VaultFolder) -> None:
    wiki.write("tagged/T.md", "---\ntype: concept\ntags: [one/two]\n---\nmachines\n")
    scan()
    for query in ("type=concept", "tag=one", "folder=tagged/"):
        html = shown(reader, f"/read?q=machines&{query}")
        assert "/read/tagged/T.md" in html and "/read/notes/Alan.md" not in html
        html = shown(reader, f"/read?{query}")
        assert "/read/tagged/T.md" in html and "/read/notes/Alan.md" not in html
    assert "/read/tagged/T.md" not in shown(reader, "/read?q=machines&since=2999-01-01")
    assert "without them" in shown(reader, "/read?q=machines&since=2999-01-01")
    assert "/read/tagged/T.md" in shown(reader, "/read?q=machines&since=nonsense&type=nonsense")


def test_a_search_that_fails_says_so(reader: Client, wiki: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiki.search.retrieval._by_words", lambda *_: None)
    assert "manage.py search --rebuild" in shown(reader, "/read?q=machines")


@pytest.mark.parametrize("query", ["<script>alert(1)</script>", "\u202e\u0000x", "'\"&", "a" * 5_000, "%", "[["])
def test_any_query_is_answered(reader: Client, wiki: VaultFolder, query: str) -> None:
    html = shown(reader, f"/read?q={quote(query)}")
    assert "<script>alert" not in html


# --- the front page ---


def test_the_front_page_tells_what_there_is(boss: Client, wiki: VaultFolder) -> None:
    write_page(
        title="Kept",
        content="[[Nobody]]\n",
        frontmatter={"type": "concept", "title": "Kept", "sources": ["x"], "lang": "en"},
        author=CLAUDE,
    )
    propose(items=[{"item_type": "suggestion", "title": "Look at this", "rationale": "Because."}], author=CLAUDE)
    html = shown(boss, "/")
    assert "<b>4</b><span>pages</span>" in html and "<b>1</b><span>source</span>" in html
    assert "<b>1</b><span>broken</span>" in html
    assert "write by claude (mcp-stdio)" in html
    assert "Look at this" in html and "item_type=suggestion" in html


def test_an_empty_vault_says_what_to_do(reader: Client, vault_folder: VaultFolder) -> None:
    scan()
    html = shown(reader, "/")
    assert "There is no page yet" in html and "manage.py token create" in html
    assert "There is no index yet" not in html


def test_a_vault_that_was_never_scanned_says_what_to_do(reader: Client, vault_folder: VaultFolder) -> None:
    vault_folder.write("notes/a.md", "x\n")
    html = shown(reader, "/")
    assert "There is no index yet" in html and "manage.py rescan" in html


def test_a_vault_with_an_empty_queue_says_so(reader: Client, wiki: VaultFolder) -> None:
    html = shown(reader, "/")
    assert "Nothing waits for a decision" in html and "manage.py reviews sweep" in html


def test_a_vault_that_vanished_says_what_to_do(reader: Client, wiki: VaultFolder) -> None:
    wiki.root.rename(wiki.root.with_name("elsewhere"))
    forget_vault()
    html = shown(reader, "/")
    assert "The vault can&#x27;t be read" in html and "SYNAPSE_VAULT" in html and "manage.py doctor" in html
    assert b"can&#x27;t be opened" in reader.get("/read/notes/Alan.md").content


def test_a_scan_that_stopped_is_told(reader: Client, wiki: VaultFolder) -> None:
    for number in range(40):
        wiki.write(f"many/{number}.md", "x\n")
    scan()
    for number in range(30):
        (wiki.root / f"many/{number}.md").unlink()
    scan()
    assert "The last scan stopped" in shown(reader, "/")


def test_a_vault_that_is_read_only_says_so(reader: Client, wiki: VaultFolder, settings: object) -> None:
    settings.SYNAPSE_READ_ONLY = True  # type: ignore[attr-defined]
    assert "SYNAPSE_READ_ONLY" in shown(reader, "/")


# --- the map ---


def test_the_map_lists_what_belongs_together(reader: Client, wiki: VaultFolder) -> None:
    assert "manage.py layout" in shown(reader, "/map")
    wiki.write("notes/Near.md", "About [[Alan]].\n")
    scan()
    make_map()
    html = shown(reader, "/map")
    assert 'href="/read/notes/Alan.md"' in html and 'href="/read/notes/Near.md"' in html and "<noscript>" in html


def test_lists_are_shown_in_parts(reader: Client, wiki: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("desk.views.searching._A_PART", 2)
    html = shown(reader, "/read?folder=")
    assert html.count('class="hit"') == 2 and "?part=2" in html
    assert shown(reader, "/read?part=2").count('class="hit"') == 1
