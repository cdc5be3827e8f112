"""What the index knows of the files, as light rows: the state that a scan starts from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from wiki.models import File, Page
from wiki.rows import chunks


class KnownPage(NamedTuple):
    """A live page as last indexed. ``read_ns`` 0: its bytes could not be had, so it is to be tried again."""

    pk: int
    uid: UUID
    path: str
    content_hash: str
    size: int
    mtime_ns: int
    inode: int
    birth_ns: int | None
    read_ns: int


class KnownFile(NamedTuple):
    """Any other live file as last indexed."""

    pk: int
    path: str
    kind: str
    content_hash: str
    size: int
    mtime_ns: int
    inode: int
    read_ns: int


@dataclass(slots=True)
class Known:
    """Live rows by path."""

    pages: dict[str, KnownPage] = field(default_factory=dict)
    files: dict[str, KnownFile] = field(default_factory=dict)


def load_known(paths: Collection[str] | None = None) -> Known:
    """The live rows at these paths, or all."""
    known = Known()
    for chunk in [None] if paths is None else chunks(paths):
        pages = Page.objects.live().order_by()
        files = File.objects.filter(deleted_at__isnull=True).order_by()
        if chunk is not None:
            pages, files = pages.filter(path__in=chunk), files.filter(path__in=chunk)
        known.pages.update((row[2], KnownPage(*row)) for row in pages.values_list(*KnownPage._fields))
        known.files.update((row[1], KnownFile(*row)) for row in files.values_list(*KnownFile._fields))
    return known
