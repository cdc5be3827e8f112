"""Taking a page away, and bringing back what it was: both can be undone by the other."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any
from uuid import uuid5

from vault import history, writer
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki import sync
from wiki.models import Page
from wiki.services import rules
from wiki.services.filing import LOCK_SECONDS, check_may_change, held, looked_at_again, replace, stale_by_door
from wiki.services.notices import INDEX_PENDING
from wiki.services.reading import backlinks, titled
from wiki.services.recording import Change, PageWritten, record, record_bytes


def page_delete(*, page: Page, base_hash: str | None = None, author: Author) -> dict[str, Any]:
    """Move a page's file to its history; its row stays and revives when a file comes back.

    The base is checked as for a write. Returns ``id``, ``title``, ``path``, ``content_hash`` (of what was deleted),
    ``linked_from`` (the pages whose links now lead to nothing, at most 100), ``linked_from_total``, ``warnings``.
    Raises ``page_not_found``, ``base_required``, ``conflict`` or ``stale_base``, ``path_not_allowed``.
    """
    check_may_change(page, author)
    with held(page) as now:
        rules.check_base(now.page, now.read, base_hash, author=author)
        links = backlinks(now.page)
        with stale_by_door(now.page.path, author), looked_at_again(now.page.path):
            written = writer.remove(
                current_vault(),
                now.page.path,
                expected_hash=now.read.content_hash,
                page_id=now.page.uid,
                author=author,
            )

        def unindex() -> Page:
            sync.unindex_page(now.page)
            return now.page

        change = Change(
            action="delete",
            uid=now.page.uid,
            path=now.page.path,
            author=author,
            written=written,
            before_hash=written.content_hash,
        )
        _, warnings = record(change, unindex, title=now.page.title)
    return {
        "id": str(now.page.uid),
        "title": now.page.title,
        "path": now.page.path,
        "content_hash": written.content_hash,
        "linked_from": links["backlinks"],
        "linked_from_total": links["backlinks_total"],
        "warnings": warnings,
    }


def page_restore(
    *, page: Page, version: int, displaced: bool = False, base_hash: str | None = None, author: Author
) -> PageWritten:
    """Put the bytes of a version in the page's place, exactly as they were; what they displace is in the history too.

    ``version`` is a number of :func:`wiki.services.reading.page_history`: the page as that change left it, or with
    ``displaced`` what that change took away (an edit made outside). A deleted page comes back where it was. The base
    is checked as for a write. Raises ``not_found`` (no such version), ``conflict`` (its place is taken),
    ``base_required``, ``path_not_allowed``.
    """
    check_may_change(page, author)
    data = history.read_version(current_vault(), page.uid, version, displaced=displaced)
    detail = {"version": version, "displaced": displaced}
    if not Page.objects.live().filter(uid=page.uid).exists():
        return _bring_back(page, data, detail, author)
    with held(page) as now:
        rules.check_base(now.page, now.read, base_hash, author=author, text=lambda: data)
        return replace(now, data, author=author, action="restore", detail=detail)


def _bring_back(page: Page, data: bytes, detail: dict[str, Any], author: Author) -> PageWritten:
    """The file of a deleted page, at its old path, under its old id."""
    vault = current_vault()
    with vault.lock(rules.page_lock_name(page.uid), timeout=LOCK_SECONDS):
        if Page.objects.live().filter(uid=page.uid).exists():
            raise SynapseError(ErrorCode.CONFLICT, "The page has just been brought back. Read it, then decide.")
        # What stood at the path meanwhile may have taken its line in the ledger.
        known = (vault.ids.id_at(page.path) or uuid5(vault.id, page.path)) == page.uid
        ledger = nullcontext() if known else vault.ids.renamed(page.path, page.uid)
        with looked_at_again(page.path), ledger:
            written = writer.create(vault, page.path, data, page_id=page.uid, author=author)
        change = Change(
            action="restore",
            uid=page.uid,
            path=page.path,
            author=author,
            written=written,
            created=True,
            detail=detail,
        )
        done = record_bytes(change, data)
    if INDEX_PENDING not in done.warnings and titled(done.page.title).exclude(uid=page.uid).exists():
        done.warnings.append("title_taken: another page has this title now. Give one of them another title.")
    return done
