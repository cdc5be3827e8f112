"""The vault, the database and the processes of a run: all its own, removed at its end."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx

from tests.services.place import ROOT, Process, Redis

SERVER = "postgres://postgres@127.0.0.1:5432/postgres"
#: How long a process may take to be there on a machine with much else to do, in seconds.
PATIENCE = 120.0
#: A request that came in before a kill, or reached a socket just before it listened, may fail so much beside it.
MARGIN = 2.0


class Service:
    """A process that is killed and started again, and when it was away."""

    def __init__(
        self,
        name: str,
        command: list[str],
        environment: dict[str, str],
        folder: Path,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self.name, self.command, self.environment, self.ready = name, command, environment, ready
        self.log = folder / f"{name}.log"
        self.kills = 0
        #: How often it was started, counted from 1 as soon as it has a process.
        self.generation = 0
        self.restart_seconds: list[float] = []
        self._away: list[list[float]] = []
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start it, and return once it is ready. RuntimeError if that does not come."""
        begun = time.monotonic()
        self._process = Process(self.command, self.environment, self.log)
        self.generation += 1
        while not self.ready():
            if not self._process.runs() or time.monotonic() - begun > PATIENCE:
                raise RuntimeError(f"{self.name} did not start: see {self.log.name}")
            time.sleep(0.1)
        self.restart_seconds.append(time.monotonic() - begun)

    def kill_and_start(self) -> None:
        """As the kernel kills when memory runs out, and as a supervisor starts again."""
        away = [time.monotonic(), float("inf")]
        self._away.append(away)
        assert self._process
        self._process.kill()
        self.kills += 1
        self.start()
        away[1] = time.monotonic()

    def was_killed(self) -> None:
        """Note a kill of a process that somebody else starts again, with :meth:`started`."""
        self._away.append([time.monotonic(), float("inf")])
        self.kills += 1

    def started(self, seconds: float) -> None:
        """Note that it is there again."""
        self.restart_seconds.append(seconds)
        for away in self._away:
            away[1] = min(away[1], time.monotonic())

    def was_away(self, begun: float, ended: float) -> bool:
        """Whether it was away at some moment between these two, by the clock of time.monotonic."""
        return any(begun <= back + MARGIN and ended >= gone - MARGIN for gone, back in self._away)

    def died(self) -> bool:
        """Whether it has ended by itself."""
        return self._process is not None and not self._process.runs()

    def stop(self) -> float:
        """End it; how many seconds that took."""
        begun = time.monotonic()
        if self._process:
            self._process.end()
        self._process = None
        return time.monotonic() - begun


class World:
    """A vault, the environment of the processes that serve it, and the processes."""

    def __init__(self, folder: Path, environment: dict[str, str], redis: Redis | None) -> None:
        self.folder, self.environment, self.redis = folder, environment, redis
        self.vault = Path(environment["SYNAPSE_VAULT"])
        self.services: dict[str, Service] = {}
        self.addresses: dict[str, str] = {}

    def manage(self, *words: str, **more: str) -> str:
        """Run a command to its end; what it printed. RuntimeError if it fails."""
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment | more, capture_output=True, text=True, timeout=600
        )
        with open(self.folder / "commands.log", "a", encoding="utf-8") as log:
            log.write(done.stderr)
        if done.returncode:
            raise RuntimeError(f"manage.py {words[0]} failed: {done.stderr[-2_000:]}{done.stdout[-2_000:]}")
        return done.stdout

    def token(self, name: str, scope: str) -> str:
        return str(json.loads(self.manage("token", "create", name, "--scope", scope, "--json"))["token"])

    def add(self, name: str, command: list[str], **more: str) -> None:
        self.services[name] = Service(name, command, self.environment | more, self.folder)

    def add_server(self, name: str, *words: str, **more: str) -> None:
        """``manage.py serve`` on a port of its own."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        base = self.addresses[name] = f"http://127.0.0.1:{port}"
        command = [sys.executable, "manage.py", "serve", *words]
        environment = self.environment | more | {"SYNAPSE_PORT": str(port)}
        self.services[name] = Service(name, command, environment, self.folder, lambda: _is_ready(base))

    def start(self) -> dict[str, str]:
        """Start all; gives a token for each scope. The first server makes the tables, so it starts first."""
        first, *others = self.services.values()
        first.start()
        with ThreadPoolExecutor() as together:
            tokens = {scope: together.submit(self.token, scope, scope) for scope in ("read", "write")}
            started = [together.submit(service.start) for service in others]
            for each in started:
                each.result()
            return {scope: token.result() for scope, token in tokens.items()}

    def stop(self) -> dict[str, float]:
        """End all at once; how many seconds each took."""
        with ThreadPoolExecutor() as together:
            return dict(zip(self.services, together.map(Service.stop, self.services.values()), strict=True))


def _is_ready(base: str) -> bool:
    try:
        return httpx.get(f"{base}/health/ready", timeout=20).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def world(folder: Path, engine: str) -> Iterator[World]:
    """A starter vault on ``sqlite`` (all in ``serve``) or ``postgresql`` (with Redis and Celery where Redis is there).

    Beside the server that agents may write to, a second one has their writes wait for a person.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SYNAPSE_", "MCP_", "CELERY_", "DATABASE"))
    }
    environment = kept | {
        "SYNAPSE_VAULT": str(folder / "vault"),
        "SYNAPSE_DATA": str(folder / "data"),
        "SYNAPSE_SECRET_KEY": "soak" * 12,
        "SYNAPSE_LOG_LEVEL": "WARNING",
        "SYNAPSE_RATE_PER_MINUTE": "0",
        "SYNAPSE_WRITES_PER_MINUTE": "0",
        "SYNAPSE_DECISIONS_PER_MINUTE": "0",
        "DJANGO_SETTINGS_MODULE": "synapse.settings",
    }
    redis = Redis(folder) if engine == "postgresql" and shutil.which("redis-server") else None
    if redis:
        environment["CELERY_BROKER_URL"] = redis.url
        redis.start()
    try:
        with database(engine, "run") as url:
            made = World(folder, environment | url, redis)
            made.manage("init_vault")
            try:
                yield made
            finally:
                made.stop()
    finally:
        if redis:
            redis.stop()


def with_processes(world: World) -> None:
    """Say which processes serve the vault. At scale a worker, beat and the watcher are processes of their own."""
    scaled = world.redis is not None
    world.add_server("serve", *(["--no-watch"] if scaled else []), MCP_REMOTE_WRITE_ENABLED="true")
    world.add_server("staged", "--no-watch", MCP_REMOTE_WRITE_ENABLED="staged")
    if scaled:
        celery = [sys.executable, "-m", "celery", "--app", "synapse"]
        world.add("worker", [*celery, "worker", "--concurrency", "2", "--without-mingle", "--without-gossip"])
        world.add("beat", [*celery, "beat", "--schedule", str(world.folder / "beat")])
        world.add("watcher", [sys.executable, "manage.py", "rescan", "--watch"])


@contextmanager
def database(engine: str, name: str) -> Iterator[dict[str, str]]:
    """The setting that names a new, empty database, which is dropped at the end."""
    if engine == "sqlite":
        yield {}
        return
    import psycopg

    server = os.environ.get("SYNAPSE_TEST_DATABASE_URL", SERVER)
    made = f"synapse_soak_{name}_{uuid.uuid4().hex[:10]}"
    with psycopg.connect(server, autocommit=True, connect_timeout=10) as connection:
        connection.execute(f"CREATE DATABASE {made}")
    try:
        yield {"DATABASE_URL": urlsplit(server)._replace(path=f"/{made}").geturl()}
    finally:
        with psycopg.connect(server, autocommit=True, connect_timeout=10) as connection:
            connection.execute(f"DROP DATABASE {made} WITH (FORCE)")


def locks_held(url: str) -> int:
    """How many advisory locks are held in a PostgreSQL database."""
    import psycopg

    here = "(SELECT oid FROM pg_database WHERE datname = current_database())"
    asked = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = {here}"
    with psycopg.connect(url) as connection:
        found: Any = connection.execute(asked).fetchone()
        return int(found[0])
