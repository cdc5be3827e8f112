"""docs/errors.md lists the catalog of vault/errors.py: the same codes under the same statuses, each with a sentence."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

from vault.errors import HTTP_STATUS, ErrorCode, SynapseError

DOCUMENT = Path(settings.BASE_DIR) / "docs" / "errors.md"
ROW = re.compile(r"^\| (?P<status>\d{3}) \| `(?P<code>[a-z0-9_]+)` \| (?P<when>.+) \|$", re.MULTILINE)


def rows() -> list[tuple[str, int, str]]:
    text = DOCUMENT.read_text(encoding="utf-8")
    return [(row["code"], int(row["status"]), row["when"]) for row in ROW.finditer(text)]


def test_the_table_is_the_catalog() -> None:
    listed = [(code, status) for code, status, _ in rows()]
    assert len(listed) == len(dict(listed)), "a code is listed twice"
    assert dict(listed) == {code.value: status for code, status in HTTP_STATUS.items()}


def test_no_line_of_the_table_escapes_the_comparison() -> None:
    lines = [line for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert len(lines) == len(rows()) + 2


def test_every_row_says_when() -> None:
    assert not [code for code, _, when in rows() if len(when) < 10]


def test_every_code_has_one_status() -> None:
    assert set(HTTP_STATUS) == set(ErrorCode)
    assert all(400 <= status < 600 for status in HTTP_STATUS.values())


def test_an_error_makes_the_documented_envelope() -> None:
    error = SynapseError(ErrorCode.CONFLICT, "Read it again.", content_hash="ab", draft="cd")
    assert error.envelope() == {
        "error": "Read it again.",
        "error_code": "conflict",
        "content_hash": "ab",
        "draft": "cd",
    }
    assert error.status == 409
    assert str(error) == "Read it again."
