"""The state of the index in figures, and whether this process can serve."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError

from vault.current import current_vault
from vault.errors import SynapseError
from wiki import jobs
from wiki.data_version import STATE_PK
from wiki.embedding.progress import progress
from wiki.models import File, FileKind, Link, LinkState, Page, VaultState
from wiki.services.rescan import scan_is_running

#: What the last scan found to have changed; what there is altogether is counted anew.
_FOUND: Final = (
    *("added", "changed", "moved", "deleted", "files_changed", "flagged_total", "skipped_total"),
    *("seconds", "stopped"),
)


def status() -> dict[str, Any]:
    """Counts of live rows, the version of the index, the backlog, and what the last scan found that
    changed something or stopped."""
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
        "embedding": progress(),
        "last_scan": {name: state.last_scan[name] for name in _FOUND if name in state.last_scan} if state else {},
        "last_scan_at": state.last_scan_at if state else None,
    }


def readiness() -> dict[str, bool]:
    """What serving needs, by name, and whether it is there: the database with its tables, the vault's root.

    :func:`wiki.services.health.troubles` says what is wrong, and with what else.
    """
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
