"""A database belongs to one vault and says so before anything is read or written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import VaultFolder
from tests.wiki.index import fill, whole_index
from vault.current import current_vault, forget_vault
from vault.errors import ErrorCode, SynapseError
from wiki.binding import adopt, bump_data_version, check_binding
from wiki.data_version import data_version
from wiki.models import Page, VaultState
from wiki.search import search
from wiki.sync import scan

pytestmark = pytest.mark.django_db


@pytest.fixture
def other_vault(vault_folder: VaultFolder, tmp_path: Path, settings) -> VaultFolder:  # type: ignore[no-untyped-def]
    """Index one vault, then have the settings name another."""
    fill(vault_folder, 3)
    scan()
    other = VaultFolder(tmp_path / "other")
    other.write("wiki/own.md", "its own page")
    settings.SYNAPSE_VAULT = other.root
    forget_vault()
    current_vault().ensure_id()
    return other


def test_the_first_scan_binds(vault_folder: VaultFolder) -> None:
    check_binding()
    vault_folder.write("wiki/a.md", "text")
    scan()
    state = VaultState.objects.get()
    assert (state.vault_id, state.root) == (current_vault().id, str(vault_folder.root.resolve()))


def test_another_vault_is_refused_and_nothing_is_deleted(other_vault: VaultFolder) -> None:
    before = whole_index()
    for attempt in (check_binding, scan):
        with pytest.raises(SynapseError) as refused:
            attempt()
        assert refused.value.code is ErrorCode.CONFLICT
        assert "doctor --adopt" in refused.value.message
        assert str(other_vault.root) not in refused.value.message
    assert whole_index() == before


def test_a_copy_of_the_vault_is_refused_too(vault_folder: VaultFolder, tmp_path: Path, settings) -> None:  # type: ignore[no-untyped-def]
    fill(vault_folder, 3)
    scan()
    settings.SYNAPSE_VAULT = tmp_path / "copy"
    shutil.copytree(vault_folder.root, settings.SYNAPSE_VAULT)
    forget_vault()
    with pytest.raises(SynapseError) as refused:
        scan()
    assert "another place" in refused.value.message
    assert adopt() is True
    assert adopt() is False
    check_binding()
    assert scan().differences == 0, "the same vault: its rows stay"


def test_a_root_named_through_a_symlink_is_the_same(vault_folder: VaultFolder, tmp_path: Path, settings) -> None:  # type: ignore[no-untyped-def]
    fill(vault_folder, 1)
    scan()
    settings.SYNAPSE_VAULT = tmp_path / "link"
    settings.SYNAPSE_VAULT.symlink_to(vault_folder.root)
    forget_vault()
    check_binding()
    assert scan().differences == 0


def test_adopting_another_vault_begins_a_new_index(other_vault: VaultFolder) -> None:
    version = data_version()
    assert adopt() is True
    assert not Page.objects.exists()
    assert data_version() == version + 1
    assert scan().pages == 1
    assert [hit.page.title for hit in search("page", k=5).hits] == ["own"]


def test_the_version_grows_by_one(vault_folder: VaultFolder) -> None:
    assert data_version() == 0
    assert [bump_data_version(), bump_data_version(), data_version()] == [1, 2, 2]
