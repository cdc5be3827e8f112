"""``manage.py embedding``: how far vectors are; make those that wait, pause, go on."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from wiki import audit
from wiki.embedding.progress import in_words, progress
from wiki.embedding.state import pause, resume
from wiki.management.base import SynapseCommand
from wiki.management.commands.page import terminal_author
from wiki.management.embedding import embed_with_progress


class Command(SynapseCommand):
    help = (
        "How far the vectors are that meaning is searched by. `make serve` makes them in the background; without it, "
        "`embedding run` makes those that wait (`rescan` makes none)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        for name, what in (
            ("status", "how far it is"),
            ("run", "make what waits now; Ctrl-C stops, and nothing of what is done is lost"),
            ("pause", "stop after the passages in hand, in every process; what has vectors is found by them"),
            ("resume", "go on"),
        ):
            actions.add_parser(name, help=what).add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Do the one action, then say how far it is."""
        done = {"run": embed_with_progress, "pause": pause, "resume": resume}.get(options["action"], lambda: None)()
        if done is True:
            audit.record(action=options["action"], author=terminal_author(), detail={"what": "embedding"})
        figures = progress()
        if options["json"]:
            self.print_json(figures | ({"changed": done} if isinstance(done, bool) else {}))
        else:
            self.stdout.write(in_words(figures))
