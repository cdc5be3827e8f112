"""The commands page, drafts and catalog: what a person reads, and JSON for programs."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from tests.wiki.test_write_page import refused
from vault.errors import ErrorCode
from wiki.models import Job
from wiki.services import page_by_title
from wiki.sync import scan

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(vault_folder: VaultFolder, tmp_path: Any, django_capture_on_commit_callbacks: Any) -> Any:
    """Run a command with a text to write; gives what it printed."""
    scan()

    def run(*arguments: str, text: str | None = None) -> str:
        if text is not None:
            file = tmp_path / "text.md"
            file.write_text(text)
            arguments = (*arguments, "--file", str(file))
        out = io.StringIO()
        with django_capture_on_commit_callbacks(execute=True):
            call_command(*arguments, stdout=out)
        return out.getvalue()

    return run


NEW = ("page", "write", "Ada", "--type", "entity", "--lang", "en", "--source", "raw/sources/a.md")


def test_write_and_show(vault_folder: VaultFolder, run: Any) -> None:
    assert run(*NEW, "--frontmatter", '{"mood": "good"}', text="Text.\n").startswith("Made wiki/entities/ada.md\nhash ")
    shown = run("page", "show", "Ada")
    assert shown.startswith("Ada   entity   wiki/entities/ada.md\n")
    assert '  mood: "good"\n' in shown
    assert shown.endswith("\nText.\n")
    assert json.loads(run("page", "show", "Ada", "--json"))["content"] == "Text.\n"


def test_a_change_keeps_what_is_left_out_and_the_catalog_is_made(vault_folder: VaultFolder, run: Any) -> None:
    run(*NEW, text="One.\n")
    answer = json.loads(run("page", "write", "Ada", "--json", text="Two.\n"))
    assert (answer["created"], answer["type"], answer["path"]) == (False, "entity", "wiki/entities/ada.md")
    assert "Two." in vault_folder.read("wiki/index.md").decode()
    assert not Job.objects.filter(kind="catalog", finished_at=None).exists()


def test_history_and_restore(vault_folder: VaultFolder, run: Any) -> None:
    run(*NEW, text="One.\n")
    run("page", "write", "Ada", text="Two.\n")
    lines = run("page", "history", "Ada").splitlines()
    assert [line.split()[0] for line in lines] == ["2", "1"]
    assert run("page", "restore", "Ada", "1").startswith("Restored version 1 of wiki/entities/ada.md")
    assert vault_folder.read("wiki/entities/ada.md").endswith(b"One.\n")
    assert json.loads(run("page", "history", "Ada", "--json"))[0]["action"] == "restore"


def test_a_deleted_page_is_restored_by_its_title(vault_folder: VaultFolder, run: Any) -> None:
    run(*NEW, text="One.\n")
    run("page", "write", "Bob", "--type", "entity", "--lang", "en", "--source", "a", text="[[Ada]]\n")
    assert "linked from wiki/entities/bob.md" in run("page", "delete", "Ada")
    assert "delete" in run("page", "history", "Ada")
    run("page", "restore", "Ada", "1")
    assert page_by_title("Ada").path == "wiki/entities/ada.md"


@pytest.mark.parametrize("command", ["page", "history"])
@pytest.mark.parametrize("title", ["", "Ada"])
def test_a_deleted_page_is_restored_by_its_path(vault_folder: VaultFolder, run: Any, command: str, title: str) -> None:
    run(*NEW, text="One.\n")
    run("page", "delete", "Ada")
    with pytest.raises(CommandError, match="No live page"):
        run(command, "restore", title, "1", "--path", "wiki/entities/other.md")
    run(command, "restore", title, "1", "--path", "wiki/entities/ada.md")
    assert page_by_title("Ada").path == "wiki/entities/ada.md"


def test_move_and_retitle_show_the_lines(vault_folder: VaultFolder, run: Any) -> None:
    run(*NEW, text="One.\n")
    run("page", "write", "Bob", "--type", "entity", "--lang", "en", "--source", "a", text="By [[Ada]].\n")
    shown = run("page", "retitle", "Ada", "Ada Lovelace", "--rename", "--preview")
    assert shown.splitlines()[0] == "Would be 'Ada Lovelace' at wiki/entities/ada-lovelace.md"
    assert "- By [[Ada]]." in shown and "+ By [[ada-lovelace|Ada Lovelace]]." in shown
    assert page_by_title("Ada").path == "wiki/entities/ada.md"
    run("page", "retitle", "Ada", "Ada Lovelace")
    moved = json.loads(run("page", "move", "Ada Lovelace", "wiki/people/ada.md", "--json"))
    assert moved["page"]["path"] == page_by_title("Ada Lovelace").path == "wiki/people/ada.md"


def test_errors_are_one_sentence_or_an_envelope(vault_folder: VaultFolder, run: Any) -> None:
    with pytest.raises(CommandError, match="No live page"):
        run("page", "show", "Nobody")
    with pytest.raises(CommandError, match="JSON object"):
        run("page", "write", "Ada", "--frontmatter", "[1]", text="x")
    with pytest.raises(CommandError, match="can't be read"):
        run("page", "write", "Ada", "--file", str(vault_folder.root / "none"))
    out = io.StringIO()
    with pytest.raises(SystemExit) as caught:
        call_command("page", "show", "Nobody", "--json", stdout=out)
    assert caught.value.code == 1
    assert json.loads(out.getvalue())["error_code"] == "page_not_found"


def test_drafts(vault_folder: VaultFolder, run: Any, claude: Writer) -> None:
    assert run("drafts") == "No drafts.\n"
    assert run("drafts", "--json") == run("drafts", "list", "--json") == "[]\n"
    old = claude.write("Ada", "One.\n")
    claude.write("Ada", "Two.\n")
    for text in ("Apply me.\n", "Drop me.\n"):
        with refused(ErrorCode.CONFLICT):
            claude.write("Ada", text, base_hash=old.content_hash)
    ids = {
        json.loads(run("drafts", "show", row["id"], "--json"))["text"].split("---\n")[2]: row["id"] for row in rows(run)
    }
    assert "wiki/concepts/ada.md" in run("drafts", "list")
    assert run("drafts", "show", ids["Apply me.\n"]).endswith("---\nApply me.\n")
    assert run("drafts", "apply", ids["Apply me.\n"]).startswith("Wrote wiki/concepts/ada.md")
    assert vault_folder.read("wiki/concepts/ada.md").endswith(b"Apply me.\n")
    assert run("drafts", "drop", ids["Drop me.\n"]) == "Dropped.\n"
    assert rows(run) == []


def rows(run: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("drafts", "list", "--json"))
    return found


def test_catalog(vault_folder: VaultFolder, run: Any, settings: Any) -> None:
    vault_folder.write("wiki/concepts/a.md", "A sentence.\n")
    scan()
    assert run("catalog") == "Wrote wiki/index.md\n"
    assert run("catalog") == "wiki/index.md says what the pages say already.\n"
    vault_folder.write("wiki/index.md", "mine\n")
    assert "your own" in run("catalog")
    assert json.loads(run("catalog", "--json")) == {"path": "wiki/index.md", "written": False, "ours": False}
    settings.SYNAPSE_READ_ONLY = True
    with pytest.raises(CommandError, match="SYNAPSE_READ_ONLY"):
        run("catalog")
