"""The hidden tool that says whether the surface works. No work on the wiki needs it."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError

from mcpapi.callers import HTTP_DOOR, Caller
from mcpapi.contract_files import contract_name
from mcpapi.write_mode import remote_write_mode
from wiki import jobs
from wiki.embedding.progress import progress
from wiki.services.status import readiness


def surface_health(caller: Caller) -> dict[str, Any]:
    """Whether the database and the vault answer, what the caller is shown, and what waits. Loads no model."""
    # Profiles stand on the registry, which names this handler.
    from mcpapi.profiles import Profile, listed

    profile = Profile.HTTP if caller.door == HTTP_DOOR else Profile.STDIO
    ready = readiness()
    search_mode, backlog = _searching() if ready["database"] else (None, None)
    return {
        "ok": all(ready.values()) and search_mode is not None,
        "tools": [tool.name for tool in listed(profile, remote_write_mode(), caller)],
        "contract": contract_name(),
        **ready,
        "search_mode": search_mode,
        "backlog": backlog,
    }


def _searching() -> tuple[str | None, dict[str, int] | None]:
    """How a search would go now, and how many jobs, and pages without their vectors, wait."""
    try:
        embedding, waiting = progress(), jobs.waiting()
    except DatabaseError:
        return None, None
    by_meaning = embedding["state"] != "off" and embedding["lead_done"] > 0
    backlog = {"jobs": waiting, "embedding": 0 if embedding["state"] == "off" else embedding["waiting"]}
    return ("hybrid" if by_meaning else "lexical"), backlog
