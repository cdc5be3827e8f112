"""page_delete and page_restore: each undoes the other, byte for byte."""

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
from wiki.models import Audit, Link, Page
from wiki.services import page_by_title, page_delete, page_history, page_move, page_restore, page_retitle
from wiki.sync import dump_index, scan

pytestmark = pytest.mark.django_db


def test_it_works(vault_folder: VaultFolder, claude: Writer) -> None:
    one = claude.write("Ada", "One.\n")
    first = vault_folder.read("wiki/concepts/ada.md")
    claude.write("Ada", "Two.\n")
    second = vault_folder.read("wiki/concepts/ada.md")
    done = claude.do(page_restore, page=one.page, version=1)
    assert vault_folder.read("wiki/concepts/ada.md") == first
    assert done.content_hash == one.content_hash
    claude.do(page_restore, page=one.page, version=2)
    assert vault_folder.read("wiki/concepts/ada.md") == second
    assert [entry["action"] for entry in page_history(one.page)] == ["restore", "restore", "write", "create"]


def test_what_a_person_saved_comes_back_too(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Ada", "One.\n")
    page = claude.write("Ada", "Two.\n").page
    mine = b"No frontmatter at all,\r\nnot even a line end"
    vault_folder.write("wiki/concepts/ada.md", mine)
    scan()
    page = Page.objects.get(uid=page.uid)
    written = claude.do(page_restore, page=page, version=1, base_hash=page.content_hash)
    assert written.page.title == "Ada"
    claude.do(page_restore, page=page, version=3, displaced=True)
    assert vault_folder.read("wiki/concepts/ada.md") == mine


def test_it_can_be_done_again_and_again(vault_folder: VaultFolder, claude: Writer) -> None:
    page = claude.write("Ada", "One.\n").page
    claude.write("Ada", "Two.\n")
    versions = [history.read_version(current_vault(), page.uid, number) for number in (1, 2)]
    for turn in range(20):
        claude.do(page_restore, page=page, version=turn % 2 + 1)
        assert vault_folder.read(page.path) == versions[turn % 2]


def test_a_deleted_page_goes_to_its_history_and_comes_back(vault_folder: VaultFolder, claude: Writer) -> None:
    page = claude.write("Ada").page
    claude.write("Babbage", "With [[Ada]].\n")
    data = vault_folder.read(page.path)
    gone = claude.do(page_delete, page=page)
    assert page.path not in vault_folder.files()
    assert gone["linked_from_total"] == 1
    assert [link["title"] for link in gone["linked_from"]] == ["Babbage"]
    assert Link.objects.get().state == "broken"
    with refused(ErrorCode.PAGE_NOT_FOUND):
        page_by_title("Ada")
    back = claude.do(page_restore, page=Page.objects.get(uid=page.uid), version=page_history(page)[0]["number"])
    assert (back.created, back.page.uid, vault_folder.read(page.path)) == (True, page.uid, data)
    assert Link.objects.get().target_id == back.page.pk
    jobs.drain()
    before = list(dump_index())
    scan(full=True)
    assert list(dump_index()) == before


def test_a_page_comes_back_where_it_was_last(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    page = claude.write("Ada").page
    moved = alice.do(page_move, page=page, path="wiki/people/ada.md").page
    claude.do(page_delete, page=moved)
    back = claude.do(page_restore, page=moved, version=1)
    assert (back.page.uid, back.page.path) == (page.uid, "wiki/people/ada.md")
    assert current_vault().ids.id_at("wiki/people/ada.md") == page.uid


def test_a_title_that_was_given_away_meanwhile(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    page = claude.write("Ada").page
    other = claude.write("Countess").page
    claude.do(page_delete, page=page)
    alice.do(page_retitle, page=other, title="Ada")
    back = claude.do(page_restore, page=page, version=1)
    assert [warning.split(":")[0] for warning in back.warnings] == ["title_taken"]


def test_a_place_that_is_taken(vault_folder: VaultFolder, claude: Writer) -> None:
    page = claude.write("Ada").page
    claude.do(page_delete, page=page)
    vault_folder.write(page.path, "---\ntitle: Somebody\n---\n")
    with refused(ErrorCode.CONFLICT):
        claude.do(page_restore, page=page, version=1)
    assert vault_folder.read(page.path) == b"---\ntitle: Somebody\n---\n"


def test_the_base_counts_as_in_a_write(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    claude.write("Ada", "One.\n")
    page = claude.write("Ada", "Two.\n").page
    mine = vault_folder.write(page.path, "Mine now.\n").read_bytes()
    for service, arguments in ((page_delete, {}), (page_restore, {"version": 1})):
        with refused(ErrorCode.BASE_REQUIRED):
            claude.do(service, page=page, **arguments)
        with refused(ErrorCode.STALE_BASE):
            alice.do(service, page=page, base_hash="0" * 64, **arguments)
        with refused(ErrorCode.CONFLICT):
            claude.do(service, page=page, base_hash="0" * 64, **arguments)
    assert vault_folder.read(page.path) == mine


def test_a_version_that_is_not_there(vault_folder: VaultFolder, claude: Writer) -> None:
    page = claude.write("Ada").page
    with refused(ErrorCode.NOT_FOUND):
        claude.do(page_restore, page=page, version=7)


def test_agents_take_only_what_they_keep(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    vault_folder.write("notes/mine.md", "x\n")
    vault_folder.write("schema.md", "x\n")
    scan()
    for title in ("mine", "schema"):
        page = page_by_title(title)
        with refused(ErrorCode.PATH_NOT_ALLOWED):
            claude.do(page_delete, page=page, base_hash=page.content_hash)
    page = page_by_title("mine")
    alice.do(page_delete, page=page, base_hash=page.content_hash)
    assert "notes/mine.md" not in vault_folder.files()
    assert Audit.objects.get(action="delete").before_hash == page.content_hash


def test_a_page_deleted_twice(vault_folder: VaultFolder, claude: Writer) -> None:
    page = claude.write("Ada").page
    claude.do(page_delete, page=page)
    with refused(ErrorCode.PAGE_NOT_FOUND):
        claude.do(page_delete, page=page)


def test_a_page_that_can_not_come_back_leaves_the_one_in_its_place_its_id(
    vault_folder: VaultFolder, claude: Writer
) -> None:
    page = claude.write("Ada").page
    claude.do(page_delete, page=page)
    # What moves to its place has its line in the ledger, and is the page of that path.
    vault_folder.write("wiki/other.md", "Another page.\n")
    scan()
    (vault_folder.root / "wiki/other.md").rename(vault_folder.root / page.path)
    scan()
    kept = whole_index()
    with refused(ErrorCode.CONFLICT):
        claude.do(page_restore, page=page, version=1)
    assert rebuilt_index() == kept
