"""Stems of other languages than English, by the Snowball algorithms (snowballstem.org).

Beside its words a page in one of LANGUAGES has in the index what they stand on: *capra* and *capre* both have ``capr``.
A stem ends in a character of the private use area, so it is no word, and neither Porter's rules nor folding take it
further. A query rarely says in which language it is: its words are looked up as they are and by their stems in each of
LANGUAGES, of which a page only has those of its own. So pages in English, and those that name no language, are found
as if there were none.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import repeat
from typing import Any, Final

from wiki.search.stopwords import stopwords
from wiki.search.text import SPACELESS, WORD, fold

#: ISO 639-1 codes whose pages are stemmed, and Snowball's names for them.
LANGUAGES: Final = {"de": "german", "es": "spanish", "fr": "french", "it": "italian", "ru": "russian"}
_MARK: Final = "\ue000"
#: Shorter words have no ending to lose, and longer ones are no words.
_LENGTHS: Final = range(3, 65)
_MOST: Final = 3
_lock: Final = threading.Lock()


def language(code: str) -> str:
    """The language of LANGUAGES that a code such as "it" or "de-AT" names; "" for any other."""
    found = code.lower().partition("-")[0]
    return found if found in LANGUAGES else ""


def stem_token(word: str, lang: str) -> str:
    """The token of a word's stem in a language of LANGUAGES; "" for what has none, such as a number."""
    if len(word) not in _LENGTHS or not word.isalpha() or SPACELESS.search(word):
        return ""
    return _stem_token(word.lower(), lang)


def stem_tokens(text: str, lang: str) -> Iterator[str]:
    """The tokens of a text in a language, in no promised order; none for a language that is not of LANGUAGES.

    Stopwords are left out. A form that stands there more than three times counts as three: to BM25 more say little
    more, and each takes room. ``text`` is NFC.
    """
    known = language(lang)
    if not known:
        return
    for word, times in Counter(WORD.findall(text)).items():
        if token := stem_token(word, known):
            yield from repeat(token, min(times, _MOST))


def stems_of(word: str, languages: frozenset[str]) -> tuple[str, ...]:
    """The different tokens that a word has in some languages, in a fixed order."""
    return tuple(sorted({token for lang in languages if (token := stem_token(word, lang))}))


@lru_cache(maxsize=65_536)
def _stem_token(word: str, lang: str) -> str:
    if fold(word) in stopwords()[lang]:
        return ""
    with _lock:  # a stemmer works on its own attributes
        return fold(_stemmer(lang).stemWord(word)) + _MARK


@cache
def _stemmer(lang: str) -> Any:
    import snowballstemmer  # a vault in English does not pay for it

    return snowballstemmer.stemmer(LANGUAGES[lang])
