"""Killing one process after another, and starting it again at once."""

from __future__ import annotations

import itertools
import threading
import time

from tests.soak.doors import Stdio
from tests.soak.ledger import Ledger
from tests.soak.world import World


class Killer(threading.Thread):
    """Kills (-9) a process every ``every`` seconds, in turns.

    In the first half all take their turns. In the second the main server goes on living, so that there is one life
    long enough to judge its memory by; the others go on dying.
    """

    def __init__(
        self, world: World, pipes: list[Stdio], ledger: Ledger, stop: threading.Event, *, every: float, total: float
    ) -> None:
        super().__init__(name="killer", daemon=True)
        self._world, self._pipes, self._ledger, self._halt = world, pipes, ledger, stop
        self._every, self._total = every, total

    def run(self) -> None:
        begun = time.monotonic()
        for turn in itertools.count():
            due = (turn + 1) * self._every
            # By the clock, however long those before took to come back; and none so late that nothing follows it.
            if due + self._every / 2 >= self._total or self._halt.wait(max(0.0, begun + due - time.monotonic())):
                return
            names = self._names(due)
            name = names[turn % len(names)]
            try:
                self.kill(name)
            except Exception as error:
                self._ledger.failed(f"{name} was killed and did not come back: {error}")
                raise

    def kill(self, name: str) -> None:
        for pipe in self._pipes:
            if pipe.service.name == name:
                pipe.kill()
                return
        self._world.services[name].kill_and_start()

    def _names(self, passed: float) -> list[str]:
        workers = [name for name in ("worker", "watcher", "beat") if name in self._world.services]
        pipes = [pipe.service.name for pipe in self._pipes]
        names = ["serve", pipes[0], *workers[:1], "staged", pipes[1], *workers[1:]]
        return [name for name in names if name != "serve" or passed * 2 < self._total]
