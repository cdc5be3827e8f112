"""What a server is like whose operator has set nothing (A139); and no row of the list of attacks is passed over."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from synapse.first_run import first_credentials
from tests.mcpapi.processes import ROOT
from wiki.models import Scope, Token

SHOW = """
import json, synapse.settings as s
names = ["DEBUG", "SECRET_KEY", "ALLOWED_HOSTS", "SYNAPSE_HOST", "MCP_AUTH_TOKEN", "MCP_REMOTE_WRITE_ENABLED",
         "CSRF_TRUSTED_ORIGINS", "SESSION_COOKIE_HTTPONLY"]
print(json.dumps({name: getattr(s, name, None) for name in names}))
"""
SURFACES = ("MCP HTTP", "MCP stdio", "logs/ops")


def settings_of_a_new_place(folder: Path) -> dict[str, Any]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SYNAPSE_", "MCP_", "DATABASE"))}
    given = clean | {"SYNAPSE_DATA": str(folder)}
    done = subprocess.run([sys.executable, "-c", SHOW], cwd=ROOT, env=given, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_server_that_nobody_configured_is_closed(tmp_path: Path) -> None:
    one, other = settings_of_a_new_place(tmp_path / "one"), settings_of_a_new_place(tmp_path / "other")
    assert one["DEBUG"] is False
    assert one["SYNAPSE_HOST"] == "127.0.0.1"
    assert one["MCP_AUTH_TOKEN"] == ""
    assert one["MCP_REMOTE_WRITE_ENABLED"] == "false"
    assert "*" not in one["ALLOWED_HOSTS"]
    assert one["CSRF_TRUSTED_ORIGINS"] == []
    assert len(one["SECRET_KEY"]) >= 50
    assert one["SECRET_KEY"] != other["SECRET_KEY"]
    assert (tmp_path / "one" / "secret-key").stat().st_mode & 0o777 == 0o600
    assert settings_of_a_new_place(tmp_path / "one")["SECRET_KEY"] == one["SECRET_KEY"]


@pytest.mark.django_db
def test_the_first_password_is_nobody_elses_and_the_first_token_only_reads() -> None:
    passwords = set()
    for _ in range(2):
        User.objects.all().delete()
        Token.objects.all().delete()
        given = first_credentials()
        assert given is not None
        assert len(given.password) >= 16
        passwords.add(given.password)
        assert Token.objects.get().scope == Scope.READ
    assert len(passwords) == 2
    assert first_credentials() is None


def test_each_attack_on_these_surfaces_has_a_test(shared: Path) -> None:
    listed = [
        json.loads(line) for line in (shared / "cases" / "attacks.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    wanted = {row["id"] for row in listed if row["surface"] in SURFACES}
    here = Path(__file__).resolve().parent
    files = [*here.glob("test_attacks_*.py"), here / "test_many_processes.py"]
    named = {found for file in files for found in re.findall(r"\bA1\d\d\b", file.read_text(encoding="utf-8"))}
    assert wanted
    assert wanted - named == set()
