"""What a terminal is told names the fault that there is, and the mode that is set."""

import os
import shutil
import stat
import subprocess
import sys
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import ProgrammingError

from synapse import diagnosis
from vault.errors import SynapseError
from wiki import faults, startup
from wiki.binding import bind


@pytest.mark.parametrize(("there", "fault"), [(False, faults.Fault.VAULT_GONE), (True, faults.Fault.TABLES_MISSING)])
def test_without_the_vaults_folder_no_command_asks_for_a_new_index(settings, tmp_path, monkeypatch, there, fault):
    if there:
        (tmp_path / "vault").mkdir()
    settings.SYNAPSE_VAULT = tmp_path / "vault"
    monkeypatch.setattr(startup, "has_no_index", lambda: True)
    monkeypatch.setattr(startup.connection, "vendor", "sqlite")
    with pytest.raises(SynapseError) as refused:
        startup.require_tables()
    assert refused.value.message == faults.sentence(fault)


@pytest.mark.django_db
@pytest.mark.parametrize(("mode", "said"), [("true", "on"), ("staged", "staged"), ("false", "off")])
def test_doctor_says_which_mode_of_writing_is_set(settings, mode, said):
    settings.MCP_REMOTE_WRITE_ENABLED = mode
    (writing,) = [finding for finding in diagnosis._doors() if finding.name == "remote writing"]
    assert writing.text.split(":")[0] == said


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["search", "retrieve"])
@pytest.mark.parametrize("query", ["", "..."])
def test_a_query_without_words_is_answered_by_every_command(vault_folder, command, query):
    bind()
    out, err = StringIO(), StringIO()
    call_command(command, query, stdout=out, stderr=err)
    assert "no words" in err.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["search", "retrieve"])
def test_no_query_at_all_is_a_mistake(vault_folder, command):
    bind()
    with pytest.raises(CommandError):
        call_command(command)


def run(folder, *arguments):
    given = {"SYNAPSE_VAULT": str(folder / "vault"), "SYNAPSE_DATA": str(folder / "data"), "DATABASE_URL": ""}
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments]
    return subprocess.run(command, env={**os.environ, **given}, capture_output=True, text=True)


def test_checks_ask_nothing_of_an_index_that_nobody_has_made(tmp_path):
    (tmp_path / "vault").mkdir()
    done = run(tmp_path, "check")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("there", [True, False], ids=["no index", "no vault either"])
def test_a_command_of_djangos_says_that_there_is_no_index(tmp_path, there):
    if there:
        (tmp_path / "vault").mkdir()
    done = run(tmp_path, "createsuperuser", "--noinput", "--username", "ann", "--email", "ann@example.org")
    said = faults.sentence(faults.Fault.TABLES_MISSING) if there else "SYNAPSE_VAULT names a folder that is not there"
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_doctor_tells_an_index_that_nobody_has_made_from_a_database_that_is_away(tmp_path):
    (tmp_path / "vault").mkdir()
    looked, mended = run(tmp_path, "doctor"), run(tmp_path, "doctor", "--repair", "--dry-run")
    said = faults.SAID[faults.Fault.TABLES_MISSING]
    for done in (looked, mended):
        assert done.returncode == 1 and said.happened in done.stdout and said.to_do in done.stdout
    assert "NOT mended" in mended.stdout and ".synapse folder" not in looked.stdout
    assert not any((tmp_path / "vault").iterdir()) and not list((tmp_path / "data").glob("*/"))


def test_doctor_asks_for_a_lost_state_folder_before_another_index_is_made(tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("# A\n")
    run(tmp_path, "rescan")
    (tmp_path / "vault" / ".synapse").rename(tmp_path / "away")
    looked, mended = run(tmp_path, "doctor"), run(tmp_path, "doctor", "--repair")
    assert "its .synapse folder is lost: put that back first" in looked.stdout
    assert mended.returncode == 1 and "put its .synapse back first" in mended.stdout
    assert not (tmp_path / "vault" / ".synapse").exists()


def test_doctor_makes_an_index_anew_whose_folder_is_gone(tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("# A\n")
    run(tmp_path, "rescan")
    [index] = (tmp_path / "data").glob("*/index.sqlite3")
    shutil.rmtree(index.parent)
    assert faults.SAID[faults.Fault.TABLES_MISSING].happened in run(tmp_path, "doctor").stdout
    mended = run(tmp_path, "doctor", "--repair")
    assert mended.returncode == 0 and "NOT" not in mended.stdout
    assert index.exists() and run(tmp_path, "doctor").returncode == 0


def test_the_index_is_its_owners_alone_in_a_folder_that_is_open_to_all(tmp_path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    assert run(tmp_path, "migrate", "-v0").returncode == 0
    [index] = (tmp_path / "data").glob("*/index.sqlite3")
    assert stat.S_IMODE(index.parent.stat().st_mode) == 0o700


def test_whoever_asks_for_the_traceback_gets_it(tmp_path):
    (tmp_path / "vault").mkdir()
    done = run(tmp_path, "showmigrations", "--traceback")
    assert done.returncode == 1 and "OperationalError" in done.stderr


def test_a_mistake_in_a_statement_is_not_told_as_the_databases(tmp_path):
    assert startup.failure_in_words(ProgrammingError("syntax")) is None
