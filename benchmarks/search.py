"""Time of a search against FTS5's own time for the same query.

    python -m benchmarks.search [--notes 10000] [--queries 60] [--json]

The pages are made up (300 to 1,500 words each, words as frequent as in a natural
text, about 10 kB a page), the queries are one to four words of page texts. FTS5's own time is
the bare statement with the same MATCH expression, ORDER BY rank and the same LIMIT.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

from benchmarks.own_database import own_database

K = 8
_BATCH = 100
# fmt: off
_SYLLABLES = [
    "ka", "to", "mi", "re", "lo", "va", "ne", "su", "ti", "pra", "gen", "dor", "sel", "mar", "qui",
    "ven", "tal", "ris", "fo", "nex", "lum", "bar", "zed", "hi", "wel", "cor", "pan", "ost",
]
# fmt: on
_ENDINGS = ("", "s", "ed", "ing", "ion", "")


class Notes:
    """A made-up collection: the same seed gives the same notes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        made: set[str] = set()
        while len(made) < 8000:
            made.add(
                "".join(self.random.choices(_SYLLABLES, k=self.random.randint(1, 4))) + self.random.choice(_ENDINGS)
            )
        self.vocabulary = sorted(made)
        self.random.shuffle(self.vocabulary)
        self.weights = list(accumulate(1 / (rank + 5) for rank in range(len(self.vocabulary))))

    def words(self, count: int) -> list[str]:
        return self.random.choices(self.vocabulary, cum_weights=self.weights, k=count)

    def make(self, count: int) -> Iterator[tuple[str, str]]:
        """(title, body) of each note."""
        for number in range(count):
            title = " ".join(self.random.choices(self.vocabulary, k=self.random.randint(2, 4))).title()
            words = self.words(self.random.randint(300, 1500))
            lines = (" ".join(words[at : at + 80]) for at in range(0, len(words), 80))
            yield f"{title} {number}", f"# {title}\n\n" + ".\n\n".join(lines)


def index(notes: Notes, count: int) -> float:
    """Index ``count`` notes in batches; returns the CPU seconds of the words index alone."""
    from django.db import transaction

    from vault.links import name_key, path_key, text_key
    from wiki.models import Page
    from wiki.search import PageWords, index_words

    spent = 0.0
    made = list(notes.make(count))
    for at in range(0, count, _BATCH):
        with transaction.atomic():
            some = made[at : at + _BATCH]
            pages = Page.objects.bulk_create(
                Page(
                    path=(path := f"wiki/concepts/{title}.md"),
                    path_key=path_key(path),
                    name_key=name_key(path),
                    title=title,
                    title_key=text_key(title),
                    type="concept",
                    content_hash="0" * 64,
                )
                for title, _ in some
            )
            started = time.process_time()
            index_words(PageWords(page.pk, page.title, body) for page, (_, body) in zip(pages, some, strict=True))
            spent += time.process_time() - started
    return spent


def best_of(times: int, call: Callable[[], object]) -> float:
    """The shortest of so many runs, in milliseconds: what the machine's other work adds is not the search's."""
    shortest = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        call()
        shortest = min(shortest, time.perf_counter() - started)
    return shortest * 1000


def compare(queries: list[str]) -> dict[str, float]:
    """p50 of FTS5's own statement and of the whole search, in milliseconds."""
    from django.db import connection

    from wiki.search import search
    from wiki.search.query import analyse
    from wiki.search.words_sqlite import match_expression

    def bare(expression: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT rowid FROM wiki_words WHERE wiki_words MATCH %s ORDER BY rank LIMIT %s", [expression, K]
            )
            cursor.fetchall()

    own, whole = [], []
    for query in queries:
        expression = match_expression(analyse(query).terms)
        own.append(best_of(5, lambda: bare(expression)))  # noqa: B023 - called at once
        whole.append(best_of(5, lambda: search(query, k=K)))  # noqa: B023 - called at once
    return {"fts5_p50_ms": round(statistics.median(own), 2), "search_p50_ms": round(statistics.median(whole), 2)}


def main() -> int:
    """Print a table or JSON; exit 1 when the bound is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.search", description=__doc__.partition("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    notes = Notes(seed=1)
    with own_database("synapse_search") as vendor:
        if vendor != "sqlite":
            parser.error("FTS5 is SQLite's: unset DATABASE_URL.")
        spent = index(notes, options.notes)
        frequent = [" ".join(notes.words(1 + number % 4)) for number in range(options.queries)]
        rare = [" ".join(notes.random.choices(notes.vocabulary, k=1 + number % 4)) for number in range(options.queries)]
        result: dict[str, Any] = {
            "notes": options.notes,
            "index_ms_a_page": round(spent / options.notes * 1000, 3),
            "frequent words": compare(frequent),
            "rare words": compare(rare),
        }
    met = True
    for name in ("frequent words", "rare words"):
        row = result[name]
        row["bound_ms"] = round(1.5 * row["fts5_p50_ms"] + 3, 2)
        met = met and row["search_p50_ms"] <= row["bound_ms"]
        if not options.json:
            print(f"{name:16} " + "  ".join(f"{key} {value}" for key, value in row.items()))
    print(json.dumps(result) if options.json else f"words index: {result['index_ms_a_page']} ms of CPU a page")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
