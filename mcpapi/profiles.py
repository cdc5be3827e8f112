"""Which tools each way in offers.

stdio and in-process callers are the person's own: all tools. Over HTTP the writing tools exist only where
MCP_REMOTE_WRITE_ENABLED is ``true``, and behind that need the scope ``write`` (propose_review: ``propose``). With
``staged`` changes are proposed and not made, whatever the token: of the writing tools only propose_review exists there,
and a write_page that files what it would write; both need the scope ``propose``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from django.conf import settings

from mcpapi.callers import Caller
from mcpapi.registry import BY_NAME, HIDDEN_BY_DEFAULT, STAGED_WRITE_PAGE, TOOLS, ToolSpec
from mcpapi.write_mode import REMOTE_WRITE_MODES
from vault.errors import ErrorCode, SynapseError
from wiki.models import Scope
from wiki.tokens import includes


class Profile(StrEnum):
    """A way in."""

    STDIO = "stdio"
    HTTP = "http"


READ_TOOLS: Final = frozenset(
    {"search_wiki", "get_page", "list_pages", "get_graph_neighborhood", "list_reviews", "read_source_file"}
    | {"prime_query", "prime_resolve", "prime_intent", "prime_validate", "prime_compile"},
)
WRITE_TOOLS: Final = frozenset({"write_page", "trigger_source_rescan", "resolve_review", "propose_review"})
PROPOSING_TOOLS: Final = frozenset({"write_page", "propose_review"})

HIDDEN_TOOLS: Final = frozenset({"surface_health"})

# What each profile has for a caller who may do everything; written out, so that a slip in the registry shows.
EXPECTED: Final[dict[tuple[Profile, str], frozenset[str]]] = {
    **{(Profile.STDIO, mode): READ_TOOLS | WRITE_TOOLS | HIDDEN_TOOLS for mode in REMOTE_WRITE_MODES},
    (Profile.HTTP, "false"): READ_TOOLS | HIDDEN_TOOLS,
    (Profile.HTTP, "staged"): READ_TOOLS | PROPOSING_TOOLS | HIDDEN_TOOLS,
    (Profile.HTTP, "true"): READ_TOOLS | WRITE_TOOLS | HIDDEN_TOOLS,
}

_STAGED: Final = {STAGED_WRITE_PAGE.name: STAGED_WRITE_PAGE}

_OFF: Final = {
    "false": (
        "Writing over HTTP is off here: give the person your text instead. The operator can turn it on with "
        "MCP_REMOTE_WRITE_ENABLED=true, or have changes proposed with =staged; over stdio (`manage.py mcp`) it is "
        "always on."
    ),
    "staged": (
        "Over HTTP changes are proposed here, and a person decides. Propose yours with write_page or propose_review; "
        "over stdio (`manage.py mcp`) all tools are there."
    ),
}


def hidden_tools() -> frozenset[str]:
    """Tools that are called and not listed: SYNAPSE_HIDDEN_TOOLS, or where it is not set those hidden by default."""
    named: list[str] | None = settings.SYNAPSE_HIDDEN_TOOLS
    return HIDDEN_BY_DEFAULT if named is None else frozenset(named)


def registered(profile: Profile, mode: str) -> tuple[ToolSpec, ...]:
    """The tools that exist for this way in, hidden ones too."""
    if profile is Profile.STDIO or mode == "true":
        return TOOLS
    if mode != "staged":
        return tuple(tool for tool in TOOLS if not tool.writes)
    there = (_STAGED.get(tool.name, tool) for tool in TOOLS)
    return tuple(tool for tool in there if not includes(tool.scope, Scope.WRITE))


def listed(profile: Profile, mode: str, caller: Caller) -> tuple[ToolSpec, ...]:
    """The tools that tools/list shows this caller."""
    hidden = hidden_tools()
    return tuple(tool for tool in registered(profile, mode) if tool.name not in hidden and caller.may(tool.scope))


def tool_for(name: str, profile: Profile, mode: str, caller: Caller) -> ToolSpec:
    """The tool of this name.

    Raises ``unknown_tool``; ``write_disabled`` where the tool exists but not for this way in; ``forbidden`` where
    the caller lacks the scope.
    """
    there = {tool.name: tool for tool in registered(profile, mode)}
    tool = there.get(name)
    if tool is None and name not in BY_NAME:
        names = [known.name for known in listed(profile, mode, caller)]
        raise SynapseError(
            ErrorCode.UNKNOWN_TOOL, f"There is no such tool. These exist: {', '.join(names)}.", tools=names
        )
    if tool is None:
        raise SynapseError(ErrorCode.WRITE_DISABLED, _OFF[mode])
    if not caller.may(tool.scope):
        raise SynapseError(
            ErrorCode.FORBIDDEN,
            f"This token may not use {tool.name}: it needs the scope {tool.scope}. "
            f"Make one with `manage.py token create NAME --scope {tool.scope}`, or sign in again and allow it.",
            scope=tool.scope,
        )
    return tool
