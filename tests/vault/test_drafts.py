"""Texts kept because they could not be written."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

from tests.writing import ALICE, PATH, make_vault
from vault import drafts
from vault.errors import ErrorCode, SynapseError
from vault.root import Vault
from vault.writing import exchange


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path)


def keep(vault: Vault, data: bytes = b"text") -> str:
    return drafts.keep(
        vault, path=PATH, data=data, author=ALICE, reason="conflict", base_hash="0" * 64, title="Alan Turing"
    )


def code_of(vault: Vault, draft_id: str) -> ErrorCode:
    with pytest.raises(SynapseError) as refused:
        drafts.read_draft(vault, draft_id)
    return refused.value.code


def test_a_draft_comes_back_as_it_was(vault: Vault) -> None:
    data = bytes(range(256)) * 100
    draft_id = keep(vault, data)
    draft, kept = drafts.read_draft(vault, draft_id)
    assert kept == data
    assert (draft.id, draft.path, draft.title, draft.author, draft.door) == (
        draft_id,
        PATH,
        "Alan Turing",
        "Alice",
        "rest",
    )
    assert (draft.reason, draft.base_hash, draft.size) == ("conflict", "0" * 64, len(data))
    assert drafts.list_drafts(vault) == [draft]


def test_ids_cannot_be_guessed(vault: Vault) -> None:
    ids = {keep(vault) for _ in range(20)}
    assert len(ids) == 20
    assert all(re.fullmatch(r"[0-9a-f]{16}", draft_id) for draft_id in ids)


def test_a_dropped_draft_is_gone(vault: Vault) -> None:
    dropped, kept = keep(vault), keep(vault)
    drafts.drop_draft(vault, dropped)
    assert [draft.id for draft in drafts.list_drafts(vault)] == [kept]
    assert code_of(vault, dropped) is ErrorCode.NOT_FOUND
    with pytest.raises(SynapseError):
        drafts.drop_draft(vault, dropped)
    assert sorted(os.listdir(vault.state / "drafts")) == [f"{kept}.json", f"{kept}.md"]


@pytest.mark.parametrize(
    "draft_id", ["", "../../vault-id", "0" * 16, "A" * 16, "0" * 15, "0" * 16 + "\n", "../drafts/" + "0" * 16, "a\0b"]
)
def test_what_is_no_id_is_not_found(vault: Vault, draft_id: str) -> None:
    keep(vault)
    assert code_of(vault, draft_id) is ErrorCode.NOT_FOUND
    with pytest.raises(SynapseError) as refused:
        drafts.drop_draft(vault, draft_id)
    assert refused.value.code is ErrorCode.NOT_FOUND
    assert len(drafts.list_drafts(vault)) == 1


def test_a_vault_without_drafts(vault: Vault) -> None:
    assert drafts.list_drafts(vault) == []
    assert code_of(vault, "0" * 16) is ErrorCode.NOT_FOUND


def test_links_in_place_of_drafts_lead_nowhere(vault: Vault, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    draft_id = keep(vault)
    text = vault.state / "drafts" / f"{draft_id}.md"
    text.unlink()
    text.symlink_to(secret)
    with pytest.raises(SynapseError):
        drafts.read_draft(vault, draft_id)
    (vault.state / "drafts").rename(tmp_path / "outside")
    (vault.state / "drafts").symlink_to(tmp_path / "outside")
    with pytest.raises(SynapseError):
        keep(vault)
    assert len(list((tmp_path / "outside").iterdir())) == 2


def test_torn_or_foreign_records_are_not_listed(vault: Vault) -> None:
    kept = keep(vault)
    folder = vault.state / "drafts"
    (folder / ("1" * 16 + ".json")).write_bytes(b'{"id": "11')
    (folder / ("2" * 16 + ".json")).write_bytes((folder / f"{kept}.json").read_bytes())
    (folder / "notes.json").write_bytes(b"{}")
    assert [draft.id for draft in drafts.list_drafts(vault)] == [kept]


@pytest.mark.parametrize("failing", [1, 2])
def test_a_full_disk_leaves_no_half_draft(vault: Vault, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    keep(vault)
    calls: list[int] = []
    write_all = exchange.write_all

    def full(fd: int, data: bytes) -> None:
        calls.append(fd)
        if len(calls) == failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_all(fd, data)

    monkeypatch.setattr(exchange, "write_all", full)
    with pytest.raises(SynapseError) as refused:
        keep(vault)
    assert refused.value.code is ErrorCode.STORAGE_ERROR
    assert "full" in refused.value.message
    assert len(os.listdir(vault.state / "drafts")) == 2
