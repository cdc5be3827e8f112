"""Each code of the catalog that a room emits has a test in that room's own tests.

Read out of the source: which codes a room's code names, but to compare with, and which codes its tests expect.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from vault.errors import ErrorCode

BASE = Path(settings.BASE_DIR)
ROOMS = ("vault", "wiki", "reviews", "mcpapi", "synapse")


def member(node: ast.AST) -> ErrorCode | None:
    """The code that ``ErrorCode.NAME`` is."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ErrorCode":
        return ErrorCode.__members__.get(node.attr)
    return None


def emitted(source: str) -> Iterator[ErrorCode]:
    """The codes that a file names otherwise than to compare something with them."""

    def walk(node: ast.AST) -> Iterator[ErrorCode]:
        if isinstance(node, ast.Compare):
            return
        if code := member(node):
            yield code
        for child in ast.iter_child_nodes(node):
            yield from walk(child)

    return walk(ast.parse(source))


def expected(source: str) -> Iterator[ErrorCode]:
    """The codes that a test file expects: named as a member or as a string, but not where a fake raises one."""
    values = {code.value: code for code in ErrorCode}

    def walk(node: ast.AST) -> Iterator[ErrorCode]:
        if isinstance(node, ast.Raise):
            return
        if code := member(node):
            yield code
        if isinstance(node, ast.Constant) and node.value in values:
            yield values[node.value]
        for child in ast.iter_child_nodes(node):
            yield from walk(child)

    return walk(ast.parse(source))


def codes_in(folder: Path, find) -> dict[ErrorCode, set[str]]:
    found: dict[ErrorCode, set[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        if path.name in ("errors.py", Path(__file__).name) or "migrations" in path.parts:
            continue
        for code in find(path.read_text(encoding="utf-8")):
            found.setdefault(code, set()).add(str(path.relative_to(BASE)))
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_each_code_that_a_room_emits_is_expected_by_its_tests(room: str) -> None:
    there = codes_in(BASE / room, emitted)
    tested = codes_in(BASE / "tests" / room, expected)
    untested = {code.value: sorted(places) for code, places in there.items() if code not in tested}
    assert not untested


def test_each_code_of_the_catalog_is_emitted_somewhere() -> None:
    used = {code.value for room in ROOMS for code in codes_in(BASE / room, emitted)}
    assert {code.value for code in ErrorCode} - used == set()


def test_the_scan_sees_what_is_emitted_and_nothing_else() -> None:
    assert [*emitted("raise SynapseError(ErrorCode.CONFLICT, 'x')")] == [ErrorCode.CONFLICT]
    assert {*emitted("code = ErrorCode.CONFLICT if late else ErrorCode.STALE_BASE")} == {
        ErrorCode.CONFLICT,
        ErrorCode.STALE_BASE,
    }
    assert [*emitted("if error.code is not ErrorCode.CONFLICT: pass")] == []
    assert [*emitted("_refuse(ErrorCode.NO_SUCH_CODE)")] == []


def test_the_scan_sees_what_is_expected_and_not_what_a_fake_raises() -> None:
    assert [*expected("assert body['error_code'] == 'conflict'")] == [ErrorCode.CONFLICT]
    assert [*expected("assert error.code is ErrorCode.CONFLICT")] == [ErrorCode.CONFLICT]
    assert [*expected("def fake():\n    raise SynapseError(ErrorCode.CONFLICT, 'x')")] == []
