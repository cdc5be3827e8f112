"""Who calls a tool, and what that caller may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vault.history import Author
from wiki.models import Scope
from wiki.tokens import includes


@dataclass(frozen=True, slots=True)
class Caller:
    """The one who calls: the name that history shows, the scope (read, propose, write) and the door."""

    name: str
    scope: str
    door: str

    def may(self, scope: str) -> bool:
        """Does the caller's scope include this one?"""
        return includes(self.scope, scope)

    def author(self) -> Author:
        """How history and audit name the caller."""
        return Author(name=self.name, door=self.door)


# The person's own process, over stdio or within this one.
LOCAL: Final = Caller(name="agent", scope=Scope.WRITE, door="mcp-stdio")
