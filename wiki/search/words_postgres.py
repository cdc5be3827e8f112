"""Words on PostgreSQL: a tsvector made here, so that it holds the tokens that SQLite's index holds.

Folding, stems and bigrams are made in Python: no extension, no text search
configuration and no locale of the server has a say in what is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from django.db import connection

from wiki.search.query import Term
from wiki.search.rows import PageWords
from wiki.search.stemmer import stem
from wiki.search.text import clean, symbol_names, words

# PostgreSQL's own bounds: 256 positions a lexeme, positions up to 16,383, 1 MiB a tsvector
_POSITIONS: Final = 255
_LAST_POSITION: Final = 16_383
_VECTOR_BYTES: Final = 900_000
# tokens of a text in which a word of a name may well stand more than 255 times
_LONG_TEXT: Final = 4_000
# D, C, B, A: body, (unused), names, title
WEIGHTS: Final = "{0.5, 0.5, 0.5, 1.0}"
# divide by 1 + log of the page's length
_NORMALISATION: Final = 1


def put(pages: Iterable[PageWords]) -> None:
    """Index pages, replacing what was there under their keys."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO wiki_words (page_id, title, names, body, tokens, vector) "
            "VALUES (%s, %s, %s, %s, %s, %s::tsvector) ON CONFLICT (page_id) DO UPDATE SET title = excluded.title, "
            "names = excluded.names, body = excluded.body, tokens = excluded.tokens, vector = excluded.vector",
            [_row(page) for page in pages],
        )


def _row(page: PageWords) -> tuple[int, str, str, str, int, str]:
    title, body = clean(page.title), clean(page.body)
    names = clean("\n".join((*page.aliases, *page.tags)))
    tokens, vector = _vector(title, names, body)
    return page.pk, title, names, body, tokens, vector


def _vector(title: str, names: str, body: str) -> tuple[int, str]:
    """Number of tokens, and the tsvector as text."""
    positions: dict[str, list[str]] = {}
    position = size = 0
    for text, weight in ((title, "A"), (names, "B"), (body, "")):
        for token in _tokens(text):
            position += 1
            at = positions.get(token)
            if at is None:
                size += len(token.encode()) + 16
                if size > _VECTOR_BYTES:
                    continue
                at = positions[token] = []
            if len(at) < _POSITIONS:
                size += 2
                at.append(f"{min(position, _LAST_POSITION)}{weight}")
    return position, " ".join(f"'{token}':{','.join(at)}" for token, at in positions.items())


def _tokens(text: str) -> Iterator[str]:
    for word in words(text):
        yield stem(word)
    yield from map(stem, symbol_names(text))


def remove(pks: Sequence[int]) -> None:
    """Take pages out of the index; keys that are not in it are no error."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM wiki_words WHERE page_id = ANY(%s)", [list(pks)])


def match_expression(terms: Iterable[Term]) -> str:
    """The terms as a tsquery: quoted lexemes, ``|`` between the terms, ``<->`` inside one."""
    return " | ".join(_one(term) for term in terms)


def _one(term: Term) -> str:
    lexemes = [f"'{stem(token)}'" for token in term.tokens]
    if term.prefix:
        lexemes[-1] = f"'{term.tokens[-1]}':*"
    return f"({' <-> '.join(lexemes)})"


def ranked(terms: Sequence[Term], limit: int) -> list[tuple[int, str | None, float]]:
    """(page key, path, score above 0) of the best matches among all indexed pages, best first.

    The path is None for a page that may not be shown.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT best.page_id, page.path, best.score FROM (SELECT page_id, "
            "ts_rank(%s::float4[], vector, query, %s) AS score FROM wiki_words, CAST(%s AS tsquery) query "
            "WHERE vector @@ query ORDER BY score DESC LIMIT %s) best "
            "LEFT JOIN wiki_page page ON page.id = best.page_id AND page.deleted_at IS NULL AND NOT page.reserved "
            'ORDER BY best.score DESC, page.path COLLATE "C"',
            [WEIGHTS, _NORMALISATION, match_expression(terms), limit],
        )
        found: list[tuple[int, str | None, float]] = cursor.fetchall()
    return found


def ranked_within(terms: Sequence[Term], limit: int, sql: str, params: tuple[Any, ...]) -> list[tuple[int, str, float]]:
    """As :func:`ranked`, among the pages whose keys ``sql`` selects, equals by path."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT page_id, page.path, ts_rank(%s::float4[], vector, query, %s) AS score "  # noqa: S608 - made by the ORM
            "FROM wiki_words JOIN wiki_page page ON page.id = page_id, CAST(%s AS tsquery) query "
            f"WHERE vector @@ query AND page_id IN ({sql}) "
            'ORDER BY score DESC, page.path COLLATE "C" LIMIT %s',
            [WEIGHTS, _NORMALISATION, match_expression(terms), *params, limit],
        )
        found: list[tuple[int, str, float]] = cursor.fetchall()
    return found


def bodies(pks: Sequence[int], chars: int) -> dict[int, tuple[str, str]]:
    """Page key to its other names and the first ``chars`` characters of its body."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT page_id, names, left(body, %s) FROM wiki_words WHERE page_id = ANY(%s)", [chars, list(pks)]
        )
        return {pk: (names, body) for pk, names, body in cursor.fetchall()}


def ends(pks: Sequence[int], chars: int) -> dict[int, str]:
    """Page key to the first and the last ``chars`` characters of its body, a blank between them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT page_id, left(body, %s) || ' ' || right(body, %s) FROM wiki_words WHERE page_id = ANY(%s)",
            [chars, chars, list(pks)],
        )
        return dict(cursor.fetchall())


def holding(text: str) -> list[int]:
    """The pages whose bodies may hold these words beside each other, in the order of their keys.

    A tsvector keeps the first 255 places of a word, so a long text is asked for the words only.
    """
    lexemes = [f"'{stem(token)}'" for token in words(clean(text))]
    if not lexemes:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT page_id FROM wiki_words WHERE vector @@ CAST(%s AS tsquery) "
            "OR (tokens > %s AND vector @@ CAST(%s AS tsquery)) ORDER BY page_id",
            [" <-> ".join(lexemes), _LONG_TEXT, " & ".join(lexemes)],
        )
        return [row[0] for row in cursor.fetchall()]
