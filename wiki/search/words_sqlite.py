"""Words on SQLite: FTS5 and its bm25."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from django.db import connection
from django.db.backends.utils import CursorWrapper

from wiki.search.query import Term, with_stems
from wiki.search.rows import PageWords
from wiki.search.stems import stem_tokens
from wiki.search.text import SPACELESS, SPACELESS_RANGES, WORD, clean, fold, grams, shadow

# title, names, body, shadow; docs/benchmarks-search.md has what else was measured
WEIGHTS: Final = (3.0, 1.0, 1.0, 1.0)
_IDS_AT_ONCE: Final = 500
# Titles and other names with what is being typed, above which texts are not looked at: each place of each word that
# begins so has its cost, 0.6 s together for one letter in 3.6 million words. Four letters tell more, and cost less.
_MANY_NAMES: Final = 100
_MANY_NAMES_LONG: Final = 1_000
_LONG: Final = 4
_PIECES: Final = re.compile(rf"[{SPACELESS_RANGES}]+|[^{SPACELESS_RANGES}]+")
# Segments of a level that are let be before they are merged: each merge writes again what was written before.
MANY_PAGES: Final = (
    "INSERT INTO wiki_words(wiki_words, rank) VALUES ('automerge', 8)",
    "INSERT INTO wiki_words(wiki_words, rank) VALUES ('automerge', 4)",
)


def put(pages: Iterable[PageWords]) -> None:
    """Index pages, replacing what was there under their keys."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT OR REPLACE INTO wiki_words(rowid, title, names, body, shadow) VALUES (%s, %s, %s, %s, %s)",
            [_row(page) for page in pages],
        )


def _row(page: PageWords) -> tuple[int, str, str, str, str]:
    title, body = clean(page.title), clean(page.body)
    names = clean("\n".join((*page.aliases, *page.tags)))
    # the shadow of a title counts twice, as its words do
    tokens = [*shadow(title) * 2, *shadow(names), *shadow(body)]
    tokens += [*[*stem_tokens(title, page.lang)] * 2, *stem_tokens(names, page.lang), *stem_tokens(body, page.lang)]
    return page.pk, title, names, body, " ".join(tokens)


def remove(pks: Sequence[int]) -> None:
    """Take pages out of the index; keys that are not in it are no error."""
    with connection.cursor() as cursor:
        cursor.executemany("DELETE FROM wiki_words WHERE rowid = %s", [(pk,) for pk in pks])


def match_expression(terms: Iterable[Term]) -> str:
    """The terms as an FTS5 expression: quoted strings, OR between them, and nothing else."""
    return " OR ".join(alternative for term in terms for alternative in _alternatives(term))


def _alternatives(term: Term) -> list[str]:
    star = " *" if term.prefix else ""
    columns = "{title names} : " if term.in_names else ""
    found = [f'{columns}"{" ".join(term.tokens)}"{star}']
    if term.as_written and term.as_written != term.tokens[0]:
        found.append(f'{columns}"{term.as_written}"{star}')
    return found


def ranked(terms: Sequence[Term], limit: int) -> list[tuple[int, str | None, float]]:
    """(page key, path, score above 0) of the best matches among all indexed pages, best first.

    The path is None for a page that may not be shown.
    """
    sql = (
        "SELECT best.rowid, page.path, -best.rank FROM (SELECT rowid, rank FROM wiki_words "
        "WHERE wiki_words MATCH %s AND rank MATCH %s ORDER BY rank LIMIT %s) best "
        "LEFT JOIN wiki_page page ON page.id = best.rowid AND page.deleted_at IS NULL AND NOT page.reserved "
        "ORDER BY best.rank, page.path"
    )
    return _fetched(sql, terms, (), limit)


def ranked_within(terms: Sequence[Term], limit: int, sql: str, params: tuple[Any, ...]) -> list[tuple[int, str, float]]:
    """As :func:`ranked`, among the pages whose keys ``sql`` selects, equals by path."""
    within = (
        "SELECT wiki_words.rowid, wiki_page.path, -wiki_words.rank "  # noqa: S608 - made by the ORM
        "FROM wiki_words JOIN wiki_page ON wiki_page.id = wiki_words.rowid "
        f"WHERE wiki_words MATCH %s AND rank MATCH %s AND wiki_words.rowid IN ({sql}) "
        "ORDER BY wiki_words.rank, wiki_page.path LIMIT %s"
    )
    return _fetched(within, terms, params, limit)


def _fetched(sql: str, terms: Sequence[Term], params: tuple[Any, ...], limit: int) -> list[Any]:
    """Rows of ``sql`` for the telling terms; for all terms where those find too few."""
    terms = with_stems(terms)
    with connection.cursor() as cursor:
        telling = _telling(cursor, _affordable(cursor, terms))
        cursor.execute(sql, [match_expression(telling), _bm25(), *params, limit])
        rows: list[Any] = cursor.fetchall()
        if len(rows) < limit and telling != terms:
            cursor.execute(sql, [match_expression(terms), _bm25(), *params, limit])
            rows = cursor.fetchall()
        return rows


def _affordable(cursor: CursorWrapper, terms: list[Term]) -> list[Term]:
    """The terms; the beginning of a word that many pages have in their names is looked for in names alone.

    Of so many pages those whose title has it are meant, and bm25 puts them first anyway, after ranking all others.
    """
    return [replace(term, in_names=True) if _is_in_many_names(cursor, term) else term for term in terms]


def _is_in_many_names(cursor: CursorWrapper, term: Term) -> bool:
    if not term.prefix or term.within or len(term.tokens) > 1:
        return False
    many = _MANY_NAMES if len(term.tokens[0]) < _LONG else _MANY_NAMES_LONG
    cursor.execute(
        "SELECT count(*) FROM (SELECT 1 FROM wiki_words WHERE wiki_words MATCH %s LIMIT %s)",
        [match_expression([replace(term, in_names=True)]), many + 1],
    )
    return bool(cursor.fetchone()[0] > many)


def _telling(cursor: CursorWrapper, terms: Sequence[Term]) -> Sequence[Term]:
    """The terms that less than half of the pages have.

    bm25 gives the others (nearly) nothing, yet each costs a look at every page that has it:
    counting is 20 times faster than ranking, and what is ranked stays in the same order.
    """
    words = [term for term in terms if len(term.tokens) == 1 and not term.in_names]
    if len(terms) < 2 or not words:
        return terms
    counts = ", ".join(["(SELECT count(*) FROM wiki_words WHERE wiki_words MATCH %s)"] * len(words))
    cursor.execute(
        f"SELECT (SELECT count(*) FROM wiki_words_docsize), {counts}",  # noqa: S608 - placeholders only
        [match_expression([term]) for term in words],
    )
    pages, *having = cursor.fetchone()
    common = {term for term, count in zip(words, having, strict=True) if 2 * count > pages}
    return [term for term in terms if term not in common] or terms


def bodies(pks: Sequence[int], chars: int) -> dict[int, tuple[str, str]]:
    """Page key to its other names and the first ``chars`` characters of its body."""
    found: dict[int, tuple[str, str]] = {}
    with connection.cursor() as cursor:
        for at in range(0, len(pks), _IDS_AT_ONCE):
            some = pks[at : at + _IDS_AT_ONCE]
            marks = ", ".join(["%s"] * len(some))
            cursor.execute(
                f"SELECT rowid, names, substr(body, 1, %s) FROM wiki_words WHERE rowid IN ({marks})",  # noqa: S608
                [chars, *some],
            )
            found.update((pk, (names, body)) for pk, names, body in cursor.fetchall())
    return found


def _bm25() -> str:
    return f"bm25({', '.join(map(str, WEIGHTS))})"


def ends(pks: Sequence[int], chars: int) -> dict[int, str]:
    """Page key to the first and the last ``chars`` characters of its body, a blank between them."""
    marks = ", ".join(["%s"] * len(pks))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rowid, substr(body, 1, %s) || ' ' || substr(body, -%s) "  # noqa: S608 - placeholders only
            f"FROM wiki_words WHERE rowid IN ({marks})",
            [chars, chars, *pks],
        )
        return dict(cursor.fetchall())


def holding(text: str) -> list[int]:
    """The pages whose bodies may hold these words beside each other, in the order of their keys."""
    parts = [*_phrases(text)]
    if not parts:
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT rowid FROM wiki_words WHERE wiki_words MATCH %s ORDER BY rowid", [" AND ".join(parts)])
        return [row[0] for row in cursor.fetchall()]


def _phrases(text: str) -> Iterator[str]:
    """What a body has to match: runs of words as phrases, scripts without spaces by their pairs in the shadow."""
    together: list[str] = []
    for word in (found[0] for found in WORD.finditer(clean(text))):
        if not SPACELESS.search(word):
            together.append(word.lower())
            continue
        yield from _phrase(together)
        together = []
        for piece in _PIECES.findall(word):
            if not SPACELESS.match(piece):
                yield f'{{body shadow}} : "{fold(piece)}"'
            elif len(piece) > 1:
                yield f'{{shadow}} : "{" ".join([*grams(fold(piece))][:-1])}"'
            else:
                yield f'{{shadow}} : "{fold(piece)}" *'
    yield from _phrase(together)


def _phrase(words: list[str]) -> Iterator[str]:
    """Words beside each other; one that sticks to a script without spaces stands in the shadow, alone."""
    if len(words) == 1:
        yield f'{{body shadow}} : ("{words[0]}" OR "{fold(words[0])}")'
    elif words:
        stuck = " OR ".join(f'"{fold(word)}"' for word in words)
        each = " AND ".join(f'("{word}" OR "{fold(word)}")' for word in words)
        yield f'({{body}} : "{" ".join(words)}" OR ({{shadow}} : ({stuck}) AND {{body shadow}} : ({each})))'
