"""How much of a promise is tried, and what was seen: a short form in `make test`, all of it in `make test-promises`.

``SYNAPSE_PROMISES=full`` asks for the full figures. ``SYNAPSE_PROMISES_REPORT`` names a folder in which each measured
promise leaves a line of JSON; `python -m tests.promises.table` makes the table of docs/promises.md of them.
"""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

FULL = os.environ.get("SYNAPSE_PROMISES") == "full"


def figure(short: T, full: T) -> T:
    """The figure of this run: ``full`` is the one of the table of docs/promises.md."""
    return full if FULL else short


def engine() -> str:
    """The database of this run: ``sqlite`` or ``postgresql``."""
    url = os.environ.get("SYNAPSE_TEST_DATABASE_URL", "")
    return "postgresql" if url.startswith("postgres") else "sqlite"


class Measured:
    """Notes what a test saw of a promise. One line for each call; a test that fails before it leaves none."""

    def __init__(self, test: str) -> None:
        self._test = test

    def __call__(self, promise: str, found: str, *, on: str | None = None) -> None:
        """``promise`` is P1 … P28; ``found`` the figure in words: "500 kills, 0 torn".

        ``on`` is the database where it is another than that of the run.
        """
        assert re.fullmatch(r"P([1-9]|1\d|2[0-8])", promise), promise
        folder = os.environ.get("SYNAPSE_PROMISES_REPORT")
        if not folder:
            return
        line = {
            "promise": promise,
            "test": self._test,
            "found": found,
            "full": FULL,
            "engine": on or engine(),
            "at": time.strftime("%Y-%m-%d", time.gmtime()),
        }
        Path(folder).mkdir(parents=True, exist_ok=True)
        with open(Path(folder) / f"{engine()}.jsonl", "a", encoding="utf-8") as report:
            report.write(json.dumps(line) + "\n")
