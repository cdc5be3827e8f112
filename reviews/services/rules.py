"""Who may decide, and the bounds of what is said: the checks that come before a change."""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

from django.conf import settings

from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import check_characters
from vault.history import Author
from wiki.services.rules import check_writes_allowed, is_agent

__all__ = ["MAX_NOTE", "as_id", "check_may_decide", "check_note", "check_writes_allowed"]

#: Characters of a note.
MAX_NOTE: Final = 2_000
#: How the name of a caller with a token begins (wiki.authentication.actor_name); a person's begins "user:".
_TOKEN: Final = "token:"  # noqa: S105
_UUID: Final = re.compile("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def check_may_decide(author: Author) -> None:
    """``forbidden`` for agents and tokens while SYNAPSE_AGENT_MAY_DECIDE is off: people decide then."""
    if settings.SYNAPSE_AGENT_MAY_DECIDE:
        return
    if is_agent(author) or author.name.startswith(_TOKEN):
        raise SynapseError(
            ErrorCode.FORBIDDEN,
            "Decisions are a person's here (SYNAPSE_AGENT_MAY_DECIDE is off). Leave the item in the queue; "
            "a person decides in the admin, in a session or in a terminal.",
        )


def check_note(note: object) -> str:
    """A note without blanks around it, "" for None.

    Raises ``invalid_param_type`` for what is no text, ``invalid_param_value`` for one that is too long.
    """
    if note is None:
        return ""
    if not isinstance(note, str):
        raise SynapseError(ErrorCode.INVALID_PARAM_TYPE, "note must be a text.")
    note = note.strip()
    if len(note) > MAX_NOTE:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"A note has at most {MAX_NOTE} characters.", limit=MAX_NOTE)
    check_characters(note)
    return note


def as_id(given: object) -> UUID | None:
    """The id that a text is, in its usual spelling (any case); None for anything else."""
    if isinstance(given, UUID):
        return given
    return UUID(given) if isinstance(given, str) and _UUID.fullmatch(given) else None
