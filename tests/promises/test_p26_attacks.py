"""P26: every known attack has its tests, and each of these exists."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest

from tests.promises.attacks import ATTACKS
from tests.promises.figures import Measured

TESTS = Path(__file__).resolve().parents[1]


@cache
def functions(file: str) -> set[str]:
    """The tests that pytest collects from a module: functions of the module and methods of its Test classes."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    places = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test"))]
    found = (
        node for place in places for node in place.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {node.name for node in found if node.name.startswith("test_")}


@pytest.mark.parametrize("id", ATTACKS)
def test_each_test_that_is_named_is_collected(id: str) -> None:
    assert ATTACKS[id].tests
    for named in ATTACKS[id].tests:
        file, _, function = named.partition("::")
        assert Path(file).name.startswith("test_"), "only such files are collected"
        assert function in functions(file) if function else functions(file), named


def test_each_attack_of_the_list_is_here(shared: Path, measured: Measured) -> None:
    lines = (shared / "cases" / "attacks.jsonl").read_text(encoding="utf-8").splitlines()
    listed = {json.loads(line)["id"] for line in lines}
    assert listed
    assert listed - set(ATTACKS) == set()
    assert set(ATTACKS) - listed == set(), "tests of an attack that is not listed"
    tests = {test for attack in ATTACKS.values() for test in attack.tests}
    noted = [id for id, attack in ATTACKS.items() if attack.note]
    measured(
        "P26",
        f"{len(listed)} of {len(listed)} attacks listed are tried by {len(tests)} tests, {len(noted)} with a note",
    )
