"""The one pipeline behind every search: candidates, then what is shown of them."""

from __future__ import annotations

import logging
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any, Final

from django.db import DatabaseError, connection, transaction

from wiki.data_version import data_version
from wiki.models import Page
from wiki.search.answer import SearchAnswer, SearchHit
from wiki.search.candidates import Candidate, word_candidates
from wiki.search.filters import Filters
from wiki.search.passages import BODY_CHARS, why_and_snippet
from wiki.search.query import WordsQuery, analyse
from wiki.search.words import engine

MAX_K: Final = 100
LEXICAL: Final = "lexical"
BROKEN_WORDS: Final = "The words index can't be read. Run `manage.py search --rebuild` to make it anew."

logger = logging.getLogger(__name__)


def search(
    query: str,
    *,
    k: int = 8,
    types: Collection[str] | None = None,
    tag: str | None = None,
    path_prefix: str | None = None,
    lang: str | None = None,
    updated_since: datetime | None = None,
    prefix: bool = False,
) -> SearchAnswer:
    """Find pages by their words: any language, best first, deleted and reserved pages left out.

    ``k`` is clamped to 1..100. ``types``: page types. ``tag``: with the tags nested in it. ``lang``: ISO 639-1.
    ``updated_since``: an aware datetime, compared with the file's time. ``prefix``: the last word is still being
    typed. Everything in ``query`` is a word; one without words finds nothing.

    Raises SynapseError invalid_param_value for a query over 10,000 characters or a filter that can't be. A broken
    index is no error: no hits, and ``degraded`` says what to do.
    """
    analysed = analyse(query, lang=lang or "", prefix=prefix)
    filters = Filters(types or (), tag or "", path_prefix or "", lang or "", updated_since)
    degraded: dict[str, str] | None = None
    version = data_version()
    try:
        with _savepoint():
            hits = _shown(analysed, word_candidates(analysed, filters, max(1, min(k, MAX_K))))
    except DatabaseError as error:
        if _was_cancelled(error):
            raise
        logger.warning("the words index can't be read")
        hits, degraded = [], {"words": BROKEN_WORDS}
    return SearchAnswer(hits, LEXICAL, degraded, version)


def _shown(query: WordsQuery, candidates: list[Candidate]) -> list[SearchHit]:
    """The candidates with their rows, in the same order."""
    keys = [candidate.pk for candidate in candidates]
    pages = _rows(keys)
    texts = engine().bodies(keys, BODY_CHARS)
    hits = []
    for candidate in candidates:
        page = pages.get(candidate.pk)
        if page is None:
            continue  # removed since
        names, body = texts.get(candidate.pk, ("", ""))
        reason, passage = why_and_snippet(query, page.title, names, body)
        hits.append(SearchHit(page, round(candidate.score, 6), reason, passage))
    return hits


def _rows(keys: list[int]) -> dict[int, Page]:
    """Pages by key. Plain SQL, since the ORM takes as long to write it as the database to answer it."""
    if not keys:
        return {}
    places = ", ".join(["%s"] * len(keys))
    return {page.pk: page for page in Page.objects.raw(f"SELECT * FROM wiki_page WHERE id IN ({places})", keys)}  # noqa: S608


def _savepoint() -> AbstractContextManager[Any]:
    """On PostgreSQL a failed statement spoils the caller's transaction unless it fails in a savepoint of its own."""
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        return transaction.atomic()
    return nullcontext()


def _was_cancelled(error: DatabaseError) -> bool:
    """Whether a time limit ended the statement; that is the caller's to report."""
    cause = error.__cause__
    return getattr(cause, "sqlite_errorname", "") == "SQLITE_INTERRUPT" or getattr(cause, "sqlstate", "") == "57014"
