"""The index told to other programs: as lines to compare, and as links."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.conftest import VaultFolder
from vault.current import current_vault
from wiki.models import Page
from wiki.sync import dump_index, export_links, scan

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(vault_folder: VaultFolder) -> VaultFolder:
    vault_folder.write(
        "wiki/b.md",
        '---\nrelated: ["[[a#Part|the first]]"]\n---\n[A](a.md) ![[raw.png|80]] [[nobody]] [[#here]] [[a|]]',
    )
    vault_folder.write("wiki/a.md", "text")
    vault_folder.write("wiki/raw.png", "png")
    scan()
    return vault_folder


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_links_of_a_page_in_the_order_of_its_body(folder: VaultFolder) -> None:
    first, second = export_links()
    assert first == {"path": "wiki/a.md", "links": [], "property_links": []}
    shown = [(link["kind"], link["embed"], link["target"], link["subpath"], link["alias"]) for link in second["links"]]
    assert shown == [
        ("markdown", False, "a.md", "", "A"),
        ("embed", True, "raw.png", "", "80"),
        ("wikilink", False, "nobody", "", None),
        ("wikilink", False, "", "#here", None),
        ("wikilink", False, "a", "", ""),
    ]
    assert [(link["state"], link["to"]) for link in second["links"]] == [
        ("resolved", "wiki/a.md"),
        ("resolved", "wiki/raw.png"),
        ("broken", None),
        ("self", "wiki/b.md"),
        ("resolved", "wiki/a.md"),
    ]
    assert second["property_links"] == [
        {
            "key": "related.0",
            "target": "a",
            "subpath": "#Part",
            "alias": "the first",
            "state": "resolved",
            "to": "wiki/a.md",
        }
    ]


def test_a_dump_tells_nothing_of_row_numbers_and_clocks(folder: VaultFolder) -> None:
    before = list(dump_index())
    assert [next(iter(row)) for row in before] == ["page", "page", "file", "edge"]
    assert before[0]["id"] == str(current_vault().ids.id_for("wiki/a.md", lambda uid: False))
    assert before[-1] == {"edge": ["wiki/a.md", "wiki/b.md"], "links": 3, "weight": 6.5}
    Page.objects.all().delete()
    for path in ("wiki/b.md", "wiki/a.md"):
        folder.write(path, folder.read(path))
    scan()
    assert list(dump_index()) == before


def test_the_commands_print_json_lines(folder: VaultFolder) -> None:
    assert [json.loads(line) for line in run("export_links").splitlines()] == list(export_links())
    assert [json.loads(line) for line in run("dump_index").splitlines()] == list(dump_index())


class TestRescan:
    @pytest.fixture(autouse=True)
    def same_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """For a vault that got its id after the settings were read the command begins anew: not here."""
        monkeypatch.setattr("wiki.management.commands.rescan.ensure_vault", lambda: None)

    def test_it_says_what_it_did(self, vault_folder: VaultFolder) -> None:
        vault_folder.write("wiki/a.md", "---\nbad: [\n---\n[[b]]")
        told = run("rescan")
        assert told.startswith("1 page, 1 link, 1 broken, ")
        assert "(1 new)" in told
        assert "flagged: wiki/a.md: " in told
        assert run("rescan").strip().endswith(" s")
        assert json.loads(run("rescan", "--json"))["pages"] == 1

    def test_a_dry_run_says_what_it_would_do(self, vault_folder: VaultFolder) -> None:
        vault_folder.write("wiki/a.md", "text")
        assert run("rescan", "--dry-run") == "Would take in: 1 new\n"
        run("rescan")
        assert run("rescan", "--dry-run") == "Nothing has changed\n"

    def test_a_scan_that_stops_is_a_failure(self, vault_folder: VaultFolder) -> None:
        for number in range(20):
            vault_folder.write(f"wiki/{number}.md", "text")
        run("rescan")
        for number in range(15):
            (vault_folder.root / f"wiki/{number}.md").unlink()
        with pytest.raises(SystemExit) as ended:
            run("rescan")
        assert ended.value.code == 1
        assert "(15 deleted)" in run("rescan", "--allow-deletions")

    def test_an_empty_root_is_one_clear_sentence(self, vault_folder: VaultFolder, settings, tmp_path) -> None:  # type: ignore[no-untyped-def]
        settings.SYNAPSE_VAULT = tmp_path / "empty"
        settings.SYNAPSE_VAULT.mkdir()
        with pytest.raises(CommandError, match="folder is empty"):
            run("rescan")
        assert list(settings.SYNAPSE_VAULT.iterdir()) == []
