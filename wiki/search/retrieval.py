"""The one pipeline behind every search: words and meaning, then links, then what is shown, then a context that fits.

:func:`retrieve` is all of it, :func:`search` the pages alone.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from django.db import DatabaseError

from vault.errors import ErrorCode, SynapseError
from wiki.data_version import data_version
from wiki.search.answer import HYBRID, LEXICAL, SEMANTIC, Phase, Retrieval, SearchAnswer
from wiki.search.assembly import assemble
from wiki.search.budget import DEFAULT_WINDOW
from wiki.search.candidates import Candidate, word_candidates
from wiki.search.databases import savepoint, was_cancelled
from wiki.search.filters import Filters
from wiki.search.fusion import reciprocal_rank
from wiki.search.links import MAX_DEPTH, Linked, linked_pages
from wiki.search.meaning import NOT_ASKED, by_meaning, not_embedded
from wiki.search.query import WordsQuery, analyse
from wiki.search.showing import Found, shown

MAX_K: Final = 100
#: What a person or an agent is given at most, through any door.
MOST_SHOWN: Final = 50
#: Pages of each list that are fused: what is beyond has no say in the first ten (docs/benchmarks-search.md).
LIST: Final = 150
#: One place in so many is for pages that links lead to.
_LINKED_SHARE: Final = 4
BROKEN_WORDS: Final = "The words index can't be read. Run `manage.py search --rebuild` to make it anew."
NO_WORDS: Final = "The query has no words: nothing was looked for. Ask with a word or a name."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Preset:
    """How many pages, and how many links away from those that match."""

    k: int
    depth: int


PRESETS: Final = {"fast": Preset(4, 0), "standard": Preset(8, 2), "deep": Preset(12, 2)}


class _Candidates(NamedTuple):
    """The first phase: pages best first, the passages that meaning found, and how it was searched."""

    found: list[Found]
    near: dict[int, list[int]]
    mode: str
    degraded: dict[str, str] | None


def retrieve(
    query: str,
    *,
    preset: str = "standard",
    k: int | None = None,
    depth: int | None = None,
    context_window: int = DEFAULT_WINDOW,
    types: Collection[str] | None = None,
    tag: str | None = None,
    path_prefix: str | None = None,
    lang: str | None = None,
    updated_since: datetime | None = None,
    prefix: bool = False,
    with_context: bool = True,
) -> Retrieval:
    """Find the pages that answer a query, best first, and put the passages that matched into one text.

    ``preset``: "fast", "standard" or "deep"; ``k`` (1..100) and ``depth`` (0..2 links) go above it, clamped. Three
    quarters of the places go by words and meaning alone, the last quarter to pages that links lead to, as far as there
    are any. ``context_window``: tokens of the model that is to read it (clamped to 4,096..1,000,000), of which the
    context takes a fifth at most. Filters and ``prefix`` as for :func:`search`; they hold for linked pages too.

    Raises SynapseError invalid_param_value for a query over 10,000 characters, an unknown preset or a filter that
    can't be. That one way of finding fails is no error: ``degraded`` says which, and what to do.
    """
    if preset not in PRESETS:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            f"A preset is one of {', '.join(PRESETS)}.",
            parameter="preset",
            allowed=list(PRESETS),
        )
    k = max(1, min(PRESETS[preset].k if k is None else k, MAX_K))
    depth = max(0, min(PRESETS[preset].depth if depth is None else depth, MAX_DEPTH))
    analysed = analyse(query, lang=lang or "", prefix=prefix)
    filters = Filters(types or (), tag or "", path_prefix or "", lang or "", updated_since)
    version = data_version()
    candidates = _candidates(analysed, filters, with_meaning=not prefix, alone=LIST if depth else k)
    found = _with_linked(candidates.found, k, depth, filters)
    show = shown(analysed, found, candidates.near, whole=with_context)
    context = assemble(analysed, show.hits, show.bodies, show.near, context_window) if with_context else None
    return Retrieval(show.hits, candidates.mode, candidates.degraded, version, context)


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
    """Find pages by words and meaning: any language, best first, deleted and reserved pages left out.

    ``k`` is clamped to 1..100. ``types``: page types. ``tag``: with the tags nested in it. ``lang``: ISO 639-1.
    ``updated_since``: an aware datetime, compared with the file's time. ``prefix``: the last word is still being
    typed; then words alone are searched. Everything in ``query`` is a word; one without words finds nothing.

    Raises and degrades as :func:`retrieve`.
    """
    return retrieve(
        query,
        k=k,
        depth=0,
        types=types,
        tag=tag,
        path_prefix=path_prefix,
        lang=lang,
        updated_since=updated_since,
        prefix=prefix,
        with_context=False,
    )


def _candidates(query: WordsQuery, filters: Filters, *, with_meaning: bool, alone: int) -> _Candidates:
    """Words and meaning, each a ranked list, fused. A page whose very name was asked for is first in both; one that
    waits for its vectors is scored by words alone, so that it has its place from the moment it is written.

    ``alone``: how many pages are asked for where words are all there is; fewer can be had for less.
    """
    if not query:
        return _Candidates([], {}, LEXICAL, {"meaning": NO_WORDS})
    meaning = by_meaning(query.text, filters, LIST) if with_meaning else NOT_ASKED
    words = _by_words(query, filters, alone if meaning.candidates is None else LIST)
    degraded = {}
    if words is None:
        degraded["words"] = BROKEN_WORDS
    if meaning.problem:
        degraded["meaning"] = meaning.problem
    named = [candidate for candidate in words or () if candidate.named]
    near = None if meaning.candidates is None else [*named, *meaning.candidates]
    mode = LEXICAL if near is None else SEMANTIC if words is None else HYBRID
    waiting = not_embedded(candidate.pk for candidate in words) if words and near is not None else ()
    found = _fused([ranked for ranked in (words, near) if ranked is not None], waiting)
    by_words, by_vector = {candidate.pk for candidate in words or ()}, set(meaning.passages)
    ranked = [Found(pk, path, score, _phase(pk in by_words, pk in by_vector)) for pk, path, score in found]
    return _Candidates(ranked, meaning.passages, mode, degraded or None)


def _by_words(query: WordsQuery, filters: Filters, limit: int) -> list[Candidate] | None:
    """The words list; None if the index is broken."""
    try:
        with savepoint():
            return word_candidates(query, filters, limit)
    except DatabaseError as error:
        if was_cancelled(error):
            raise
        logger.warning("the words index can't be read")
        return None


def _fused(lists: Sequence[Sequence[Candidate]], unjudged: Collection[int]) -> list[tuple[int, str, float]]:
    """Key, path and score of every page of the lists, best first, equals by path."""
    if not lists:
        return []
    paths = {candidate.pk: candidate.path for ranked in lists for candidate in ranked}
    scores = reciprocal_rank([[candidate.pk for candidate in ranked] for ranked in lists], unjudged=unjudged)
    order = sorted(scores, key=lambda pk: (-scores[pk], paths[pk]))
    return [(pk, paths[pk], scores[pk]) for pk in order]


def _phase(words: bool, meaning: bool) -> Phase:
    return "both" if words and meaning else "meaning" if meaning else "words"


def _with_linked(candidates: Sequence[Found], k: int, depth: int, filters: Filters) -> list[Found]:
    """The ``k`` pages of the answer, best first, equals by path.

    Reciprocal ranks are flat: the eighth has seven tenths of the first, so that a linked page, with half of its seed's,
    would not come in by its score where many pages have a word of the query. A quarter of the places is kept for them.
    """
    if not depth or not candidates:
        return list(candidates[:k])
    seeds = candidates[: k - k // _LINKED_SHARE]
    scores = {seed.pk: seed.score for seed in seeds}
    linked = linked_pages(scores, depth, filters, k - len(seeds))
    ways = {way.pk: way for way in linked}
    rest = [found for found in candidates[len(seeds) :] if found.pk not in ways][: k - len(seeds) - len(linked)]
    own = {found.pk: found for found in candidates}
    reached = [_linked(way, own.get(way.pk)) for way in linked]
    return sorted([*seeds, *rest, *reached], key=lambda found: (-found.score, found.path))


def _linked(way: Linked, own: Found | None) -> Found:
    """A page that was reached by links; one that words or meaning found too keeps what is better."""
    if own is not None and own.score >= way.score:
        return own._replace(seed=way.seed, steps=way.steps)
    return Found(way.pk, way.path, way.score, "link", way.seed, way.steps)
