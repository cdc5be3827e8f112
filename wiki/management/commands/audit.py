"""``manage.py audit``: who changed what, and through which door."""

from __future__ import annotations

from argparse import SUPPRESS
from typing import Any

from django.core.management.base import CommandParser

from wiki import audit
from wiki.management.base import SynapseCommand
from wiki.management.commands.search import moment, printable


class Command(SynapseCommand):
    help = "List who changed what, when, and through which door: pages, decisions, drafts, tokens, accounts, clients."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON")
        actions = parser.add_subparsers(dest="action", required=True)
        lister = actions.add_parser("list", help="the rows that all filters fit, newest first")
        lister.add_argument("--actor", default="", help="who, exactly, e.g. user:ann")
        lister.add_argument("--door", default="", help="rest, mcp-http, mcp-stdio, admin, command, oauth, job")
        lister.add_argument("--what", default="", help="write, delete, move, decide, token, revoke, restore, …")
        lister.add_argument("--path", default="", help="only pages whose path begins so")
        lister.add_argument("--since", default="", help="since this date or time (UTC)")
        lister.add_argument("--limit", type=int, default=100, help="how many, 1 to 1000 (default: 100)")
        lister.add_argument("--json", action="store_true", default=SUPPRESS, help="print JSON")

    def run(self, **options: Any) -> None:
        """Print the rows."""
        rows = audit.listed(
            actor=options["actor"],
            door=options["door"],
            action=options["what"],
            path=options["path"],
            since=moment(options["since"]),
            limit=options["limit"],
        )
        if options["json"]:
            self.print_json(rows)
            return
        for row in rows:
            about = printable(row["path"]) or ", ".join(f"{key} {value}" for key, value in row["detail"].items())
            who = f"{printable(row['actor'])} ({row['door']})"
            self.stdout.write(f"{row['at'][:19]}  {row['action']:<14} {who:<32} {printable(about)}")
        if not rows:
            self.stdout.write("Nothing that fits.")
