"""Embedding what waits, with a bar on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wiki.embedding.pipeline import Outcome
from wiki.embedding.progress import progress
from wiki.embedding.reembed import embed_all


def embed_with_progress() -> Outcome:
    """:func:`wiki.embedding.reembed.embed_all` with a bar on standard error if that is a terminal."""
    with _bar() as told:
        return embed_all(told=told)


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
