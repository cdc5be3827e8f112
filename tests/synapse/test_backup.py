"""Backup and restore of what lives only in the database: whole or not at all, and each row once."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
import tracemalloc
from collections import Counter
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.utils import timezone
from oauth2_provider.models import get_application_model

from reviews.models import ResearchRun, ReviewEvent, ReviewItem, Status
from reviews.services import propose, resolve
from synapse import backup
from synapse import restore as restoring
from synapse.backup import write_backup
from synapse.restore import restore
from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer, claude
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki import audit
from wiki.models import Audit, Page, Token
from wiki.sync import scan
from wiki.tokens import create_token, find_token, revoke_token

__all__ = ["claude"]

pytestmark = pytest.mark.django_db

BEN = Author("user:ben", "command")


@pytest.fixture
def raw(vault_folder: VaultFolder, claude: Writer, settings: Any) -> str:
    """A database with something of everything; the token that Ann has."""
    settings.SYNAPSE_RESEARCH_BACKEND = "agent"
    claude.write("Ada", "One.\n")
    editors = Group.objects.create(name="editors")
    editors.permissions.set(Permission.objects.filter(codename="change_page"))
    ann = User.objects.create_superuser("ann", email="ann@example.org", password="a long password")
    ann.groups.add(editors)
    create_token(name="nobody's")
    _, made = create_token(name="ann's", scope="write", user=ann, expires=timezone.now() + timedelta(days=9))
    get_application_model().objects.create(
        client_id="abc",
        name="Program",
        redirect_uris="https://a.example/cb",
        client_type="public",
        authorization_grant_type="authorization-code",
    )
    items = [
        {"item_type": "suggestion", "title": f"Look at {name}", "rationale": "Because.", "search_queries": [name]}
        for name in ("one", "two", "three")
    ]
    for entry, action in zip(propose(items=items, author=BEN)["result"], ("dismiss", "deep-research"), strict=False):
        resolve(item_id=entry["id"], action=action, author=BEN)
    return made


def contents() -> list[str]:
    """What a backup would hold, but for the header and what only this test adds to the audit."""
    rows = [json.loads(line) for kind, line in backup._lines() if kind != "header"]
    ours = ("backup", "restore-backup", "import")
    return sorted(json.dumps(row, sort_keys=True) for row in rows if row.get("action") not in ours)


def lose_everything() -> None:
    for model in (ReviewItem, ResearchRun, Token, Audit, User, Group, get_application_model(), Page):
        model.objects.all().delete()


def test_it_comes_back_as_it_was_with_the_vault_and_the_file(raw: str, tmp_path: Path) -> None:
    before, file = contents(), tmp_path / "b.jsonl"
    counts = write_backup(file, author=BEN)
    assert set(counts) == set(backup.KINDS)
    lose_everything()
    assert contents() != before
    scan()
    done = restore(file, author=BEN)
    assert (done.problems, done.added["user"], done.added["token"], done.added["review"]) == ([], 1, 2, 4)
    assert contents() == before
    assert User.objects.get(username="ann").check_password("a long password")
    token = find_token(raw)
    assert token is not None and token.user == User.objects.get(username="ann")
    assert ReviewEvent.objects.filter(what="decided").count() == 2


def test_a_second_time_nothing_changes(raw: str, tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    write_backup(file, author=BEN)
    before, rows = contents(), Audit.objects.count()
    for _ in range(2):
        done = restore(file, author=BEN)
        assert not sum(done.added.values()) and not done.revoked and not done.problems
    assert (contents(), Audit.objects.count()) == (before, rows)


def test_a_dry_run_changes_nothing(raw: str, tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    write_backup(file, author=BEN)
    lose_everything()
    before = contents()
    assert restore(file, author=BEN, dry_run=True).added["token"] == 2
    assert contents() == before


def test_newer_decisions_stand(raw: str, tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    pending = ReviewItem.objects.get(status=Status.PENDING)
    write_backup(file, author=BEN)
    resolve(item_id=pending.pk, action="skip", author=BEN)
    revoke_token(name="ann's")
    User.objects.filter(username="ann").update(is_active=False)
    restore(file, author=BEN)
    pending.refresh_from_db()
    assert pending.status == Status.SKIPPED
    assert find_token(raw) is None and not User.objects.get(username="ann").is_active


def test_a_token_that_was_revoked_there_is_revoked_here(raw: str, tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    revoke_token(name="ann's")
    write_backup(file, author=BEN)
    Token.objects.update(revoked_at=None)
    assert restore(file, author=BEN).revoked == 1
    assert not Token.objects.filter(name="ann's", revoked_at=None).exists()


def test_it_holds_no_secret_and_is_for_its_owner(raw: str, tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    write_backup(file, author=BEN)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert raw not in text and "a long password" not in text


def test_it_is_written_whole_or_not_at_all(raw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "b.jsonl"
    file.write_text("an earlier one")

    def failing() -> Any:
        yield "header", b"{}\n"
        raise OSError(28, "no space left")

    monkeypatch.setattr(backup, "_lines", failing)
    with pytest.raises(SynapseError) as refused:
        write_backup(file, author=BEN)
    assert refused.value.code is ErrorCode.STORAGE_ERROR
    assert file.read_text() == "an earlier one"
    assert [path.name for path in tmp_path.glob("*b.jsonl*")] == ["b.jsonl"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: lines[:-1],
        lambda lines: lines[1:],
        lambda lines: [*lines[:2], *lines[3:]],
        lambda lines: [*lines[:3], lines[3].replace(b"a", b"b", 1), *lines[4:]],
        lambda lines: [*lines[:-1], lines[-1][:20]],
        lambda lines: [b"[" * 10_000],
        lambda lines: [b"\xff\xfe"],
        lambda lines: [],
    ],
)
def test_a_damaged_file_changes_nothing(raw: str, tmp_path: Path, damage: Any) -> None:
    file = tmp_path / "b.jsonl"
    write_backup(file, author=BEN)
    file.write_bytes(b"".join(damage(file.read_bytes().splitlines(keepends=True))))
    lose_everything()
    before = contents()
    with pytest.raises(SynapseError) as refused:
        restore(file, author=BEN)
    assert refused.value.code is ErrorCode.INVALID_PARAM_VALUE and "Nothing was changed" in refused.value.message
    assert contents() == before


def test_a_backup_of_another_vault_needs_a_word(raw: str, tmp_path: Path, vault_folder: VaultFolder) -> None:
    from vault.current import forget_vault

    file = tmp_path / "b.jsonl"
    write_backup(file, author=BEN)
    (vault_folder.root / ".synapse" / "vault-id").write_text("0d2f4c1e-77a9-4b1c-8f0e-5b8f6e0c9d22\n")
    forget_vault()
    with pytest.raises(SynapseError) as refused:
        restore(file, author=BEN)
    assert "--any-vault" in refused.value.message
    lose_everything()
    assert restore(file, author=BEN, any_vault=True).added["token"] == 2


def test_the_commands(raw: str, tmp_path: Path) -> None:
    file, out = str(tmp_path / "b.jsonl"), StringIO()
    call_command("backup", "--to", file, "--json", stdout=out)
    assert json.loads(out.getvalue())["counts"]["token"] == 2
    out = StringIO()
    call_command("restore", file, "--dry-run", "--json", stdout=out)
    assert json.loads(out.getvalue())["added"] == {"audit": 0} or not sum(json.loads(out.getvalue())["added"].values())
    with pytest.raises(CommandError):
        call_command("restore", str(tmp_path / "none"))


def test_neither_holds_more_than_a_part_in_memory(
    vault_folder: VaultFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (backup, restoring):
        monkeypatch.setattr(module, "BATCH", 20)
    for number in range(30):
        Audit.objects.bulk_create(
            [Audit(actor="a", door="rest", action="write", detail={"n": number, "text": "x" * 10_000})] * 20
        )
    file = tmp_path / "b.jsonl"
    tracemalloc.start()
    try:
        write_backup(file, author=BEN)
        Audit.objects.all().delete()
        tracemalloc.reset_peak()
        assert restore(file, author=BEN).added["audit"] == 600
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < file.stat().st_size / 3


def test_the_name_is_on_the_disk_when_it_is_said_to_be_written(
    raw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, steps = tmp_path / "b.jsonl", []
    monkeypatch.setattr(backup.exchange, "sync_file", lambda fd: steps.append(("file", file.exists())))
    monkeypatch.setattr(
        backup.exchange, "sync_folder", lambda fd: steps.append(("folder", os.listdir(fd) and file.exists()))
    )
    write_backup(file, author=BEN)
    assert steps == [("file", False), ("folder", True)]


def test_it_may_come_through_a_pipe(raw: str, tmp_path: Path) -> None:
    file, pipe = tmp_path / "b.jsonl", tmp_path / "pipe"
    write_backup(file, author=BEN)
    os.mkfifo(pipe)
    feeding = threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()))
    feeding.start()
    assert restore(pipe, author=BEN, dry_run=True).known["token"] == 2
    feeding.join()


def summed(rows: list[bytes]) -> bytes:
    """A file whose sums are right."""
    counts = Counter(json.loads(row)["kind"] for row in rows[1:])
    last = {"kind": "sums", "counts": counts, "sha256": hashlib.sha256(b"".join(rows)).hexdigest()}
    return b"".join(rows) + json.dumps(last).encode() + b"\n"


def test_rows_in_another_order_are_refused(raw: str, tmp_path: Path) -> None:
    """A user before the groups that it is in would come in without them."""
    file = tmp_path / "b.jsonl"
    write_backup(file, author=BEN)
    first, *rows = file.read_bytes().splitlines(keepends=True)[:-1]
    file.write_bytes(summed([first, *rows]))
    assert restore(file, author=BEN, dry_run=True).known["group"] == 1
    file.write_bytes(summed([first, *reversed(rows)]))
    with pytest.raises(SynapseError, match="another order"):
        restore(file, author=BEN)


@pytest.mark.parametrize("values", [{"actor": "a" * 9_999}, {"detail": {"text": "\0"}}], ids=["too long", "NUL"])
def test_a_row_that_the_database_cannot_hold_is_the_backups_fault(
    vault_folder: VaultFolder, tmp_path: Path, values: dict[str, Any]
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite holds both")
    file = tmp_path / "b.jsonl"
    audit.record(action="write", author=BEN)
    write_backup(file, author=BEN)
    first, row = file.read_bytes().splitlines(keepends=True)[:2]
    file.write_bytes(summed([first, row, json.dumps({**json.loads(row), **values}).encode() + b"\n"]))
    Audit.objects.all().delete()
    with pytest.raises(SynapseError, match="a row that can't be one"):
        restore(file, author=BEN)
    assert not Audit.objects.exists()


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_database_that_fails_in_the_middle_leaves_nothing(
    raw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    file = tmp_path / "b.jsonl"
    write_backup(file, author=BEN)
    lose_everything()
    before, name = contents(), ("_take_tokens", "_take_audit", "_take_queue")[at]
    taken = getattr(restoring, name)

    def cut(*given: Any, **options: Any) -> None:
        taken(*given, **options)
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(restoring, name, cut)
    with pytest.raises(OperationalError):
        restore(file, author=BEN)
    assert contents() == before


def test_a_file_that_changes_while_it_is_read_changes_nothing(
    raw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "b.jsonl"
    write_backup(file, author=BEN)
    lose_everything()
    before, checked = contents(), restoring._checked

    def then_changed(*given: Any, **options: Any) -> Any:
        sums = checked(*given, **options)
        file.write_bytes(file.read_bytes().replace(b"editors", b"writers"))
        return sums

    monkeypatch.setattr(restoring, "_checked", then_changed)
    with pytest.raises(SynapseError, match="changed while it was read"):
        restore(file, author=BEN)
    assert contents() == before
