"""Vault ids and page ids outlive processes, crashes and a lost database (promises P9, P14, P28)."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import uuid
from pathlib import Path

import pytest

from vault import identity
from vault.errors import ErrorCode, SynapseError
from vault.identity import IdLedger, path_id, read_vault_id
from vault.root import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    (tmp_path / "vault").mkdir()
    return Vault(tmp_path / "vault", tmp_path / "data")


def nobody(page_id: uuid.UUID) -> bool:
    return False


# --- the vault's id ---


def test_the_id_is_made_once_and_read_by_all(vault: Vault) -> None:
    assert read_vault_id(vault.root, vault.data) is None
    with pytest.raises(SynapseError) as caught:
        _ = vault.id
    assert caught.value.code is ErrorCode.STORAGE_ERROR
    assert not vault.state.exists()
    made = vault.ensure_id()
    assert vault.ensure_id() == vault.id == Vault(vault.root, vault.data).ensure_id() == made
    assert read_vault_id(vault.root, vault.data) == str(made)
    assert sorted(os.listdir(vault.state)) == ["locks", "vault-id"]


def test_many_at_once_agree_on_one_id(vault: Vault) -> None:
    found: list[uuid.UUID] = []
    threads = [threading.Thread(target=lambda: found.append(vault.ensure_id())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), set(found)) == (8, {vault.id})


@pytest.mark.parametrize(
    "garbage", [b"", b"not an id", b"\xff\xfe", b"../../etc", b"x" * 10_000, b"{" + b"0" * 32 + b"}"]
)
def test_a_damaged_id_is_said_and_never_replaced(vault: Vault, garbage: bytes) -> None:
    vault.state.mkdir()
    (vault.state / "vault-id").write_bytes(garbage)
    assert read_vault_id(vault.root, vault.data) is None
    for use in (lambda: vault.id, vault.ensure_id):
        with pytest.raises(SynapseError) as caught:
            use()
        assert caught.value.code is ErrorCode.STORAGE_ERROR
        assert "vault-id" in caught.value.message
    assert (vault.state / "vault-id").read_bytes() == garbage


def test_an_id_behind_a_link_or_in_a_folder_is_none(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "vault-id").write_text(str(uuid.uuid4()))
    (vault.root / ".synapse").symlink_to(tmp_path)
    assert read_vault_id(vault.root, vault.data) is None
    (vault.root / ".synapse").unlink()
    (vault.root / ".synapse" / "vault-id").mkdir(parents=True)
    assert read_vault_id(vault.root, vault.data) is None
    assert read_vault_id(tmp_path / "none", vault.data) is None


def test_a_root_that_cannot_be_written_keeps_its_state_elsewhere(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "is_writable", lambda folder: False)
    expected = path_id(vault.root)
    assert read_vault_id(vault.root, vault.data) == str(expected)
    assert vault.ensure_id() == vault.id == expected
    assert vault.state == vault.data / str(expected) / ".synapse"
    with vault.lock("scan"):
        vault.ids.record("a.md", uuid.UUID(int=1))
    assert IdLedger(vault).id_at("a.md") == uuid.UUID(int=1)
    assert os.listdir(vault.root) == []


def test_a_root_that_turns_read_only_stays_the_same_vault(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    made = vault.ensure_id()
    monkeypatch.setattr(identity, "is_writable", lambda folder: False)
    assert vault.id == made


def test_the_real_path_names_a_vault_that_keeps_no_id(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert path_id(tmp_path / "a") == path_id(tmp_path / "b") != path_id(tmp_path)


# --- page ids ---


def test_a_page_is_its_path_until_it_moves(vault: Vault) -> None:
    vault_id = vault.ensure_id()
    born = uuid.uuid5(vault_id, "a.md")
    assert vault.ids.id_for("a.md", nobody) == born
    assert not (vault.state / "ids.jsonl").exists()
    vault.ids.record("b.md", born)
    assert vault.ids.id_for("b.md", nobody) == born
    # another page comes to the old path, while the first lives on
    second = vault.ids.id_for("a.md", lambda page_id: page_id == born)
    assert second == uuid.uuid5(vault_id, "a.md\n1")
    third = vault.ids.id_for("b.md", lambda page_id: page_id in (born, uuid.uuid5(vault_id, "b.md\n1")))
    assert third == uuid.uuid5(vault_id, "b.md\n2")
    # another process, and one that has lost its database, see the same
    again = IdLedger(vault)
    assert (again.id_at("a.md"), again.id_at("b.md"), again.id_at("c.md")) == (second, third, None)


def test_lines_of_other_processes_are_seen(vault: Vault) -> None:
    vault.ensure_id()
    here, there = IdLedger(vault), IdLedger(vault)
    for number in range(5):
        there.record("wiki/ü\u2028.md", uuid.UUID(int=number))
        assert here.id_at("wiki/ü\u2028.md") == uuid.UUID(int=number)
    here.record_all([])
    here.record_all([("x.md", uuid.UUID(int=7)), ("y.md", uuid.UUID(int=8)), ("x.md", uuid.UUID(int=9))])
    assert (there.id_at("x.md"), there.id_at("y.md")) == (uuid.UUID(int=9), uuid.UUID(int=8))


def test_a_replaced_or_removed_ledger_is_read_anew(vault: Vault) -> None:
    vault.ensure_id()
    ledger, file = IdLedger(vault), vault.state / "ids.jsonl"
    ledger.record("a.md", uuid.UUID(int=1))
    assert ledger.id_at("a.md") == uuid.UUID(int=1)
    other = file.with_name("other")
    other.write_text(json.dumps({"path": "b.md", "id": str(uuid.UUID(int=2))}) + "\n" + " " * 500)
    other.replace(file)
    assert (ledger.id_at("a.md"), ledger.id_at("b.md")) == (None, uuid.UUID(int=2))
    file.unlink()
    assert ledger.id_at("b.md") is None


def test_torn_and_foreign_lines_are_no_lines(vault: Vault) -> None:
    vault.ensure_id()
    ledger, file = IdLedger(vault), vault.state / "ids.jsonl"
    ledger.record("a.md", uuid.UUID(int=1))
    whole = file.read_bytes()
    foreign = (
        b'[]\n"x"\nnull\n{}\n{"path": "z.md", "id": 5}\n{"path": "z.md", "id": "no"}\n\xff\n' + b"[" * 5000 + b"\n"
    )
    for cut in range(1, len(whole)):
        file.write_bytes(foreign + whole + whole.replace(b"a.md", b"b.md")[:cut])
        fresh = IdLedger(vault)
        assert fresh.id_at("a.md") == uuid.UUID(int=1)
        assert fresh.id_at("z.md") is None
    # what comes after a torn line is not lost with it
    ledger.record("c.md", uuid.UUID(int=3))
    assert IdLedger(vault).id_at("c.md") == ledger.id_at("c.md") == uuid.UUID(int=3)


def test_the_line_is_on_disk_when_record_returns(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.ensure_id()
    done: list[str] = []
    monkeypatch.setattr(identity, "sync_file", lambda descriptor: done.append("file"))
    monkeypatch.setattr(identity, "sync_folder", lambda descriptor: done.append("folder"))
    vault.ids.record("a.md", uuid.UUID(int=1))
    assert done == ["file", "folder"]
    vault.ids.record("b.md", uuid.UUID(int=2))
    assert done == ["file", "folder", "file"]

    def full(descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[:10])
        raise OSError(28, "no space left on /secret/place")

    monkeypatch.setattr(identity, "write_all", full)
    with pytest.raises(SynapseError) as caught:
        vault.ids.record("c.md", uuid.UUID(int=3))
    assert caught.value.code is ErrorCode.STORAGE_ERROR
    assert "secret" not in caught.value.message
    monkeypatch.undo()
    vault.ids.record("d.md", uuid.UUID(int=4))
    assert [IdLedger(vault).id_at(f"{name}.md") for name in "abcd"] == [
        uuid.UUID(int=1),
        uuid.UUID(int=2),
        None,
        uuid.UUID(int=4),
    ]


def test_a_state_folder_that_is_gone_is_not_made_again(vault: Vault, tmp_path: Path) -> None:
    """Where it is to be put back, an empty one would be in the way."""
    known = vault.ensure_id()
    assert vault.id == known
    away = tmp_path / "away"
    (vault.root / ".synapse").rename(away)
    for work in (lambda: vault.lock("jobs"), vault.make_state, lambda: contextlib.nullcontext(vault.id)):
        with pytest.raises(SynapseError, match=r"lost its \.synapse") as refused, work():
            pass
        assert refused.value.code is ErrorCode.STORAGE_ERROR
    assert not (vault.root / ".synapse").exists()
    away.rename(vault.root / ".synapse")
    with vault.lock("jobs"):
        assert vault.id == known


def test_an_id_that_is_gone_for_good_can_be_made_anew(vault: Vault) -> None:
    known = vault.ensure_id()
    assert vault.id == known
    shutil.rmtree(vault.root / ".synapse")
    made = vault.ensure_id()
    assert made != known and vault.id == made
