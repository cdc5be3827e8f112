"""Which page a path is: the id of a file that the index does not know yet."""

from __future__ import annotations

from uuid import UUID

from vault.current import current_vault
from wiki.models import Page


def uid_at(path: str) -> UUID:
    """The id of the page to be made at ``path``: the ledger's, if no live page elsewhere holds it."""

    def taken(uid: UUID) -> bool:
        return Page.objects.live().filter(uid=uid).exclude(path=path).exists()

    return current_vault().ids.id_for(path, taken)
