"""What ties this database to one vault, and the marks of its scans.

The database keeps the id and the root of the vault that it describes. Another vault (or a copy of it at another
place) is refused before anything is read or written, because its scan would take every page here for deleted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki import audit
from wiki.data_version import STATE_PK, data_version
from wiki.models import File, IndexChange, Page, VaultState
from wiki.search import remove_words
from wiki.signals import vault_replaced
from wiki.vectors.rows import forget_all


def check_binding() -> None:
    """Refuse (``conflict``) when the database describes another vault than the one the settings name.

    A database that describes none passes: :func:`bind` ties it at the first write. Never writes.
    """
    state = VaultState.objects.filter(pk=STATE_PK).first()
    if state is None:
        return
    if state.vault_id != current_vault().id:
        raise SynapseError(
            ErrorCode.CONFLICT,
            "This database holds the index of another vault. Give each vault a database of its own (unset "
            "DATABASE_URL for the built-in one), or let this one follow the vault that SYNAPSE_VAULT names with "
            "`manage.py doctor --adopt`.",
        )
    if state.root != vault_root():
        raise SynapseError(
            ErrorCode.CONFLICT,
            "This database was made for the same vault at another place. If the vault has moved here, run "
            "`manage.py doctor --adopt`. If this is a copy, delete vault-id in its .synapse folder, so that it "
            "becomes a vault of its own.",
        )


def bind() -> VaultState:
    """The state row, made for the current vault when there is none. Refuses another vault's database."""
    check_binding()
    state, _ = VaultState.objects.get_or_create(
        pk=STATE_PK, defaults={"vault_id": current_vault().id, "root": vault_root()}
    )
    return state


def adopt(*, author: Author = audit.SYNAPSE) -> bool:
    """Tie the database to the current vault whatever it was tied to; True if that changed something.

    Rows of another vault are removed, for page ids depend on the vault; the next scan makes them anew. For the
    same vault at a new place they stay.
    """
    vault = current_vault()
    with transaction.atomic():
        state = VaultState.objects.select_for_update().filter(pk=STATE_PK).first()
        if state is not None and (state.vault_id, state.root) == (vault.id, vault_root()):
            return False
        if state is not None and state.vault_id != vault.id:
            _forget_rows()
        VaultState.objects.update_or_create(pk=STATE_PK, defaults={"vault_id": vault.id, "root": vault_root()})
        bump_data_version()
        audit.record(action="adopt", author=author, detail={"vault": str(vault.id)})
    return True


def _forget_rows() -> None:
    # Full text is found by the page's number and would outlive its row.
    remove_words(list(Page.objects.values_list("pk", flat=True)))
    forget_all()
    vault_replaced.send(sender=VaultState)
    Page.objects.all().delete()
    File.objects.all().delete()
    IndexChange.objects.all().delete()
    VaultState.objects.filter(pk=STATE_PK).update(last_scan={}, last_scan_at=None)


def vault_root() -> str:
    """The root with symlinks followed, as text that any database can hold."""
    return str(Path(current_vault().root).resolve()).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def bump_data_version() -> int:
    """Count one write or scan that changed something; call it inside that transaction. Returns the new version."""
    changed = VaultState.objects.filter(pk=STATE_PK).update(data_version=F("data_version") + 1)
    if not changed:
        bind()
        VaultState.objects.filter(pk=STATE_PK).update(data_version=F("data_version") + 1)
    return data_version()


def begin_scan_rows() -> None:
    """Mark that a scan has written rows, in the transaction that wrote the first: a crash leaves the mark."""
    bind()
    VaultState.objects.filter(pk=STATE_PK, scanning=False).update(scanning=True)


def finish_scan_rows() -> int:
    """Clear the mark and count the scan; returns the new version."""
    VaultState.objects.filter(pk=STATE_PK).update(scanning=False)
    return bump_data_version()


def keep_report(report: dict[str, Any], *, changed: bool) -> None:
    """Keep a scan's report for /status and the admin if it ``changed`` the index, or if scans stop, or no longer do.

    Else nothing is written: a scan that finds all as it was leaves no trace.
    """
    state = VaultState.objects.filter(pk=STATE_PK).first()
    if state is None or state.root != vault_root():
        return
    if changed or report["stopped"] != state.last_scan.get("stopped"):
        VaultState.objects.filter(pk=STATE_PK).update(last_scan=report, last_scan_at=timezone.now())


def index_is_whole() -> bool:
    """Whether no scan has written rows without having finished: none is at work, and none died at it."""
    return not VaultState.objects.filter(pk=STATE_PK, scanning=True).exists()


def scan_was_cut_short() -> bool:
    """Whether a scan wrote rows and died before it finished."""
    return VaultState.objects.filter(pk=STATE_PK, scanning=True).exists()
