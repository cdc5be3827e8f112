"""P19: whatever step a change is killed at, file and database agree after the next start, and no text is gone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.scan import ROOT, own_place, run
from tests.crashing import CHANGES
from tests.promises.figures import Measured, figure

#: Steps at which each change is killed; in full, all that change the disk or the database.
KILLS = figure(3, 1_000)
#: Changes of which the short form is made; each goes another way through the services.
TRIED = figure(("write", "retitle"), tuple(CHANGES))


@pytest.fixture(scope="module")
def there() -> Iterator[dict[str, str]]:
    with own_place() as environment:
        root = Path(environment["SYNAPSE_VAULT"])
        for folder in ("wiki", "raw/sources"):
            (root / folder).mkdir(parents=True)
        (root / "raw/sources/a.md").write_text("a source\n")
        environment |= {"EMBEDDINGS_ENABLED": "false", "SYNAPSE_TELEMETRY": "false", "SYNAPSE_LOG_LEVEL": "CRITICAL"}
        run(environment, "manage.py", "rescan", "--json")
        yield environment


def crashed(environment: dict[str, str], how: str, most: int, change: str) -> dict[str, Any]:
    """What tests/crashing.py tells of one change."""
    command = [sys.executable, "-m", "tests.crashing", how, str(most), change]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert (process.returncode, process.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(process.stdout)[change]
    return answer


@pytest.mark.parametrize("change", TRIED)
def test_killed_at_a_step(there: dict[str, str], change: str, measured: Measured) -> None:
    found = crashed(there, "kill", KILLS, change)
    assert found["wrong"] == []
    assert found["tried"] >= min(KILLS, 6) - 1
    measured("P19", f"{change}: killed at {found['tried']} steps, each time equal to a rebuild, 0 texts lost, 0 torn")
