"""The one search: pages, ranked (:func:`search`), or with a context for a model (:func:`retrieve`).

Also what sync writes to be found. The way of a query is in :mod:`wiki.search.retrieval`, from top to bottom.
"""

from wiki.search.answer import Citation, Context, Retrieval, SearchAnswer, SearchHit
from wiki.search.bodies import pages_holding, text_ends, texts
from wiki.search.passages import matches
from wiki.search.query import analyse
from wiki.search.retrieval import MOST_SHOWN, PRESETS, retrieve, search
from wiki.search.rows import PageWords
from wiki.search.words import index_words, many_pages, remove_words

__all__ = [
    "MOST_SHOWN",
    "PRESETS",
    "Citation",
    "Context",
    "PageWords",
    "Retrieval",
    "SearchAnswer",
    "SearchHit",
    "analyse",
    "index_words",
    "many_pages",
    "matches",
    "pages_holding",
    "remove_words",
    "retrieve",
    "search",
    "text_ends",
    "texts",
]
