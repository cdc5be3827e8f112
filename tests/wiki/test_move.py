"""page_move: another path, the same page, and links that go on working."""

from __future__ import annotations

import pytest

from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from tests.wiki.index import rebuilt_index, whole_index
from tests.wiki.test_write_page import refused
from vault import history
from vault.current import current_vault
from vault.errors import ErrorCode
from wiki import jobs
from wiki.models import Audit, Link
from wiki.services import page_by_title, page_move
from wiki.sync import dump_index, scan

pytestmark = pytest.mark.django_db


def test_it_works(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    ada = claude.write("Ada", "Text.\n").page
    claude.write("Babbage", "With [[Ada]] and [[wiki/concepts/ada#Life|her]].\n")
    done = alice.do(page_move, page=ada, path="wiki/people/countess.md")
    assert done.page.uid == ada.uid
    assert done.page.path == "wiki/people/countess.md"
    assert "wiki/concepts/ada.md" not in vault_folder.files()
    body = vault_folder.read("wiki/concepts/babbage.md").decode().split("---\n")[2]
    assert body == "With [[countess|Ada]] and [[countess#Life|her]].\n"
    assert {link.target_id for link in Link.objects.filter(source__title="Babbage")} == {done.page.pk}
    assert [file["path"] for file in done.files] == ["wiki/concepts/babbage.md"]


def test_the_index_is_that_of_a_new_scan(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    ada = claude.write("Ada").page
    claude.write("Babbage", "With [[Ada]].\n")
    alice.do(page_move, page=ada, path="wiki/people/ada.md")
    jobs.drain()
    before = list(dump_index())
    scan(full=True)
    assert list(dump_index()) == before
    assert current_vault().ids.id_at("wiki/people/ada.md") == ada.uid


def test_it_is_recorded(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    ada = claude.write("Ada").page
    alice.do(page_move, page=ada, path="wiki/people/ada.md")
    audit = Audit.objects.filter(action="move").get()
    assert (audit.actor, audit.path, audit.detail) == (
        "alice",
        "wiki/people/ada.md",
        {"path_before": "wiki/concepts/ada.md"},
    )
    assert [version.action for version in history.versions(current_vault(), ada.uid)] == ["move", "create"]
    assert vault_folder.read("wiki/log.md").decode().splitlines()[-1].endswith("] move | Ada")


def test_links_that_still_work_keep_their_bytes(vault_folder: VaultFolder, alice: Writer) -> None:
    vault_folder.write("a/note.md", "x\n")
    text = "[[note]] [[Note|N]] ![[note#H]] [n](note.md)\n"
    vault_folder.write("b/other.md", text)
    scan()
    done = alice.do(page_move, page=page_by_title("note"), path="c/note.md")
    assert vault_folder.read("b/other.md").decode() == text
    assert done.files == []


def test_each_kind_of_link_is_rewritten(vault_folder: VaultFolder, alice: Writer) -> None:
    vault_folder.write("a/old name.md", "---\naliases: [Nick]\n---\nx\n")
    vault_folder.write(
        "b/other.md",
        '---\nup: "[[old name]]"  # kept\nmany:\n  - "[[old name|O]]"\n  - text\n---\n'
        '[[old name]] ![[a/old name#H|300]] [shown](../a/old%20name.md#H "t") [[Nick]] `[[old name]]`\n'
        "\n| a | b |\n|---|---|\n| [[old name\\|x]] | y |\n",
    )
    scan()
    alice.do(page_move, page=page_by_title("old name"), path="c/new.md")
    assert vault_folder.read("b/other.md").decode() == (
        '---\nup: "[[new]]"  # kept\nmany:\n  - "[[new|O]]"\n  - text\n---\n'
        '[[new]] ![[new#H|300]] [shown](c/new.md#H "t") [[Nick]] `[[old name]]`\n'
        "\n| a | b |\n|---|---|\n| [[new\\|x]] | y |\n"
    )
    states = set(Link.objects.filter(source__title="other").values_list("state", "target_path"))
    assert states == {("resolved", "c/new.md"), ("by_alias", "c/new.md")}


def test_the_pages_own_relative_links_follow(vault_folder: VaultFolder, alice: Writer) -> None:
    vault_folder.write("a/here.md", "[[./beside]] [up](../top.md) [[beside]] [[#H]]\n")
    vault_folder.write("a/beside.md", "x\n")
    vault_folder.write("top.md", "x\n")
    scan()
    alice.do(page_move, page=page_by_title("here"), path="b/c/here.md")
    assert vault_folder.read("b/c/here.md").decode() == "[[beside]] [up](top.md) [[beside]] [[#H]]\n"
    assert not Link.objects.filter(source__title="here", state="broken").exists()


def test_links_to_a_namesake_go_on_leading_there(vault_folder: VaultFolder, alice: Writer) -> None:
    # b/x.md is [[x]] for everybody until a/x.md takes a shorter path.
    vault_folder.write("bb/x.md", "the one meant\n")
    vault_folder.write("long/folder/x.md", "the namesake\n")
    vault_folder.write("c/from.md", "[[x]]\n")
    scan()
    page = page_by_title("x", path="long/folder/x.md")
    alice.do(page_move, page=page, path="x.md")
    assert vault_folder.read("c/from.md").decode() == "[[bb/x]]\n"
    assert Link.objects.get(source__title="from").target_path == "bb/x.md"


def test_a_preview_writes_nothing(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    ada = claude.write("Ada").page
    claude.write("Babbage", "One.\nWith [[Ada]].\n")
    before = {path: vault_folder.read(path) for path in vault_folder.files()}
    done = alice.do(page_move, page=ada, path="wiki/people/countess.md", preview=True)
    [file] = done.files
    [line] = file["lines"]
    assert (file["title"], line["before"], line["after"]) == ("Babbage", "With [[Ada]].", "With [[countess|Ada]].")
    assert {path: vault_folder.read(path) for path in vault_folder.files()} == before


@pytest.mark.parametrize(
    "path",
    [
        *(
            "../x.md",
            "/x.md",
            "raw/x.md",
            "Raw/sources/x.md",
            "wiki/x.txt",
            "wiki/CLAUDE.md",
            "wiki/index.md",
            "schema.md",
            ".obsidian/x.md",
        ),
        *("wiki/x.sync-conflict-20260818-173636-D4LGQYW.md", "wiki//x.md", "wiki/con.md", ""),
    ],
)
def test_places_where_no_page_may_go(vault_folder: VaultFolder, claude: Writer, alice: Writer, path: str) -> None:
    ada = claude.write("Ada").page
    with refused(ErrorCode.PATH_NOT_ALLOWED):
        alice.do(page_move, page=ada, path=path)
    assert "wiki/concepts/ada.md" in vault_folder.files()


def test_agents_stay_in_their_folders(vault_folder: VaultFolder, claude: Writer) -> None:
    ada = claude.write("Ada").page
    vault_folder.write("notes/mine.md", "[[Ada]]\n")
    scan()
    with refused(ErrorCode.PATH_NOT_ALLOWED):
        claude.do(page_move, page=ada, path="notes/ada.md")
    with refused(ErrorCode.PATH_NOT_ALLOWED):
        claude.do(page_move, page=page_by_title("mine"), path="wiki/concepts/mine.md")
    done = claude.do(page_move, page=ada, path="wiki/people/countess.md")
    assert vault_folder.read("notes/mine.md") == b"[[Ada]]\n"
    assert [(failure["path"], failure["error_code"]) for failure in done.failed] == [
        ("notes/mine.md", "path_not_allowed")
    ]


def test_a_taken_path_is_a_conflict(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    ada, babbage = claude.write("Ada").page, claude.write("Babbage").page
    before = vault_folder.read(babbage.path)
    with refused(ErrorCode.CONFLICT):
        alice.do(page_move, page=ada, path=babbage.path)
    assert vault_folder.read(babbage.path) == before


def test_a_stale_base_moves_nothing(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    ada = claude.write("Ada").page
    with refused(ErrorCode.STALE_BASE):
        alice.do(page_move, page=ada, path="wiki/people/ada.md", base_hash="0" * 64)
    assert ada.path in vault_folder.files()


def test_the_title_of_a_page_without_one_follows_its_file(vault_folder: VaultFolder, alice: Writer) -> None:
    vault_folder.write("a/old.md", "x\n")
    vault_folder.write("b.md", "[[old]]\n")
    scan()
    done = alice.do(page_move, page=page_by_title("old"), path="a/new.md")
    assert done.page.title == "new"
    assert vault_folder.read("b.md") == b"[[new]]\n"
    assert vault_folder.read("a/new.md") == b"x\n"


def test_a_move_that_is_refused_leaves_the_other_page_its_id(vault_folder: VaultFolder, alice: Writer) -> None:
    vault_folder.write("a/one.md", "one\n")
    vault_folder.write("a/two.md", "two\n")
    scan()
    with refused(ErrorCode.CONFLICT):
        alice.do(page_move, page=page_by_title("one"), path="a/two.md")
    kept = whole_index()
    assert rebuilt_index() == kept
