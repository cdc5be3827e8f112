"""A vault with a database of its own on either engine, for tests that start processes, and what those may not say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.scan import ROOT, own_place, run
from tests.mcpapi.processes import World
from tests.promises.figures import FULL, engine
from tests.services.place import missing

SERVER = "postgres://postgres@127.0.0.1:5432/postgres"
#: The engines of this run: the one of all other tests, or with the full figures both.
ENGINES = ["sqlite", "postgresql"] if FULL else [engine()]
#: No limit is to be met by those who write as fast as they can.
UNLIMITED = {
    "MCP_REMOTE_WRITE_ENABLED": "true",
    "SYNAPSE_RATE_PER_MINUTE": "0",
    "SYNAPSE_WRITES_PER_MINUTE": "0",
    "SYNAPSE_DECISIONS_PER_MINUTE": "0",
}


@contextmanager
def place_on(kind: str) -> Iterator[dict[str, str]]:
    """The environment of a vault and an empty database on ``sqlite`` or ``postgresql``, removed at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DATABASE_URL", raising=False)
        if kind == "postgresql":
            patch.setenv("DATABASE_URL", _server())
        with own_place() as environment:
            yield environment | {"EMBEDDINGS_ENABLED": "false"}


@contextmanager
def world_on(kind: str, pages: dict[str, str]) -> Iterator[World]:
    """A vault with these pages (path: text), scanned once."""
    with place_on(kind) as environment:
        vault = Path(environment["SYNAPSE_VAULT"])
        (vault / "raw" / "sources").mkdir(parents=True)
        for path, text in pages.items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_text(text, encoding="utf-8")
        made = World(vault, environment)
        made.manage("rescan")
        yield made


def raced(environment: dict[str, str], *scenarios: str, seconds: float = 300) -> dict[str, Any]:
    """What came of scenarios of tests/racing.py, over the vault and the database of the environment.

    No process may have said anything on stderr: a lock that was not got, a connection that was lost.
    """
    run(environment, "manage.py", "init_vault")
    run(environment, "manage.py", "rescan", "--json")
    command = [sys.executable, "-m", "tests.racing", *scenarios]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds)
    assert (done.returncode, done.stderr) == (0, ""), f"exit {done.returncode}: {done.stderr[-3_000:]}"
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def rows(world: World) -> list[str]:
    """The index without the two pages that are made from it, which are indexed when they are next seen."""
    return [row for row in world.dump() if "wiki/log.md" not in row and "wiki/index.md" not in row]


def rebuilt(world: World, data: Path) -> list[str]:
    """The same, of an index that is made of the vault alone, on the built-in database in the folder ``data``."""
    anew = World(world.vault, world.environment | {"DATABASE_URL": "", "SYNAPSE_DATA": str(data)})
    anew.manage("rescan")
    return rows(anew)


def said(*logs: Path) -> Counter[str]:
    """What processes said on stderr, counted by message and reason; a line that is no JSON counts as it is.

    Without what Django says of each request that was refused, which the one who sent it was told.
    """
    found: Counter[str] = Counter()
    for line in (line for log in logs for line in log.read_text(encoding="utf-8").splitlines() if line.strip()):
        try:
            told = json.loads(line)
        except ValueError:
            found[line] += 1
        else:
            if (told.get("logger"), told.get("level")) != ("django.request", "warning"):
                found[f"{told.get('message')} {told.get('reason', '')}".strip()] += 1
    return found


def sessions(environment: dict[str, str]) -> list[str]:
    """What each connection to the PostgreSQL database of the place is doing (``idle``, ``active`` …)."""
    import psycopg

    with psycopg.connect(environment["DATABASE_URL"], autocommit=True) as connection:
        asked = "SELECT state FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        return [state or "" for (state,) in connection.execute(asked).fetchall()]


def _server() -> str:
    import psycopg

    server = os.environ.get("SYNAPSE_TEST_DATABASE_URL", SERVER)
    try:
        psycopg.connect(server, autocommit=True, connect_timeout=5).close()
    except psycopg.OperationalError:
        missing("PostgreSQL does not answer (.ci/services starts it)")
    return server
