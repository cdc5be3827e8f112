"""``manage.py reembed``: forget all vectors and make them anew, as after a change of EMBEDDER."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from wiki import audit
from wiki.embedding.progress import in_words, progress
from wiki.embedding.reembed import begin_anew
from wiki.management.base import SynapseCommand
from wiki.management.commands.page import terminal_author
from wiki.management.embedding import embed_with_progress


class Command(SynapseCommand):
    help = (
        "Forget all vectors and make them anew with the embedder of the settings. Start a running server again "
        "afterwards if its settings were others. Broken off, it goes on with `embedding run` or in `make serve`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-wait", action="store_true", help="leave the making to `make serve`")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Forget, embed, and say how far it is."""
        begin_anew()
        audit.record(action="reembed", author=terminal_author())
        if not options["no_wait"] and progress()["state"] != "running":  # else a server has begun already
            embed_with_progress()
        figures = progress()
        if options["json"]:
            self.print_json(figures)
        else:
            self.stdout.write(in_words(figures))
