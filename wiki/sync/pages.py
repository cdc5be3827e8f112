"""Single pages, for services: index, unindex and rename inside the transaction of their write."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from vault.current import current_vault
from vault.pages import ParsedPage
from vault.root import FileRead
from wiki import changes, jobs
from wiki.graph import recompute_edges
from wiki.models import Page
from wiki.rows import chunks, index_lock
from wiki.sync.apply import Applied, remove_pages, write_pages
from wiki.sync.known import KnownPage
from wiki.sync.links import resolve_stale
from wiki.sync.reads import Change, from_file

#: More pages than this with other edges, and a job computes them: a write must not wait for a hub.
EDGES_AT_ONCE: Final = 300
#: More neighbours than this around the pages that a write ties or parts, and a job weighs the edges among them.
NEIGHBOURS_AT_ONCE: Final = 1_000


def index_page(*, page_id: UUID, path: str, read: FileRead, parsed: ParsedPage | None = None) -> Page:
    """Write one page to the index, whatever was known of it: row, names, links, full text, and the edges around it.

    For a page that is at another path in the index it is a move. Links of other pages that lead elsewhere through
    it are resolved again. Call it inside the transaction of the write, which also counts the data version.
    Returns the page's row.
    """
    index_lock()
    vault = current_vault()
    known = Page.objects.filter(uid=page_id).order_by().values_list(*KnownPage._fields, named=False).first()
    change = Change(page_id, KnownPage(*known) if known else None, from_file(vault, path, read, parsed))
    _evict(path, page_id)
    applied = write_pages([change], conditional=False)
    pk = applied.pks[page_id]
    _settle(pk, applied)
    return Page.objects.get(pk=pk)


def unindex_page(page: Page) -> None:
    """Take one page out of the index after its file is gone; inside the transaction of that change."""
    index_lock()
    row = Page.objects.filter(pk=page.pk).order_by().values_list(*KnownPage._fields).get()
    _settle(page.pk, remove_pages([KnownPage(*row)], conditional=False))


def rename_page(page: Page, new_path: str, *, read: FileRead | None = None, parsed: ParsedPage | None = None) -> Page:
    """Have one page at another path; inside the transaction of that change. Title and type may follow the path."""
    read = read or current_vault().read(new_path)
    return index_page(page_id=page.uid, path=new_path, read=read, parsed=parsed)


def _evict(path: str, page_id: UUID) -> None:
    """The index may still know another page at this path, whose file has gone elsewhere or was replaced."""
    rows = Page.objects.live().filter(path=path).exclude(uid=page_id).order_by().values_list(*KnownPage._fields)
    for row in list(rows):
        _settle(row[0], remove_pages([KnownPage(*row)], conditional=False))


def _settle(pk: int, applied: Applied) -> None:
    answered = resolve_stale(pk, applied.stale)
    changes.note(pages=applied.noted | answered.noted, linked=applied.linked | answered.linked)
    changed = applied.dirty | answered.turned
    if len(changed) > EDGES_AT_ONCE:
        _defer(changed)
    elif waiting := recompute_edges(changed, facts_of=applied.facts, at_once=NEIGHBOURS_AT_ONCE):
        _defer(waiting)


def _defer(pages: Collection[int]) -> None:
    for chunk in chunks(pages):
        Page.objects.filter(pk__in=chunk).update(graph_dirty=True)
    jobs.enqueue("edges", delay=1.0)
