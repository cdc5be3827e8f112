"""Every answer that a test gets over REST is held against docs/openapi.json: its status, and the form of its body."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from jsonschema import Draft202012Validator, FormatChecker

#: What the transport answers wherever it happens is not written at each address.
ANYWHERE = {405}


@cache
def document() -> dict[str, Any]:
    found: dict[str, Any] = plain(json.loads((Path(settings.BASE_DIR) / "docs/openapi.json").read_text()))
    return found


def plain(part: Any) -> Any:
    """OpenAPI 3.0's ``nullable`` in the words of JSON Schema."""
    if isinstance(part, list):
        return [plain(item) for item in part]
    if not isinstance(part, dict):
        return part
    found = {key: plain(value) for key, value in part.items() if key != "nullable"}
    return {"anyOf": [found, {"type": "null"}]} if part.get("nullable") is True else found


def _operation(method: str, path: str) -> dict[str, Any] | None:
    """The operation at an address, the most literal one first; None where the document has none."""
    address = path.split("?")[0].removesuffix("/")
    for known in sorted(document()["paths"], key=lambda known: ("{" in known, known)):
        pattern = re.sub(r"\\\{(\w+)\\\}", lambda name: ".+" if name[1] == "path" else "[^/]+", re.escape(known))
        if re.fullmatch(pattern, address, re.DOTALL):
            found: dict[str, Any] | None = document()["paths"][known].get(method.lower())
            return found
    return None


def check(method: str, path: str, response: Any) -> None:
    """AssertionError (or ValidationError) where an answer is not as the document has it."""
    operation = _operation(method, path)
    if operation is None or response.status_code in ANYWHERE:
        return
    stated = operation["responses"]
    assert str(response.status_code) in stated, (
        f"{method} {path} answers {response.status_code}, which is not documented"
    )
    for form in stated[str(response.status_code)].get("content", {}).values():
        schema = {**form["schema"], "components": document()["components"]}
        Draft202012Validator(schema, format_checker=FormatChecker()).validate(response.json())
