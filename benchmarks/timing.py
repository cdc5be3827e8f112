"""How long calls take, by the wall and by this process, and the table of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of a table, in milliseconds; ``bound`` is on the median of the wall, None where there is none.

    ``cpu`` is the median of this process's own time: what a database server does is not in it.
    """

    name: str
    wall: float
    p95: float
    cpu: float
    bound: float | None

    @property
    def met(self) -> bool:
        """Whether the wall kept its bound."""
        return self.bound is None or self.wall <= self.bound


def timed(name: str, bound: float | None, calls: Iterable[Callable[[], object]]) -> Row:
    """Time each of the calls once; what it takes to come by them is not counted."""
    wall, cpu = [], []
    for call in calls:
        began, spent = time.perf_counter(), time.process_time()
        call()
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - spent) * 1000)
    wall.sort()
    return Row(name, statistics.median(wall), wall[int(len(wall) * 0.95)], statistics.median(cpu), bound)


def table(title: str, rows: Iterable[Row]) -> str:
    """The rows in Markdown."""
    lines = [f"| {title} | p50 ms | p95 ms | CPU ms | bound | |", "|---|---|---|---|---|---|"]
    for row in rows:
        bound, met = (f"{row.bound:,.0f}", "met" if row.met else "MISSED") if row.bound else ("", "")
        lines.append(f"| {row.name} | {row.wall:,.1f} | {row.p95:,.1f} | {row.cpu:,.1f} | {bound} | {met} |")
    return "\n".join(lines)
