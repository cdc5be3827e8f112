"""Which tools each way in offers.

stdio and in-process callers are the person's own: all tools. Over HTTP the writing tools exist only where
MCP_REMOTE_WRITE_ENABLED is ``true``, and behind that need the scope ``write``. With ``staged``, changes are to be
proposed and not made, so no tool that writes directly exists there.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from django.conf import settings

from mcpapi.callers import Caller
from mcpapi.registry import BY_NAME, TOOLS, ToolSpec
from vault.errors import ErrorCode, SynapseError

REMOTE_WRITE_MODES: Final = ("false", "true", "staged")


class Profile(StrEnum):
    """A way in."""

    STDIO = "stdio"
    HTTP = "http"


READ_TOOLS: Final = frozenset(
    {"search_wiki", "get_page", "list_pages", "get_graph_neighborhood", "read_source_file"},
)
WRITE_TOOLS: Final = frozenset({"write_page", "trigger_source_rescan"})

# What each profile offers a caller who may do everything; written out, so that a slip in the registry shows.
EXPECTED: Final[dict[tuple[Profile, str], frozenset[str]]] = {
    **{(Profile.STDIO, mode): READ_TOOLS | WRITE_TOOLS for mode in REMOTE_WRITE_MODES},
    (Profile.HTTP, "false"): READ_TOOLS,
    (Profile.HTTP, "staged"): READ_TOOLS,
    (Profile.HTTP, "true"): READ_TOOLS | WRITE_TOOLS,
}


def remote_write_mode() -> str:
    """MCP_REMOTE_WRITE_ENABLED; a value that means nothing counts as ``false`` (`manage.py check` names it)."""
    mode: str = settings.MCP_REMOTE_WRITE_ENABLED
    return mode if mode in REMOTE_WRITE_MODES else "false"


def registered(profile: Profile, mode: str) -> tuple[ToolSpec, ...]:
    """The tools that exist for this way in, hidden ones too."""
    everything = profile is Profile.STDIO or mode == "true"
    return tuple(tool for tool in TOOLS if everything or not tool.writes)


def listed(profile: Profile, mode: str, caller: Caller) -> tuple[ToolSpec, ...]:
    """The tools that tools/list shows this caller."""
    return tuple(tool for tool in registered(profile, mode) if not tool.hidden and caller.may(tool.scope))


def tool_for(name: str, profile: Profile, mode: str, caller: Caller) -> ToolSpec:
    """The tool of this name.

    Raises ``unknown_tool``; ``write_disabled`` where the tool exists but not for this way in; ``forbidden`` where
    the caller lacks the scope.
    """
    tool = BY_NAME.get(name)
    if tool is None:
        names = [known.name for known in listed(profile, mode, caller)]
        raise SynapseError(
            ErrorCode.UNKNOWN_TOOL, f"There is no such tool. These exist: {', '.join(names)}.", tools=names
        )
    if tool not in registered(profile, mode):
        raise SynapseError(
            ErrorCode.WRITE_DISABLED,
            "Writing over HTTP is off here. The operator can turn it on with MCP_REMOTE_WRITE_ENABLED=true; "
            "over stdio (`manage.py mcp`) it is always on.",
        )
    if not caller.may(tool.scope):
        raise SynapseError(
            ErrorCode.FORBIDDEN,
            f"This token may not use {tool.name}: it needs the scope {tool.scope}. "
            f"Make one with `manage.py token create NAME --scope {tool.scope}`.",
            scope=tool.scope,
        )
    return tool
