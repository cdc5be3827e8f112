"""P28: Synapse starts from the vault and the database of any older version, or from the vault alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db.migrations.loader import MigrationLoader

from benchmarks.scan import own_place, run
from benchmarks.vault import Shape, make_vault
from tests.promises.figures import FULL, Measured, figure

PAGES = figure(20, 150)
ROOMS = ("wiki", "reviews", "mcpapi")
#: How many migrations of our rooms an older database has; 0 is none at all, all of them is the last version.
STEPS = sum(key[0] in ROOMS for key in MigrationLoader(None).disk_migrations)
OLDER = list(range(STEPS + 1)) if FULL else [0, STEPS - 1]


@dataclass
class Kept:
    """A vault as today's version left it, the rows of its database, and what they hold."""

    vault: Path
    rows: Path
    told: dict[str, Any]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("kept")
    with place() as environment:
        vault = Path(environment["SYNAPSE_VAULT"])
        make_vault(vault, PAGES, shape=Shape(words=(20, 60)))
        (vault / "raw/sources").mkdir(parents=True, exist_ok=True)
        (vault / "raw/sources/s1.txt").write_text("On zebras.\n")
        run(environment, "manage.py", "init_vault")
        found = run(environment, "-m", "tests.promises.older", "make", str(folder / "rows.json")).answer
        shutil.copytree(vault, folder / "vault")
    return Kept(folder / "vault", folder / "rows.json", found)


@contextmanager
def place() -> Iterator[dict[str, str]]:
    with own_place() as environment:
        yield environment | {"EMBEDDINGS_ENABLED": "true", "EMBEDDER": "tests.embedding.load"}


@pytest.mark.parametrize("number", OLDER)
def test_from_an_older_database(kept: Kept, measured: Measured, number: int) -> None:
    with place() as environment:
        shutil.copytree(kept.vault, environment["SYNAPSE_VAULT"])
        told = run(environment, "-m", "tests.promises.older", "raise", str(kept.rows), str(number)).answer
    assert told["index"] == kept.told["index"]
    assert told["vectors"] == kept.told["vectors"]
    assert told["found"] == kept.told["found"]
    assert sum("zebra" in path or "striped" in path for path in told["found"]) == 8
    assert told["second"] == 0
    assert told["reviews"] == (kept.told["reviews"] if told["had_reviews"] else [])
    assert told["had_reviews"] or number < STEPS
    pages = sum("id" in row for row in told["index"])
    what = f"{number} of {STEPS} migrations" if number else "no database"
    measured("P28", f"{pages} pages, {what}: index, ids, vectors and search as before")


def test_from_the_files_alone(kept: Kept, measured: Measured) -> None:
    """Without .synapse too it is another vault of the same pages: their ids are new, all else is the same."""
    with place() as environment:
        shutil.copytree(kept.vault, environment["SYNAPSE_VAULT"], ignore=shutil.ignore_patterns(".synapse"))
        run(environment, "manage.py", "init_vault")
        told = run(environment, "-m", "tests.promises.older", "raise", str(kept.rows), "0").answer

    def without_ids(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{name: value for name, value in row.items() if name != "id"} for row in rows]

    assert without_ids(told["index"]) == without_ids(kept.told["index"])
    assert told["found"] == kept.told["found"]
    measured("P28", f"{told['added']} pages from their files alone: all but the ids as before")
