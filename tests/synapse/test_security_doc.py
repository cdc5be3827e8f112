"""docs/security.md: each defence names tests, and they are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_each_defence_names_tests_that_exist() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| defence ")]
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`(tests/[^`]+\.py)`", row.split("|")[2])
        assert named, row
        for name in named:
            assert re.search(r"^ *(?:async )?def test_", (ROOT / name).read_text(encoding="utf-8"), re.M), name


def test_it_is_found_from_the_readme() -> None:
    assert "(docs/security.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
