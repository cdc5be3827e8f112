"""A Synapse of one's own: `manage.py serve` over a temporary vault, as a person starts it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_STARTS_WITHIN = 240.0  # seconds; a machine whose cores are all taken needs some of them
_OF_A_SYNAPSE = ("SYNAPSE_", "MCP_", "DATABASE", "EMBED", "CELERY", "QDRANT", "DJANGO")
_LIMITS = ("RATE", "WRITES", "DECISIONS", "STRANGERS", "LOGINS", "REGISTRATIONS")


@dataclass
class Site:
    """A server that runs, with its vault."""

    url: str
    vault: Path
    environment: dict[str, str]
    username: str
    password: str
    #: What a browser keeps of a session, once somebody has signed in.
    session: dict[str, object] = field(default_factory=dict)

    def run(self, code: str) -> str:
        """Run Python in `manage.py shell`, beside the server; what it printed."""
        return self.manage("shell", "--no-imports", "-c", code)

    def manage(self, *arguments: str) -> str:
        """Run a command of `manage.py`, beside the server; what it printed."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{arguments}\n{done.stdout}{done.stderr}"
        return done.stdout

    def settle(self) -> None:
        """Wait until nothing is left to be done in the background: findings filed, the map made."""
        (index,) = Path(self.environment["SYNAPSE_DATA"]).glob("*/index.sqlite3")
        deadline = time.monotonic() + _STARTS_WITHIN
        while _waiting(index):
            assert time.monotonic() < deadline, "the jobs do not come to an end"
            time.sleep(0.1)

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file of the vault, as a person with an editor would."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file


@contextmanager
def serving(
    folder: Path, files: Mapping[str, str | bytes], copy: Path | None, environment: Mapping[str, str]
) -> Iterator[Site]:
    """A server that has scanned its vault (a copy of a folder, with files added) and answers; ended by its pid."""
    vault, port = folder / "vault", _free_port()
    if copy:
        shutil.copytree(copy, vault)
    vault.mkdir(parents=True, exist_ok=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(_OF_A_SYNAPSE)}
    clean |= {f"SYNAPSE_{name}_PER_MINUTE": "0" for name in _LIMITS}
    clean |= {
        "SYNAPSE_VAULT": str(vault),
        "SYNAPSE_DATA": str(folder / "data"),
        "EMBEDDINGS_ENABLED": "false",
        "PYTHONUNBUFFERED": "1",
        **environment,
    }
    site = Site(f"http://127.0.0.1:{port}", vault, clean, "", "")
    for path, text in files.items():
        site.write(path, text)
    said = folder / "said.txt"
    with said.open("wb") as out:
        command = [sys.executable, "manage.py", "serve", "--port", str(port)]
        process = subprocess.Popen(command, cwd=ROOT, env=clean, stdout=out, stderr=subprocess.STDOUT)
        try:
            _wait_until_ready(site, process, said)
            yield site
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_until_ready(site: Site, process: subprocess.Popen[bytes], said: Path) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN
    while "Ctrl-C stops" not in said.read_text() or not _answers(site.url):
        assert process.poll() is None and time.monotonic() < deadline, said.read_text()
        time.sleep(0.05)
    for name in ("account", "password"):
        found = re.search(rf"^ +{name} +(\S+)$", said.read_text(), re.MULTILINE)
        assert found, said.read_text()
        setattr(site, "username" if name == "account" else name, found[1])


def _waiting(index: Path) -> int:
    """How many jobs are to be run within the next seconds; those of the hour are not waited for."""
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True, timeout=10)) as database:
        soon = (datetime.now(UTC) + timedelta(seconds=30)).strftime("%Y-%m-%d %H:%M:%S")
        asked = "SELECT count(*) FROM wiki_job WHERE finished_at IS NULL AND run_after < ?"
        return int(database.execute(asked, [soon]).fetchone()[0])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health/live", timeout=20) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
