"""What single operations cost inside the process, over a vault of made-up notes.

    python -m benchmarks.operations [--notes 10000] [--json]

Search against FTS5's own time for the same query, reading a page, its neighbourhood, writing a page with its
syncs, and how long a change made in an editor takes until search finds it. Times are of the wall, in
milliseconds; p50 and p95 over the repetitions.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.own_database import own_database
from benchmarks.search import compare
from benchmarks.vault import Note, make_vault


@dataclass(frozen=True)
class Row:
    """One line of the table: milliseconds, and the bound on p50."""

    name: str
    p50: float
    p95: float
    bound: float

    @property
    def met(self) -> bool:
        return self.p50 <= self.bound


def _timed(name: str, bound: float, calls: Sequence[Callable[[], object]]) -> Row:
    times = []
    for call in calls:
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) * 1000)
    times.sort()
    return Row(name, statistics.median(times), times[int(len(times) * 0.95)], bound)


def _search(chance: random.Random, notes: list[Note]) -> Row:
    titles = [note.title.rsplit(" ", 1)[0] for note in chance.sample(notes, 60)]
    found = compare([" ".join(title.split()[: 1 + at % 3]) for at, title in enumerate(titles)])
    bound = 1.5 * found["fts5_p50_ms"] + 3
    return Row(
        f"search (FTS5 itself {found['fts5_p50_ms']:.1f})", found["search_p50_ms"], found["search_p50_ms"], bound
    )


def _reads(chance: random.Random, notes: list[Note]) -> list[Row]:
    from wiki.graph import neighborhood
    from wiki.models import Page
    from wiki.services import page_by_title, page_content

    titles = [note.title for note in chance.sample(notes, 200)]
    pages = list(Page.objects.filter(title__in=titles))
    return [
        _timed("get_page", 3, [lambda t=title: page_content(page_by_title(t)) for title in titles]),  # type: ignore[misc]
        _timed("neighbourhood, depth 1", 5, [lambda p=page: neighborhood(p, depth=1) for page in pages]),  # type: ignore[misc]
        _timed("neighbourhood, depth 2", 10, [lambda p=page: neighborhood(p, depth=2) for page in pages]),  # type: ignore[misc]
    ]


def _writes(chance: random.Random, notes: list[Note]) -> list[Row]:
    from vault.history import Author
    from wiki.services import write_page

    author = Author(name="benchmark", door="command")

    def write(title: str, *, links: int) -> object:
        body = "\n\n".join(f"About [[{note.title}]] and more." for note in chance.sample(notes, links))
        block = {"type": "concept", "title": title, "sources": ["raw/sources/1.pdf"], "lang": "en"}
        return write_page(title=title, content=body, frontmatter=block, author=author)

    created = _timed("write_page, new page", 30, [lambda n=n: write(f"Written {n}", links=9) for n in range(60)])  # type: ignore[misc]
    changed = _timed("write_page, change", 30, [lambda n=n: write(f"Written {n}", links=9) for n in range(60)])  # type: ignore[misc]
    return [created, changed]


def _watched(root: Any, notes: list[Note]) -> Row:
    from wiki.search import search
    from wiki.sync import watch_vault

    stop = threading.Event()
    watcher = threading.Thread(target=watch_vault, kwargs={"stop": stop}, daemon=True)
    watcher.start()
    time.sleep(2)

    def save(number: int) -> None:
        file = root / notes[number].path
        word = f"zebra{number}quagga"
        file.write_text(file.read_text(encoding="utf-8") + f"\n{word}\n", encoding="utf-8")
        deadline = time.monotonic() + 10
        while not search(word, k=1).hits:
            if time.monotonic() > deadline:
                raise TimeoutError("a saved change was not found within 10 s")
            time.sleep(0.005)

    try:
        return _timed("save in an editor → found", 500, [lambda n=n: save(n) for n in range(12)])  # type: ignore[misc]
    finally:
        stop.set()
        watcher.join(timeout=10)


def measure(count: int) -> list[Row]:
    """Make a vault of ``count`` notes, scan it, and time the operations on it."""
    with own_database("synapse_operations"):
        from django.conf import settings

        from vault.current import current_vault
        from wiki.sync import scan

        notes = make_vault(settings.SYNAPSE_VAULT, count)
        current_vault().ensure_id()
        scan()
        chance = random.Random(3)
        return [
            _search(chance, notes),
            *_reads(chance, notes),
            *_writes(chance, notes),
            _watched(settings.SYNAPSE_VAULT, notes),
        ]


def main() -> int:
    """Print a table or JSON; exit 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.operations", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    rows = measure(options.notes)
    if options.json:
        print(json.dumps([{**vars(row), "met": row.met} for row in rows]))
    else:
        print(f"| operation, {options.notes:,} notes | p50 ms | p95 ms | bound | |\n|---|---|---|---|---|")
        for row in rows:
            print(
                f"| {row.name} | {row.p50:.1f} | {row.p95:.1f} | {row.bound:.1f} | {'met' if row.met else 'MISSED'} |"
            )
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
