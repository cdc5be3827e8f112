"""A new vault is made completely, again without harm, and never over what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vault import starter_vault
from vault.errors import ErrorCode, SynapseError
from vault.starter_vault import FOLDERS, create_starter


@pytest.fixture(autouse=True)
def starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "starter"
    (folder / "wiki").mkdir(parents=True)
    (folder / "wiki/overview.md").write_text("overview")
    (folder / "schema.md").write_text("schema")
    monkeypatch.setattr(starter_vault, "STARTER", folder)
    return folder


def test_makes_what_is_missing_once(tmp_path: Path) -> None:
    root = tmp_path / "new" / "vault"
    assert create_starter(root) == sorted([*(f"{path}/" for path in FOLDERS), "schema.md", "wiki/overview.md"])
    assert (root / "wiki/overview.md").read_text() == "overview"
    assert (root / "schema.md").stat().st_mode & 0o777 & ~0o022 == 0o644
    assert create_starter(root) == []
    assert sorted(os.listdir(root)) == ["raw", "schema.md", "wiki"]


def test_what_is_there_stays(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / "wiki").mkdir(parents=True)
    (root / "schema.md").write_text("mine")
    (root / "wiki/overview.md").symlink_to("nowhere")
    made = create_starter(root)
    assert "schema.md" not in made
    assert "wiki/overview.md" not in made
    assert (root / "schema.md").read_text() == "mine"
    assert (root / "wiki/overview.md").is_symlink()


def test_a_file_that_comes_in_between_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "vault"
    real = starter_vault.rename_new

    def late(source_dir: int, source: str, target_dir: int, target: str) -> None:
        (root / target).write_text("mine")
        real(source_dir, source, target_dir, target)

    (root / "wiki").mkdir(parents=True)
    (root / "wiki/overview.md").write_text("mine")
    monkeypatch.setattr(starter_vault, "rename_new", late)
    assert "schema.md" not in create_starter(root)
    assert (root / "schema.md").read_text() == "mine"
    assert sorted(os.listdir(root)) == ["raw", "schema.md", "wiki"]


@pytest.mark.parametrize("obstacle", ["link", "file"])
def test_nothing_is_made_behind_a_link_or_below_a_file(tmp_path: Path, obstacle: str) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    if obstacle == "link":
        (root / "wiki").symlink_to(outside)
    else:
        (root / "wiki").write_text("mine")
    with pytest.raises(SynapseError) as caught:
        create_starter(root)
    assert caught.value.code is ErrorCode.STORAGE_ERROR
    assert str(tmp_path) not in caught.value.message
    assert os.listdir(outside) == []
