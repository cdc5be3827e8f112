"""Texts that met a newer version: listed, read, applied or dropped by whoever decides."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any
from uuid import uuid5

from vault import drafts as kept
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki import audit
from wiki.models import Page
from wiki.services import rules
from wiki.services.filing import check_may_change, held, replace
from wiki.services.keeping import expires
from wiki.services.recording import PageWritten


def draft_list() -> list[dict[str, Any]]:
    """All drafts, newest first: id, path, title, author, door, at, reason, base_hash, size; never their text.

    ``expires`` is when it may go (SYNAPSE_DRAFTS_DAYS).
    """
    return [{**asdict(draft), "expires": expires(draft)} for draft in kept.list_drafts(current_vault())]


def draft_text(*, draft_id: str) -> dict[str, Any]:
    """A draft with its ``text``. Raises ``not_found``."""
    draft, data = kept.read_draft(current_vault(), draft_id)
    return {**asdict(draft), "text": data.decode("utf-8", errors="replace")}


def draft_apply(*, draft_id: str, base_hash: str | None = None, author: Author) -> PageWritten:
    """Write a draft over its page as it is, wherever that is by now, and drop it.

    ``base_hash`` is the version of the page that whoever decides has seen; without it the page must still be the
    version that the draft was made from. Raises ``not_found``, ``page_not_found``, ``base_required``, ``conflict`` or
    ``stale_base``, ``path_not_allowed``.
    """
    rules.check_writes_allowed()
    vault = current_vault()
    draft, data = kept.read_draft(vault, draft_id)
    page = _page_of(draft)
    check_may_change(page, author)
    with held(page) as now:
        rules.check_base(now.page, now.read, base_hash or draft.base_hash, author=author, required=True)
        written = replace(now, data, author=author, detail={"draft": draft_id})
    with suppress(SynapseError):  # the page stands; a draft that the disk does not let go can be dropped later
        kept.drop_draft(vault, draft_id)
    return written


def page_of_draft(*, draft_id: str) -> Page:
    """The page that :func:`draft_apply` would write to. Raises ``not_found``, ``page_not_found``."""
    draft, _ = kept.read_draft(current_vault(), draft_id)
    return _page_of(draft)


def _page_of(draft: kept.Draft) -> Page:
    page = Page.objects.live().filter(path=draft.path).first() or _moved_from(draft.path)
    if page is None:
        raise SynapseError(
            ErrorCode.PAGE_NOT_FOUND,
            "The draft's page is not there any more. Read the draft, and write its text as a new page.",
            path=draft.path,
        )
    return page


def _moved_from(path: str) -> Page | None:
    """The page that was at a path where there is none now, if it lives on elsewhere."""
    vault = current_vault()
    uid = vault.ids.id_at(path) or uuid5(vault.id, path)
    return Page.objects.live().filter(uid=uid).first()


def draft_drop(*, draft_id: str, author: Author) -> None:
    """Remove a draft for good. Raises ``not_found``, ``read_only``."""
    rules.check_writes_allowed()
    draft, _ = kept.read_draft(current_vault(), draft_id)
    kept.drop_draft(current_vault(), draft_id)
    audit.record(action="drop-draft", author=author, path=draft.path, detail={"draft": draft_id})
