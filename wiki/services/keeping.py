"""How long what was displaced is kept: the history's age and size, and drafts that nobody wants."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from vault import drafts, history
from vault.current import current_vault
from vault.history import Author, Pruned
from wiki import audit
from wiki.models import Page
from wiki.services import rules


def history_pages(*, limit: int = 100) -> list[dict[str, Any]]:
    """Pages that were changed last through Synapse, newest first, deleted ones too: id, title, path, deleted."""
    pages = Page.objects.order_by("-indexed_at", "pk")[:limit]
    found = []
    for page in pages:
        newest = history.versions(current_vault(), page.uid, limit=1)
        if newest:
            found.append(
                {
                    "id": str(page.uid),
                    "title": page.title,
                    "path": page.path,
                    "deleted": page.deleted_at is not None,
                    "versions": newest[0].number,
                    "at": newest[0].at,
                }
            )
    return found


def prune_history(*, dry_run: bool = False, author: Author) -> Pruned:
    """Remove what is older than SYNAPSE_HISTORY_DAYS, and the oldest of more than SYNAPSE_HISTORY_MAX_MB; never the
    newest of a page, nor what is younger than 30 days. One audit row if anything went. Raises ``read_only``."""
    if not dry_run:
        rules.check_writes_allowed()
    done = history.prune(
        current_vault(),
        settings.SYNAPSE_HISTORY_DAYS,
        max_bytes=settings.SYNAPSE_HISTORY_MAX_MB * 1_000_000,
        dry_run=dry_run,
    )
    if done.removed and not dry_run:
        detail = {"files": done.removed, "bytes": done.removed_bytes}
        audit.record(action="prune", author=author, detail=detail)
    return done


def expire_drafts(*, dry_run: bool = False, author: Author) -> list[str]:
    """Remove drafts older than SYNAPSE_DRAFTS_DAYS; their ids. One audit row if any went. Raises ``read_only``."""
    if not dry_run:
        rules.check_writes_allowed()
    gone = history.expire_drafts(current_vault(), settings.SYNAPSE_DRAFTS_DAYS, dry_run=dry_run)
    if gone and not dry_run:
        audit.record(action="expire", author=author, detail={"drafts": len(gone)})
    return gone


def expires(draft: drafts.Draft) -> str:
    """When a draft may go, as the lines of .synapse write times; "" for one whose time can't be read."""
    try:
        at = datetime.strptime(draft.at, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return ""
    return f"{at + timedelta(days=settings.SYNAPSE_DRAFTS_DAYS):%Y-%m-%dT%H:%M:%SZ}"


def run_job(payload: dict[str, Any]) -> dict[str, Any]:
    """The handler of ``prune`` jobs, once an hour. Running it again changes nothing more."""
    del payload
    if settings.SYNAPSE_READ_ONLY or not current_vault().writable:
        return {}
    done = prune_history(author=audit.SYNAPSE)
    return {**done.as_dict(), "drafts": len(expire_drafts(author=audit.SYNAPSE))}
