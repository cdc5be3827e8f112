"""What the suites of the promises share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.scan import own_place, run
from tests.promises.figures import Measured


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Measured:
    """``measured("P1", "500 kills, 0 torn")`` notes the figure for the table of docs/promises.md."""
    return Measured(request.node.nodeid)


@pytest.fixture(scope="module")
def own_vault() -> Iterator[dict[str, str]]:
    """An environment of a vault with one source, and of a database of its own with its tables."""
    with own_place() as environment:
        root = Path(environment["SYNAPSE_VAULT"])
        for folder in ("wiki", "raw/sources"):
            (root / folder).mkdir(parents=True)
        (root / "raw/sources/a.md").write_text("a source\n")
        environment |= {"EMBEDDINGS_ENABLED": "false", "SYNAPSE_TELEMETRY": "false", "SYNAPSE_LOG_LEVEL": "CRITICAL"}
        run(environment, "manage.py", "rescan", "--json")
        yield environment
