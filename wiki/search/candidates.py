"""The first phase: ranked lists of pages, before anything is fetched to show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from django.db import connection

from vault.links import text_key
from wiki.search.filters import Filters
from wiki.search.query import WordsQuery
from wiki.search.words import engine

# Asked for beyond the limit: room for pages that may not be shown and for equals at the end of the list.
_SPARE: Final = 16
_LONGEST_TITLE: Final = 300
_MAX_NAMESAKES: Final = 20
# A page whose very name was typed stands this much above the best of the rest.
_NAMED: Final = 1.25


class Candidate(NamedTuple):
    """A page of a ranked list: key, vault path, score in 0..1, and whether its very name was asked for."""

    pk: int
    path: str
    score: float
    named: bool = False


def word_candidates(query: WordsQuery, filters: Filters, limit: int) -> list[Candidate]:
    """At most ``limit`` listed pages that pass the filters, best first, equals by path.

    Pages whose title or alias is the whole query come first. Raises django.db.DatabaseError when the index is broken.
    """
    scores = {pk: (path, score) for pk, path, score in _by_words(query, filters, limit)}
    best = max((score for _, score in scores.values()), default=1.0)
    named = _named(query, filters)
    for pk, path in named:
        scores[pk] = (path, best * _NAMED)
    order = sorted(((pk, path, score) for pk, (path, score) in scores.items()), key=lambda row: (-row[2], row[1]))
    top = order[0][2] if order else 1.0
    return [Candidate(pk, path, score / top, (pk, path) in named) for pk, path, score in order[:limit]]


def _by_words(query: WordsQuery, filters: Filters, limit: int) -> Sequence[tuple[int, str, float]]:
    if not query:
        return []
    if not filters:
        found = engine().ranked(query.terms, limit + _SPARE)
        shown = [(pk, path, score) for pk, path, score in found if path is not None]
        if len(found) < limit + _SPARE or (len(shown) >= limit and shown[limit - 1][2] > found[-1][2]):
            return shown[:limit]
        # too many that may not be shown, or equals on both sides of the end: ask exactly
    sql, params = filters.sql()
    exact: list[tuple[int, str, float]] = engine().ranked_within(query.terms, limit, sql, params)
    return exact


def _named(query: WordsQuery, filters: Filters) -> list[tuple[int, str]]:
    """Pages whose title or alias is the query. Plain SQL: building it with the ORM takes longer than running it."""
    if len(query.text) > _LONGEST_TITLE or not (key := text_key(query.text)):
        return []
    allowed, params = filters.sql() if filters else ("", ())
    within = f"id IN ({allowed})" if allowed else "deleted_at IS NULL AND NOT reserved"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id, path FROM wiki_page WHERE (title_key = %s OR id IN "  # noqa: S608 - made by the ORM
            f"(SELECT page_id FROM wiki_alias WHERE key = %s)) AND {within} ORDER BY path LIMIT %s",
            [key, key, *params, _MAX_NAMESAKES],
        )
        found: list[tuple[int, str]] = cursor.fetchall()
    return found
