"""``manage.py doctor``: is everything well, and if not, what to do."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from synapse.diagnosis import Verdict, examine
from synapse.repair import repair
from wiki.binding import adopt
from wiki.management.base import SynapseCommand
from wiki.management.commands.page import terminal_author

_MARKS = {Verdict.OK: "ok", Verdict.NOTE: "--", Verdict.WARNING: "!!", Verdict.ERROR: "XX"}


class Command(SynapseCommand):
    help = "Examine settings, vault, index and jobs; say what is wrong and how to mend it. Exit code 1 on an error."
    needs_tables = False
    requires_system_checks: list[str] = []  # what they find is part of the answer here

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")
        parser.add_argument(
            "--adopt",
            action="store_true",
            help="tie the database to the vault that SYNAPSE_VAULT names now; rows of another vault are removed",
        )

        parser.add_argument(
            "--repair", action="store_true", help="mend what can be mended without touching a file of yours, first"
        )
        parser.add_argument("--dry-run", action="store_true", help="with --repair: say what it would do")

    def run(self, *, adopt: bool, **options: Any) -> None:
        """Print each finding; adopt and repair first if asked. Exit code 1 where a finding is left."""
        if options["repair"]:
            self._repair(adopt, options)
            return
        if adopt:
            self._adopt(quiet=options["json"])
        findings = examine()
        if options["json"]:
            self.print_json({"findings": [finding.as_dict() for finding in findings]})
        else:
            for finding in findings:
                self.stdout.write(f"{_MARKS[finding.verdict]}  {finding.name:<15} {finding.text}")
                if finding.fix:
                    self.stdout.write(f"    {'':<15} {finding.fix}")
        if any(finding.verdict is Verdict.ERROR for finding in findings):
            raise SystemExit(1)

    def _repair(self, adopt: bool, options: dict[str, Any]) -> None:
        if adopt:
            self._adopt(quiet=options["json"])
        repairs = list(repair(author=terminal_author(), dry_run=options["dry_run"]))
        if options["json"]:
            self.print_json({"repairs": [one.as_dict() for one in repairs], "dry_run": options["dry_run"]})
        for one in repairs if not options["json"] else ():
            would = options["dry_run"] and one.does
            state = "would be mended" if would else "mended" if one.done else "NOT mended"
            self.stdout.write(f"{one.name:<18} {one.found}")
            self.stdout.write(f"{'':<18} {one.does} {state}.".replace("  ", " "))
        if not repairs and not options["json"]:
            self.stdout.write("There is nothing to repair.")
        if any(not one.done for one in repairs):
            raise SystemExit(1)

    def _adopt(self, *, quiet: bool) -> None:
        changed = adopt(author=terminal_author())
        if not quiet:
            self.stdout.write(
                "The database now follows this vault. Run `manage.py rescan`."
                if changed
                else "It follows this vault already."
            )
