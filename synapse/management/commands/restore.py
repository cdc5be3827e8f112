"""``manage.py restore``: a backup into this database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from synapse.restore import restore
from wiki.management.base import SynapseCommand
from wiki.management.commands.page import terminal_author


class Command(SynapseCommand):
    help = "Take in what `manage.py backup` wrote. What is here already stays as it is; scan the vault before."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="the backup")
        parser.add_argument("--dry-run", action="store_true", help="say what would come in, and change nothing")
        parser.add_argument("--any-vault", action="store_true", help="also a backup of another vault")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Restore, and say what came in."""
        done = restore(
            Path(options["file"]),
            author=terminal_author(),
            any_vault=options["any_vault"],
            dry_run=options["dry_run"],
        )
        if options["json"]:
            self.print_json(done.as_dict())
        else:
            would = "Would take in" if done.dry_run else "Took in"
            added = ", ".join(f"{number:,} {kind}" for kind, number in sorted(done.added.items())) or "nothing new"
            self.stdout.write(f"{would}: {added}. Here already: {sum(done.known.values()):,}.")
            if done.revoked:
                self.stdout.write(f"{done.revoked} tokens that were revoked there are revoked here now.")
            for problem in done.problems[:20]:
                self.stderr.write(problem)
        if done.problems:
            raise SystemExit(1)
