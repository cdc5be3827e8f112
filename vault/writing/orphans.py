"""Files found without an owner, kept because they may hold a person's save.

``.synapse/history/orphans/`` holds them; ``orphans.jsonl`` beside them says of
each, one JSON object a line: at, path (the page it lay beside), page_id,
content_hash, file, reason.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

from vault.disk.state import state_folder
from vault.writing import exchange, versions
from vault.writing.pending import now
from vault.writing.placement import identity

if TYPE_CHECKING:
    from vault.root import Vault

ORPHANS: Final = "orphans"
RECORDS: Final = "orphans.jsonl"


def keep(vault: Vault, folder: int, name: str, *, path: str, page_id: str | None, reason: str) -> dict[str, Any]:
    """Move a file out of a folder of the vault to the orphans, and return its record. Raises OSError."""
    with state_folder(vault, versions.HISTORY, ORPHANS, create=True) as orphans:
        at = now()
        record: dict[str, Any] = {
            "at": at,
            "path": path,
            "page_id": page_id,
            "content_hash": identity(folder, name),
            "file": f"{at.replace('-', '').replace(':', '')}-{secrets.token_hex(6)}.md",
            "reason": reason,
        }
        versions.shelve(folder, name, orphans, record["file"])
        # A line break on both sides: whatever a crash left of the line before does not spoil this one.
        exchange.append_to(orphans, RECORDS, b"\n" + versions.encode_line(record))
        exchange.sync_folder(orphans)
        exchange.sync_folder(folder)
        return record
