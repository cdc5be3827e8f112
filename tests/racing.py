"""Processes that decide at once, each with a database connection of its own.

Run as ``python -m tests.racing SCENARIO …`` where the environment names a vault and a database with tables; prints one
JSON document: what every process answered, and what stands at the end.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sys
from collections.abc import Callable
from itertools import chain
from typing import Any

import django

PROCESSES = 10
ATTEMPTS = 10
SECONDS = 120


def race(work: Callable[[int], Any], processes: int = PROCESSES) -> list[Any]:
    """What ``work`` answers in each of the processes, which begin at the same moment."""
    from django.db import connections

    connections.close_all()  # a connection that two processes share is none
    context = multiprocessing.get_context("fork")
    start, answers = context.Barrier(processes), context.Queue()

    def run(number: int) -> None:
        start.wait(SECONDS)
        try:
            answers.put(work(number))
        finally:
            connections.close_all()

    started = [context.Process(target=run, args=[number]) for number in range(processes)]
    for process in started:
        process.start()
    found = [answers.get(timeout=SECONDS) for _ in started]
    for process in started:
        process.join(SECONDS)
    return found


def file_items(targets: list[str], **values: Any) -> list[str]:
    """File missing pages that can be made, and give their ids."""
    from reviews.services import file
    from tests.reviews.queue import SCAN, finding

    given = {"proposed_frontmatter": {"sources": ["raw/sources/a.md"]}, **values}
    findings = [finding(target, proposed_title=target.title(), **given) for target in targets]
    return [str(item.pk) for item in file(findings=findings, origin="rule", author=SCAN).filed]


def attempt(item_id: str, action: str, name: str) -> dict[str, Any]:
    """One decision, and what whoever made it is told."""
    from reviews.services import resolve
    from vault.errors import SynapseError
    from vault.history import Author

    try:
        resolved = resolve(item_id=item_id, action=action, author=Author(name, "rest"))
    except SynapseError as error:
        return {"action": action, "who": name, "changed": False, **error.envelope()}
    return {"action": action, "who": name, "changed": resolved.changed, "status": resolved.item.status}


def standing(item_id: str) -> dict[str, Any]:
    """An item with its events, its audit rows, and how often its page was written."""
    from reviews.services import get_item, item_detail
    from wiki.models import Audit
    from wiki.services import page_history

    item = get_item(item_id)
    page = item.created_page
    return {
        **item_detail(item),
        "audits": Audit.objects.filter(action="decide", detail__review=item_id).count(),
        "versions": len(page_history(page)) if page else 0,
    }


def decide_one(*actions: str) -> dict[str, Any]:
    """All processes decide about one item, ten times each, with these actions in turn."""
    (item_id,) = file_items([f"decide by {' '.join(actions)}"])

    def work(number: int) -> list[dict[str, Any]]:
        chosen = random.Random(number)
        return [attempt(item_id, chosen.choice(actions), f"user:{number}-{turn}") for turn in range(ATTEMPTS)]

    return {"attempts": list(chain(*race(work))), "item": standing(item_id)}


def bulk_overlapping() -> dict[str, Any]:
    """Each process takes most of the same items, in an order and with an action of its own."""
    from reviews.services import bulk
    from vault.history import Author

    ids = file_items([f"bulk {number}" for number in range(60)])

    def work(number: int) -> dict[str, Any]:
        chosen = random.Random(number)
        action = chosen.choice(["skip", "dismiss", "mark-resolved"])
        outcome = bulk(ids=chosen.sample(ids, 50), action=action, author=Author(f"user:{number}", "rest"))
        return {
            "who": f"user:{number}",
            "status": outcome.action.status,
            "updated": outcome.updated,
            "failed": outcome.failed,
        }

    return {"answers": race(work), "items": [standing(one) for one in ids]}


def file_same() -> dict[str, Any]:
    """All processes file the same questions again and again, in another order each."""
    from reviews.models import ReviewEvent, ReviewItem

    targets = [f"file {number}" for number in range(40)]

    def work(number: int) -> list[str]:
        chosen = random.Random(number)
        return list(chain(*(file_items(chosen.sample(targets, 30), rank=number) for _ in range(3))))

    filed = list(chain(*race(work)))
    items = ReviewItem.objects.filter(target__in=targets)
    events = ReviewEvent.objects.filter(item__in=items, what="filed").count()
    return {"filed": filed, "items": [str(pk) for pk in items.values_list("pk", flat=True)], "events": events}


def bulk_while_the_list_changes() -> dict[str, Any]:
    """People decide what they saw while others file, refresh, decide, close and reopen."""
    from reviews.models import ReviewEvent, ReviewItem
    from reviews.services import bulk, close, list_items, reopen
    from tests.reviews.queue import SWEEP
    from vault.history import Author

    before = file_items([f"before {number}" for number in range(90)])
    seen = [item["id"] for item in list_items(limit=60, order="rank")["result"] if item["id"] in before][:40]
    unseen = [one for one in before if one not in seen]

    def sees(number: int) -> list[str]:
        ids = random.Random(number).sample(seen, len(seen))
        author = Author("user:person", "admin")
        parts = [ids[at : at + 10] for at in range(0, len(ids), 10)]
        return list(chain(*(bulk(ids=part, action="dismiss", author=author).updated for part in parts)))

    def changes(number: int) -> list[str]:
        chosen = random.Random(number)
        for turn in range(6):
            file_items([f"before {chosen.randrange(90)}" for _ in range(10)], rank=number * 10 + turn)
            file_items([f"new {number} {turn} {more}" for more in range(5)])
            attempt(chosen.choice(before), "skip", f"user:other-{number}")
            close(items=ReviewItem.objects.filter(pk=chosen.choice(before)), note="gone", author=SWEEP)
            done = ReviewItem.objects.filter(pk__in=chosen.sample(before, 5)).exclude(status="pending").first()
            if done is not None:
                reopen(item_id=done.pk, author=Author(f"user:other-{number}", "rest"))
        return []

    def work(number: int) -> list[str]:
        return sees(number) if number % 2 else changes(number)

    updated = list(chain(*race(work)))
    by_person = ReviewEvent.objects.filter(who="user:person", what="decided").values_list("item_id", flat=True)
    return {
        "seen": seen,
        "unseen": unseen,
        "updated": updated,
        "decided_by_person": [str(one) for one in by_person],
        "statuses": {str(pk): status for pk, status in ReviewItem.objects.values_list("pk", "status")},
        "exits": [
            str(pk) for pk in ReviewEvent.objects.filter(from_status="pending").values_list("item_id", flat=True)
        ],
        "total": ReviewItem.objects.count(),
    }


SCENARIOS: dict[str, Callable[[], dict[str, Any]]] = {
    **{action: lambda action=action: decide_one(action) for action in ("skip", "create", "deep-research")},  # type: ignore[misc]
    "mixed": lambda: decide_one("skip", "dismiss", "mark-resolved", "create", "deep-research"),
    "bulk_overlapping": bulk_overlapping,
    "file_same": file_same,
    "bulk_while_the_list_changes": bulk_while_the_list_changes,
}


if __name__ == "__main__":
    django.setup()
    print(json.dumps({name: SCENARIOS[name]() for name in sys.argv[1:]}))
