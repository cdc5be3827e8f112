"""What a web process does, in a process of its own: ``python -m tests.services.acting SCENARIO …`` prints JSON."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import django

#: The tasks as they build on each other.
IN_ORDER = [
    "wiki.tasks.rescan",
    "wiki.tasks.drain",
    "wiki.tasks.embed_pages",
    "wiki.tasks.upsert_vectors",
    "reviews.tasks.sweep_reviews",
    "wiki.tasks.layout",
    "wiki.tasks.purge",
]


def write(number: int, text: str = "text", *, base_hash: str | None = None) -> None:
    from vault.history import Author
    from wiki.services import write_page

    write_page(
        title=f"Written {number}",
        content=f"# Written {number}\n\n{text} {number}, see [[Kept wiki]].\n",
        frontmatter={"type": "concept", "title": f"Written {number}", "sources": ["raw/sources/a.md"], "lang": "en"},
        base_hash=base_hash,
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


def write_one(number: str, text: str) -> dict[str, Any]:
    """One page written over what stands there now; the message about it goes out before the end."""
    from vault.current import current_vault
    from wiki import broker

    path = f"wiki/concepts/written-{number}.md"
    there = (current_vault().root / path).exists()
    begun = time.perf_counter()
    write(int(number), text, base_hash=current_vault().read(path).content_hash if there else None)
    return {"seconds": time.perf_counter() - begun, "told": broker.flush(10)}


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


def scan() -> dict[str, Any]:
    """The vault scanned here and now."""
    from wiki.sync import scan

    return scan().as_dict()


def settled() -> dict[str, Any]:
    """All that waits done here: what the next worker does."""
    from wiki import jobs
    from wiki.embedding.thread import EmbedThread

    while jobs.run_due(now=True):
        continue
    EmbedThread(threading.Event()).look()
    return state()


def shuffled(order: str) -> dict[str, Any]:
    """Every task run three times here in an order of chance, which ``order`` decides; "in order", each once."""
    from synapse.celery import SCHEDULE, app
    from wiki import jobs

    app.loader.import_default_modules()
    names = IN_ORDER if order == "in order" else sorted(SCHEDULE) * 3
    if order != "in order":
        random.Random(order).shuffle(names)
    for name in names:
        app.tasks[name].apply(throw=True)
    while jobs.run_due(now=True):
        continue  # what was to be done a little later
    return {**by_paths(state()), "tasks": names}


def by_paths(found: dict[str, Any]) -> dict[str, Any]:
    """The state with a page's path wherever its id is: ids are those of one vault."""
    from wiki.models import Page

    text = json.dumps(found)
    for uid, path in Page.objects.values_list("uid", "path"):
        text = text.replace(str(uid), path)
    comparable: dict[str, Any] = json.loads(text)
    comparable["reviews"].sort()
    return comparable


def tasks() -> dict[str, Any]:
    """The tasks that Celery knows, its own aside, and those that :func:`shuffled` runs."""
    from synapse.celery import SCHEDULE, app

    app.loader.import_default_modules()
    registered = sorted(name for name in app.tasks if not name.startswith("celery."))
    return {"registered": registered, "shuffled": sorted(SCHEDULE), "in order": sorted(IN_ORDER)}


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
    "scan": scan,
    "settled": settled,
    "state": state,
    "shuffled": shuffled,
    "tasks": tasks,
    "tell": tell,
}


if __name__ == "__main__":
    django.setup()
    from tests.services import gate

    gate.install()
    print(json.dumps(SCENARIOS[sys.argv[1]](*sys.argv[2:])))
