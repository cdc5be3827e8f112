"""The last phases: the passages that matched, as one text with citations that fits a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from wiki.search.answer import Citation, Context, SearchHit
from wiki.search.budget import beginning, budget, tokens
from wiki.search.fusion import reciprocal_rank
from wiki.search.passages import one_line, terms_in
from wiki.search.query import WordsQuery
from wiki.vectors.chunks import Passage, cut

_TITLE_CHARS: Final = 200
_BETWEEN_PAGES: Final = "\n\n"
_BESIDE: Final = "\n\n"  # between passages of a page that follow each other
_APART: Final = "\n\n…\n\n"
_CUT: Final = " …"


@dataclass(slots=True)
class _Block:
    """A page of the context: the passages that are taken (by ordinal), and those that could be, best first."""

    hit: SearchHit
    header: str
    passages: Sequence[Passage]
    left: Iterator[int]
    taken: list[int] = field(default_factory=list)
    shortened: str | None = None  # what is left of the only passage that was cut to fit

    def text(self) -> str:
        """Header and passages in the order of the page."""
        if self.shortened is not None:
            return self.header + self.shortened + _CUT
        text, before = self.header, -1
        for at in sorted(self.taken):
            if before >= 0:
                text += _BESIDE if at == before + 1 else _APART
            text += self.passages[at].text
            before = at
        return text

    def places(self) -> tuple[tuple[int, int], ...]:
        """Where the passages are in the body; none of a text that is not of the body."""
        if not self.passages[0].words:
            return ()
        if self.shortened is not None:
            start = self.passages[self.taken[0]].start
            return ((start, start + len(self.shortened)),)
        return tuple((self.passages[at].start, self.passages[at].end) for at in sorted(self.taken))


def assemble(
    query: WordsQuery,
    hits: Sequence[SearchHit],
    bodies: Mapping[int, str],
    near: Mapping[int, Sequence[int]],
    context_window: int,
) -> Context:
    """``[n] Title (path)`` and what matched of each page, best page first, within a fifth of the window.

    ``bodies``: by page key; a page without one gives its summary. ``near``: the ordinals of passages that meaning
    found. First each page gets its best passage, then each another as long as there is room and a passage that
    matched. Passages are taken whole; one that does not fit is left out, and only the first of all is cut instead.
    """
    allowed = budget(context_window)
    room = allowed
    blocks: list[_Block] = []
    for hit in hits:
        block = _block(query, hit, bodies.get(hit.page.pk), near.get(hit.page.pk, ()), len(blocks) + 1)
        best = next(block.left)
        cost = tokens((_BETWEEN_PAGES if blocks else "") + block.header + block.passages[best].text)
        if cost > room and not blocks:
            block.shortened = beginning(block.passages[best].text, room - tokens(block.header + _CUT))
            cost = tokens(block.header + block.shortened + _CUT) if block.shortened else cost
        if cost <= room:
            block.taken.append(best)
            blocks.append(block)
            room -= cost
    _add_more(blocks, room)
    text = _BETWEEN_PAGES.join(block.text() for block in blocks)
    citations = [
        Citation(n, block.hit, block.places() if block.passages[0].words else ()) for n, block in enumerate(blocks, 1)
    ]
    return Context(text, citations, tokens(text), allowed)


def _add_more(blocks: Sequence[_Block], room: int) -> None:
    """The next best passage of each page in turn, while there is room."""
    open_blocks = [block for block in blocks if block.shortened is None]
    while open_blocks and room > 0:
        still_open = []
        for block in open_blocks:
            at = next(block.left, None)
            if at is None:
                continue
            still_open.append(block)
            cost = tokens(_APART + block.passages[at].text)
            if cost <= room:
                block.taken.append(at)
                room -= cost
        open_blocks = still_open


def _block(query: WordsQuery, hit: SearchHit, body: str | None, near: Sequence[int], n: int) -> _Block:
    title = one_line(hit.page.title)[:_TITLE_CHARS]
    header = f"[{n}] {title} ({one_line(hit.page.path)})\n"
    if body is None:
        summary = hit.page.summary
        return _Block(hit, header, [Passage(0, 0, 0, "", summary, summary)], iter([0]))
    passages = cut(hit.page.title, body)
    return _Block(hit, header, passages, iter(best_passages(query, passages, near, hit.page.lang)))


def best_passages(
    query: WordsQuery, passages: Sequence[Passage], near: Sequence[int] = (), lang: str = ""
) -> list[int]:
    """The passages that matched, best first: by words and by meaning, fused; the first of the page where none did.

    By words, a term counts the more the fewer passages of the page have it.
    """
    having = [terms_in(query, f"{passage.heading}\n{passage.text}", lang) for passage in passages]
    counts: dict[int, int] = {}
    for terms in having:
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
    worth = [sum(1 / counts[term] for term in sorted(terms)) for terms in having]
    by_words = sorted((at for at in range(len(passages)) if worth[at]), key=lambda at: (-worth[at], at))
    by_meaning = [at for at in near if at < len(passages)]
    lists = [ranked for ranked in (by_meaning, by_words) if ranked]
    if not lists:
        return [0]
    scores = reciprocal_rank(lists)
    return sorted(scores, key=lambda at: (-scores[at], at))
