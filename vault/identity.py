"""Who a vault is, and which page is which: the vault's id and the ledger of page ids."""

from __future__ import annotations

from pathlib import Path


def read_vault_id(root: Path, data: Path) -> str | None:
    """The vault's id as hex with dashes, or None when nobody has made it yet. Never writes."""
    try:
        return (root / ".synapse" / "vault-id").read_text(encoding="ascii").strip() or None
    except OSError:
        return None
