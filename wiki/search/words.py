"""The words index, whichever database holds it: what sync writes, and ranked candidates."""

from __future__ import annotations

import threading
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
        _expect_many()
        engine().put(rows)


def remove_words(pks: Iterable[int]) -> None:
    """Take pages out of the words index, in the caller's transaction."""
    keys = list(pks)
    if keys:
        engine().remove(keys)


class _Many(threading.local):
    """Of this thread: whether pages by the thousand are expected, and whether the index was told so."""

    expected = told = False


_many = _Many()


@contextmanager
def many_pages() -> Iterator[None]:
    """For the length of the block, expect pages by the thousand: put off work that each batch would repeat.

    The index is told so before its first page: a block in which nothing is indexed writes nothing.
    """
    _many.expected, _many.told = True, False
    try:
        yield
    finally:
        told, _many.expected, _many.told = _many.told, False, False
        if told:
            with connection.cursor() as cursor:
                cursor.execute(engine().MANY_PAGES[1])


def _expect_many() -> None:
    if _many.expected and not _many.told and hasattr(engine(), "MANY_PAGES"):
        _many.told = True
        with connection.cursor() as cursor:
            cursor.execute(engine().MANY_PAGES[0])
