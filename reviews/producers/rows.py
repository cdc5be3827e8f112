"""Reads that producers make after each change, in plain SQL: building QuerySets would cost more than all else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection

from wiki.changes import Changed
from wiki.models import Page
from wiki.rows import all_rows, chunks, select

_LISTED: Final = "SELECT id, path, title, lang, type FROM {page} WHERE deleted_at IS NULL AND NOT reserved"
_AMONG: Final = " AND id IN {items}"
_UIDS: Final = "SELECT uid FROM {page} WHERE id IN {items}"
_NUMBERS: Final = "SELECT id FROM {page} WHERE uid IN {items}"


class Listed(NamedTuple):
    """A page that is live and not reserved."""

    pk: int
    path: str
    title: str
    lang: str
    type: str | None


def read(statement: str, among: str, items: Collection[Any] | None) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement, narrowed by ``among`` (with ``{items}``) to these items; None: all of them."""
    return all_rows(statement) if items is None else select(statement + among, items)


def listed(pages: Collection[int] | None) -> Iterator[Listed]:
    """Those of these pages that are listed; None: all that are."""
    return (Listed(*row) for row in read(_LISTED, _AMONG, pages))


def rewritten(changed: Changed) -> set[int] | None:
    """The pages of which more changed than the links that lead to them; None: all may have."""
    return None if changed.everything else changed.pages - changed.linked


def page_targets(pages: Iterable[int]) -> set[str]:
    """The ids of pages, as targets of questions about them; pages that are gone have one as well."""
    return {str(uid if isinstance(uid, UUID) else UUID(uid)) for (uid,) in select(_UIDS, pages)}


def pages_asked_about(targets: Iterable[str]) -> set[int]:
    """The pages that targets name by their ids."""
    ids = [UUID(target) for target in targets]
    return {pk for (pk,) in select(_NUMBERS, [uid.hex for uid in ids] if connection.vendor == "sqlite" else ids)}


def shown(pages: Collection[int]) -> dict[int, Page]:
    """What findings say of these pages."""
    rows = Page.objects.only("uid", "path", "title", "frontmatter").order_by()
    return {page.pk: page for chunk in chunks(pages) for page in rows.filter(pk__in=chunk)}
