"""Old names of tools. An alias is called and never listed; a name that has no successor answers ``tool_removed``.

One table each. An alias stands for its target in all things: arguments, scope, time limit, pace, writing or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from vault.errors import ErrorCode, SynapseError

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """An old name of a tool, and what it means today.

    ``renamed`` maps parameters as they were called to what they are called now; ``prefixed`` says, by the name of now,
    what comes before the text of such a one. ``forced`` are arguments that are set whatever the caller says.
    ``use_instead`` is the name that callers are told, where it is not ``target``.
    """

    name: str
    target: str
    renamed: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    prefixed: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    forced: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    use_instead: str = ""

    def arguments(self, given: Any) -> Any:
        """The target's arguments; ``given`` is left as it is, and what is no object is left for the target to refuse.

        An argument that is given under its old and its new name keeps both, and the target refuses the old one.
        """
        if given is None:
            return dict(self.forced) or None
        if not isinstance(given, dict):
            return given
        meant = {}
        for name, value in given.items():
            new = self.renamed.get(name, name)
            if new == name or new in given:
                meant[name] = value
            else:
                meant[new] = self.prefixed.get(new, "") + value if isinstance(value, str) else value
        return {**meant, **self.forced}

    def marks(self) -> dict[str, Any]:
        """What every answer to the old name carries beside the target's own."""
        return {"deprecated": True, "use_instead": self.use_instead or self.target, "original_tool": self.name}


ALIASES: Final[tuple[Alias, ...]] = (
    Alias(name="read_page", target="get_page"),
    Alias(name="search", target="search_wiki"),
    Alias(name="list_review_items", target="list_reviews"),
    Alias(name="graph_neighbors", target="get_graph_neighborhood"),
    Alias(name="rescan_sources", target="trigger_source_rescan"),
    Alias(name="prime_search", target="prime_query", renamed={"query": "scope"}, prefixed={"scope": "focus:"}),
)
BY_OLD_NAME: Final = {alias.name: alias for alias in ALIASES}

REMOVED: Final[dict[str, str]] = {}
"""Names of tools that were retired, and what to do instead. A name is never just deleted: it moves here."""


def alias_of(name: str) -> Alias | None:
    """The alias of this name. Raises ``tool_removed`` for a name that was retired."""
    if name in REMOVED:
        raise SynapseError(ErrorCode.TOOL_REMOVED, f"{name} was removed. {REMOVED[name]}", original_tool=name)
    return BY_OLD_NAME.get(name)


def target_of(name: str) -> str:
    """The tool that a call of this name means; a name that is no alias is returned as it is."""
    alias = BY_OLD_NAME.get(name)
    return alias.target if alias else name
