"""All of Synapse at work at once, on SQLite and on PostgreSQL side by side, with a process killed every minute.

    python -m tests.soak [--minutes 20] [--engine both|sqlite|postgresql] [--seed 1] [--json] [--keep]

A real `manage.py serve` and one in staged mode (on PostgreSQL with Redis, a Celery worker, beat and the watcher as
processes of their own) serve a vault that an editor without locks, four agents (HTTP and stdio), a program over REST
and a reviewer work on. All processes, the vault and the database are the run's own. At the end the run looks for
everything that anybody was told is there. It exits with 1, and says why, when anything is missing.

What may go wrong on the way: a connection is refused or cut while its process is being killed and started again
(counted as cut off), and answers that say somebody else was first (see ``ledger.EXPECTED``). No 5xx is allowed, nor an
MCP error whose code belongs to a 5xx.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TextIO

from tests.services.place import ROOT
from tests.soak import judging
from tests.soak.clients import Agent, Client, Program, Reviewer
from tests.soak.doors import Http, Stdio
from tests.soak.editor import Editor
from tests.soak.killing import Killer
from tests.soak.ledger import Ledger
from tests.soak.memory import Memory
from tests.soak.report import FULL, Run
from tests.soak.world import World, with_processes, world

ENGINES = ("sqlite", "postgresql")
REPORTS = ROOT / "build" / "promises"
_SECONDS_BETWEEN_LINES = 10.0


def soak(engine: str, minutes: float, seed: int, folder: Path) -> Run:
    """One run on one engine."""
    ledger, found = Ledger(), judging.Found()
    with world(folder, engine) as made:
        with_processes(made)
        tokens = made.start()
        read, write = tokens["read"], tokens["write"]
        stop = threading.Event()
        pipes = [Stdio(f"stdio {number}", ledger, made) for number in (1, 2)]
        door = Http("judge", ledger, made, "serve", read)
        clients: list[Client] = [
            *(Agent(pipe.service.name, pipe, ledger, stop, seed) for pipe in pipes),
            Agent("http agent", Http("http agent", ledger, made, "serve", write), ledger, stop, seed),
            Agent("staged agent", Http("staged", ledger, made, "staged", write), ledger, stop, seed, staged=True),
            Program("program", Http("program", ledger, made, "serve", write), ledger, stop, seed),
            Reviewer("reviewer", Http("reviewer", ledger, made, "serve", write), ledger, stop, seed),
        ]
        memory = Memory(made, stop)
        seconds = minutes * 60
        every = 60.0 if minutes >= FULL / 4 else seconds / 8
        killer = Killer(made, pipes, ledger, stop, every=every, total=seconds)
        busy = [*clients, Editor(made.vault, ledger, stop, seed), memory, killer]
        for thread in busy:
            thread.start()
        _tell(engine, ledger, memory, made, pipes, seconds)
        stop.set()
        for thread in busy:
            thread.join(180)
            if thread.is_alive():
                ledger.failed(f"{thread.name} did not come to its end")
        judging.wait_for_quiet(door, ledger, found)
        judging.decisions(door, ledger, found)
        judging.stopped(made, ledger)
        judging.index(made, ledger, found, engine)
        judging.writes(made, ledger, found)
        judging.leftovers(made, ledger)
        warnings = judging.logs(made, ledger)
        judging.memory(memory, ledger, must=minutes >= FULL)
        services = [*made.services.values(), *(pipe.service for pipe in pipes)]
        processes = "serve ×2, Redis, Celery worker, beat, watcher" if made.redis else "serve ×2"
        return Run(engine, minutes, ledger, found, services, memory.lives(), warnings, f"{processes}, stdio ×2")


def _tell(engine: str, ledger: Ledger, memory: Memory, made: World, pipes: list[Stdio], seconds: float) -> None:
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < seconds:
        time.sleep(min(_SECONDS_BETWEEN_LINES, seconds - passed))
        kills = sum(one.kills for one in (*made.services.values(), *(pipe.service for pipe in pipes)))
        print(
            f"{engine} {time.monotonic() - begun:5.0f} s: {ledger.calls()} calls, {len(ledger.acknowledged)} writes, "
            f"{len(ledger.saves)} saves, {len(ledger.decided)} decisions, {kills} kills, {memory.now()}"
            + (f", {len(ledger.failures)} FAILURES: {ledger.failures[-1][:160]}" if ledger.failures else ""),
            file=sys.stderr,
            flush=True,
        )


def _side_by_side(options: argparse.Namespace) -> int:
    """Both engines at once, each in a process of its own; what they print, one after the other."""
    with tempfile.TemporaryDirectory(prefix="synapse-soak-") as folder:
        started: list[tuple[subprocess.Popen[bytes], TextIO]] = []
        for engine in ENGINES:
            command = [sys.executable, "-m", "tests.soak", "--engine", engine, "--minutes", str(options.minutes)]
            command += ["--seed", str(options.seed)] + ["--json"] * options.json + ["--keep"] * options.keep
            out = open(Path(folder) / engine, "w+", encoding="utf-8")  # noqa: SIM115
            started.append((subprocess.Popen(command, cwd=ROOT, stdout=out), out))
        codes = []
        answers = []
        for process, out in started:
            codes.append(process.wait())
            out.seek(0)
            answers.append(out.read())
            out.close()
    if options.json:
        print(json.dumps([json.loads(answer) for answer in answers if answer]))
    else:
        print("\n".join(answers))
    return int(any(codes))


def main() -> int:
    """Run, show, and exit 1 with the reasons if anything fails."""
    parser = argparse.ArgumentParser(prog="tests.soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=FULL)
    parser.add_argument("--engine", choices=["both", *ENGINES], default="both")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    parser.add_argument(
        "--keep", action="store_true", help="leave the vault and the logs where they are; a failure does"
    )
    options = parser.parse_args()
    if options.engine == "both":
        return _side_by_side(options)
    place = Path(tempfile.mkdtemp(prefix=f"synapse-soak-{options.engine}-"))
    run = soak(options.engine, options.minutes, options.seed, place)
    run.leave_line(REPORTS)
    print(json.dumps(run.as_dict()) if options.json else run.table())
    if options.keep or not run.passed:
        print(f"The vault, the logs and the dumps are in {place}", file=sys.stderr)
    else:
        shutil.rmtree(place)
    return int(not run.passed)


if __name__ == "__main__":
    sys.exit(main())
