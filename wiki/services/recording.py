"""What follows when a change stands on disk: index, audit, data version, log, catalog, news.

From here on nothing is a failure of the change. What can't be recorded now is noted and caught up with, and the
answer carries the warning ``index_pending``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from vault import history
from vault.current import current_vault
from vault.history import Author
from vault.pages import ParsedPage, parse_page
from vault.root import FileRead
from vault.writer import Written
from wiki import audit, catchup, sync
from wiki.binding import bump_data_version
from wiki.models import Page
from wiki.services import catalog, logbook
from wiki.services.notices import INDEX_PENDING
from wiki.signals import page_written

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PageWritten:
    """A change that stands: the page as indexed, its file's sha256 (hex), and what its author should know.

    With the warning ``index_pending`` the page may be as it was before, or an unsaved one.
    """

    page: Page
    content_hash: str
    created: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to a page's file. ``action`` as in the history and the log; ``detail`` goes into the audit row."""

    action: str
    uid: UUID
    path: str
    author: Author
    written: Written
    before_hash: str | None = None
    created: bool = False
    detail: dict[str, Any] = field(default_factory=dict)


def record_bytes(change: Change, data: bytes) -> PageWritten:
    """Record that the page's file holds ``data`` now."""
    read = FileRead(data, change.written.stat, change.written.content_hash, change.path)
    parsed = parse_page(change.path, data)

    def index() -> Page:
        return sync.index_page(page_id=change.uid, path=change.path, read=read, parsed=parsed)

    page, warnings = record(change, index, title=parsed.title)
    return PageWritten(
        page=page or _unsaved(change, parsed),
        content_hash=change.written.content_hash,
        created=change.created,
        warnings=warnings,
    )


def record(change: Change, index: Callable[[], Page], *, title: str) -> tuple[Page | None, list[str]]:
    """Run ``index`` and what goes with it in one transaction; the page (None when that failed) and the warnings."""
    warnings = []
    if change.written.history_pending:
        _note(change)
        warnings.append(INDEX_PENDING)
    try:
        with transaction.atomic():
            page = index()
            _audit(change)
            bump_data_version()
            catalog.request()
            transaction.on_commit(partial(_announce, change, page), robust=True)
        return page, warnings
    except Exception as error:  # noqa: BLE001 - whatever it was, the change stands and its author must hear that
        logger.warning("a change waits for the index", extra={"reason": type(error).__name__})
        _note(change)
        _log(change, title)
        return None, list(dict.fromkeys([*warnings, INDEX_PENDING]))


def _audit(change: Change) -> None:
    audit.record(
        action=change.action,
        author=change.author,
        page_uid=change.uid,
        path=change.path,
        before_hash=change.before_hash,
        after_hash=change.written.content_hash,
        detail=change.detail,
    )


def _announce(change: Change, page: Page) -> None:
    _log(change, page.title)
    page_written.send_robust(sender=Page, page=page, action=change.action, created=change.created, author=change.author)


def _log(change: Change, title: str) -> None:
    # Links that follow a page's new name are part of that one change, which has its own line.
    if change.action != "relink":
        logbook.append_log(change.action, title)


def _note(change: Change) -> None:
    catchup.note([change.path])


def _unsaved(change: Change, parsed: ParsedPage) -> Page:
    """The page as it will be indexed: its old row if there is one, else a row that is not in the database."""
    try:
        known = Page.objects.filter(uid=change.uid).first()
    except Exception:  # noqa: BLE001 - the database is what has just failed
        known = None
    page = known or Page(uid=change.uid)
    page.path, page.title, page.type, page.content_hash = (
        change.path,
        parsed.title,
        parsed.type,
        change.written.content_hash,
    )
    return page


def run_job(payload: dict[str, Any]) -> dict[str, Any]:
    """The handler of ``catch_up`` jobs: what could not be recorded when it happened.

    One is asked for whenever a process starts that writes: the one before may have died in the middle of a change.
    """
    del payload
    paths = catchup.take()
    try:
        vault = current_vault()
        orphans = history.recover_orphans(vault) if vault.writable else []
        if paths:
            sync.sync_paths(paths)
        catalog.request_if_kept()
    except BaseException:
        catchup.note(paths)
        raise
    return {"paths": len(paths), "recovered": len(orphans)}
