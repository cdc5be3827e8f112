"""The full-text table, made once per database: not a model, since FTS5 tables and tsvectors are no rows of the ORM.

``wiki_words`` holds for each indexed page its title, its other names (aliases, tags),
its body as searched and shown in snippets, and what the vendor needs to find them.
No foreign key: pages are deleted softly, and a row without its page is never shown.
"""

from __future__ import annotations

from typing import Final

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE: Final = "wiki_words"

# PostgreSQL: a probe reads page_id and tokens of each page that it finds, so the texts and vectors are moved out of the
# way of these two, and the vector is not compressed. fastupdate keeps what was just written in a list that each probe
# has to read from end to end; a search is thirty probes, so new pages go into the index at once.
# Marks are token characters: without them FTS5 takes words of Indic scripts apart at every vowel sign.
_CREATE: Final[dict[str, tuple[str, ...]]] = {
    "sqlite": (
        "CREATE VIRTUAL TABLE IF NOT EXISTS wiki_words USING fts5(title, names, body, shadow, "
        "tokenize=\"porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'\")",
    ),
    "postgresql": (
        "CREATE TABLE IF NOT EXISTS wiki_words (page_id bigint PRIMARY KEY, title text NOT NULL, names text NOT NULL, "
        "body text NOT NULL, tokens integer NOT NULL, vector tsvector NOT NULL) WITH (toast_tuple_target = 128)",
        "ALTER TABLE wiki_words ALTER vector SET STORAGE EXTERNAL",
        "CREATE INDEX IF NOT EXISTS wiki_words_vector ON wiki_words USING gin (vector) WITH (fastupdate = off)",
    ),
}


def create_words(connection: BaseDatabaseWrapper) -> None:
    """Make the full-text table if it is missing."""
    with connection.cursor() as cursor:
        for statement in _CREATE[connection.vendor]:
            cursor.execute(statement)


def drop_words(connection: BaseDatabaseWrapper) -> None:
    """Drop the full-text table, whatever state it is in."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS wiki_words")
