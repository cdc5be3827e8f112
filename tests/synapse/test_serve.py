"""``manage.py serve`` from nothing, as a new user meets it: set-up once, then a server that watches the vault."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(folder: Path, **more: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SYNAPSE_", "MCP_", "DATABASE"))}
    return {**clean, "SYNAPSE_DATA": str(folder / "data"), "PYTHONUNBUFFERED": "1", **more}


@contextmanager
def serving(env: dict[str, str], port: int) -> Iterator[str]:
    """A server process that is ready; what it printed is given, and SIGTERM ends it within 10 s."""
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    printed: list[str] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            printed.append(line)
            if "Ctrl-C stops" in line:
                break
        assert printed and "Ctrl-C stops" in printed[-1], "".join(printed)
        wait_for(lambda: get(port, "/health/ready")[0] == 200)
        yield "".join(printed)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)


def get(port: int, path: str, token: str = "") -> tuple[int, bytes]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except urllib.error.URLError:
        return 0, b""


def wait_for(condition, seconds: float = 90.0) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def found(port: int, token: str, query: str) -> list[str]:
    status, body = get(port, f"/search?q={query}", token)
    assert status == 200, body
    return [hit["path"] for hit in json.loads(body)["result"]]


def test_the_first_start_sets_everything_up_and_the_second_does_not(tmp_path: Path) -> None:
    port, env = free_port(), environment(tmp_path)
    with serving(env, port) as first:
        assert "Made a starter vault" in first
        assert re.search(r"\d+ pages, \d+ links, 0 broken", first)
        token = re.search(r"token +(syn_\S+)", first)[1]  # type: ignore[index]
        assert re.search(r"password +\S{12,}", first)
        assert f"claude mcp add --transport http synapse http://127.0.0.1:{port}/mcp" in first
        assert "claude mcp add synapse" in first
        assert get(port, "/status")[0] == 401
        assert found(port, token, "provenance")

        note = tmp_path / "data" / "vault" / "wiki" / "concepts" / "quagga.md"
        note.write_text("A quagga was a zebra.", encoding="utf-8")
        wait_for(lambda: found(port, token, "quagga") == ["wiki/concepts/quagga.md"])
        note.unlink()
        wait_for(lambda: found(port, token, "quagga") == [])

    with serving(env, port) as second:
        assert "password" not in second and "syn_" not in second and "Made" not in second
        assert found(port, token, "provenance")


def test_all_that_a_server_logs_is_json_without_absolute_paths(tmp_path: Path) -> None:
    port, env = free_port(), environment(tmp_path)
    command = [sys.executable, "-W", "always", "manage.py", "serve", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: get(port, "/health/ready")[0] == 200)
        assert get(port, "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui.css")[0] == 200
        assert get(port, "/nowhere")[0] == 404
    finally:
        process.send_signal(signal.SIGTERM)
        _, logged = process.communicate(timeout=10)
    lines = logged.splitlines()
    assert any("/nowhere" in json.loads(line)["message"] for line in lines)
    assert str(ROOT) not in logged and str(tmp_path) not in logged and "StreamingHttpResponse" not in logged


def failing(env: dict[str, str], *arguments: str) -> str:
    """What a start that must fail says; one sentence, no traceback."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_vault_that_is_named_and_missing_is_not_made_silently(tmp_path: Path) -> None:
    said = failing(environment(tmp_path, SYNAPSE_VAULT=str(tmp_path / "typo")), "serve")
    assert "is not a folder" in said and "init_vault" in said
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize("left", ["", "\n"])
def test_a_key_that_a_full_disk_left_empty_is_made_again(left: str, tmp_path: Path) -> None:
    kept = tmp_path / "data" / "secret-key"
    kept.parent.mkdir()
    kept.write_text(left)
    assert len(settings_key(environment(tmp_path))) > 40
    assert settings_key(environment(tmp_path)) == kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0


def settings_key(env: dict[str, str]) -> str:
    """The secret key as a new process reads it."""
    command = [sys.executable, "-c", "import synapse.settings as s; print(s.SECRET_KEY)"]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout.strip()


def test_a_file_in_the_place_of_the_data_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    (tmp_path / "vault").mkdir()
    assert "SYNAPSE_DATA" in failing(environment(tmp_path, SYNAPSE_VAULT=str(tmp_path / "vault")), "serve")


def test_an_address_of_another_machine_is_told_as_such(tmp_path: Path) -> None:
    said = failing(environment(tmp_path), "serve", "--host", "192.0.2.7", "--port", str(free_port()))
    assert "192.0.2.7 is not an address of this machine" in said and "SYNAPSE_HOST" in said


def test_an_empty_vault_is_told_and_so_is_one_that_has_become_empty(tmp_path: Path) -> None:
    root = tmp_path / "my notes"
    root.mkdir()
    env = environment(tmp_path, SYNAPSE_VAULT=str(root), SYNAPSE_EXCLUDE="Templates")
    with serving(env, free_port()) as first:
        assert "no Markdown file" in first and "init_vault" in first
        assert f"-e 'SYNAPSE_VAULT={root}'" in first, "the line can be pasted into a shell"
        assert "-e SYNAPSE_EXCLUDE=Templates" in first, "an agent's own process scans the same files"
    for number in range(3):
        (root / f"{number}.md").write_text("note")
    with serving(env, free_port()) as second:
        assert "(reads and writes)" in second and "3 pages" in second and "no Markdown file" not in second
    for number in range(3):
        (root / f"{number}.md").unlink()
    with serving({**env, "SYNAPSE_READ_ONLY": "true"}, free_port()) as third:
        assert "empty although the index knows files in it" in third and "3 pages" in third
        assert "(reads only)" in third and "-e SYNAPSE_READ_ONLY=true" in third
        examined = subprocess.run(
            [sys.executable, "manage.py", "doctor"], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
        )
        assert "empty although the index knows files in it" in examined.stdout


def test_a_port_in_use_is_told_with_the_way_out(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        said = failing(environment(tmp_path), "serve", "--port", str(port))
    assert f"Port {port}" in said and f"SYNAPSE_PORT={port + 1} make serve" in said
    assert not (tmp_path / "data" / "vault").exists(), "nothing is made before it is known that it can be served"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SYNAPSE_PORT", "eighty"),
        ("SYNAPSE_LOG_LEVEL", "loud"),
        ("DATABASE_URL", "sqlite-or-so"),
        ("MCP_REMOTE_WRITE_ENABLED", "perhaps"),
        ("SYNAPSE_READ_ONLY", "ture"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str, tmp_path: Path) -> None:
    said = failing(environment(tmp_path, **{name: value}), "serve")
    assert name in said and "HINT" in said


def test_debug_is_refused_on_an_open_address(tmp_path: Path) -> None:
    assert "SYNAPSE_DEBUG" in failing(environment(tmp_path, SYNAPSE_DEBUG="true"), "serve", "--host", "0.0.0.0")
