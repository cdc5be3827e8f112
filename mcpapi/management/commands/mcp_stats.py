"""``manage.py mcp_stats``: which tools agents call, how long they take, and how they end."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from mcpapi.statistics import statistics
from vault.errors import ErrorCode, SynapseError
from wiki.admin.display import visible
from wiki.management.base import SynapseCommand

_COLUMNS = ("calls", "errors", "exceptions", "timeouts", "p50_ms", "p95_ms", "tokens", "tokens_per_call")
_LONGEST_DAYS = 36_500


class Command(SynapseCommand):
    help = "Show how many calls each MCP tool had, how long they took, how they ended, and what their answers weigh."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--days", type=float, default=None, help="only the last so many days (default: all kept)")
        parser.add_argument("--client", default="", help="only clients whose name contains this")
        parser.add_argument("--include-test", action="store_true", help="also calls marked as a test's")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, *, days: float | None, client: str, include_test: bool, **options: Any) -> None:
        """Print the statistics."""
        if days is not None and not 0 < days <= _LONGEST_DAYS:
            raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"--days is above 0 and at most {_LONGEST_DAYS}.")
        found = statistics(days=days, client=client, include_test=include_test)
        if options["json"]:
            self.print_json(found)
            return
        if not found["total"]["calls"]:
            narrowed = "that --days and --client let through " if client or days else ""
            self.stdout.write(f"No calls {narrowed}are kept. With SYNAPSE_TELEMETRY=false none are.")
            return
        self._table(found)
        self._counts("errors by code", found["error_codes"])
        self._counts("clients", found["clients"])

    def _table(self, found: dict[str, Any]) -> None:
        rows = [*found["tools"].items(), ("all", found["total"])]
        width = max(len(name) for name, _ in rows)
        heads = {name: max(len(name), 7) for name in _COLUMNS}
        self.stdout.write(f"{'tool':<{width}}  " + "  ".join(f"{name:>{size}}" for name, size in heads.items()))
        for name, tally in rows:
            cells = (f"{tally[column]:>{size},}" for column, size in heads.items())
            self.stdout.write(f"{name:<{width}}  " + "  ".join(cells))

    def _counts(self, title: str, counts: dict[str, int]) -> None:
        if counts:
            self.stdout.write(f"\n{title}:")
        for name, count in counts.items():
            self.stdout.write(f"  {count:>7,}  {visible(name)}")
