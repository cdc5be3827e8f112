"""What is shown of the pages that were found: their rows, why they were found, and a part of the text that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from django.db import DatabaseError

from wiki.models import Page
from wiki.search.answer import Phase, SearchHit
from wiki.search.databases import savepoint, was_cancelled
from wiki.search.passages import BODY_CHARS, one_line, snippet, why_and_snippet
from wiki.search.query import WordsQuery
from wiki.search.words import engine
from wiki.vectors.chunks import cut

#: Of a body that are read to find its best passages.
WHOLE_CHARS: Final = 200_000


class Found(NamedTuple):
    """A page that was found: score in 0..1, by what, and for one that links led to the page they started from."""

    pk: int
    path: str
    score: float
    phase: Phase
    seed: int | None = None
    steps: int = 0


class Shown(NamedTuple):
    """Hits in the order given; their bodies, and the ordinals of passages that meaning found, by page key."""

    hits: list[SearchHit]
    bodies: dict[int, str]
    near: dict[int, Sequence[int]]


def shown(query: WordsQuery, found: Sequence[Found], near: Mapping[int, Sequence[int]], *, whole: bool) -> Shown:
    """The pages with their reasons and snippets. ``whole``: with bodies long enough to look for passages in them."""
    keys = [page.pk for page in found]
    pages = _rows(keys)
    texts = _texts(keys, WHOLE_CHARS if whole else BODY_CHARS)
    fresh = {pk: _fresh(pages[pk], ordinals) for pk, ordinals in near.items() if pk in pages}
    hits = []
    for one in found:
        page = pages.get(one.pk)
        if page is None:
            continue  # removed since
        seed = pages.get(one.seed) if one.seed is not None else None
        why, line = _reason(query, one, page, texts.get(one.pk), fresh.get(one.pk, ()))
        if seed is not None:
            link = f"linked from {one_line(seed.title)}" if one.steps == 1 else f"two links from {one_line(seed.title)}"
            why = link if one.phase == "link" else f"{why}; {link}"
        hits.append(SearchHit(page, round(one.score, 6), why, line, one.phase))
    return Shown(hits, {pk: body for pk, (_, body) in texts.items()}, fresh)


def _reason(
    query: WordsQuery, found: Found, page: Page, text: tuple[str, str] | None, near: Sequence[int]
) -> tuple[str, str]:
    """Why words or meaning found a page, and a line of its text; ``text``: its other names and its body."""
    if text is None:
        return "similar passage" if found.phase == "meaning" else "matched words", snippet(page.summary)
    names, body = text
    if found.phase == "meaning":
        return "similar passage", snippet(body, _start(page.title, body, near))
    why, line = why_and_snippet(query, page.title, names, body[:BODY_CHARS], page.lang)
    return f"{why}; similar passage" if found.phase == "both" else why, line


def _start(title: str, body: str, near: Sequence[int]) -> int:
    """Where the passage that meaning found begins."""
    passages = cut(title, body) if near and near[0] else []
    return passages[near[0]].start if near and near[0] < len(passages) else 0


def _fresh(page: Page, ordinals: Sequence[int]) -> Sequence[int]:
    """The ordinals that still count passages of the page as it is: none of a text that has changed since."""
    if page.vectors_hash == page.content_hash:
        return ordinals
    return [0] if page.lead_hash == page.content_hash and 0 in ordinals else []


def _texts(keys: list[int], chars: int) -> dict[int, tuple[str, str]]:
    """Other names and body by page key; nothing where the words index is broken."""
    try:
        with savepoint():
            texts: dict[int, tuple[str, str]] = engine().bodies(keys, chars) if keys else {}
    except DatabaseError as error:
        if was_cancelled(error):
            raise
        return {}
    return texts


def _rows(keys: list[int]) -> dict[int, Page]:
    """Pages by key. Plain SQL, since the ORM takes as long to write it as the database to answer it."""
    if not keys:
        return {}
    places = ", ".join(["%s"] * len(keys))
    return {page.pk: page for page in Page.objects.raw(f"SELECT * FROM wiki_page WHERE id IN ({places})", keys)}  # noqa: S608
