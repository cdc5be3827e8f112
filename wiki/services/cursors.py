"""Cursors of lists: opaque, signed, and only good for the list that gave them."""

from __future__ import annotations

from django.core import signing

from vault.errors import ErrorCode, SynapseError

_SALT = "synapse.cursor"


def make_cursor(name: str, *, after: str, pk: int) -> str:
    """A cursor for the rows of the list ``name`` that follow the one with this sort text and key."""
    return signing.dumps([name, after, pk], salt=_SALT, compress=True)


def read_cursor(name: str, cursor: str) -> tuple[str, int]:
    """The (sort text, key) a cursor stands for; ``invalid_cursor`` when it is not one of the list ``name``."""
    try:
        made_for, after, pk = signing.loads(cursor, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        made_for, after, pk = None, "", 0
    if made_for != name or not isinstance(after, str) or not isinstance(pk, int):
        raise SynapseError(
            ErrorCode.INVALID_CURSOR,
            "This cursor does not belong to this list. Pass next_cursor as it was given, with the same filters, "
            "or leave it out to start over.",
        )
    return after, pk
