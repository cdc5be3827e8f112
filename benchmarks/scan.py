"""What scans cost: a cold one, one that finds nothing changed, and one changed file.

    python -m benchmarks.scan [--notes 10000] [--json]

The scans are ``manage.py rescan`` in processes of their own, so that starting Python and Django is part of the
figure; CPU seconds and peak memory are those that the kernel counted. With DATABASE_URL naming a PostgreSQL server
a database of its own is made there; its own CPU seconds are not counted. The bound on the speed of a cold scan is
that of the built-in database: for PostgreSQL this process itself takes the words apart.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.vault import make_vault

ROOT = Path(__file__).resolve().parent.parent
ONE_CHANGED = """
import json, statistics, time
from pathlib import Path
import django; django.setup()
from django.conf import settings
from wiki.models import Page
from wiki.sync import sync_paths
seconds = []
for path in list(Page.objects.live().order_by("pk").values_list("path", flat=True)[:15]):
    file = Path(settings.SYNAPSE_VAULT) / path
    file.write_text(file.read_text(encoding="utf-8") + "\\nOne more line.\\n", encoding="utf-8")
    started = time.perf_counter()
    report = sync_paths([path])
    seconds.append(time.perf_counter() - started)
    assert report.changed == 1
print(json.dumps({"seconds": statistics.median(seconds)}))
"""


@dataclass(frozen=True)
class Cost:
    """What one process answered and cost."""

    answer: dict[str, Any]
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float


@dataclass(frozen=True)
class Row:
    """One line of the table. ``at_least``: the bound is from below."""

    name: str
    value: float
    bound: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the value keeps its bound."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def run(environment: dict[str, str], *arguments: str) -> Cost:
    """Run Python with these arguments and count what it took; its output is one JSON document, or nothing."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments[:3])} failed")
    peak = usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024 * 1024)
    answer = json.loads(output) if output.startswith("{") else {}
    return Cost(answer, usage.ru_utime + usage.ru_stime, time.perf_counter() - started, peak)


@contextmanager
def own_place() -> Iterator[dict[str, str]]:
    """An environment that names a vault and a database that nobody else uses, both removed at the end."""
    with tempfile.TemporaryDirectory(prefix="synapse-scan-") as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SYNAPSE_", "MCP_"))}
        environment |= {
            "SYNAPSE_VAULT": f"{folder}/vault",
            "SYNAPSE_DATA": f"{folder}/data",
            "SYNAPSE_SECRET_KEY": "bench" * 12,
            "SYNAPSE_LOG_LEVEL": "WARNING",
            "DJANGO_SETTINGS_MODULE": "synapse.settings",
        }
        given = environment.get("DATABASE_URL", "")
        if not given.startswith("postgres"):
            environment.pop("DATABASE_URL", None)
            yield environment
            return
        import psycopg

        name = f"synapse_scan_{os.getpid()}"
        with psycopg.connect(given, autocommit=True) as server:
            server.execute(f"CREATE DATABASE {name}")
            try:
                yield environment | {"DATABASE_URL": urlsplit(given)._replace(path=f"/{name}").geturl()}
            finally:
                server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def measure(count: int) -> list[Row]:
    """Make a vault of ``count`` notes and scan it in the three ways."""
    with own_place() as environment:
        make_vault(Path(environment["SYNAPSE_VAULT"]), count)
        # ids and tables are made once a vault, not once a scan
        run(environment, "manage.py", "init_vault")
        run(environment, "manage.py", "rescan", "--dry-run", "--json")
        # The review queue rests while nothing may be written; what its producers cost is measured apart.
        scanning = environment | {"SYNAPSE_READ_ONLY": "true"}
        cold = run(scanning, "manage.py", "rescan", "--json")
        unchanged = run(scanning, "manage.py", "rescan", "--json")
        one = run(environment, "-c", ONE_CHANGED)
        built_in = "DATABASE_URL" not in environment
    report = cold.answer
    resolved = 100 * (1 - report["broken"] / report["links"])
    files = report["pages"] + report["files"]
    return [
        Row(
            "cold scan: files per CPU second, with the start",
            files / cold.cpu_seconds,
            600 if built_in else 200,
            at_least=True,
        ),
        Row("cold scan: seconds", cold.wall_seconds, count / (200 if built_in else 50)),
        Row("cold scan: peak memory, MB", cold.peak_mb, 400),
        Row("links resolved, %", resolved, 98, at_least=True),
        Row("nothing changed: seconds of the scan", unchanged.answer["seconds"], 1.0),
        Row("nothing changed: seconds with the start", unchanged.wall_seconds, 3.0),
        Row("one changed file: seconds", one.answer["seconds"], 0.1),
    ]


def main() -> int:
    """Print the table; exit 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.scan", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    options = parser.parse_args()
    rows = measure(options.notes)
    if options.json:
        print(json.dumps([asdict(row) | {"met": row.met} for row in rows]))
    else:
        print(f"| {options.notes:,} notes | measured | bound | |\n|---|---|---|---|")
        for row in rows:
            bound = f"{'≥' if row.at_least else '≤'} {row.bound:,g}"
            print(f"| {row.name} | {row.value:,.2f} | {bound} | {'met' if row.met else 'MISSED'} |")
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
