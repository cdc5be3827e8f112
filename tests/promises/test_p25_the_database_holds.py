"""P25: SQLite holds under concurrency, and so does PostgreSQL: no write fails since others write, read or scan."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.mcpapi.processes import World
from tests.promises.engines import ENGINES, place_on, raced, rebuilt, rows
from tests.promises.figures import FULL, Measured, figure

WRITERS = 8
WRITES = figure(10, 200)


@pytest.mark.parametrize("engine", ENGINES)
def test_nobody_is_refused_by_the_database(engine: str, tmp_path: Path, measured: Measured) -> None:
    """Pages of their own, pages of all and decisions, while others search, read, scan and do the jobs."""
    with place_on(engine) as environment:
        environment |= {"RACING_WRITES": str(WRITES), "SYNAPSE_REVIEW_CAP": "100000"}
        race = raced(environment, "write_while_others_read", seconds=900)["write_while_others_read"]
        if FULL:
            world = World(Path(environment["SYNAPSE_VAULT"]), environment)
            assert rebuilt(world, tmp_path / "new") == rows(world)
    seen: Counter[str] = sum((Counter(answer["seen"]) for answer in race["answers"]), Counter())
    assert {what for what in seen if what.startswith(("error", "warning", "{"))} == set(), seen
    assert seen["written"] + seen["decided"] == WRITERS * WRITES
    assert min(seen["read"], seen["scanned"], seen["jobs"]) > 0, "others were at work meanwhile"
    told: dict[str, list[str]] = {f"Shared {number}": [] for number in range(5)}
    for answer in race["answers"]:
        for title, hashes in answer["told"].items():
            told.setdefault(title, []).extend(hashes)
    for title, hashes in told.items():
        versions = race["versions"][title]
        begun = 1 if title.startswith("Shared") else 0
        assert Counter(versions[: len(versions) - begun]) == Counter(hashes), title
    assert race["audits"] == seen["written"] + 5
    assert race["skipped"] == seen["decided"]
    measured(
        "P25",
        f"{WRITERS} writers × {WRITES} beside readers, a scan and jobs: {seen['written']:,} pages written, "
        f"{seen['decided']:,} decisions, {seen['read']:,} reads, {seen['scanned']:,} scans, 0 errors, "
        f"0 “database is locked”",
        on=engine,
    )
