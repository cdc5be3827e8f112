"""What a run shows: a table, one JSON document, and its line for docs/promises.md."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.soak.judging import Found
from tests.soak.ledger import Ledger
from tests.soak.memory import Life
from tests.soak.world import Service

#: Minutes from which a run is one of the full figures.
FULL = 20.0


@dataclass
class Run:
    """All there is to tell of one engine."""

    engine: str
    minutes: float
    ledger: Ledger
    found: Found
    services: list[Service]
    lives: list[Life]
    warnings: dict[str, int]
    processes: str

    @property
    def passed(self) -> bool:
        return not self.ledger.failures

    def as_dict(self) -> dict[str, Any]:
        ledger = self.ledger
        return {
            "engine": self.engine,
            "minutes": self.minutes,
            "processes": self.processes,
            "passed": self.passed,
            "failures": ledger.failures,
            "calls": _calls(ledger),
            "cut_off": dict(ledger.cut_off),
            "acknowledged": len(ledger.acknowledged),
            "outside": dict(ledger.edits),
            "decided": len(ledger.decided),
            "kills": {service.name: service.kills for service in self.services},
            "restart_seconds": {
                service.name: [round(one, 1) for one in service.restart_seconds] for service in self.services
            },
            "found": asdict(self.found),
            "memory": [asdict(life) | {"flat": life.flat} for life in self.lives],
            "warnings": self.warnings,
        }

    def line(self) -> dict[str, Any]:
        """The line that tests.promises.table reads, with the keys that a promise's line has."""
        ledger, kills = self.ledger, sum(service.kills for service in self.services)
        judged = [life for life in self.lives if life.judged]
        grown = max((life.rss[1] / life.rss[0] - 1 for life in judged), default=0.0)
        saves = len(ledger.saves)
        found = (
            f"{self.minutes:g} minutes, {ledger.calls():,} calls, {kills} kills: "
            f"{len(ledger.acknowledged):,} acknowledged writes, {self.found.acknowledged_lost} lost; "
            f"{saves:,} outside saves, {self.found.saves_lost} lost; {len(ledger.decided):,} decisions, "
            f"{self.found.decisions_lost} lost; the index of {self.found.pages} pages = a rebuild; no 5xx; "
            f"memory of {len(judged)} servers' lives {grown:+.0%} at most"
        )
        return {
            "promise": "soak",
            "test": f"make soak MINUTES={self.minutes:g}",
            "found": found,
            "full": self.minutes >= FULL,
            "engine": self.engine,
            "at": time.strftime("%Y-%m-%d", time.gmtime()),
        }

    def table(self) -> str:
        """The figures in Markdown."""
        ledger, found = self.ledger, self.found
        rows = [
            f"### {self.engine}, {self.minutes:g} minutes, {self.processes}",
            "",
            "| calls | number | p50 ms | p95 | p99 | longest | answered otherwise |",
            "|---|---|---|---|---|---|---|",
        ]
        for what, one in _calls(ledger).items():
            codes = ", ".join(f"{number} {code}" for code, number in one["codes"].items())
            times = " | ".join(f"{one[name]:.0f}" for name in ("p50", "p95", "p99", "max"))
            rows.append(f"| {what} | {one['number']} | {times} | {codes} |")
        rows += ["", "| what | figure |", "|---|---|"]
        told = {
            "outside": ", ".join(f"{number} {what}" for what, number in sorted(ledger.edits.items())),
            "outside saves lost": f"{found.saves_lost} of {len(ledger.saves)}",
            "acknowledged writes lost": f"{found.acknowledged_lost} of {len(ledger.acknowledged)} "
            f"({found.acknowledged_in_place} stand, {found.acknowledged_in_history} in the history, "
            f"{found.acknowledged_saved_over} the editor saved over)",
            "decisions lost": f"{found.decisions_lost} of {len(ledger.decided)}",
            "index against a rebuild": f"{found.dump_lines} rows, {found.pages} pages",
            "quiet after": f"{found.settled_after:.0f} s",
            "kills": ", ".join(f"{service.name} {service.kills}" for service in self.services),
            "seconds to be there again": ", ".join(
                f"{service.name} {max(service.restart_seconds):.0f}" for service in self.services if service.kills
            ),
            "cut off by a kill": ", ".join(f"{number} {what}" for what, number in ledger.cut_off.items()) or "none",
        }
        rows += [f"| {what} | {figure} |" for what, figure in told.items()]
        for life in self.lives:
            verdict = ("flat" if life.flat else "GREW") if life.judged else "too short to judge"
            rows.append(
                f"| memory of {life.process} {life.generation}, {life.seconds:.0f} s | RSS {life.rss[0]:.0f} → "
                f"{life.rss[1]:.0f} MB, PSS {life.pss[0]:.0f} → {life.pss[1]:.0f} MB: {verdict} |"
            )
        rows += [f"| warning | {number} × {message} |" for message, number in list(self.warnings.items())[:12]]
        rows += ["", *(f"FAILED: {reason}" for reason in ledger.failures)]
        return "\n".join([*rows, "passed" if self.passed else f"{len(ledger.failures)} reasons to fail"])

    def leave_line(self, folder: Path) -> None:
        """For the table of docs/promises.md. A run that failed leaves none, and a short one goes over no other."""
        file = folder / f"soak-{self.engine}.jsonl"
        if self.passed and (self.minutes >= FULL or not file.exists()):
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(self.line()) + "\n", encoding="utf-8")


def _calls(ledger: Ledger) -> dict[str, dict[str, Any]]:
    codes: dict[str, Counter[str]] = {}
    for (what, code), number in ledger.answers.items():
        codes.setdefault(what, Counter())[code] += number
    found = {}
    for what in sorted(codes):
        times = sorted(ledger.seconds[what])
        found[what] = {
            "number": len(times),
            "codes": {code: number for code, number in sorted(codes[what].items()) if code},
            **{f"p{at}": _at(times, at) for at in (50, 95, 99)},
            "max": times[-1] * 1000,
        }
    return found


def _at(times: list[float], percent: int) -> float:
    return times[min(len(times) - 1, len(times) * percent // 100)] * 1000
