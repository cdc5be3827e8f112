"""Pages by meaning: the query's vector against those of their passages. Whatever fails here costs no search."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from django.db import DatabaseError

from vault.errors import SynapseError
from wiki.rows import select
from wiki.search.budget import beginning
from wiki.search.candidates import Candidate
from wiki.search.databases import savepoint, was_cancelled
from wiki.search.filters import Filters
from wiki.vectors.embedders import (
    Embedder,
    current_embedder,
    embedder_problem,
    embeddings_wanted,
    in_process,
    loaded_embedder,
    sparse,
)
from wiki.vectors.patience import Patience, Turn
from wiki.vectors.rows import embedding_state, model_problem

#: Of a query that are embedded, so that it costs no more than a passage whatever its script: a thousand letters, or a
#: quarter of that in Chinese, where each is a token.
QUERY_TOKENS: Final = 250
#: Passages asked for to get one page, and again where pages turn out to have many that match.
_PASSAGES_A_PAGE: Final = (3, 16)
FAILED: Final = (
    "Meaning could not be searched, so these pages were found by their words alone. "
    "`manage.py doctor` says what is wrong."
)

logger = logging.getLogger(__name__)


class Meaning(NamedTuple):
    """Pages that are near a query in meaning.

    ``candidates``: listed pages, best first; None where meaning was not searched. ``passages``: of each page the
    passages (their ordinals) that were found, best first. ``problem``: why it failed, for people.
    """

    candidates: list[Candidate] | None
    passages: dict[int, list[int]]
    problem: str | None = None


NOT_ASKED: Final = Meaning(None, {})
patience: Final = Patience()


class _Told:
    """The problem that the log has last: it hears of each once, not with each query."""

    problem: str | None = None


def by_meaning(text: str, filters: Filters, limit: int) -> Meaning:
    """At most ``limit`` pages that pass the filters, each by its best passage. Never raises but for a time limit.

    That embeddings are off, or that no page has its vectors yet, is no problem.
    """
    if not embeddings_wanted():
        return NOT_ASKED
    try:
        with patience.turn() as turn, savepoint():
            problem, found = _searched(text, filters, limit, turn)
    except SynapseError as error:
        problem, found = error.message, NOT_ASKED
    except Exception as error:  # an embedder or a store may be anybody's, and words are there without it
        if isinstance(error, DatabaseError) and was_cancelled(error):
            raise
        _log(type(error).__name__)
        return NOT_ASKED._replace(problem=FAILED)
    _log(problem)
    return found._replace(problem=problem)


def _log(problem: str | None) -> None:
    if problem and problem != _Told.problem:
        logger.warning("meaning can't be searched", extra={"reason": problem})
    _Told.problem = problem


def _searched(text: str, filters: Filters, limit: int, turn: Turn) -> tuple[str | None, Meaning]:
    embedder = loaded_embedder() or turn.ask(current_embedder, once=True)
    if embedder is None:
        return embedder_problem(), NOT_ASKED
    state = embedding_state()
    if not state.model_id:
        return None, NOT_ASKED
    if (state.model_id, state.dim) != (embedder.model_id, embedder.dim):
        return model_problem(embedder.model_id, embedder.dim), NOT_ASKED
    allowed = set(filters.pages().values_list("pk", flat=True)) if filters else None
    if allowed is not None and not allowed:
        return None, Meaning([], {})
    some = beginning(text, QUERY_TOKENS)
    asked = _embedded(embedder, some) if in_process(embedder) else turn.ask(lambda: _embedded(embedder, some))
    vector, weights = asked
    return None, _nearest(vector, weights, allowed, limit, turn)


def _embedded(embedder: Embedder, text: str) -> tuple[Any, Mapping[str, float] | None]:
    """A query's vector, and its weights by token where the embedder makes some."""
    weighing = sparse(embedder)
    return embedder.embed_query(text), weighing.sparse_query(text) if weighing else None


def _nearest(
    vector: Any, weights: Mapping[str, float] | None, allowed: Collection[int] | None, limit: int, turn: Turn
) -> Meaning:
    """Pages by their best passage, equals by path."""
    from wiki.vectors import stores  # loads numpy

    store = stores.current_store() if stores.is_at_hand() else turn.ask(stores.current_store, once=True)
    best: dict[int, float]
    passages: dict[int, list[int]]
    for each in _PASSAGES_A_PAGE:
        hits = store.search(vector, limit=limit * each, allowed=allowed, sparse=weights, seconds=turn.left)
        best, passages = {}, {}
        for hit in sorted(hits, key=lambda hit: (-hit.score, hit.page, hit.ordinal)):
            best.setdefault(hit.page, hit.score)
            passages.setdefault(hit.page, []).append(hit.ordinal)
        paths = dict(select(_LISTED, best))
        if len(paths) >= limit or len(hits) < limit * each:
            break
    order = sorted(paths, key=lambda pk: (-best[pk], paths[pk]))[:limit]
    return Meaning([Candidate(pk, paths[pk], best[pk]) for pk in order], {pk: passages[pk] for pk in order})


_LISTED: Final = "SELECT id, path FROM {page} WHERE id IN {items} AND deleted_at IS NULL AND NOT reserved"
_WAITING: Final = "SELECT id FROM {page} WHERE id IN {items} AND lead_hash <> content_hash"


def not_embedded(pks: Iterable[int]) -> set[int]:
    """Those of the pages that meaning can't have found as they are: no passage of theirs has its vector yet."""
    return {pk for (pk,) in select(_WAITING, pks)}
