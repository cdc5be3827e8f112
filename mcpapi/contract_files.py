"""Where each version of the published contract lies, and what it is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from django.conf import settings

CONTRACT_VERSION: Final = 1
"""Raised by a change that breaks callers; the file of the version before stays beside the new one."""


def contract_name(version: int = CONTRACT_VERSION) -> str:
    """What a version of the contract is called."""
    return f"synapse_mcp_v{version}"


def contract_path(version: int = CONTRACT_VERSION) -> Path:
    """Where a version's file lies."""
    return Path(settings.BASE_DIR) / "contract" / f"{contract_name(version)}.json"


def read_contract(version: int = CONTRACT_VERSION) -> dict[str, Any] | None:
    """What a version's file holds; None where there is none. ValueError if it is not JSON."""
    try:
        text = contract_path(version).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    found: dict[str, Any] = json.loads(text)
    return found
