"""What the servers hold in memory, life by life.

A process that is killed begins anew, so growth can be seen only within one life. A life's first 40 % (at least 30
seconds) is its warm-up: the model, the atoms and the caches are loaded then, and the allocator finds its size. Of the
rest, the median of the first fifth of the samples is compared with the median of the last fifth. Lives whose rest is
shorter than `JUDGED` seconds are shown and not judged: a minute says nothing about growth. In a run of 20 minutes the
main server's last life is eleven (see killing.py).

On SQLite a server grows a little as long as its database does: each thread that stays keeps a connection, and each
connection as much of the database as its cache holds (32 MB at most). On PostgreSQL nothing of it is in the server.
"""

from __future__ import annotations

import re
import statistics
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tests.soak.world import World

JUDGED = 150.0
#: How much more a life may hold at its end.
BOUND = 1.10
_EVERY = 2.0
_FIELD = re.compile(r"^(Rss|Pss):\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class Life:
    """One generation of a process: MB after the warm-up and at the end; ``judged`` if it lived long enough."""

    process: str
    generation: int
    seconds: float
    rss: tuple[float, float]
    pss: tuple[float, float]
    judged: bool

    @property
    def flat(self) -> bool:
        return all(last <= first * BOUND for first, last in (self.rss, self.pss))


class Memory(threading.Thread):
    """Looks at the servers every two seconds."""

    def __init__(self, world: World, stop: threading.Event) -> None:
        super().__init__(name="memory", daemon=True)
        self._world, self._halt = world, stop
        self._samples: dict[tuple[str, int], list[tuple[float, float, float]]] = defaultdict(list)

    def run(self) -> None:
        while not self._halt.wait(_EVERY):
            for name in self._world.addresses:
                service = self._world.services[name]
                held = _held(service.pid)
                if held and service.generation:
                    self._samples[name, service.generation].append((time.monotonic(), *held))

    def now(self) -> str:
        """The newest RSS of each server in MB, for the line that shows how it goes."""
        newest = {name: samples[-1][1] for (name, _), samples in sorted(self._samples.items()) if samples}
        return ", ".join(f"{name} {megabytes:.0f} MB" for name, megabytes in newest.items())

    def lives(self) -> list[Life]:
        return [_life(*key, samples) for key, samples in sorted(self._samples.items()) if len(samples) >= 10]


def _life(name: str, generation: int, samples: list[tuple[float, float, float]]) -> Life:
    begun, ended = samples[0][0], samples[-1][0]
    warm = begun + max(30.0, (ended - begun) * 0.4)
    rest = [sample for sample in samples if sample[0] >= warm] or samples[-5:]
    fifth = max(1, len(rest) // 5)

    def ends(column: int) -> tuple[float, float]:
        first, last = rest[:fifth], rest[-fifth:]
        return statistics.median(one[column] for one in first), statistics.median(one[column] for one in last)

    return Life(name, generation, ended - begun, ends(1), ends(2), judged=ended - warm >= JUDGED)


def _held(pid: int | None) -> tuple[float, float] | None:
    """RSS and PSS in MB; None where the process is gone or the system does not tell."""
    try:
        found = dict(_FIELD.findall(Path(f"/proc/{pid}/smaps_rollup").read_text()))
    except OSError:
        return None
    return (int(found["Rss"]) / 1024, int(found["Pss"]) / 1024) if len(found) == 2 else None
