"""Everything that changes the vault or what belongs to it, as keyword-only functions, and the reads of pages."""

from __future__ import annotations

from wiki.services.approved import write_composed
from wiki.services.composing import Composed, compose_page
from wiki.services.drafts import draft_apply, draft_drop, draft_list, draft_text, page_of_draft
from wiki.services.health import Trouble, troubles
from wiki.services.keeping import expire_drafts, history_pages, prune_history
from wiki.services.moving import Renamed, page_move, page_retitle
from wiki.services.reading import (
    list_pages,
    page_at,
    page_by_id,
    page_by_title,
    page_content,
    page_history,
    page_ref,
    page_version,
    read_page,
)
from wiki.services.recording import PageWritten
from wiki.services.removing import page_delete, page_restore
from wiki.services.rescan import request_rescan
from wiki.services.sources import list_sources, read_source
from wiki.services.status import readiness, status
from wiki.services.writing import create_page, put_page, write_page

__all__ = [
    "Composed",
    "PageWritten",
    "Renamed",
    "Trouble",
    "compose_page",
    "create_page",
    "draft_apply",
    "draft_drop",
    "draft_list",
    "draft_text",
    "expire_drafts",
    "history_pages",
    "list_pages",
    "list_sources",
    "page_at",
    "page_by_id",
    "page_by_title",
    "page_content",
    "page_delete",
    "page_history",
    "page_move",
    "page_of_draft",
    "page_ref",
    "page_restore",
    "page_retitle",
    "page_version",
    "prune_history",
    "put_page",
    "read_page",
    "read_source",
    "readiness",
    "request_rescan",
    "status",
    "troubles",
    "write_composed",
    "write_page",
]
