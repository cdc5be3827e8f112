"""The feed of changes: which pages and files to look at again, for whoever derives something from the index.

Rows are written inside the transaction that changes the index, so that none is lost, and deleted once somebody has
acted on them. A page is noted when its row, its links out or its links in changed (by a negative number, if nothing
but its links in did); another file when it came, changed or went. A page or file noted twice, or in vain, costs a
look and nothing else.

All writers hold :func:`wiki.rows.index_lock`, so that numbers are given in the order of commits and :func:`done`
never takes away what nobody has seen.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from django.db import connection

from wiki.models import ChangeKind, IndexChange
from wiki.rows import insert

#: With more rows than this waiting one row that says "everything" takes their place.
MAX_WAITING: Final = 20_000
_FIELDS: Final = ("kind", "key")
_PAGE, _FILE, _ALL = ChangeKind.PAGE.value, ChangeKind.FILE.value, ChangeKind.ALL.value
_SPAN: Final = "SELECT (SELECT MAX(id) FROM {table}), (SELECT MIN(id) FROM {table})"


@dataclass(frozen=True, slots=True)
class Changed:
    """What has changed: numbers of pages and of other files, those that are gone included, or ``everything``.

    ``linked`` are those of the pages that are as they were, but for the links that lead to them. ``upto`` is the last
    row seen, for :func:`done`; 0 when nothing waits.
    """

    pages: set[int] = field(default_factory=set)
    files: set[int] = field(default_factory=set)
    everything: bool = False
    upto: int = 0
    linked: set[int] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.pages or self.files or self.everything)


def note(
    *,
    pages: Collection[int] = (),
    files: Collection[int] = (),
    linked: Collection[int] = (),
    everything: bool = False,
) -> None:
    """Note what changed, in the transaction that changed it, which holds the index lock.

    ``linked`` are pages that gained or lost a link in, and may be among ``pages`` as well. With ``everything`` one row
    takes the place of all that wait, if anything is named at all. So it does when too many wait, because nobody
    consumes them.
    """
    if not pages and not files and not linked:
        return
    if not everything:
        rows = [(_PAGE, page) for page in sorted(pages)] + [(_FILE, file) for file in sorted(files)]
        rows += [(_PAGE, -page) for page in sorted(set(linked).difference(pages))]
        insert(IndexChange, _FIELDS, rows)
        if not _too_many():
            return
    note_everything()


def note_everything() -> None:
    """Have everything looked at again: one row instead of all that wait."""
    row = IndexChange.objects.create(kind=_ALL)
    IndexChange.objects.filter(pk__lt=row.pk).delete()


def take() -> Changed:
    """What waits now. It goes on waiting until :func:`done` is called with ``upto``: after a crash it is told again."""
    changed = {_PAGE: set[int](), _FILE: set[int](), _ALL: set[int]()}
    upto = 0
    for upto, kind, key in IndexChange.objects.order_by("pk").values_list("pk", "kind", "key").iterator():  # noqa: B007
        changed[kind].add(key)
    pages = set(map(abs, changed[_PAGE]))
    return Changed(pages, changed[_FILE], bool(changed[_ALL]), upto, linked=pages - changed[_PAGE])


def done(upto: int) -> None:
    """Forget the rows up to this one: somebody has acted on them."""
    IndexChange.objects.filter(pk__lte=upto).delete()


def waiting() -> bool:
    """Whether anything waits: one look at the first row."""
    return IndexChange.objects.order_by().exists()


def _too_many() -> bool:
    """Told from the first and the last number: counting would read all that wait, at each write."""
    table = connection.ops.quote_name(IndexChange._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(_SPAN.format(table=table))
        last, first = cursor.fetchone()
    return bool(last - first >= MAX_WAITING)
