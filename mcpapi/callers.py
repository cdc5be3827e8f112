"""Who calls a tool, and what that caller may do."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
_SHOWN_CHARACTERS: Final = 60


def local_caller(client: str) -> Caller:
    """The person's own process, named by what the client calls itself, so that history tells two agents apart."""
    name = _shown(client)
    return replace(LOCAL, name=f"agent:{name}") if name else LOCAL


def granted_caller(client: str, user: str, scope: str, door: str) -> Caller:
    """A client that acts for a person: named by both, since the client chose its name itself."""
    return Caller(name=f"oauth:{_shown(client).replace('/', '·')}/{user}", scope=scope, door=door)


def _shown(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable()).strip()[:_SHOWN_CHARACTERS]
