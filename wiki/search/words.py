"""The words index, whichever database holds it: what sync writes, and ranked candidates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from django.db import connection

from wiki.search import words_postgres, words_sqlite
from wiki.search.rows import PageWords


def engine() -> ModuleType:
    """The module that speaks to this database's full text."""
    return words_sqlite if connection.vendor == "sqlite" else words_postgres


def index_words(pages: Iterable[PageWords | tuple[Any, ...]]) -> None:
    """Index the text of pages (rows of :class:`PageWords`), in the caller's transaction; known keys are replaced."""
    rows = [PageWords(*page) for page in pages]
    if rows:
        engine().put(rows)


def remove_words(pks: Iterable[int]) -> None:
    """Take pages out of the words index, in the caller's transaction."""
    keys = list(pks)
    if keys:
        engine().remove(keys)


@contextmanager
def many_pages() -> Iterator[None]:
    """For the length of the block, expect pages by the thousand: put off work that each batch would repeat."""
    prepare, restore = getattr(engine(), "MANY_PAGES", ("", ""))
    with connection.cursor() as cursor:
        if prepare:
            cursor.execute(prepare)
        try:
            yield
        finally:
            if restore:
                cursor.execute(restore)
