"""How far embedding is: the answer of /status, ``doctor``, the admin and ``manage.py embedding``."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Any, Final

from django.db.models import Count, F, Q, Sum

from wiki.embedding.waiting import waiting_pages
from wiki.exclusive import try_exclusive
from wiki.models import Chunk, Page
from wiki.vectors.embedders import embeddings_wanted
from wiki.vectors.rows import embedding_state

#: Whoever holds this lock of the vault embeds.
LOCK: Final = "embedding"
#: What :func:`progress` calls the state.
STATES: Final = ("off", "waiting", "running", "paused", "done", "failed")
#: Words of a passage, by and large; what a page says in fewer is one passage too.
_WORDS: Final = 130
_IN_WORDS: Final = {
    "off": "off by the settings: pages are found by their words alone",
    "paused": "paused (`manage.py embedding resume` lets it go on)",
    "failed": "stands still",
    "waiting": "waits for `make serve` or `manage.py embedding run`",
}
#: How much the newest measurement counts.
_NEWEST: Final = 0.2


class Pace:
    """Seconds a chunk, as this process has measured them: newer ones count more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: float | None = None

    def add(self, chunks: int, seconds: float) -> None:
        """``chunks`` took ``seconds``."""
        if chunks > 0:
            each = seconds / chunks
            with self._lock:
                self._seconds = each if self._seconds is None else self._seconds + _NEWEST * (each - self._seconds)

    def seconds(self) -> float | None:
        """Of one chunk; None before the first."""
        return self._seconds


#: The pace of this process.
pace: Final = Pace()


class Stopwatch:
    """Tells :data:`pace` how long a step took."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def stop(self, chunks: int) -> None:
        """The step is over."""
        pace.add(chunks, time.monotonic() - self._begun)


def progress() -> dict[str, Any]:
    """State and figures, JSON-serialisable; loads no model.

    ``state``: off (by the settings), done, paused, failed (``error`` says why; it is tried again), running, or
    waiting (nobody embeds at this moment). ``lead_done`` counts pages that meaning finds already, by their lead at
    least; ``eta_seconds`` is null where this process has not embedded.
    """
    state = embedding_state()
    done = Q(vectors_hash=F("content_hash"))
    listed = Page.objects.listed().aggregate(
        pages=Count("pk"), pages_done=Count("pk", filter=done), lead_done=Count("pk", filter=~Q(lead_hash=""))
    )
    waiting = listed["pages"] - listed["pages_done"]
    return {
        "state": _state(waiting, paused=state.paused, error=state.last_error),
        "model": state.model_id,
        **listed,
        "chunks": Chunk.objects.count(),
        "waiting": waiting,
        "eta_seconds": _eta() if waiting else 0,
        "error": state.last_error or None,
    }


def in_words(figures: dict[str, Any]) -> str:
    """What :func:`progress` answers, as a line for people."""
    state = _IN_WORDS.get(figures["state"], figures["state"])
    if figures["state"] == "off":
        return f"Embedding is {state}"
    line = (
        f"{figures['pages_done']:,} of {figures['pages']:,} pages have all their vectors, "
        f"{figures['lead_done']:,} at least that of their beginning ({figures['chunks']:,} passages): {state}"
    )
    if figures["eta_seconds"]:
        line += f", about {timedelta(seconds=figures['eta_seconds'])} left"
    return line + (f". {figures['error']}" if figures["error"] else "")


def _state(waiting: int, *, paused: bool, error: str) -> str:
    if not embeddings_wanted():
        return "off"
    if not waiting:
        return "done"
    if paused:
        return "paused"
    if error:
        return "failed"
    with try_exclusive(LOCK) as free:
        return "waiting" if free else "running"


def _eta() -> int | None:
    each = pace.seconds()
    if each is None:
        return None
    waits = waiting_pages().aggregate(
        pages=Count("pk"),
        words=Sum("words"),
        leads=Count("pk", filter=~Q(lead_hash="") & Q(lead_hash=F("content_hash"))),
    )
    chunks: int = waits["pages"] + (waits["words"] or 0) // _WORDS - waits["leads"]
    return max(1, round(each * max(1, chunks)))
