"""A scan with a progress bar on a terminal, and silence elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wiki.sync import scan

if TYPE_CHECKING:
    from django.core.management.base import BaseCommand

    from wiki.sync import ScanReport


def scan_with_progress(command: BaseCommand, **options: Any) -> ScanReport:
    """Run :func:`wiki.sync.scan` with a bar on standard error if that is a terminal; options are passed on."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return scan(**options)
    columns = [TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=console, transient=True) as progress:
        tasks: dict[str, Any] = {}

        def advance(phase: str, done: int, total: int) -> None:
            if phase not in tasks:
                tasks[phase] = progress.add_task(phase, total=total)
            progress.update(tasks[phase], completed=done, total=total)

        return scan(progress=advance, **options)
