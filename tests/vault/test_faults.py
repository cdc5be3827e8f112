"""The layer of tests/faults.py lets no system call by: each function of os and fcntl that the rooms call is in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import CHANGING, HARMLESS, LOOKING, Kernel
from tests.writing import MECHANISMS, OPERATIONS, make_vault, operations, put, use_mechanism

ROOT = Path(__file__).resolve().parent.parent.parent
#: What writes to a vault: the room of the disk, and the two modules of the services that open files of it themselves.
WRITING = [*sorted((ROOT / "vault").rglob("*.py")), ROOT / "wiki/catchup.py", ROOT / "wiki/services/logbook.py"]
KNOWN = {
    "os": {*CHANGING, *LOOKING, *HARMLESS, "close"},
    "fcntl": {"flock", "fcntl"},  # the second syncs on macOS, where fsync does less
}


def called(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Each (module, function) of os and fcntl that is called by its full name, or imported from there."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            if node.func.value.id in KNOWN:
                yield node.func.value.id, node.func.attr
        elif isinstance(node, ast.ImportFrom) and node.module in KNOWN:
            yield from ((str(node.module), f"from … import {alias.name}") for alias in node.names)


def test_each_function_is_hooked() -> None:
    found = {call for file in WRITING for call in called(ast.parse(file.read_text(encoding="utf-8")))}
    assert ("os", "write") in found
    assert {(module, name) for module, name in found if name not in KNOWN[module]} == set()


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_change_is_seen_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str, mechanism: str
) -> None:
    vault = make_vault(tmp_path)
    if operation != "create":
        put(vault)
    use_mechanism(monkeypatch, mechanism, vault)
    kernel = Kernel().install(monkeypatch, sync=False)
    with kernel.watching():
        operations(vault)[operation]()
    names = {call.name for call in kernel.calls if call.changes}
    assert {"open", "write", "fsync", "mkdir", "unlink"} <= names
    assert names & {"renameat2", "link", "replace"}
