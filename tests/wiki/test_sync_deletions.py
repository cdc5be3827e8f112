"""P13: an empty or unmounted root is not taken for deleted files."""

from __future__ import annotations

import os

import pytest

from tests.conftest import VaultFolder
from tests.wiki.index import fill, scan_counting_writes, whole_index
from vault.root import Skipped, Vault
from wiki.models import Page
from wiki.sync import scan, sync_paths

pytestmark = pytest.mark.django_db


def remove(folder: VaultFolder, numbers: range) -> None:
    for number in numbers:
        (folder.root / f"wiki/p{number}.md").unlink()


def test_a_fifth_may_go(vault_folder: VaultFolder) -> None:
    fill(vault_folder, 60)
    scan()
    remove(vault_folder, range(12))
    report = scan()
    assert (report.stopped, report.deleted, report.pages) == (None, 12, 48)


def test_more_than_a_fifth_stops_the_scan(vault_folder: VaultFolder) -> None:
    fill(vault_folder, 60)
    scan()
    before = whole_index()
    remove(vault_folder, range(13))
    vault_folder.write("wiki/new.md", "not taken either")
    report, writes = scan_counting_writes()
    assert "13 of 60" in str(report.stopped)
    assert "--allow-deletions" in str(report.stopped)
    assert whole_index() == before
    (told,) = writes
    assert told.startswith('UPDATE "wiki_vaultstate" SET "last_scan"'), "that scans stop is kept for /status, once"
    assert scan_counting_writes()[1] == []
    assert sync_paths(f"wiki/p{number}.md" for number in range(60)).stopped
    report = scan(allow_deletions=True)
    assert (report.stopped, report.deleted, report.added) == (None, 13, 1)


def test_a_few_files_may_go_from_a_small_vault(vault_folder: VaultFolder) -> None:
    fill(vault_folder, 12)
    scan()
    remove(vault_folder, range(9))
    assert scan().deleted == 9


def test_moves_do_not_count(vault_folder: VaultFolder) -> None:
    fill(vault_folder, 30)
    for number in range(30):
        vault_folder.write(f"files/{number}.png", f"picture {number}")
    scan()
    os.rename(vault_folder.root / "wiki", vault_folder.root / "pages")
    os.rename(vault_folder.root / "files", vault_folder.root / "pictures")
    report = scan()
    assert (report.stopped, report.moved, report.deleted, report.files_changed) == (None, 30, 0, 60)


@pytest.mark.parametrize("count", [1, 30])
def test_an_empty_root_is_not_believed(vault_folder: VaultFolder, count: int) -> None:
    fill(vault_folder, count)
    scan()
    remove(vault_folder, range(count))
    assert "empty" in str(scan().stopped)
    assert Page.objects.live().count() == count


def test_a_missing_root(vault_folder: VaultFolder) -> None:
    fill(vault_folder, 3)
    scan()
    os.rename(vault_folder.root, vault_folder.root.with_name("away"))
    report = scan(allow_deletions=True)
    assert "not there" in str(report.stopped)
    assert report.pages == 3


def test_an_unmounted_root_gets_no_new_id(vault_folder: VaultFolder) -> None:
    fill(vault_folder, 3)
    scan()
    os.rename(vault_folder.root, vault_folder.root.with_name("away"))
    vault_folder.root.mkdir()
    assert "empty" in str(scan(allow_deletions=True).stopped)
    assert list(vault_folder.root.iterdir()) == []
    (vault_folder.root / "lost+found").mkdir()
    assert "no id any more" in str(scan(allow_deletions=True).stopped)
    assert Page.objects.live().count() == 3


def test_files_below_a_folder_that_cannot_be_read_stay(vault_folder: VaultFolder, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    fill(vault_folder, 3)
    vault_folder.write("other/a.md", "text")
    scan()
    real = Vault.walk

    def walk(self: Vault, below: str = ""):  # type: ignore[no-untyped-def]
        yield from (entry for entry in real(self, below) if not entry.path.startswith("other/"))
        yield Skipped("other", "unreadable", "Synapse may not read this.")

    monkeypatch.setattr(Vault, "walk", walk)
    report = scan()
    assert (report.deleted, report.pages) == (0, 4)
    assert report.skipped == [{"path": "other", "code": "unreadable", "reason": "Synapse may not read this."}]
