"""Scopes: which are offered here, which a person may grant, and which of a token's is the widest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.contrib.auth.models import AnonymousUser, User
from oauth2_provider.scopes import BaseScopes

from mcpapi.write_mode import remote_write_mode
from wiki.models import Scope
from wiki.tokens import includes, scope_of_person

#: What each scope lets an agent do, in the words of the consent page.
MEANING: Final[dict[str, str]] = {
    Scope.READ: "Read and search all pages, sources and reviews of this wiki.",
    Scope.PROPOSE: "Propose changes and reviews. A person decides about each of them.",
    Scope.WRITE: "Change pages, decide reviews and have sources scanned, in your name.",
}
_OFFERED: Final[dict[str, tuple[str, ...]]] = {
    "false": (Scope.READ,),
    "staged": (Scope.READ, Scope.PROPOSE),
    "true": (Scope.READ, Scope.PROPOSE, Scope.WRITE),
}


def offered() -> list[str]:
    """The scopes that lead to a tool here, narrowest first: more than ``read`` only where agents may write."""
    return [str(scope) for scope in _OFFERED[remote_write_mode()]]


def grantable(user: User | AnonymousUser, asked: Iterable[str]) -> list[str]:
    """Of the scopes asked for, those that are offered and that the person has; ``read`` where that is none.

    ``read`` is part of every other scope, so who asks for more than a person may grant is left with it.
    """
    wanted, theirs = set(asked), scope_of_person(user)
    return [scope for scope in offered() if scope in wanted and includes(theirs, scope)] or [str(Scope.READ)]


def widest(scope: str) -> str:
    """The widest of the scopes in a token's list, which the others are part of; empty where none is known."""
    held = set(scope.split())
    return next((known for known in reversed(Scope) if known in held), "")


class OfferedScopes(BaseScopes):  # type: ignore[misc]
    """The toolkit's way to ask for :func:`offered`."""

    def get_all_scopes(self) -> dict[str, str]:
        """Each scope and what it means."""
        return {str(scope): meaning for scope, meaning in MEANING.items()}

    def get_available_scopes(
        self, application: Any = None, request: Any = None, *args: Any, **kwargs: Any
    ) -> list[str]:
        """What may be asked for."""
        return offered()

    def get_default_scopes(self, *args: Any, **kwargs: Any) -> list[str]:
        """What a client gets that asks for nothing by name."""
        return [str(Scope.READ)]
