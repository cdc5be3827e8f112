"""What a web process does, in a process of its own: ``python -m tests.services.acting SCENARIO …`` prints JSON."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import django


def write(number: int, text: str = "text") -> None:
    from vault.history import Author
    from wiki.services import write_page

    write_page(
        title=f"Written {number}",
        content=f"# Written {number}\n\n{text} {number}, see [[Kept wiki]].\n",
        frontmatter={"type": "concept", "title": f"Written {number}", "sources": ["raw/sources/a.md"], "lang": "en"},
        author=Author("user:test", "rest"),
    )


def writes(count: str) -> dict[str, Any]:
    """Pages written, searched and decided about, with the seconds that each took."""
    from reviews.services import resolve
    from tests.racing import file_items
    from vault.history import Author
    from wiki.search import search

    took: dict[str, list[float]] = {"write": [], "read": [], "decide": []}

    def timed(what: str, work: Callable[[], Any]) -> None:
        begun = time.perf_counter()
        work()
        took[what].append(time.perf_counter() - begun)

    items = file_items([f"asked {number}" for number in range(int(count))])
    for number, item in enumerate(items):
        timed("write", lambda number=number: write(number))  # type: ignore[misc]
        timed("read", lambda: search("wiki"))
        timed("decide", lambda item=item: resolve(item_id=item, action="skip", author=Author("user:a", "rest")))  # type: ignore[misc]
    return took


def write_one(number: str) -> dict[str, Any]:
    """One page written, and what was done about it."""
    begun = time.perf_counter()
    write(int(number), "again")
    return {"seconds": time.perf_counter() - begun, **state()}


def state() -> dict[str, Any]:
    """All that tasks bring about, without numbers of rows and clocks; and what still waits."""
    from reviews.models import ReviewItem
    from wiki import changes, jobs
    from wiki.embedding import waiting
    from wiki.models import Chunk, Job
    from wiki.sync.dump import dump_index

    chunks = Chunk.objects.order_by("page__path", "ordinal")
    return {
        "index": list(dump_index()),
        "reviews": sorted(
            [list(row) for row in ReviewItem.objects.values_list("rule", "target", "status", "item_type", "title")]
        ),
        "chunks": [list(row) for row in chunks.values_list("page__path", "ordinal", "hash", "model_id")],
        "jobs": jobs.waiting(),
        "failed": [job.outcome for job in Job.objects.filter(outcome__has_key="failed") if job.outcome["failed"]],
        "changes": changes.waiting(),
        "embed": waiting.anything_waits(),
    }


def shuffled(seed: str) -> dict[str, Any]:
    """Every task run three times in an order of chance, here."""
    from wiki import jobs
    from synapse.celery import SCHEDULE, app

    app.loader.import_default_modules()
    names = sorted(SCHEDULE) * 3
    random.Random(int(seed)).shuffle(names)
    for name in names:
        app.tasks[name].apply(throw=True)
    while jobs.run_due(now=True):
        continue  # what was to be done a little later
    return state()


def tell(*names: str) -> dict[str, Any]:
    """Publish tasks by name, as beat does."""
    from synapse.celery import app

    app.loader.import_default_modules()
    for name in names:
        app.tasks[name].signature().apply_async()
    return {}


SCENARIOS: dict[str, Callable[..., dict[str, Any]]] = {
    "writes": writes,
    "write_one": write_one,
    "state": state,
    "shuffled": shuffled,
    "tell": tell,
}


if __name__ == "__main__":
    django.setup()
    from tests.services import gate

    gate.install()
    print(json.dumps(SCENARIOS[sys.argv[1]](*sys.argv[2:])))
