"""The one search: what the index knows about words, ranked (:func:`search`)."""

from wiki.search.rows import PageWords
from wiki.search.words import index_words, remove_words

__all__ = ["PageWords", "index_words", "remove_words"]
