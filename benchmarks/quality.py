"""Search quality on a judged collection: nDCG@10, R@10, R@100 and MRR@10 through the real search.

    make bench-quality DATA=<folder>
    python -m benchmarks.quality <folder> [--json]

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
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.own_database import own_database

DEPTH = 100
_BATCH = 200


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


def measure(folder: Path) -> dict[str, Any]:
    """Ask every judged query and average."""
    from wiki.search import search

    judged = read_judgements(folder)
    totals: dict[str, float] = {}
    times: list[float] = []
    queries = {query["_id"]: query["text"] for query in read_lines(folder, "queries.jsonl")}
    for query, relevant in judged.items():
        started = time.perf_counter()
        answer = search(queries[query], k=DEPTH)
        times.append(time.perf_counter() - started)
        if answer.degraded:
            raise SystemExit(f"The search is degraded: {answer.degraded}")
        ranked = [Path(hit.page.path).stem for hit in answer.hits]
        for name, value in score(ranked, relevant).items():
            totals[name] = totals.get(name, 0.0) + value
    result: dict[str, Any] = {name: round(total / len(judged), 4) for name, total in totals.items()}
    result |= {"queries": len(judged), "mode": answer.mode, "p50_ms": round(sorted(times)[len(times) // 2] * 1000, 1)}
    return result


def main() -> int:
    """Measure one collection and print a line or JSON."""
    parser = argparse.ArgumentParser(prog="benchmarks.quality", description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="folder of the collection")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with own_database("synapse_quality") as vendor:
        documents = index_collection(options.data)
        result = {"collection": options.data.name, "database": vendor, "documents": documents, **measure(options.data)}
    if options.json:
        print(json.dumps(result))
    else:
        print("  ".join(f"{name} {value}" for name, value in result.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
