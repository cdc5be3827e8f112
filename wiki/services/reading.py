"""Reads of pages: by title, whole, as a list, with their history. The file is the truth, the index finds it."""

from __future__ import annotations

import unicodedata
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from vault import frontmatter, history
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.links import path_key
from vault.pages import parse_page
from vault.paths import check_path
from vault.root import FileRead
from wiki.models import Link, Page, PageQuerySet, PageType
from wiki.prepared import Prepared
from wiki.services.cursors import make_cursor, read_cursor
from wiki.sync.values import storable

MAX_BACKLINKS: Final = 100
MAX_LIST: Final = 500
_NAMED: Final = 20


def page_by_title(title: str, *, path: str | None = None, deleted: bool = False) -> Page:
    """The live page with exactly this title (NFC, case-sensitive), reserved ones included.

    ``path`` decides between pages of one title; with it, ``title`` may also be "". With ``deleted`` also the page that
    was there last. Raises ``page_not_found``, or ``ambiguous_title`` with the ``paths`` to choose from.
    """
    try:
        return _page_titled(title) if path is None else _page_at(title, path)
    except SynapseError as error:
        gone = _gone(title, path) if deleted and error.code is ErrorCode.PAGE_NOT_FOUND else None
        if gone is None:
            raise
        return gone


def _page_titled(title: str) -> Page:
    wanted = unicodedata.normalize("NFC", title)
    found = _TITLED.rows(title=wanted) if storable(wanted) == wanted else []
    if len(found) == 1:
        return found[0]
    if not found:
        raise SynapseError(
            ErrorCode.PAGE_NOT_FOUND,
            "No live page has exactly this title. Search for it, or list the pages, and use the title given there.",
        )
    raise ambiguous(found)


def _gone(title: str, path: str | None) -> Page | None:
    """The page that was deleted last of those that fit what is given."""
    wanted = {name: value for name, value in (("title", unicodedata.normalize("NFC", title)), ("path", path)) if value}
    if not wanted or any(storable(value) != value for value in wanted.values()):
        return None
    return Page.objects.filter(deleted_at__isnull=False, **wanted).order_by("-deleted_at").first()


def page_by_id(uid: UUID, *, deleted: bool = False) -> Page:
    """The live page with this id; with ``deleted`` also one whose file is gone. Raises ``page_not_found``."""
    pages = Page.objects.all() if deleted else Page.objects.live()
    page = pages.filter(uid=uid).first()
    if page is None:
        raise SynapseError(ErrorCode.PAGE_NOT_FOUND, "No live page has this id. Search for it, or list the pages.")
    return page


def titled(title: str) -> PageQuerySet:
    """Live pages with exactly this title, by path."""
    wanted = unicodedata.normalize("NFC", title)
    if storable(wanted) != wanted:
        return Page.objects.none()
    return Page.objects.live().filter(title=wanted).order_by("path")


# Every get_page asks these two.
_TITLED: Final = Prepared[Page](lambda title: titled(title)[: _NAMED + 1], title="\x1f the title")
_LINKING: Final = Prepared[tuple[Any, ...]](lambda page: _first_linking(page, MAX_BACKLINKS), page=-9_000_001)


def ambiguous(found: list[Page]) -> SynapseError:
    """The refusal to choose between pages of one title."""
    return SynapseError(
        ErrorCode.AMBIGUOUS_TITLE,
        "Several pages have this title. Say which one with `path`.",
        paths=[page.path for page in found[:_NAMED]],
    )


def _page_at(title: str, path: str) -> Page:
    wanted = unicodedata.normalize("NFC", check_path(path))
    candidates = Page.objects.live().filter(path_key=path_key(wanted))
    found = [page for page in candidates if unicodedata.normalize("NFC", page.path) == wanted]
    page = next((page for page in found if page.path == path), found[0] if len(found) == 1 else None)
    if page is None:
        raise SynapseError(ErrorCode.PAGE_NOT_FOUND, "No live page is at this path. Search for it, or list the pages.")
    if title and unicodedata.normalize("NFC", title) != page.title:
        raise SynapseError(
            ErrorCode.PAGE_NOT_FOUND,
            "The page at this path has another title. Pass that title, or an empty one.",
            title=page.title,
        )
    return page


def page_ref(page: Page, *, score: float = 0.0) -> dict[str, Any]:
    """A PageRef: id, title, type, relevance_score."""
    return {"id": str(page.uid), "title": page.title, "type": page.type, "relevance_score": score}


def page_content(page: Page) -> dict[str, Any]:
    """The whole page as ``get_page`` shows it, read from its file.

    Raises ``page_not_found`` when the file is gone, ``payload_too_large`` above SYNAPSE_MAX_PAGE_BYTES.
    """
    read = read_page(page)
    shown = _indexed(page, read) if read.content_hash == page.content_hash else _parsed(page, read)
    return {
        "id": str(page.uid),
        **shown,
        "path": page.path,
        "content_hash": read.content_hash,
        "size_bytes": len(read.data),
        **backlinks(page),
    }


def read_page(page: Page) -> FileRead:
    """The bytes of a page's file as they are now."""
    limit = settings.SYNAPSE_MAX_PAGE_BYTES
    try:
        return current_vault().read(page.path, max_bytes=limit)
    except SynapseError as error:
        if error.code in (ErrorCode.NOT_FOUND, ErrorCode.SOURCE_NOT_FOUND):
            raise SynapseError(
                ErrorCode.PAGE_NOT_FOUND, "The page's file has been moved or deleted. Scan the vault, then search."
            ) from None
        if error.code is ErrorCode.PAYLOAD_TOO_LARGE:
            raise SynapseError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The page is larger than {limit} bytes and is never shown in part. "
                "Ask for a shorter level of it (summary or core), or split it.",
                path=page.path,
                levels=["summary", "core"],
            ) from None
        raise


def _indexed(page: Page, read: FileRead) -> dict[str, Any]:
    """Title, type and frontmatter from the row: it was made from these very bytes."""
    split = frontmatter.split(read.data.decode("utf-8", errors="replace"))
    return {"title": page.title, "type": page.type, "content": split.body, "frontmatter": page.frontmatter}


def _parsed(page: Page, read: FileRead) -> dict[str, Any]:
    parsed = parse_page(page.path, read.data)
    split = frontmatter.split(read.data.decode("utf-8", errors="replace"))
    return {
        "title": parsed.title,
        "type": parsed.type,
        "content": split.body,
        "frontmatter": parsed.frontmatter,
    }


def backlinks(page: Page, *, limit: int = MAX_BACKLINKS) -> dict[str, Any]:
    """The pages that link here, by title, at most ``limit`` of ``backlinks_total``; reserved ones left out."""
    shown = _LINKING.rows(page=page.pk) if limit == MAX_BACKLINKS else list(_first_linking(page.pk, limit))
    rows = [{"id": str(uid), "title": title, "path": path} for uid, title, path in shown]
    total = len(rows) if len(rows) <= limit else _linking(page.pk).count()
    return {"backlinks": rows[:limit], "backlinks_total": total}


def _linking(page: int) -> PageQuerySet:
    sources = Link.objects.filter(target_id=page).values("source_id")
    return Page.objects.listed().filter(pk__in=sources).exclude(pk=page)


def _first_linking(page: int, limit: int) -> QuerySet[Page, tuple[Any, ...]]:
    return _linking(page).order_by("title", "pk").values_list("uid", "title", "path")[: limit + 1]


def list_pages(*, type: str | None = None, limit: int = 100, cursor: str | None = None) -> dict[str, Any]:
    """Live pages by title, reserved ones left out: ``result`` (PageRefs), ``next_cursor`` (or null), ``total``.

    ``limit`` is clamped to 1..500. Pages made meanwhile neither repeat nor hide others. Raises ``invalid_cursor``,
    ``invalid_param_value`` for a type that is none of the five.
    """
    if type is not None and type not in PageType.values:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, f"type must be one of {', '.join(PageType.values)}, or null for all pages."
        )
    limit = max(1, min(limit, MAX_LIST))
    pages = Page.objects.listed() if type is None else Page.objects.listed().filter(type=type)
    name = f"pages:{type or ''}"
    rest = pages
    if cursor:
        title, pk = read_cursor(name, cursor)
        # The first condition alone lets the index on title start in the right place.
        rest = pages.filter(title__gte=title).filter(Q(title__gt=title) | Q(pk__gt=pk))
    rows = list(rest.order_by("title", "pk").only("pk", "uid", "title", "type", "path")[: limit + 1])
    more = len(rows) > limit
    rows = rows[:limit]
    return {
        "result": [page_ref(page) for page in rows],
        "next_cursor": make_cursor(name, after=rows[-1].title, pk=rows[-1].pk) if more else None,
        "total": pages.count(),
    }


def pages_that_begin(text: str, *, limit: int) -> tuple[list[Page], int]:
    """Live pages whose title begins so, whatever the case, by title and at most ``limit``; and how many there are.

    Reserved ones are left out. None for a text that no title can have.
    """
    wanted = unicodedata.normalize("NFC", text)
    if storable(wanted) != wanted:
        return [], 0
    pages = Page.objects.listed().filter(title__istartswith=wanted)
    return list(pages.order_by("title", "pk").only("pk", "uid", "title")[:limit]), pages.count()


def page_at(path: str, *, deleted: bool = False) -> Page:
    """The live page at exactly this path (in any Unicode form), reserved ones included.

    With ``deleted`` also the last that was there. Raises ``page_not_found``, ``path_not_allowed``.
    """
    return page_by_title("", path=path, deleted=deleted)


def page_version(page: Page, version: int, *, displaced: bool = False) -> str:
    """The text of a version: the page as that change left it, or with ``displaced`` what the change took away.

    ``version`` is a number of :func:`page_history`. Raises ``not_found`` where its bytes are not kept any more.
    """
    data = history.read_version(current_vault(), page.uid, version, displaced=displaced)
    return data.decode("utf-8", errors="replace")


def page_history(page: Page, *, limit: int = 100) -> list[dict[str, Any]]:
    """The versions Synapse keeps of a page, newest first: who wrote what when, through which door.

    ``restorable``: what the change left is still kept.
    """
    versions = history.versions(current_vault(), page.uid, limit=limit)
    kept = history.restorable(current_vault(), page.uid) if versions else set()
    return [
        {
            "number": version.number,
            "at": version.at,
            "author": version.author,
            "door": version.door,
            "action": version.action,
            "path": version.path,
            "content_hash": version.content_hash,
            "displaced_hash": version.displaced_hash,
            "size": version.size,
            "restorable": version.number in kept,
        }
        for version in versions
    ]
