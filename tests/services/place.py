"""A vault with a database and a broker of its own, and the processes that a test starts, kills and starts again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: How long something may take that takes a second where nothing else runs.
PATIENCE = 60.0


def eventually(true: Callable[[], Any], what: str, timeout: float = PATIENCE) -> float:
    """Look until it is true; how many seconds that took."""
    begun = time.monotonic()
    while not true():
        assert time.monotonic() - begun < timeout, f"still not so after {timeout:.0f} s: {what}"
        time.sleep(0.05)
    return time.monotonic() - begun


def missing(reason: str) -> None:
    """Skip, or fail where services are promised to be there."""
    if os.environ.get("SYNAPSE_TEST_REQUIRE_SERVICES"):
        pytest.fail(reason)
    pytest.skip(reason)


class Process:
    """A process group of its own, whose output is kept in a file."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path) -> None:
        with open(log, "ab") as out:
            self._running = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=out, stderr=out, start_new_session=True
            )
        self.log = log

    def kill(self) -> None:
        """As the kernel does: at once, with all its children."""
        self._signal(signal.SIGKILL)

    def stop(self) -> None:
        """As a person does; killed if that takes long."""
        self._signal(signal.SIGTERM, timeout=20)
        self._signal(signal.SIGKILL)

    def end(self) -> None:
        """As a supervisor ends a program, which then ends its own children; killed if that takes long."""
        self._running.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._running.wait(PATIENCE)
        self._signal(signal.SIGKILL)

    @property
    def pid(self) -> int:
        return self._running.pid

    def runs(self) -> bool:
        return self._running.poll() is None

    def text(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def _signal(self, number: int, timeout: float = 20) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._running.pid, number)
        try:
            self._running.wait(timeout)
        except subprocess.TimeoutExpired:
            if number == signal.SIGKILL:
                raise


class Redis:
    """A server on a port of its own that can go away and come back, without what it held."""

    def __init__(self, folder: Path) -> None:
        if not shutil.which("redis-server"):
            missing("redis-server is not on this machine (.ci/services installs it)")
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port: int = found.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._process: Process | None = None

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = Process([*command, "--dir", str(self._folder)], dict(os.environ), self._folder / "redis.log")
        eventually(self._answers, "Redis answers")

    def stop(self) -> None:
        if self._process:
            self._process.kill()
        self._process = None

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as there:
                there.sendall(b"PING\r\n")
                return there.recv(16).startswith(b"+PONG")
        except OSError:
            return False


class Place:
    """What a test of services works in."""

    def __init__(self, folder: Path, environment: dict[str, str], redis: Redis) -> None:
        self.folder = folder
        self.environment = environment
        self.redis = redis
        self.vault = Path(environment["SYNAPSE_VAULT"])
        self._processes: list[Process] = []

    def manage(self, *words: str) -> str:
        """Run a command to its end; what it printed."""
        return self._run([sys.executable, "manage.py", *words])

    def act(self, scenario: str, *words: str, **environment: str) -> Any:
        """Run a scenario of tests/services/acting.py in a process of its own; its answer."""
        return json.loads(self._run([sys.executable, "-m", "tests.services.acting", scenario, *words], **environment))

    def begin(self, scenario: str, *words: str, **environment: str) -> Process:
        """The same, not waiting for its end."""
        return self._start([sys.executable, "-m", "tests.services.acting", scenario, *words], "acting", environment)

    def worker(self, **environment: str) -> Process:
        """A Celery worker with one process for tasks."""
        command = [sys.executable, "-m", "celery", "-A", "tests.services.gate", "worker", "--concurrency", "1"]
        return self._start([*command, "--without-mingle", "--without-gossip"], "worker", environment)

    def beat(self) -> Process:
        return self._start([sys.executable, "-m", "celery", "-A", "synapse", "beat"], "beat", {})

    def page(self, path: str, text: str) -> None:
        """A page as an editor saves it."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def gate(self, named: str) -> dict[str, str]:
        """What holds a process after ``named``; see tests/services/gate.py."""
        folder = self.folder / f"gate-{uuid.uuid4().hex}"
        folder.mkdir()
        return {"SYNAPSE_TEST_GATE": named, "SYNAPSE_TEST_GATE_FOLDER": str(folder)}

    def end(self) -> None:
        for process in self._processes:
            process.kill()

    def _start(self, command: list[str], name: str, environment: dict[str, str]) -> Process:
        log = self.folder / f"{name}-{len(self._processes)}.log"
        process = Process(command, self.environment | environment, log)
        self._processes.append(process)
        return process

    def _run(self, command: list[str], **environment: str) -> str:
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment | environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr[-3_000:]
        return done.stdout


def reached(gate: dict[str, str]) -> Callable[[], bool]:
    return (Path(gate["SYNAPSE_TEST_GATE_FOLDER"]) / "reached").exists


@contextmanager
def place(folder: Path, database: str) -> Iterator[Place]:
    """A vault that has been scanned once, on ``sqlite`` or ``postgresql``, and a broker that runs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SYNAPSE_", "MCP_", "DATABASE"))}
    redis = Redis(folder)
    environment = kept | {
        "SYNAPSE_VAULT": str(folder / "vault"),
        "SYNAPSE_DATA": str(folder / "data"),
        "SYNAPSE_SECRET_KEY": "services" * 8,
        "SYNAPSE_LOG_LEVEL": "WARNING",
        "SYNAPSE_TEST_EMBEDDED": str(folder),
        "DJANGO_SETTINGS_MODULE": "synapse.settings",
        "EMBEDDINGS_ENABLED": "true",
        "EMBEDDER": "tests.services.embedder.load",
        "CELERY_BROKER_URL": redis.url,
        "PYTHONWARNINGS": "ignore",
    }
    with _database(database) as url:
        made = Place(folder, environment | url, redis)
        redis.start()
        try:
            made.manage("init_vault")
            made.manage("rescan")
            yield made
        finally:
            made.end()
            redis.stop()


@contextmanager
def _database(kind: str) -> Iterator[dict[str, str]]:
    if kind == "sqlite":
        yield {}
        return
    import psycopg

    server = os.environ.get("SYNAPSE_TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")
    name = f"synapse_services_{uuid.uuid4().hex[:12]}"
    try:
        connection = psycopg.connect(server, autocommit=True, connect_timeout=5)
    except psycopg.OperationalError:
        missing("PostgreSQL does not answer (.ci/services starts it)")
        return
    with connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield {"DATABASE_URL": urlsplit(server)._replace(path=f"/{name}").geturl()}
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
