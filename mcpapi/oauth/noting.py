"""Audit rows of what happens to clients: who registered one, who let it in, who ended it."""

from __future__ import annotations

from typing import Any

from vault.history import Author
from wiki import audit


def note(action: str, client: Any, author: Author, **more: str) -> None:
    """Add the row, in the transaction of the caller. Names the client by its id, which is no secret."""
    detail = {"client": str(client.client_id)[:200], "name": str(client.name)[:80], **more}
    audit.record(action=action, author=author, detail=detail)
