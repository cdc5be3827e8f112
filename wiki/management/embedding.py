"""Embedding what waits, with a bar on a terminal, and how far it is in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wiki.embedding.pipeline import Outcome
from wiki.embedding.progress import progress
from wiki.embedding.reembed import embed_all

_STATES = {
    "off": "off by the settings: pages are found by their words alone",
    "paused": "paused (`manage.py embedding resume` lets it go on)",
    "failed": "stands still",
    "waiting": "waits for `make serve` or `manage.py embedding run`",
}


def embed_with_progress() -> Outcome:
    """:func:`wiki.embedding.reembed.embed_all` with a bar on standard error if that is a terminal."""
    with _bar() as told:
        return embed_all(told=told)


def in_words(figures: dict[str, Any]) -> str:
    """The figures of :func:`wiki.embedding.progress.progress` as a line for people."""
    state = _STATES.get(figures["state"], figures["state"])
    if figures["state"] == "off":
        return f"Embedding is {state}"
    line = (
        f"{figures['pages_done']:,} of {figures['pages']:,} pages have all their vectors, "
        f"{figures['lead_done']:,} at least that of their beginning ({figures['chunks']:,} passages): {state}"
    )
    if figures["eta_seconds"]:
        line += f", about {timedelta(seconds=figures['eta_seconds'])} left"
    return line + (f". {figures['error']}" if figures["error"] else "")


@contextmanager
def _bar() -> Iterator[Callable[[], None] | None]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = [TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=console, transient=True) as bars:
        start = progress()
        leads = bars.add_task("beginnings", total=start["pages"], completed=start["lead_done"])
        pages = bars.add_task("pages", total=start["pages"], completed=start["pages_done"])

        def told() -> None:
            now = progress()
            bars.update(leads, total=now["pages"], completed=now["lead_done"])
            bars.update(pages, total=now["pages"], completed=now["pages_done"])

        yield told
