"""docs/mcp.md, made from the registry: what each tool takes, gives and may do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from mcpapi.aliases import ALIASES, REMOVED, Alias
from mcpapi.contract import PROFILES
from mcpapi.contract_files import contract_name
from mcpapi.profiles import registered
from mcpapi.registry import STAGED_WRITE_PAGE, TOOLS, VISIBLE_TOOL_CAP, ToolSpec
from mcpapi.schema_forms import Schema

_HEAD: Final = f"""# MCP tools

This page is made from the registry by `manage.py mcp_contract --docs`; a test compares the two. How tools are added,
renamed, hidden and retired: [Changing the tools](tools.md). What programs may rely on is in
`contract/{contract_name()}.json`.

An agent on this machine starts `manage.py mcp` and speaks over standard input and output; others speak streamable HTTP
at `/mcp`, with a token. Every answer is one object, as structured content and, the same JSON, as text. A failure is
`{{"error": "what to do", "error_code": "..."}}` with `isError` true; [Errors](errors.md) lists the codes. Arguments
that a tool does not name are refused; k, depth, limit, budget_tokens and max_tokens are clamped to their bounds.

What there is beside the tools (resources, prompts, progress): [MCP beside the tools](mcp-usage.md).

At most {VISIBLE_TOOL_CAP} tools are listed. `SYNAPSE_HIDDEN_TOOLS` says which are called and not listed,
`SYNAPSE_TIMEOUT_<TOOL>` sets another time limit ([Configuration](configuration.md)).

## Ways in

`MCP_REMOTE_WRITE_ENABLED` decides which tools there are over HTTP, and behind that each caller needs the scope.
"hidden" is called and not listed.
"""
_WAYS: Final = {
    "stdio": "stdio",
    "http": "HTTP, `false`",
    "http_staged": "HTTP, `staged`",
    "http_write": "HTTP, `true`",
}


def document_path() -> Path:
    """Where the page lies."""
    return Path(settings.BASE_DIR) / "docs" / "mcp.md"


def document() -> str:
    """The page as Markdown."""
    parts = [_HEAD, *_ways_in(), "\n## The tools\n"]
    for tool in TOOLS:
        parts += _tool(tool)
        if tool.name == STAGED_WRITE_PAGE.name:
            parts += _tool(STAGED_WRITE_PAGE, note=" (HTTP, `staged`)")
    parts += _old_names()
    return "\n".join(parts) + "\n"


def _ways_in() -> Iterator[str]:
    there = {name: {tool.name: tool for tool in registered(*way_in)} for name, way_in in PROFILES.items()}
    yield from _row("tool", *_WAYS.values(), "scope", "seconds")
    yield "|" + "---|" * (len(_WAYS) + 3)
    for tool in TOOLS:
        cells = [_in(there[name].get(tool.name), tool) for name in _WAYS]
        yield from _row(f"`{tool.name}`", *cells, str(tool.scope), f"{tool.seconds:g}")


def _in(found: ToolSpec | None, tool: ToolSpec) -> str:
    if found is None:
        return ""
    if found.hidden:
        return "hidden"
    return "yes" if found.scope == tool.scope else f"proposes (scope {found.scope})"


def _tool(tool: ToolSpec, note: str = "") -> Iterator[str]:
    yield f"### {tool.name}{note}: {tool.title}\n"
    yield f"{tool.description}\n"
    yield f"{_hints(tool)}\n"
    parameters = tool.input_schema["properties"]
    if parameters:
        yield from _row("takes", "type", "", "meaning")
        yield "|---|---|---|---|"
        yield from _parameters(tool.input_schema)
        yield ""
    yield from _row("gives", "type", "", "meaning")
    yield "|---|---|---|---|"
    success = tool.output_schema["oneOf"][0]
    for name, field in success["properties"].items():
        always = "always" if name in success["required"] else ""
        yield from _row(f"`{name}`", _type(field), always, field.get("description", _of(field)))
    yield ""


def _hints(tool: ToolSpec) -> str:
    if not tool.writes:
        return "Changes nothing."
    changes = "May replace what is there." if tool.destructive else "Adds, and replaces nothing."
    again = "Called twice it does the same once." if tool.idempotent else "Called twice it does so twice."
    return f"{changes} {again}"


def _parameters(schema: Schema, inside: str = "") -> Iterator[str]:
    for name, rule in schema["properties"].items():
        required = name in schema["required"]
        yield from _row(
            f"`{inside}{name}`", _type(rule), "required" if required else _default(rule), rule.get("description", "")
        )
        nested = rule.get("items", rule)
        if "properties" in nested:
            yield from _parameters(nested, f"{inside}{name}{'[]' if 'items' in rule else ''}.")


def _type(rule: Schema) -> str:
    kinds = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    parts = [" or ".join(kinds)]
    if rule.get("items", {}).get("type") == "string":
        parts = [f"{parts[0]} of string"]
    if "enum" in rule:
        parts = [", ".join("null" if value is None else str(value) for value in rule["enum"])]
    if "minimum" in rule or "maximum" in rule:
        parts.append(f"{rule.get('minimum', '')}..{rule.get('maximum', '')}")
    return " ".join(parts)


def _default(rule: Schema) -> str:
    if "default" not in rule:
        return ""
    value: Any = rule["default"]
    return "null" if value is None else '""' if value == "" else str(value)


def _of(field: Schema) -> str:
    inner = field.get("items", {}).get("properties")
    return "of " + ", ".join(inner) if inner else ""


def _old_names() -> Iterator[str]:
    yield "## Old names\n"
    yield "They are called and not listed. Their answers carry `deprecated`, `use_instead` and `original_tool` too.\n"
    yield from _row("old name", "is", "instead")
    yield "|---|---|---|"
    for alias in ALIASES:
        yield from _row(f"`{alias.name}`", _meaning(alias), f"`{alias.use_instead or alias.target}`")
    if REMOVED:
        yield "\nThese were removed, and answer `tool_removed`:\n"
        yield from (f"- `{name}`: {instead}" for name, instead in REMOVED.items())


def _meaning(alias: Alias) -> str:
    """The tool that an old name is, and what its parameters are called now."""
    renamed = (
        f"`{old}` as `{new}`" + (f" with `{alias.prefixed[new]}` before it" if new in alias.prefixed else "")
        for old, new in alias.renamed.items()
    )
    return ", ".join([f"`{alias.target}`", *renamed])


def _row(*cells: str) -> Iterator[str]:
    yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
