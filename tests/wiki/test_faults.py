"""What can go wrong around Synapse is found, and said by one sentence in the log, by /health/ready and by doctor."""

from __future__ import annotations

import json
import logging
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, IntegrityError, OperationalError, ProgrammingError
from django.utils import timezone

from synapse.diagnosis import Verdict, examine
from tests.conftest import VaultFolder
from tests.embedding import Hashed, hashed
from vault import identity, watch
from vault.current import current_vault
from vault.errors import ErrorCode
from wiki import faults
from wiki.embedding.reembed import embed_all
from wiki.embedding.state import note_problem
from wiki.faults import SAID, Fault
from wiki.models import Audit, EmbeddingState, VaultState
from wiki.services import health
from wiki.services.health import LookoutThread, troubles
from wiki.sync import scan

__all__ = ["hashed"]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def vault(vault_folder: VaultFolder, db: None, monkeypatch: pytest.MonkeyPatch) -> VaultFolder:
    monkeypatch.setattr(health, "_elsewhere", health._Elsewhere())
    vault_folder.write("wiki/concepts/bread.md", "---\ntype: concept\ntitle: Bread\n---\nFlour and water.\n")
    scan()
    return vault_folder


def found() -> set[Fault]:
    return {trouble.fault for trouble in troubles()}


def said_by_doctor(fault: Fault) -> Verdict:
    [finding] = [one for one in examine() if one.name == fault.value.replace("_", " ")]
    assert finding.text.startswith(SAID[fault].happened) and finding.fix == SAID[fault].to_do
    return finding.verdict


def said_by_ready(client: Any, fault: Fault) -> int:
    answer = client.get("/health/ready")
    assert faults.sentence(fault) in [
        problem["text"][: len(faults.sentence(fault))] for problem in answer.json()["problems"]
    ]
    return int(answer.status_code)


def test_every_fault_has_its_sentence_in_three_parts() -> None:
    assert set(SAID) == set(Fault)
    for words in SAID.values():
        for part in (words.happened, words.safe, words.to_do):
            assert part[0].isupper() or part[0] == "`"
            assert part.endswith(".") and "/" not in part.replace("is/", "")
    assert len({words.happened for words in SAID.values()}) == len(SAID)


def test_where_all_is_well_nothing_is_found(vault: VaultFolder, client: Any) -> None:
    assert found() == set()
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["problems"]) == (200, [])


def test_a_vault_that_is_gone(vault: VaultFolder, client: Any) -> None:
    vault.root.rename(vault.root.with_name("away"))
    assert found() == {Fault.VAULT_GONE}
    assert said_by_ready(client, Fault.VAULT_GONE) == 503
    assert examine()[0].verdict is Verdict.ERROR


def test_a_mount_point_without_its_vault(vault: VaultFolder, client: Any) -> None:
    vault.root.rename(vault.root.with_name("away"))
    vault.root.mkdir()
    assert found() == {Fault.VAULT_EMPTY}
    assert said_by_doctor(Fault.VAULT_EMPTY) is Verdict.WARNING
    assert said_by_ready(client, Fault.VAULT_EMPTY) == 200, "what the index has can still be searched"


def test_a_vault_that_has_lost_its_id(vault: VaultFolder, client: Any) -> None:
    shutil.move(str(current_vault().state), str(vault.root.with_name("state")))
    assert scan().stopped, "which is not told as too much that is gone"
    assert found() == {Fault.VAULT_WITHOUT_ID}
    assert said_by_doctor(Fault.VAULT_WITHOUT_ID) is Verdict.ERROR
    assert said_by_ready(client, Fault.VAULT_WITHOUT_ID) == 503


def test_scans_that_stop(vault: VaultFolder, client: Any) -> None:
    for number in range(20):
        vault.write(f"notes/{number}.md", "note")
    scan()
    shutil.rmtree(vault.root / "notes")
    assert scan().stopped
    assert found() == {Fault.SCAN_STOPPED}
    assert said_by_doctor(Fault.SCAN_STOPPED) is Verdict.WARNING


@pytest.mark.parametrize(("folder", "fault"), [("", Fault.VAULT_READ_ONLY), (".synapse", Fault.STATE_NOT_WRITABLE)])
def test_folders_that_may_not_be_written(
    vault: VaultFolder, monkeypatch: pytest.MonkeyPatch, folder: str, fault: Fault, settings: Any
) -> None:
    kept, real = (vault.root / folder), identity.is_writable
    monkeypatch.setattr(health, "is_writable", lambda path: path != kept and real(path))
    assert found() == {fault}
    if fault is Fault.VAULT_READ_ONLY:
        settings.SYNAPSE_READ_ONLY = True
        assert found() == set(), "it is meant"


def test_a_full_disk(vault: VaultFolder, monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    real = os.statvfs(vault.root)
    full = os.statvfs_result((*real[:4], 10, *real[5:]))
    monkeypatch.setattr(health.os, "statvfs", lambda path: full)
    assert found() == {Fault.DISK_FULL}
    assert said_by_ready(client, Fault.DISK_FULL) == 200


def test_the_database_of_another_vault(vault: VaultFolder, client: Any) -> None:
    VaultState.objects.update(vault_id=uuid4())
    assert found() == {Fault.DATABASE_FOREIGN}
    assert said_by_doctor(Fault.DATABASE_FOREIGN) is Verdict.ERROR
    assert said_by_ready(client, Fault.DATABASE_FOREIGN) == 503


def test_tables_of_an_older_version(vault: VaultFolder, monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    monkeypatch.setattr(health, "_tables", health._Tables())
    monkeypatch.setattr(health, "pending_migrations", lambda: 2)
    assert found() == {Fault.TABLES_MISSING}
    assert said_by_ready(client, Fault.TABLES_MISSING) == 503


def test_a_clock_that_was_set_back(vault: VaultFolder, client: Any) -> None:
    Audit.objects.create(actor="a", door="rest", action="write")
    Audit.objects.update(at=timezone.now() + timedelta(days=365))
    assert found() == {Fault.CLOCK_BEHIND}
    assert said_by_doctor(Fault.CLOCK_BEHIND) is Verdict.WARNING


def test_a_broker_and_a_store_that_are_away(vault: VaultFolder, settings: Any, closed_port: int, client: Any) -> None:
    settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{closed_port}/0"
    settings.QDRANT_URL = f"http://127.0.0.1:{closed_port}"
    assert found() == {Fault.BROKER_AWAY, Fault.VECTORS_AWAY}
    assert said_by_ready(client, Fault.BROKER_AWAY) == said_by_ready(client, Fault.VECTORS_AWAY) == 200
    assert said_by_doctor(Fault.BROKER_AWAY) is Verdict.WARNING


def test_a_broker_that_is_there_and_one_that_says_nothing(
    vault: VaultFolder, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        answering = threading.Thread(target=_answer_once, args=(server,), daemon=True)
        answering.start()
        assert found() == set()
        answering.join(10)
        monkeypatch.setattr(health, "_elsewhere", health._Elsewhere())
        monkeypatch.setattr(health, "PATIENCE_SECONDS", 0.05)
        assert found() == {Fault.BROKER_AWAY}


def _answer_once(server: socket.socket) -> None:
    line, _ = server.accept()
    with line:
        line.recv(100)
        line.sendall(b"-NOAUTH Authentication required.\r\n")


def test_an_embedder_that_does_not_answer_or_is_another(vault: VaultFolder, hashed: Hashed, client: Any) -> None:
    embed_all()
    assert found() == set()
    note_problem("The endpoint does not answer.")
    [trouble] = troubles()
    assert trouble.fault is Fault.EMBEDDER_AWAY and trouble.text.endswith("The endpoint does not answer.")
    EmbeddingState.objects.update(model_id="bge-m3", dim=1024)
    assert found() == {Fault.EMBEDDER_OTHER}
    assert said_by_ready(client, Fault.EMBEDDER_OTHER) == 200


def test_a_system_without_watches_left(vault: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        stop.set()
        raise OSError(28, "OS file watch limit reached.")

    stop = threading.Event()
    monkeypatch.setattr(watch._Notices, "refused", False)
    monkeypatch.setattr(watch.watchfiles, "watch", refused)
    assert list(watch.watch(current_vault(), stop=stop, settle=0.0)) == []
    assert found() == {Fault.WATCHER_BLIND}


def test_the_server_says_it_once_and_when_it_is_over(vault: VaultFolder, caplog: pytest.LogCaptureFixture) -> None:
    lookout = LookoutThread(threading.Event())
    away = vault.root.with_name("away")
    with caplog.at_level(logging.WARNING, logger="wiki.services.health"):
        lookout.look()
        vault.root.rename(away)
        lookout.look()
        lookout.look()
        away.rename(vault.root)
        lookout.look()
    said = [record.getMessage() for record in caplog.records]
    assert said == [faults.sentence(Fault.VAULT_GONE), f"Over: {SAID[Fault.VAULT_GONE].happened}"]


# --- what a failure of the database is ---


def from_sqlite(cause: sqlite3.Error) -> DatabaseError:
    error = OperationalError("whatever it says")
    error.__cause__ = cause
    return error


def failing(file: Path, statement: str, *, before: str = "", timeout: float = 0.0) -> sqlite3.Error:
    with sqlite3.connect(file, timeout=timeout) as line:
        if before:
            line.execute(before)
        with pytest.raises(sqlite3.Error) as caught:
            line.execute(statement)
    line.close()
    return caught.value


def test_what_sqlite_says_is_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "index.sqlite3"
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("CREATE TABLE t (a)")
    holder.execute("BEGIN IMMEDIATE")
    assert faults.of_database(from_sqlite(failing(file, "INSERT INTO t VALUES (1)"))) is Fault.DATABASE_LOCKED
    holder.execute("ROLLBACK")
    holder.close()
    missing = failing(file, "SELECT * FROM missing")
    assert faults.of_database(from_sqlite(missing)) is Fault.TABLES_MISSING
    full = failing(file, f"INSERT INTO t VALUES ('{'x' * 100_000}')", before="PRAGMA max_page_count = 3")
    assert faults.of_database(from_sqlite(full)) is Fault.DATABASE_FULL
    read_only = failing(file, "INSERT INTO t VALUES (1)", before="PRAGMA query_only = 1")
    assert faults.of_database(from_sqlite(read_only)) is Fault.DATABASE_FULL
    file.write_bytes(b"this is no database at all, but long enough to be looked at" * 100)
    assert faults.of_database(from_sqlite(failing(file, "SELECT 1 FROM t"))) is Fault.DATABASE_DAMAGED
    assert faults.of_database(from_sqlite(failing(tmp_path / "new", "SELECT * FORM t"))) is None


class _FromPostgres(Exception):
    def __init__(self, sqlstate: str | None) -> None:
        super().__init__()
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        (None, Fault.DATABASE_AWAY),
        ("08006", Fault.DATABASE_AWAY),
        ("57P03", Fault.DATABASE_AWAY),
        ("3D000", Fault.DATABASE_AWAY),
        ("53300", Fault.DATABASE_AWAY),
        ("53100", Fault.DATABASE_FULL),
        ("42P01", Fault.TABLES_MISSING),
        ("40P01", Fault.DATABASE_LOCKED),
        ("22001", None),
    ],
)
def test_what_postgresql_says_is_told_apart(state: str | None, fault: Fault | None) -> None:
    error = OperationalError("whatever it says")
    error.__cause__ = _FromPostgres(state)
    assert faults.of_database(error) is fault


def test_a_mistake_of_ours_is_none_of_these() -> None:
    for error in (IntegrityError(), ProgrammingError(), ValueError(), KeyError()):
        assert faults.of_database(error) is None and faults.as_error(error) is None
    full = faults.as_error(from_sqlite(_named("SQLITE_FULL")))
    assert full is not None and full.code is ErrorCode.STORAGE_ERROR


def _named(name: str) -> sqlite3.Error:
    error = sqlite3.OperationalError()
    error.sqlite_errorname = name  # type: ignore[misc]  # what the module itself sets
    return error


# --- with a database that is really away ---

DOORS = """
import asyncio, json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "synapse.settings"
import django
django.setup()
from django.test import Client
from mcpapi.callers import LOCAL
from mcpapi.calls import Calls
from mcpapi.profiles import Profile

async def tool():
    calls = Calls(Profile.STDIO, "false")
    try:
        return (await calls.answer("list_pages", {}, LOCAL)).structured_content
    finally:
        await calls.close()

client = Client(raise_request_exception=False, SERVER_NAME="localhost")
asked = {"headers": {"Authorization": "Bearer syn_" + "a" * 43}}
client.cookies["sessionid"] = "a" * 32
answers = {path: client.get(path, **asked) for path in ("/status", "/pages", "/health/ready")}
admin = client.get("/admin/")
print(json.dumps({
    **{path: [told.status_code, told.json(), told.headers.get("Retry-After")] for path, told in answers.items()},
    "admin": [admin.status_code, admin.content.decode(), admin.headers.get("Retry-After")],
    "tool": asyncio.run(tool()),
}))
"""


def run(tmp_path: Path, port: int, *command: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "vault").mkdir(exist_ok=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SYNAPSE_", "MCP_", "DATABASE"))}
    env = {
        **clean,
        "SYNAPSE_DATA": str(tmp_path / "data"),
        "SYNAPSE_VAULT": str(tmp_path / "vault"),
        "DATABASE_URL": f"postgres://nobody:secretword@127.0.0.1:{port}/none",
        "EMBEDDINGS_ENABLED": "false",
    }
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def test_every_door_says_that_the_database_is_away(tmp_path: Path, closed_port: int) -> None:
    done = run(tmp_path, closed_port, "-c", DOORS)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    away = faults.sentence(Fault.DATABASE_AWAY)
    for path in ("/status", "/pages"):
        status, body, retry = told[path]
        assert (status, body["error"], body["error_code"], retry) == (503, away, "dependency_missing", "5"), path
    status, body, _ = told["/health/ready"]
    assert status == 503 and body["checks"]["database"] is False
    assert [problem["text"] for problem in body["problems"]] == [away]
    assert told["admin"] == [503, away, "5"]
    assert (told["tool"]["error"], told["tool"]["error_code"]) == (away, "dependency_missing")
    assert "secretword" not in done.stdout + done.stderr


@pytest.mark.parametrize("command", [("search", "bread"), ("migrate",), ("doctor",), ("reviews", "list"), ("serve",)])
def test_commands_say_it_in_one_sentence(tmp_path: Path, closed_port: int, command: tuple[str, ...]) -> None:
    done = run(tmp_path, closed_port, "manage.py", *command)
    assert done.returncode == 1
    assert SAID[Fault.DATABASE_AWAY].happened in done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "secretword" not in done.stdout + done.stderr


def test_migrate_by_hand_makes_the_folder_that_it_needs(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SYNAPSE_", "MCP_", "DATABASE"))}
    env = {**clean, "SYNAPSE_DATA": str(tmp_path / "new" / "data"), "SYNAPSE_VAULT": str(tmp_path / "vault")}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert len(list((tmp_path / "new" / "data").glob("*/index.sqlite3"))) == 1
