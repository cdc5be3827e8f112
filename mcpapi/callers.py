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


#: The door of whoever comes over HTTP.
HTTP_DOOR: Final = "mcp-http"

# The person's own process, over stdio or within this one.
LOCAL: Final = Caller(name="agent", scope=Scope.WRITE, door="mcp-stdio")
_SHOWN_CHARACTERS: Final = 60
_CLIENT_CHARACTERS: Final = 40  # with the person's name it must fit where history and audit keep it


def local_caller(client: str) -> Caller:
    """The person's own process, named by what the client calls itself, so that history tells two agents apart."""
    name = _shown(client)
    return replace(LOCAL, name=f"agent:{name}") if name else LOCAL


def granted_caller(client: str, user: str, scope: str, door: str) -> Caller:
    """A client that acts for a person: named by both, since the client chose its name itself."""
    name = f"oauth:{_shown(client, _CLIENT_CHARACTERS).replace('/', '·')}/{_shown(user)}"
    return Caller(name=name, scope=scope, door=door)


def _shown(name: str, characters: int = _SHOWN_CHARACTERS) -> str:
    return "".join(letter for letter in name if letter.isprintable()).strip()[:characters]
