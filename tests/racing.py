"""Processes that decide at once, each with a database connection of its own.

Run as ``python -m tests.racing SCENARIO …`` where the environment names a vault and a database with tables; prints one
JSON document: what every process answered, and what stands at the end.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Any

import django

PROCESSES = 10
ATTEMPTS = 10
SECONDS = 120


def race(work: Callable[[int], Any], processes: int = PROCESSES, seconds: float = SECONDS) -> list[Any]:
    """What ``work`` answers in each of the processes, which begin at the same moment; none may take longer."""
    from django.db import connections

    connections.close_all()  # a connection that two processes share is none
    context = multiprocessing.get_context("fork")
    start, answers = context.Barrier(processes), context.Queue()

    def run(number: int) -> None:
        start.wait(seconds)
        try:
            answers.put(work(number))
        finally:
            connections.close_all()

    started = [context.Process(target=run, args=[number]) for number in range(processes)]
    for process in started:
        process.start()
    found = [answers.get(timeout=seconds) for _ in started]
    for process in started:
        process.join(seconds)
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


def write_page(title: str, text: str, base_hash: str | None = None) -> Any:
    """A page written by the one write path, from ``base_hash``."""
    from vault.history import Author
    from wiki import services

    frontmatter = {"type": "concept", "title": title, "sources": ["raw/sources/a.md"], "lang": "en"}
    author = Author("agent", "mcp:stdio")
    return services.write_page(title=title, content=text, frontmatter=frontmatter, base_hash=base_hash, author=author)


class _Writing:
    """What one process does in :func:`write_while_others_read`: pages of its own, pages of all, decisions."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.told: dict[str, list[str]] = {}
        self.seen: Counter[str] = Counter()

    def turn(self, turn: int) -> None:
        text = f"By {self.number}, turn {turn}, see [[Shared {turn % 5}]] and [[Ghost {turn % 7}]].\n"
        if turn % 10 == 9:
            (item_id,) = file_items([f"asked by {self.number} in {turn}"])
            decided = attempt(item_id, "skip", f"user:{self.number}")
            self.seen["decided" if decided["changed"] else str(decided)] += 1
        elif turn % 4 == 3:
            self._shared(f"Shared {turn % 5}", text)
        else:
            self._note(f"Own {self.number} {turn % 20}", write_page(f"Own {self.number} {turn % 20}", text))

    def _shared(self, title: str, text: str) -> None:
        """From the version that stands, until that is taken."""
        from vault.errors import ErrorCode, SynapseError
        from wiki.services import page_by_title, read_page

        while True:
            try:
                self._note(title, write_page(title, text, read_page(page_by_title(title)).content_hash))
                return
            except SynapseError as error:
                if error.code is not ErrorCode.CONFLICT:
                    raise
                self.seen["refused"] += 1

    def _note(self, title: str, written: Any) -> None:
        self.told.setdefault(title, []).append(written.content_hash)
        self.seen["written"] += 1
        self.seen.update(f"warning: {one}" for one in written.warnings)


def write_while_others_read() -> dict[str, Any]:
    """Eight processes write, ``RACING_WRITES`` times each; beside them two read, one scans, and one does the jobs."""
    from reviews.models import ReviewItem
    from reviews.services import list_items
    from vault import history
    from vault.current import current_vault
    from wiki import jobs
    from wiki.models import Audit, Page
    from wiki.search import search
    from wiki.services import page_by_title, read_page
    from wiki.sync import scan

    writers, writes = 8, int(os.environ["RACING_WRITES"])
    for number in range(5):
        write_page(f"Shared {number}", "Begin.\n")
    writing = multiprocessing.get_context("fork").Value("i", writers)

    def read(turn: int) -> None:
        search(f"turn {turn % 50} by {turn % 8}")
        read_page(page_by_title(f"Shared {turn % 5}"))
        list_items(limit=20, order="rank")

    beside = [read, read, lambda turn: scan(full=turn % 5 == 4), lambda turn: jobs.run_due(now=True)]

    def work(number: int) -> dict[str, Any]:
        seen: Counter[str] = Counter()
        writer, turn = _Writing(number), 0
        while turn < writes if number < writers else writing.value:
            try:
                if number < writers:
                    writer.turn(turn)
                else:
                    beside[number - writers](turn)
                    seen[["read", "read", "scanned", "jobs"][number - writers]] += 1
                    time.sleep(0.05 if number - writers < 2 else 0.5)  # as people and the watcher do
            except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
                seen[f"error: {type(error).__name__}: {error}"] += 1
            turn += 1
        if number < writers:
            with writing.get_lock():
                writing.value -= 1
        return {"seen": seen + writer.seen, "told": writer.told}

    answers = race(work, writers + len(beside), seconds=900)
    while jobs.run_due(now=True):
        continue
    scan()
    uids = {page.title: page.uid for page in Page.objects.live() if page.title.startswith(("Own ", "Shared "))}
    return {
        "answers": answers,
        "versions": {
            title: [version.content_hash for version in history.versions(current_vault(), uid)]
            for title, uid in uids.items()
        },
        "audits": Audit.objects.filter(action="write", page_uid__in=uids.values()).count(),
        "skipped": ReviewItem.objects.filter(status="skipped").count(),
    }


SCENARIOS: dict[str, Callable[[], dict[str, Any]]] = {
    **{action: lambda action=action: decide_one(action) for action in ("skip", "create", "deep-research")},  # type: ignore[misc]
    "mixed": lambda: decide_one("skip", "dismiss", "mark-resolved", "create", "deep-research"),
    "bulk_overlapping": bulk_overlapping,
    "file_same": file_same,
    "bulk_while_the_list_changes": bulk_while_the_list_changes,
    "write_while_others_read": write_while_others_read,
}


if __name__ == "__main__":
    django.setup()
    print(json.dumps({name: SCENARIOS[name]() for name in sys.argv[1:]}))
