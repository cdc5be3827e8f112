"""The state of the index in figures, and whether this process can serve."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import DatabaseError

from vault.current import current_vault
from vault.errors import SynapseError
from wiki import jobs
from wiki.binding import STATE_PK
from wiki.models import File, FileKind, Link, LinkState, Page, VaultState
from wiki.services.rescan import scan_is_running

#: What a scan's report tells in figures; the lists of what it flagged and skipped stay in the admin.
_LISTS = frozenset({"flagged", "skipped"})


def status() -> dict[str, Any]:
    """Counts of live rows, the version of the index, the backlog, and the last finished scan. Reads rows only."""
    state = VaultState.objects.filter(pk=STATE_PK).first()
    pages = Page.objects.live()
    files = File.objects.filter(deleted_at__isnull=True)
    links = Link.objects.filter(source__deleted_at__isnull=True)
    return {
        "vault_id": str(current_vault().id),
        "data_version": state.data_version if state else 0,
        "pages": pages.count(),
        "files": files.count(),
        "sources": files.filter(kind=FileKind.SOURCE).count(),
        "links": links.count(),
        "broken_links": links.filter(state=LinkState.BROKEN).count(),
        "flagged_pages": pages.exclude(flags=[]).count(),
        "waiting_jobs": jobs.waiting(),
        "scan_running": scan_is_running(),
        "read_only": settings.SYNAPSE_READ_ONLY,
        "last_scan": {key: value for key, value in state.last_scan.items() if key not in _LISTS} if state else {},
        "last_scan_at": state.last_scan_at if state else None,
    }


def readiness() -> dict[str, bool]:
    """What serving needs, by name, and whether it is there: the database with its tables, the vault's root."""
    return {"database": _database_answers(), "vault": _root_is_there()}


def _database_answers() -> bool:
    try:
        VaultState.objects.filter(pk=STATE_PK).exists()
    except DatabaseError:
        return False
    return True


def _root_is_there() -> bool:
    try:
        return current_vault().root.is_dir()
    except (SynapseError, OSError):
        return False
