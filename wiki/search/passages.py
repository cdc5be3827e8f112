"""Why a page was found, and the part of its body that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from wiki.search.folded import Folded, folded
from wiki.search.query import Term, WordsQuery
from wiki.search.stemmer import stem
from wiki.search.stems import language, stem_token
from wiki.search.text import WORD, fold

SNIPPET_CHARS: Final = 240
BODY_CHARS: Final = 60_000  # of a body that are looked at for a snippet
_LEAD: Final = 40  # characters before the first match
_HITS_A_TERM: Final = 40
_WORDS_SHOWN: Final = 8
_SHARED: Final = 3  # letters that all forms of a word begin with
_SPACE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")  # control characters could steer a terminal


class _Text(NamedTuple):
    """A text, the same folded, and the language that it is in; "" is any that is not stemmed."""

    raw: str
    folded: Folded
    lang: str


def _text(text: str, lang: str) -> _Text:
    return _Text(text, folded(text), language(lang))


def why_and_snippet(query: WordsQuery, title: str, names: str, body: str, lang: str = "") -> tuple[str, str]:
    """The words of the query that a page has, in the query's order, and the passage that shows most of them.

    ``lang``: the page's language, of whose words other forms match too.
    The passage is at most 240 characters of the body, whole words, on one line; without a match its beginning.
    """
    head, text = _text(f"{title}\n{names}", lang), _text(body, lang)
    found: list[tuple[int, int, int]] = []
    shown: list[str] = []
    for number, term in enumerate(query.terms):
        places = [(start, end, number) for start, end in _places(term, text, at_most=_HITS_A_TERM)]
        found += places
        if _adds(term, shown) and (places or next(_places(term, head), None)):
            shown.append(term.shown)
    found.sort()
    reason = f"matched words: {', '.join(shown[:_WORDS_SHOWN])}" if shown else "matched words"
    start = _best_start(found)
    return reason, _cut(body, start - _LEAD if start > _LEAD else 0)


def snippet(body: str, start: int = 0) -> str:
    """At most 240 characters of the body from a place on, on one line."""
    return _cut(body, start)


def matches(query: WordsQuery, text: str, lang: str = "") -> list[tuple[int, int]]:
    """Where words of the query stand in a text, in any form that its language gives them: in order, none in another."""
    given = _text(text, lang)
    found: list[tuple[int, int]] = []
    for start, end in sorted(place for term in query.terms for place in _places(term, given, _HITS_A_TERM)):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def terms_in(query: WordsQuery, text: str, lang: str = "") -> set[int]:
    """Which terms of the query (their numbers) a text has, in any form that its language gives them."""
    given = _text(text, lang)
    return {number for number, term in enumerate(query.terms) if next(_places(term, given), None)}


def one_line(text: str) -> str:
    """The text on one line, without characters that would steer a terminal."""
    return _SPACE.sub(" ", text).strip()


def _adds(term: Term, shown: list[str]) -> bool:
    """Whether a term says more than those before it: a pair of characters says nothing beside its whole run."""
    return term.shown not in shown and not (term.within and any(term.shown in other for other in shown))


def _best_start(found: list[tuple[int, int, int]]) -> int:
    """Where the window with the most different terms begins; the first of equals."""
    best, best_count, last = 0, 0, 0
    inside: dict[int, int] = {}
    for first in range(len(found)):
        while last < len(found) and found[last][1] <= found[first][0] + SNIPPET_CHARS - _LEAD:
            inside[found[last][2]] = inside.get(found[last][2], 0) + 1
            last += 1
        count = sum(1 for times in inside.values() if times > 0)
        if count > best_count:
            best, best_count = found[first][0], count
        number = found[first][2]
        if inside.get(number):
            inside[number] -= 1
        last = max(last, first + 1)
    return best


def _cut(body: str, start: int) -> str:
    """The window as one line, beginning and ending at a space where there is one."""
    if start and not body[start - 1].isspace():
        space = _SPACE.search(body, start, start + _LEAD)
        start = space.end() if space else start
    end = min(len(body), start + SNIPPET_CHARS)
    if end < len(body):
        cut = max(body.rfind(" ", start, end), body.rfind("\n", start, end))
        end = cut if cut > start + SNIPPET_CHARS // 2 else end
    line = _SPACE.sub(" ", body[start:end]).strip()
    return f"{'… ' if start else ''}{line}{' …' if end < len(body) else ''}"


def _places(term: Term, text: _Text, at_most: int = 1) -> Iterator[tuple[int, int]]:
    """Where a term stands in a text, a bounded number of times and looks; its other forms where it does not."""
    found = False
    for start, end in _same_places(term, text.folded.text, at_most):
        found = True
        yield text.folded.span(start, end)
    if not found and term.stems and text.lang:
        yield from _other_forms(term, text, at_most)


def _same_places(term: Term, text: str, at_most: int) -> Iterator[tuple[int, int]]:
    one_word = len(term.tokens) == 1 and term.shown.isalnum() and not term.within
    needle = _probe(term.tokens[0]) if one_word else folded(term.shown).text
    at = text.find(needle)
    for _ in range(20 * at_most):
        if at < 0 or at_most == 0:
            return
        end = at + len(needle)
        if term.within:
            whole = True
        elif at and text[at - 1].isalnum():
            whole = False
        elif one_word:
            word = WORD.match(text, at)
            end = word.end() if word else end
            whole = _same(term, text[at:end])
        else:
            whole = True
        if whole:
            at_most -= 1
            yield at, end
        at = text.find(needle, end)


def _other_forms(term: Term, text: _Text, at_most: int) -> Iterator[tuple[int, int]]:
    """Where other forms of a word stand: those that have its stem in the text's language."""
    beginning = re.compile(rf"(?<![^\W_]){re.escape(term.tokens[0][:_SHARED])}\w*")
    for word in beginning.finditer(text.folded.text):
        if at_most == 0:
            return
        start, end = text.folded.span(*word.span())
        if stem_token(text.raw[start:end], text.lang) in term.stems:
            at_most -= 1
            yield start, end


def _probe(token: str) -> str:
    """The beginning that all words of one stem share (happy and happiness: happ)."""
    beginning = stem(token)
    return beginning[:-1] if len(beginning) > 3 and beginning[-1] in "iey" else beginning


def _same(term: Term, word: str) -> bool:
    token = term.tokens[0]
    return word.startswith(token) if term.prefix else stem(fold(word)) == stem(token)
