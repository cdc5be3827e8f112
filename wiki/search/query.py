"""What a person or an agent typed, as terms. Everything is a word; nothing is syntax.

Operators of FTS5 and of PostgreSQL (``AND``, ``NEAR(``, ``*``, ``-x``, ``a:b``, quotes)
never reach them: a term holds letters, digits and marks only, and is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from vault.errors import ErrorCode, SynapseError
from wiki.search.stems import LANGUAGES, language, stems_of
from wiki.search.stopwords import stopwords
from wiki.search.text import FAR, LONGEST_WORD, MARKS, SPACELESS, SYMBOL_NAMES, clean, fold, grams, symbol_token

MAX_QUERY_CHARS: Final = 10_000
MAX_TERMS: Final = 64  # distinct terms of one query; the first ones count
_SHORTEST_STEM: Final = 4

_WORD: Final = rf"(?:[^\W_]|[{MARKS}])+"
_COMPOUND: Final = re.compile(rf"{_WORD}(?:[._/:@&+-]+{_WORD})*")
_PART: Final = re.compile(_WORD)


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look for.

    ``tokens``: folded; more than one stand beside each other in the text, in this order.
    ``shown``: as the person wrote it. ``as_written``: the unfolded word where FTS5 would not fold it by itself.
    ``prefix``: the last token is the beginning of a word. ``within``: found inside words (scripts without spaces).
    ``stems``: tokens of :mod:`wiki.search.stems` that find other forms of the word. ``in_names``: looked for in titles
    and other names alone.
    """

    tokens: tuple[str, ...]
    shown: str
    as_written: str = ""
    prefix: bool = False
    within: bool = False
    stems: tuple[str, ...] = ()
    in_names: bool = False


@dataclass(frozen=True, slots=True)
class WordsQuery:
    """A query taken apart; ``terms`` are alternatives (a page with more of them ranks higher)."""

    text: str
    terms: tuple[Term, ...]

    def __bool__(self) -> bool:
        return bool(self.terms)


def analyse(query: str, *, lang: str = "", prefix: bool = False) -> WordsQuery:
    """Take a query apart.

    ``lang`` (ISO 639-1) names the query's language where it is known; else it is told by the stopwords in it.
    ``prefix``: the last word is still being typed.

    Raises SynapseError invalid_param_value for more than 10,000 characters.
    """
    if len(query) > MAX_QUERY_CHARS:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            f"The query is too long: at most {MAX_QUERY_CHARS:,} characters. Ask for the words that matter.",
            parameter="query",
            limit=MAX_QUERY_CHARS,
        )
    text = clean(query)
    names = [Term((symbol_token(found),), found[0]) for found in SYMBOL_NAMES.finditer(text)]
    rest = SYMBOL_NAMES.sub(" ", text)
    words = [term for term in _word_terms(rest) if term.tokens and all(term.tokens)]
    terms = [*names, *_with_stems(_without_stopwords(words, lang, alone=not names), lang, words)]
    if prefix and text and not SYMBOL_NAMES.search(text[-3:]) and (text[-1].isalnum() or _PART.match(text[-1])):
        terms = _with_prefix(terms, _PART.findall(text)[-1])
    return WordsQuery(text, tuple(dict.fromkeys(terms))[:MAX_TERMS])


def _word_terms(text: str) -> Iterator[Term]:
    """Each word; before the words of a compound such as node.js the compound itself, as a phrase."""
    for compound in _COMPOUND.finditer(text):
        parts = _PART.findall(compound[0])
        if len(parts) > 1 and not SPACELESS.search(compound[0]):
            yield Term(tuple(filter(None, (fold(part)[:LONGEST_WORD] for part in parts[:8]))), compound[0])
        for part in parts:
            yield from _part_terms(part)


def _part_terms(part: str) -> Iterator[Term]:
    at = 0
    for run in SPACELESS.finditer(part):
        if run.start() > at:
            yield _word_term(part[at : run.start()])
        yield from _spaceless_terms(fold(run[0]), run[0])
        at = run.end()
    if at < len(part):
        yield _word_term(part[at:])


def _word_term(word: str) -> Term:
    folded = fold(word)
    as_written = word.lower()[:LONGEST_WORD] if FAR.search(word) else ""
    return Term((folded[:LONGEST_WORD],), word, as_written, prefix=len(folded) > LONGEST_WORD)


def _spaceless_terms(run: str, shown: str) -> Iterator[Term]:
    """The run as a whole, then its pairs; a single character by prefix."""
    if len(run) < 2:
        yield Term((run,), shown, prefix=True, within=True)
        return
    pairs = list(grams(run))[:-1][:MAX_TERMS]
    if len(pairs) > 1:
        yield Term(tuple(pairs), shown, within=True)
    for pair in pairs:
        yield Term((pair,), pair, within=True)


def _without_stopwords(terms: list[Term], lang: str, *, alone: bool) -> list[Term]:
    """Leave out the stopwords of the query's language, unless the query is nothing but stopwords."""
    single = [term.tokens[0] for term in terms if len(term.tokens) == 1 and not term.within]
    common = _common_words(single, lang)
    kept = [term for term in terms if len(term.tokens) > 1 or term.within or term.tokens[0] not in common]
    return kept if kept or not alone else terms


def _common_words(words: list[str], lang: str) -> frozenset[str]:
    """The stopwords of the query's language; those of English where it does not tell."""
    return stopwords()[_language(words, lang) or "en"]


def _language(words: list[str], lang: str) -> str:
    """The language of a query: the one that is named, or the one that has most stopwords here; "" if that is not sure.

    One stopword proves nothing ("die hard" is not German).
    """
    lists = stopwords()
    named = lang.lower().partition("-")[0]
    if named in lists:
        return named
    hits = {code: sum(word in common for word in words) for code, common in lists.items()}
    best = max(hits, key=lambda code: hits[code])  # the first of equals: English
    return best if hits[best] > 1 else ""


def _with_stems(terms: Iterable[Term], lang: str, all_words: list[Term]) -> Iterator[Term]:
    """The terms, with the stems of their words in the query's language; in all languages where it does not tell."""
    told = _language([term.tokens[0] for term in all_words if len(term.tokens) == 1 and not term.within], lang)
    languages = frozenset(LANGUAGES) if not told else frozenset(filter(None, [language(told)]))
    for term in terms:
        is_word = len(term.tokens) == 1 and not term.within and not term.prefix
        stems = stems_of(term.shown, languages) if is_word and languages else ()
        yield replace(term, stems=stems) if stems else term


def with_stems(terms: Iterable[Term]) -> list[Term]:
    """The terms and, each as a term of its own, at most as many of their stems: what an index is asked for."""
    asked = list(dict.fromkeys(terms))
    stems = dict.fromkeys(Term((stem,), term.shown) for term in asked for stem in term.stems)
    return [*asked, *list(stems)[:MAX_TERMS]]


def _with_prefix(terms: list[Term], last: str) -> list[Term]:
    """The last word as the beginning of one, and the stems that its completions may have.

    The index holds stems: "relatio" is on its way to "relation", which is indexed as "relat".
    """
    runs = list(SPACELESS.finditer(last))
    if runs and runs[-1].end() == len(last):
        return terms  # pairs find the beginning of a word already
    word = fold(last[runs[-1].end() :] if runs else last)[:LONGEST_WORD]
    if not word:
        return terms
    kept = [term for term in terms if term.tokens != (word,)]
    shortest = max(_SHORTEST_STEM, len(word) - 4)
    stems = [word[:end] for end in range(len(word) - 1, shortest - 1, -1)] if word.isascii() else []
    return [*kept, Term((word,), last, prefix=True), *(Term((stem,), last) for stem in stems)]
