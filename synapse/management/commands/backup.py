"""``manage.py backup``: what lives only in the database, as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from synapse.backup import write_backup
from wiki.management.base import SynapseCommand
from wiki.management.commands.page import terminal_author


class Command(SynapseCommand):
    help = (
        "Write reviews, research, tokens (as digests), accounts, OAuth clients and audit into a file for its owner "
        "alone. Everything else is in the vault: copy that too."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--to", required=True, help="the file to write; an earlier one is replaced at the end")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Write it, and say how much."""
        counts = write_backup(Path(options["to"]), author=terminal_author())
        if options["json"]:
            self.print_json({"file": options["to"], "counts": dict(sorted(counts.items()))})
        else:
            told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(counts.items()))
            self.stdout.write(f"Wrote {options['to']}: {told} lines. It holds digests and hashes: keep it to yourself.")
