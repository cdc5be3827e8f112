"""Words on PostgreSQL: BM25 over a tsvector made here, so that it holds the tokens that SQLite's index holds.

Folding, stems and bigrams are made in Python: no extension, no text search configuration
and no locale of the server has a say in what is found.

PostgreSQL's own ranks know no inverse document frequency, and reading a page's tsvector to count its words costs a
hundred times what a look into the GIN index costs. So how often a page has a word is in the index as well: beside
``'heat'`` a page that has heat five times has the lexeme ``'~3heat'``; 3 is the place in LEVELS of the last number
that is not above five. A word holds letters, digits and marks only, so ``~`` collides with none. BM25 is then a sum
over looks into the index: of each word's pages, and of those of each of its levels.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from wiki.search.query import Term, with_stems
from wiki.search.rows import PageWords
from wiki.search.stemmer import stem
from wiki.search.stems import stem_tokens
from wiki.search.text import SPACELESS, clean, symbol_names, words

# PostgreSQL's own bounds: 256 positions a lexeme, positions up to 16,383, 1 MiB a tsvector
_POSITIONS: Final = 255
_LAST_POSITION: Final = 16_383
_VECTOR_BYTES: Final = 900_000
# tokens of a text in which a word of a name may well stand more than 255 times
_LONG_TEXT: Final = 4_000
#: What a word in the title counts for, as in the index of SQLite; docs/benchmarks-search.md has what else was measured.
TITLE_WEIGHT: Final = 3
#: The frequencies that are told apart; ten more would add .001 to the quality. The place of one has a single digit.
LEVELS: Final = (1, 2, 3, 4, 6, 9, 14, 24)
#: BM25's saturation of frequencies and its normalisation by length (Robertson and Zaragoza, The Probabilistic
#: Relevance Framework: BM25 and Beyond, 2009). The values are those of FTS5, so that both databases rank alike.
K1: Final = 1.2
B: Final = 0.75
#: The inverse document frequency of a word that half of the pages have, or more; FTS5's too.
LEAST_IDF: Final = 1e-6
# Pages with the rarest words are candidates; once there are this many, more frequent words only rank them.
_CANDIDATES: Final = 1000


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
    tokens, vector = _vector(title, names, body, page.lang)
    return page.pk, title, names, body, tokens, vector


def _vector(title: str, names: str, body: str, lang: str = "") -> tuple[int, str]:
    """Number of tokens, and the tsvector as text."""
    positions: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    position = size = 0
    for text, weight, times in ((title, "A", TITLE_WEIGHT), (names, "B", 1), (body, "", 1)):
        for token in _tokens(text, lang):
            position += 1
            at = positions.get(token)
            if at is None:
                size += 2 * len(token.encode()) + 32  # its level is a lexeme as well
                if size > _VECTOR_BYTES:
                    continue
                at = positions[token] = []
                counts[token] = 0
            counts[token] += times
            if len(at) < _POSITIONS:
                size += 2
                at.append(f"{min(position, _LAST_POSITION)}{weight}")
    lexemes = [f"'{token}':{','.join(at)}" for token, at in positions.items()]
    lexemes += [f"'~{bisect_right(LEVELS, count) - 1}{token}'" for token, count in counts.items() if count > 1]
    return position, " ".join(lexemes)


def _tokens(text: str, lang: str) -> Iterator[str]:
    for word in words(text):
        yield stem(word)
    yield from map(stem, symbol_names(text))
    yield from stem_tokens(text, lang)


def remove(pks: Sequence[int]) -> None:
    """Take pages out of the index; keys that are not in it are no error."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM wiki_words WHERE page_id = ANY(%s)", [list(pks)])


def match_expression(terms: Iterable[Term]) -> str:
    """The terms as a tsquery: quoted lexemes, ``|`` between the terms, ``<->`` inside one."""
    return " | ".join(_one(term) for term in terms)


def _one(term: Term, level: int = 0) -> str:
    """A term as a tsquery; with a level, a single word at that level."""
    lexemes = [stem(token) for token in term.tokens]
    if term.prefix:
        lexemes[-1] = term.tokens[-1]
    mark = f"~{level}" if level else ""
    quoted = " <-> ".join(f"'{mark}{lexeme}'" for lexeme in lexemes)
    return f"({quoted}{':*' if term.prefix else ''})"


class _Probe(NamedTuple):
    """One look into the index; the pages that it finds have the term at least ``level`` times."""

    idf: float
    level: float
    query: str


def ranked(terms: Sequence[Term], limit: int) -> list[tuple[int, str | None, float]]:
    """(page key, path, score above 0) of the best matches among all indexed pages, best first.

    The path is None for a page that may not be shown.
    """
    return _fetched(_RANKED, terms, (), limit)


def ranked_within(terms: Sequence[Term], limit: int, sql: str, params: tuple[Any, ...]) -> list[tuple[int, str, float]]:
    """As :func:`ranked`, among the pages whose keys ``sql`` selects, equals by path."""
    return _fetched(_RANKED_WITHIN.replace("{sql}", sql), terms, params, limit)


_COUNTS: Final = (
    "SELECT number, count(*), NULL FROM unnest(%s::int[], %s::tsquery[]) AS probe(number, query) "
    "JOIN wiki_words ON vector @@ query GROUP BY number UNION ALL SELECT -1, count(*), avg(tokens) FROM wiki_words"
)
# A term's own probe counts as frequency 1, a level's for what it adds to that; a phrase has no levels. The constants
# are cast: without it the length is computed in numeric, at many times the cost of float8.
_SCORED: Final = (
    "SELECT page_id, sum(idf * CASE WHEN level = 1 THEN 1 / (1 + length) "
    "ELSE level / (level + length) - 1 / (1 + length) END) AS score FROM (SELECT page_id, idf, level, "
    "%s::float8 + %s::float8 * tokens AS length "
    "FROM unnest(%s::float8[], %s::float8[], %s::tsquery[]) AS probe(idf, level, query) "
    "JOIN wiki_words ON vector @@ query {within}) hit GROUP BY page_id"
)
_RANKED: Final = (
    "SELECT best.page_id, page.path, best.score FROM "  # noqa: S608 - constants
    f"({_SCORED.format(within='')} ORDER BY score DESC, page_id LIMIT %s) best "
    "LEFT JOIN wiki_page page ON page.id = best.page_id AND page.deleted_at IS NULL AND NOT page.reserved "
    'ORDER BY best.score DESC, page.path COLLATE "C"'
)
_RANKED_WITHIN: Final = (
    "SELECT best.page_id, page.path, best.score FROM "  # noqa: S608 - made by the ORM
    f"({_SCORED.format(within='WHERE page_id IN ({sql})')}) best "
    'JOIN wiki_page page ON page.id = best.page_id ORDER BY best.score DESC, page.path COLLATE "C" LIMIT %s'
)


def _fetched(sql: str, terms: Sequence[Term], params: tuple[Any, ...], limit: int) -> list[Any]:
    """Rows of ``sql``: candidates by the telling terms; by all terms where those find too few."""
    inside = connection.in_atomic_block
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        # For a small table the planner would read all pages for each probe. Told not to, it prices the plan so high
        # that it would compile it, which takes a second.
        cursor.execute("SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)")
        rows = _best(cursor, sql, terms, params, limit)
        if inside:  # the caller's statements are planned as before
            cursor.execute("SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL jit TO DEFAULT")
    return rows


def _best(cursor: CursorWrapper, sql: str, terms: Sequence[Term], params: tuple[Any, ...], limit: int) -> list[Any]:
    terms = with_stems(terms)
    cursor.execute(_COUNTS, [list(range(len(terms))), [match_expression([term]) for term in terms]])
    counted = {number: (count, average) for number, count, average in cursor.fetchall()}
    pages, average = counted.pop(-1)
    having = {terms[number]: count for number, (count, _) in counted.items()}
    if not having:
        return []
    length = K1 * (1 - B), K1 * B / max(1.0, float(average))
    telling = _telling(having, pages)
    while True:
        probes = list(_probes(having, pages, telling))
        cursor.execute(sql, [*length, *map(list, zip(*probes, strict=True)), *params, limit])
        rows: list[Any] = cursor.fetchall()
        if len(rows) >= limit or len(telling) == len(having):
            return rows
        telling = list(having)


def _telling(having: dict[Term, int], pages: int) -> Collection[Term]:
    """The rarest terms, until enough pages have one; none that more than half of the pages have, unless all are so."""
    telling: list[Term] = []
    found = 0
    for term in sorted(having, key=lambda term: having[term]):
        if telling and (found > _CANDIDATES or 2 * having[term] > pages):
            break
        telling.append(term)
        found += having[term]
    return telling


def _probes(having: dict[Term, int], pages: int, telling: Collection[Term]) -> Iterator[_Probe]:
    """What to look for; a term that is not telling is looked for among the candidates, inside the index."""
    candidates = match_expression(telling)
    for term, count in having.items():
        idf = max(math.log((pages - count + 0.5) / (count + 0.5)), LEAST_IDF) * (K1 + 1)
        if term not in telling and 2 * count > pages:
            continue
        for level in range(len(LEVELS) if len(term.tokens) == 1 else 1):
            query = _one(term, level)
            yield _Probe(idf, float(LEVELS[level]), query if term in telling else f"({candidates}) & {query}")


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
    lexemes = _in_a_row(clean(text))
    if not lexemes:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT page_id FROM wiki_words WHERE vector @@ CAST(%s AS tsquery) "
            "OR (tokens > %s AND vector @@ CAST(%s AS tsquery)) ORDER BY page_id",
            [" <-> ".join(lexemes), _LONG_TEXT, " & ".join(lexemes)],
        )
        return [row[0] for row in cursor.fetchall()]


def _in_a_row(text: str) -> list[str]:
    """The lexemes that a text which holds this one has in a row."""
    tokens = list(words(text))
    lexemes = [f"'{stem(token)}'" for token in tokens]
    if tokens and SPACELESS.fullmatch(tokens[-1]):  # the last character of a run that may go on
        lexemes[-1] += ":*"
        if len(tokens) > 1 and len(tokens[-2]) == 2 and tokens[-2][1] == tokens[-1]:
            lexemes.pop()
    return lexemes
