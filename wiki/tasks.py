"""What Celery's workers do for the wiki. Each task only calls what a thread or a command calls without a broker.

A task may run twice, late, beside another or in any order: what is to be done stands in rows, never in a message, and
locks that are free at once when their holder dies let one process at a time do it. Nothing is given to a task or kept
of it. One that fails is tried again a few times, later each time; then beat asks again.
"""

from __future__ import annotations

import threading
from typing import Any, Final

from celery import shared_task
from django.db import DatabaseError

from vault.errors import SynapseError
from wiki import broker, jobs
from wiki.idempotency import forget_expired
from wiki.sync import scan

#: What every task of ours has: taken from the queue only when it is done, tried again, in an end of time.
SAFELY: Final[dict[str, Any]] = {
    "acks_late": True,
    "reject_on_worker_lost": True,
    "ignore_result": True,
    "autoretry_for": (DatabaseError, SynapseError, OSError),
    "max_retries": 4,
    "retry_backoff": 2,
    "retry_backoff_max": 60,
    "retry_jitter": True,
    "soft_time_limit": 600,
    "time_limit": 660,
}
#: What reads the whole vault: the first scan of a large one takes a while.
LONG: Final = {**SAFELY, "soft_time_limit": 4 * 3_600, "time_limit": 4 * 3_600 + 60}
#: How long one message embeds; then the next has its turn.
EMBED_SECONDS: Final = 45.0


@shared_task(**LONG)
def drain() -> None:
    """Run the jobs that are due."""
    jobs.run_all_due()


@shared_task(**LONG)
def rescan() -> None:
    """Find what has changed in the vault though nobody told of it; nothing while another scan is at work."""
    scan()


@shared_task(**SAFELY)
def embed_pages() -> None:
    """Embed what waits, for a while; goes on in another message if that was not all."""
    from wiki.embedding.thread import EmbedThread

    stop = threading.Event()
    bell = threading.Timer(EMBED_SECONDS, stop.set)
    bell.start()
    try:
        EmbedThread(stop).look()
    finally:
        bell.cancel()
    if stop.is_set():
        broker.tell(broker.EMBED)


@shared_task(**SAFELY)
def upsert_vectors() -> None:
    """Bring the store of vectors to what the database holds, where it is a store of its own."""
    from wiki.embedding.reconcile import repair

    repair()


@shared_task(**SAFELY)
def purge() -> None:
    """Forget jobs and kept answers that are old enough, and have the rest of the hour's work done."""
    jobs.forget_finished()
    forget_expired()
    jobs.ask_for_upkeep()


@shared_task(**SAFELY)
def layout() -> None:
    """Have the map of the vault made again if the index has changed since."""
    jobs.ask_for_map()
