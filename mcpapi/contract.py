"""The published contract: all that programs may rely on of the surface, as one file that a change must show up in.

Made from the registry alone. No database, no model and no setting has a say in it, so that every machine makes the same
bytes. What a difference between two contracts means to callers: :mod:`mcpapi.contract_changes`.
"""

from __future__ import annotations

import json
from typing import Any, Final

from mcpapi import schema_forms
from mcpapi.aliases import ALIASES, REMOVED
from mcpapi.contract_files import contract_name
from mcpapi.profiles import Profile, registered
from mcpapi.registry import HIDDEN_BY_DEFAULT, TOOLS, ToolSpec
from mcpapi.server import SERVER_NAME, shown
from vault.errors import HTTP_STATUS

#: The ways in, as the contract calls them.
PROFILES: Final[dict[str, tuple[Profile, str]]] = {
    "stdio": (Profile.STDIO, "false"),
    "http": (Profile.HTTP, "false"),
    "http_staged": (Profile.HTTP, "staged"),
    "http_write": (Profile.HTTP, "true"),
}


def build_contract() -> dict[str, Any]:
    """The contract of the code as it is, JSON-serialisable."""
    return {
        "contract": contract_name(),
        "server": SERVER_NAME,
        "tools": {tool.name: described(tool) for tool in TOOLS},
        "variants": {name: variants for name, way_in in PROFILES.items() if (variants := _variants(*way_in))},
        "profiles": {name: _of_profile(*way_in) for name, way_in in PROFILES.items()},
        "aliases": {
            alias.name: {
                "target": alias.target,
                "renamed": dict(alias.renamed),
                **({"prefixed": dict(alias.prefixed)} if alias.prefixed else {}),
                "forced": dict(alias.forced),
                "use_instead": alias.use_instead or alias.target,
            }
            for alias in ALIASES
        },
        "removed": dict(REMOVED),
        "error_codes": sorted(code.value for code in HTTP_STATUS),
        "error_statuses": {code.value: status for code, status in HTTP_STATUS.items()},
        "error_envelope": schema_forms.ERROR,
    }


def described(tool: ToolSpec) -> dict[str, Any]:
    """A tool as tools/list shows it, with what decides who is shown it."""
    listed: dict[str, Any] = shown(tool).model_dump(by_alias=True, mode="json", exclude_none=True)
    del listed["name"]
    return {**listed, "scope": str(tool.scope), "hidden": tool.hidden}


def as_text(contract: dict[str, Any]) -> str:
    """The contract as its file holds it: keys sorted, so that a difference shows where it is."""
    return json.dumps(contract, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _variants(profile: Profile, mode: str) -> dict[str, dict[str, Any]]:
    """The tools that are something else on this way in."""
    usual = {tool.name: tool for tool in TOOLS}
    return {tool.name: described(tool) for tool in registered(profile, mode) if tool is not usual[tool.name]}


def _of_profile(profile: Profile, mode: str) -> dict[str, list[str]]:
    names = sorted(tool.name for tool in registered(profile, mode))
    return {
        "visible": [name for name in names if name not in HIDDEN_BY_DEFAULT],
        "hidden": [name for name in names if name in HIDDEN_BY_DEFAULT],
    }
