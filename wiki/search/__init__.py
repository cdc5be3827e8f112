"""The one search: pages by their words, ranked (:func:`search`), and what sync writes to be found."""

from wiki.search.answer import SearchAnswer, SearchHit
from wiki.search.bodies import pages_holding, text_ends, texts
from wiki.search.retrieval import search
from wiki.search.rows import PageWords
from wiki.search.words import index_words, many_pages, remove_words

__all__ = [
    "PageWords",
    "SearchAnswer",
    "SearchHit",
    "index_words",
    "many_pages",
    "pages_holding",
    "remove_words",
    "search",
    "text_ends",
    "texts",
]
