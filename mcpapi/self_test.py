"""What must hold before a way in opens: its tools are those of the table, and whatever leads to them leads somewhere.

Run at every start, and cheap: no database, no model. A fault ends the start with the names of what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from mcp import types

from mcpapi import aliases
from mcpapi.callers import LOCAL
from mcpapi.profiles import EXPECTED, hidden_tools
from mcpapi.registry import BY_NAME, TOOLS, ToolSpec, require_bounded
from mcpapi.server import CALLER_KEY, Context, Surface


async def self_test(surface: Surface) -> None:
    """Ask the real handler for its list, as one who may do everything, and compare it with the profile's table.

    Raises RuntimeError, naming them, for tools that are missing, not expected or there twice, for a schema that is
    none, a hidden tool that does not exist, an alias that leads nowhere, and more visible tools than the cap allows.
    """
    require_bounded(TOOLS)
    shown = await _shown(surface)
    names = [tool.name for tool in shown]
    expected = EXPECTED[surface.profile, surface.mode] - hidden_tools()
    faults = {
        "missing": expected - set(names),
        "not expected": set(names) - expected,
        "twice": {name for name in names if names.count(name) > 1},
        "with a schema that is none": {tool.name for tool in shown if not _has_schemas(tool)},
        "hidden by SYNAPSE_HIDDEN_TOOLS and unknown": unknown_hidden(),
        "aliases that lead nowhere": unresolved(aliases.ALIASES, BY_NAME, aliases.REMOVED),
    }
    if any(faults.values()):
        said = "; ".join(f"{fault}: {', '.join(sorted(found))}" for fault, found in faults.items() if found)
        raise RuntimeError(f"The tools of {surface.profile} are not those of its table ({said})")


def unknown_hidden() -> set[str]:
    """Names in SYNAPSE_HIDDEN_TOOLS that no tool bears."""
    return {name for name in hidden_tools() if name not in BY_NAME}


def unresolved(table: Iterable[aliases.Alias], tools: Mapping[str, ToolSpec], removed: Mapping[str, str]) -> set[str]:
    """The old names that lead nowhere: to no tool, past its parameters, or through a name that means something else."""
    names = [alias.name for alias in table]
    taken = {name for name in names if names.count(name) > 1 or name in tools} | {
        name for name in removed if name in tools or name in names
    }
    return taken | {alias.name for alias in table if not _leads(alias, tools)}


def _leads(alias: aliases.Alias, tools: Mapping[str, ToolSpec]) -> bool:
    target = tools.get(alias.target)
    if target is None or (alias.use_instead or alias.target) not in tools:
        return False
    prefixed = set(alias.prefixed) <= set(alias.renamed.values())
    return prefixed and {*alias.renamed.values(), *alias.forced} <= set(target.input_schema["properties"])


async def _shown(surface: Surface) -> list[types.Tool]:
    entry = surface.server.get_request_handler("tools/list")
    if entry is None:
        raise RuntimeError("The server answers no tools/list")
    request = SimpleNamespace(scope={CALLER_KEY: LOCAL})
    asked = SimpleNamespace(request=request, session=SimpleNamespace(client_params=None))
    result = await entry.handler(cast("Context", asked), types.PaginatedRequestParams())
    return cast("types.ListToolsResult", result).tools


def _has_schemas(tool: types.Tool) -> bool:
    return _is_schema(tool.input_schema) and tool.output_schema is not None and _is_schema(tool.output_schema)


def _is_schema(schema: dict[str, Any]) -> bool:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return False
    return schema.get("type") == "object"
