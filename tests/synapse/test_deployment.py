"""A server that others reach: Django's own checks have nothing to say, and ours name what is left open."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from mcpapi.checks import check_static_token
from synapse.checks import check_data_folder, check_proxies
from wiki import throttling
from wiki.throttling import Limits

ROOT = Path(__file__).resolve().parents[2]
#: As docs/security.md says.
DOCUMENTED = {
    "SYNAPSE_PUBLIC_URL": "https://wiki.example.org",
    "SYNAPSE_TRUSTED_PROXIES": "127.0.0.1",
}


def environment(folder: Path, **given: str) -> dict[str, str]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SYNAPSE_", "MCP_", "DATABASE", "EMBED", "CELERY", "QDRANT"))
    }
    (folder / "notes").mkdir(exist_ok=True)
    # As the first scan makes it: Django 6.1 opens the database to check the models.
    (folder / "data" / "no-vault").mkdir(parents=True, exist_ok=True)
    (folder / "data").chmod(0o700)
    return {**clean, "SYNAPSE_DATA": str(folder / "data"), "SYNAPSE_VAULT": str(folder / "notes"), **given}


def run(*command: str, **given: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False, **given)


def test_the_checks_for_deployment_have_nothing_to_say(tmp_path: Path) -> None:
    command = ("manage.py", "check", "--deploy", "--fail-level", "WARNING")
    done = run(*command, env=environment(tmp_path, **DOCUMENTED))
    assert (done.returncode, done.stderr) == (0, "")
    data = tmp_path / "data"
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert stat.S_IMODE((data / "secret-key").stat().st_mode) == 0o600
    weak = run(*command, env=environment(tmp_path, **DOCUMENTED, SYNAPSE_SECRET_KEY="x" * 60))
    assert weak.returncode != 0 and "security.W009" in weak.stderr


def test_cookies_are_bound_to_this_host_and_to_https(tmp_path: Path) -> None:
    names = ("SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE")
    asked = f"from synapse import settings as s; print([getattr(s, n, None) for n in {names}], s.SECURE_HSTS_SECONDS)"
    secure = run("-c", asked, env=environment(tmp_path, **DOCUMENTED))
    assert secure.stdout.strip() == "['__Host-sessionid', '__Host-csrftoken', True, True] 31536000", secure.stderr
    plain = run("-c", asked, env=environment(tmp_path))
    assert plain.stdout.strip() == "[None, None, False, False] 0", plain.stderr


@pytest.mark.django_db
def test_a_session_cookie_is_not_for_scripts_and_other_sites(client: Client) -> None:
    User.objects.create_superuser("ada", password="a-long-password")
    client.post("/admin/login/", {"username": "ada", "password": "a-long-password"})
    cookie = client.cookies["sessionid"]
    assert cookie["httponly"] and cookie["samesite"] == "Lax"
    assert cookie["max-age"] == 7 * 86_400


@pytest.mark.parametrize(
    ("named", "is_fine"),
    [
        (["127.0.0.1", "::1"], True),
        (["172.18.0.0/16", "fd00::/8"], True),
        ([], True),
        (["*"], False),
        (["0.0.0.0/0"], False),
        (["::/0"], False),
        (["proxy.example.org"], False),
        (["127.0.0.1", ""], False),
    ],
)
def test_only_addresses_are_believed_and_never_all(named: list[str], is_fine: bool, settings: Any) -> None:
    settings.SYNAPSE_TRUSTED_PROXIES = named
    assert [found.id for found in check_proxies(None)] == ([] if is_fine else ["synapse.E060"])


@pytest.mark.parametrize(("mode", "is_fine"), [(0o700, True), (0o750, False), (0o701, False), (0o777, False)])
def test_a_data_folder_that_others_look_into_is_named(mode: int, is_fine: bool, tmp_path: Path, settings: Any) -> None:
    settings.SYNAPSE_DATA = tmp_path / "data"
    assert check_data_folder(None) == []
    settings.SYNAPSE_DATA.mkdir()
    settings.SYNAPSE_DATA.chmod(mode)
    assert [found.id for found in check_data_folder(None)] == ([] if is_fine else ["synapse.W061"])


@pytest.mark.parametrize(
    ("host", "public", "number"),
    [
        ("127.0.0.1", "", "synapse.W101"),
        ("::1", "", "synapse.W101"),
        ("0.0.0.0", "", "synapse.E104"),
        ("192.0.2.1", "", "synapse.E104"),
        ("127.0.0.1", "https://wiki.example.org", "synapse.E104"),
    ],
)
def test_a_token_that_can_be_guessed_is_refused_where_others_can_guess(
    host: str, public: str, number: str, settings: Any
) -> None:
    settings.MCP_AUTH_TOKEN, settings.SYNAPSE_HOST, settings.SYNAPSE_PUBLIC_URL = "short", host, public
    assert [found.id for found in check_static_token(None)] == [number]


def test_serve_does_not_start_with_such_a_token_on_an_open_address(tmp_path: Path) -> None:
    given = environment(tmp_path, MCP_AUTH_TOKEN="short")
    done = run("manage.py", "serve", "--host", "0.0.0.0", "--port", "0", env=given, timeout=60)
    assert done.returncode != 0
    assert "MCP_AUTH_TOKEN" in done.stderr and "short to" in done.stderr
    assert not (tmp_path / "data" / "static").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("same", ["address", "account"])
def test_passwords_are_not_tried_for_ever_in_the_admin(
    same: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    settings.SYNAPSE_LOGINS_PER_MINUTE = 3
    monkeypatch.setattr(throttling, "limits", Limits(clock=lambda: now))
    User.objects.create_superuser("ada", password="the-right-password")

    def attempt(number: int, password: str = "wrong") -> str:
        name = "ada" if same == "account" or password != "wrong" else f"user-{number}"
        address = "192.0.2.1" if same == "address" else f"192.0.2.{number + 2}"
        answer = Client(REMOTE_ADDR=address).post("/admin/login/", {"username": name, "password": password})
        if answer.status_code == 429:
            assert 1 <= int(answer["Retry-After"]) <= 61 and "Too many attempts" in answer.text
        return {302: "in", 200: "no", 429: "wait"}[answer.status_code]

    assert [attempt(number) for number in range(4)] == ["no", "no", "no", "wait"]
    assert attempt(5, "the-right-password") == "wait"
    now = 62.0
    assert attempt(6, "the-right-password") == "in"
