"""The table of docs/promises.md: a suite and a row for each promise."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.promises.table import BEGIN, DOCUMENT, END, PROMISES, rows, told

HERE = Path(__file__).parent


def test_all_promises_are_there() -> None:
    assert list(PROMISES) == [f"P{number}" for number in range(1, 29)]


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_has_a_suite_that_measures_it(promise: str) -> None:
    modules = list(HERE.glob(f"test_p{int(promise[1:]):02d}_*.py"))
    assert modules
    called = [module for module in modules if re.search(rf'measured\(\s*"{promise}"', module.read_text("utf-8"))]
    assert called, f"no test of {promise} says what it counted"


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_has_a_row_with_figures(promise: str) -> None:
    table = DOCUMENT.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    (row,) = [line for line in table.splitlines() if line.startswith(f"| {promise} |")]
    text, asked = PROMISES[promise]
    *_, measured, _ = row.split("|")
    assert text in row and asked in row
    assert re.search(r"\d", measured), "the row is filled from a run"


def line(test: str, found: str, engine: str = "sqlite") -> dict[str, str]:
    return {"test": test, "found": found, "engine": engine}


def test_figures_of_a_kind_are_added_up_and_the_last_run_of_a_test_counts() -> None:
    seen = [
        line("a[1]", "write: 1,000 faults, 1 lost"),
        line("a[1]", "write: 1,200 faults, 0 lost"),
        line("a[2]", "move: 34 faults, 0 lost"),
        line("b", "500 kills, 0 torn"),
        line("b", "500 kills, 0 torn", "postgresql"),
        line("c[1]", "a seed: equal after 20"),
        line("c[2]", "a seed: equal after 20"),
    ]
    assert told(seen) == [
        "1,234 faults, 0 lost (2 runs) (sqlite)",
        "500 kills, 0 torn (sqlite)",
        "500 kills, 0 torn (postgresql)",
        "a seed: equal after 20 × 2 (sqlite)",
    ]


def test_a_row_that_no_full_run_has_measured_stays() -> None:
    standing = {"P1": "| P1 | as it was |", "P2": "| P2 | as it was |", "sqlite": "| sqlite | as it was |"}
    seen = defaultdict(
        list, P2=[line("a", "3 kills, 0 torn") | {"full": True}], P1=[line("a", "1 kill") | {"full": False}]
    )
    written = rows(seen, standing).splitlines()
    assert standing["P1"] in written and standing["sqlite"] in written and standing["P2"] not in written
    assert any(row.startswith("| P2 |") and "3 kills, 0 torn (sqlite)" in row for row in written)
    assert any(row.startswith("| postgresql |") and "not run in full" in row for row in written)
