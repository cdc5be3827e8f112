"""docs/configuration.md lists every environment variable that is read, with its default, and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.conf import settings

BASE = Path(settings.BASE_DIR)
DOCUMENT = BASE / "docs" / "configuration.md"
ROW = re.compile(r"^\| `(?P<name>[A-Z_]+)` \| (?P<default>[^|]+) \| (?P<what>.+) \|$", re.MULTILINE)

VARIABLE = re.compile(r"(?:SYNAPSE|MCP|EMBEDDER|EMBEDDINGS|QDRANT|CELERY)_[A-Z_]+|EMBEDDER|[A-Z]+_URL")


def documented() -> dict[str, str]:
    text = DOCUMENT.read_text(encoding="utf-8")
    return {row["name"]: row["default"].strip().strip("`") for row in ROW.finditer(text)}


def read_by_settings() -> dict[str, object]:
    """The variables that calls in settings.py name, and each default that is written out there (else None)."""
    found: dict[str, object] = {}
    for call in ast.walk(ast.parse((BASE / "synapse" / "settings.py").read_text(encoding="utf-8"))):
        first = call.args[0] if isinstance(call, ast.Call) and call.args else None
        if isinstance(call, ast.Call) and isinstance(first, ast.Constant) and VARIABLE.fullmatch(str(first.value)):
            given = [keyword.value for keyword in call.keywords if keyword.arg == "default"] or call.args[1:]
            default = given[0] if given else None
            found.setdefault(str(first.value), _literal(default))
    return found


def _literal(node: ast.expr | None) -> object:
    try:
        return ast.literal_eval(node) if node is not None else None
    except ValueError:  # worked out from other values
        return None


def test_the_table_is_what_the_settings_read() -> None:
    assert set(documented()) == set(read_by_settings())


@pytest.mark.parametrize(("name", "default"), sorted(read_by_settings().items()))
def test_the_default_is_the_one_that_holds(name: str, default: object) -> None:
    shown = documented()[name]
    if isinstance(default, list):
        assert shown == (",".join(default) or "none")
    elif default == "":
        assert shown in ("none", "made once, in SYNAPSE_DATA", "SQLite in SYNAPSE_DATA")
    elif isinstance(default, bool):
        assert shown == str(default).lower()
    elif default is not None:
        assert shown == str(default)


def test_settings_are_the_one_place_that_reads_them() -> None:
    """Other code may ask whether a variable is set at all, but takes its value from the settings."""
    name = re.compile(r"environ(?:\.get\(|\[)\s*\"((?:SYNAPSE|MCP|DATABASE)_[A-Z_]+)\"")
    found = {
        (str(path.relative_to(BASE)), hit[1])
        for room in ("vault", "wiki", "reviews", "mcpapi", "synapse")
        for path in (BASE / room).rglob("*.py")
        for hit in name.finditer(path.read_text(encoding="utf-8"))
    }
    assert found <= {("synapse/first_run.py", "SYNAPSE_VAULT")}
