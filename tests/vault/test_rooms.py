"""The disk knows no models: no module of ``vault`` imports Django's database layer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOM = Path(__file__).resolve().parents[2] / "vault"


def imported(source: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("file", sorted(ROOM.rglob("*.py")), ids=lambda file: file.stem)
def test_no_module_reaches_for_the_database(file: Path) -> None:
    found = imported(file.read_text(encoding="utf-8"))
    assert not {name for name in found if name.startswith(("django.db", "django.contrib", "rest_framework"))}


def test_the_check_would_find_one() -> None:
    assert "django.db.models" in imported("from django.db import models")
