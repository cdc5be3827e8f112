"""page_retitle: another title, and the links that named the old one follow."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError

from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from tests.wiki.test_write_page import refused
from vault import drafts, history, writer
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from wiki import jobs
from wiki.models import Audit, Link, Page
from wiki.services import moving, page_by_title, page_retitle
from wiki.sync import dump_index, scan

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(vault_folder: VaultFolder) -> Page:
    vault_folder.write("wiki/entities/ada.md", "---\ntitle: Ada Byron # born so\nmood: good\n---\n# Ada Byron\n")
    vault_folder.write(
        "wiki/concepts/engine.md",
        '---\nby: "[[Ada Byron]]"\n---\nBy [[Ada Byron]], [[ada|Ada Byron]], [[ada|her]], [[ada]]\n'
        "and ![[Ada Byron#Life]], [Ada Byron](../entities/ada.md).\n",
    )
    vault_folder.write("wiki/concepts/other.md", "No links, but the words Ada Byron.\n")
    scan()
    return page_by_title("Ada Byron")


def test_it_works(vault_folder: VaultFolder, ada: Page, alice: Writer) -> None:
    other = vault_folder.read("wiki/concepts/other.md")
    done = alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash=ada.content_hash)
    assert (done.page.title, done.page.path, done.failed) == ("Ada Lovelace", "wiki/entities/ada.md", [])
    assert vault_folder.read("wiki/entities/ada.md").decode() == (
        "---\ntitle: Ada Lovelace # born so\nmood: good\n---\n# Ada Byron\n"
    )
    assert vault_folder.read("wiki/concepts/engine.md").decode() == (
        '---\nby: "[[ada|Ada Lovelace]]"\n---\n'
        "By [[ada|Ada Lovelace]], [[ada|Ada Lovelace]], [[ada|her]], [[ada]]\n"
        "and ![[ada#Life]], [Ada Lovelace](../entities/ada.md).\n"
    )
    assert vault_folder.read("wiki/concepts/other.md") == other
    assert set(Link.objects.values_list("state", "target_path")) == {("resolved", "wiki/entities/ada.md")}


def test_the_index_is_that_of_a_new_scan(vault_folder: VaultFolder, ada: Page, alice: Writer) -> None:
    alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash=ada.content_hash, rename=True)
    jobs.drain()
    before = list(dump_index())
    scan(full=True)
    assert list(dump_index()) == before


def test_the_file_gets_the_new_slug_on_request(vault_folder: VaultFolder, ada: Page, alice: Writer) -> None:
    done = alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash=ada.content_hash, rename=True)
    assert (done.page.path, done.page.uid) == ("wiki/entities/ada-lovelace.md", ada.uid)
    assert vault_folder.read("wiki/concepts/engine.md").decode() == (
        '---\nby: "[[ada-lovelace|Ada Lovelace]]"\n---\n'
        "By [[ada-lovelace|Ada Lovelace]], [[ada-lovelace|Ada Lovelace]], [[ada-lovelace|her]], [[ada-lovelace]]\n"
        "and ![[ada-lovelace#Life]], [Ada Lovelace](wiki/entities/ada-lovelace.md).\n"
    )
    assert [version.action for version in history.versions(current_vault(), ada.uid)] == ["move", "retitle"]


def test_a_slug_that_is_taken_gets_a_number(vault_folder: VaultFolder, ada: Page, alice: Writer) -> None:
    vault_folder.write("wiki/entities/ada-lovelace.md", "---\ntitle: A ship\n---\n")
    scan()
    done = alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash=ada.content_hash, rename=True)
    assert done.page.path == "wiki/entities/ada-lovelace-2.md"


def test_a_preview_shows_each_line_and_writes_nothing(vault_folder: VaultFolder, ada: Page, alice: Writer) -> None:
    before = {path: vault_folder.read(path) for path in vault_folder.files()}
    done = alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash=ada.content_hash, preview=True)
    shown = done.as_dict()
    assert shown["preview"] and shown["files_total"] == 1
    [file] = shown["files"]
    assert (file["path"], file["title"]) == ("wiki/concepts/engine.md", "engine")
    assert [line["line"] for line in file["lines"]] == [2, 4, 5]
    assert file["lines"][0]["after"] == 'by: "[[ada|Ada Lovelace]]"'
    assert {path: vault_folder.read(path) for path in vault_folder.files()} == before
    assert Audit.objects.count() == 0


def test_what_was_previewed_is_what_is_done(vault_folder: VaultFolder, ada: Page, alice: Writer) -> None:
    arguments: dict[str, Any] = {"page": ada, "title": "Ada Lovelace", "base_hash": ada.content_hash, "rename": True}
    shown = alice.do(page_retitle, preview=True, **arguments)
    done = alice.do(page_retitle, **arguments)
    assert (done.files, done.path, done.title) == (shown.files, shown.path, shown.title)
    text = vault_folder.read("wiki/concepts/engine.md").decode().split("\n")
    assert [text[line["line"] - 1] for line in shown.files[0]["lines"]] == [
        line["after"] for line in shown.files[0]["lines"]
    ]


def test_a_title_that_is_taken(vault_folder: VaultFolder, ada: Page, alice: Writer) -> None:
    with refused(ErrorCode.CONFLICT) as caught:
        alice.do(page_retitle, page=ada, title="engine", base_hash=ada.content_hash)
    assert caught.value.repair["path"] == "wiki/concepts/engine.md"


@pytest.mark.parametrize("title", ["", " ", "two\nlines", "a\x07b"])
def test_titles_that_no_page_can_have(vault_folder: VaultFolder, ada: Page, alice: Writer, title: str) -> None:
    with refused(ErrorCode.INVALID_FRONTMATTER):
        alice.do(page_retitle, page=ada, title=title, base_hash=ada.content_hash)


def test_the_base_counts_as_in_a_write(vault_folder: VaultFolder, ada: Page, alice: Writer, claude: Writer) -> None:
    with refused(ErrorCode.BASE_REQUIRED):
        claude.do(page_retitle, page=ada, title="Ada Lovelace")
    with refused(ErrorCode.CONFLICT):
        claude.do(page_retitle, page=ada, title="Ada Lovelace", base_hash="0" * 64)
    with refused(ErrorCode.STALE_BASE):
        alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash="0" * 64)
    assert page_by_title("Ada Byron").uid == ada.uid


def test_one_save_in_between_is_taken_over(
    vault_folder: VaultFolder, ada: Page, alice: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, real, saves = vault_folder.root / "wiki/concepts/engine.md", writer.replace, []

    def replace(vault: Any, path: str, *args: Any, **options: Any) -> Any:
        if path.endswith("engine.md") and not saves:
            saves.append(path)
            file.write_text(file.read_text() + "A person's line about [[Ada Byron]].\n")
        return real(vault, path, *args, **options)

    monkeypatch.setattr(writer, "replace", replace)
    done = alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash=ada.content_hash)
    assert done.failed == []
    assert file.read_text().endswith("A person's line about [[ada|Ada Lovelace]].\n")
    assert drafts.list_drafts(current_vault()) == []


def test_a_file_that_can_not_be_written_is_told_and_the_rest_done(
    vault_folder: VaultFolder, ada: Page, alice: Writer
) -> None:
    text = "[[Ada Byron]]\n"
    for name in ("a", "z"):
        vault_folder.write(f"notes/{name}.md", text)
    linked = vault_folder.write("notes/m.md", text)
    (vault_folder.root / "notes/second name.md").hardlink_to(linked)
    vault_folder.write("notes/latin.md", b"[[Ada Byron]] caf\xe9\n")
    scan()
    done = alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash=ada.content_hash)
    failed = {failure["path"]: failure["error_code"] for failure in done.failed}
    assert failed == {
        "notes/latin.md": "not_a_text_file",
        "notes/m.md": "path_not_allowed",
        "notes/second name.md": "path_not_allowed",
    }
    assert vault_folder.read("notes/a.md") == vault_folder.read("notes/z.md") == b"[[ada|Ada Lovelace]]\n"
    assert linked.read_text() == text
    assert {file["path"] for file in done.files} == {"notes/a.md", "notes/z.md", "wiki/concepts/engine.md"}


def test_a_page_without_a_title_gets_one(vault_folder: VaultFolder, alice: Writer) -> None:
    vault_folder.write("a.md", "Body.\n")
    vault_folder.write("b.md", "[[a]]\n")
    scan()
    page = page_by_title("a")
    alice.do(page_retitle, page=page, title="An A", base_hash=page.content_hash)
    assert vault_folder.read("a.md") == b"---\ntitle: An A\n---\nBody.\n"
    assert vault_folder.read("b.md") == b"[[a]]\n"
    assert Link.objects.get().state == "resolved"


def test_an_alias_of_another_page_is_not_taken_over(vault_folder: VaultFolder, alice: Writer) -> None:
    vault_folder.write("a.md", "x\n")
    vault_folder.write("b.md", "---\naliases: [Nick]\n---\n")
    vault_folder.write("c.md", "[[Nick]]\n")
    scan()
    page = page_by_title("a")
    alice.do(page_retitle, page=page, title="Nick", base_hash=page.content_hash)
    assert vault_folder.read("c.md") == b"[[b|Nick]]\n"


def test_reserved_titles_are_not_given(vault_folder: VaultFolder, ada: Page, alice: Writer) -> None:
    vault_folder.write("schema.md", "x\n")
    for title in ("index", "log", "schema"):
        with refused(ErrorCode.PATH_NOT_ALLOWED):
            alice.do(page_retitle, page=ada, title=title, base_hash=ada.content_hash)


def test_one_line_in_the_log_whatever_follows(vault_folder: VaultFolder, ada: Page, alice: Writer) -> None:
    alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash=ada.content_hash)
    log = vault_folder.read("wiki/log.md").decode()
    assert [line.split("] ")[1] for line in log.splitlines() if line.startswith("## [")] == ["retitle | Ada Lovelace"]


def test_a_file_that_can_not_be_moved_has_its_new_title_all_the_same(
    vault_folder: VaultFolder, ada: Page, alice: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise SynapseError(ErrorCode.STORAGE_ERROR, "The page was not moved.")

    with monkeypatch.context() as patch:
        patch.setattr(writer, "move", refuse)
        done = alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash=ada.content_hash, rename=True)
    assert (done.page.path, done.path) == ("wiki/entities/ada.md", "wiki/entities/ada.md")
    assert (done.page.title, done.title) == ("Ada Lovelace", "Ada Lovelace")
    assert done.content_hash == current_vault().read("wiki/entities/ada.md").content_hash
    assert [(failure["path"], failure["error_code"]) for failure in done.failed] == [
        ("wiki/entities/ada-lovelace.md", "storage_error")
    ]
    assert b"By [[ada|Ada Lovelace]], [[ada|Ada Lovelace]], [[ada|her]]" in vault_folder.read("wiki/concepts/engine.md")
    assert set(Link.objects.values_list("state", "target_path")) == {("resolved", "wiki/entities/ada.md")}
    jobs.drain()
    before = list(dump_index())
    scan(full=True)
    assert list(dump_index()) == before


def test_a_database_that_fails_after_the_change_is_told_with_it(
    vault_folder: VaultFolder, ada: Page, alice: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = vault_folder.read("wiki/concepts/engine.md")
    live = Page.objects.live
    retitled: list[Any] = []

    def away() -> Any:
        if retitled:
            raise OperationalError("secret")
        return live()

    def itself(*args: Any, **kwargs: Any) -> Any:
        done = moving_itself(*args, **kwargs)
        retitled.append(done)
        return done

    moving_itself = moving._rename_itself
    with monkeypatch.context() as patch:
        patch.setattr(moving, "_rename_itself", itself)
        patch.setattr(Page.objects, "live", away)
        patch.setattr(Page.objects, "filter", lambda **given: away())
        done = alice.do(page_retitle, page=ada, title="Ada Lovelace", base_hash=ada.content_hash)
    assert (done.page.title, done.content_hash) == ("Ada Lovelace", current_vault().read(ada.path).content_hash)
    assert [(failure["path"], failure["error_code"]) for failure in done.failed] == [
        ("wiki/concepts/engine.md", "dependency_missing")
    ]
    assert "secret" not in str(done.failed)
    assert vault_folder.read("wiki/concepts/engine.md") == engine
