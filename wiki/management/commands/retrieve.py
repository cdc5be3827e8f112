"""``manage.py retrieve``: the text that an agent would be handed for a query, with what its numbers stand for."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from vault.errors import ErrorCode, SynapseError
from wiki.management.base import SynapseCommand
from wiki.management.commands.search import SEARCHED_BY, add_filters, filters, printable, shown_at_most
from wiki.search import PRESETS, Context, retrieve
from wiki.search.budget import DEFAULT_WINDOW


class Command(SynapseCommand):
    help = "Print the passages that answer a query, with citations, as much as fits a fifth of the model's window."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("query", nargs="+", help="what to look for")
        parser.add_argument("--preset", choices=list(PRESETS), default="standard", help="how far to look")
        parser.add_argument("-k", type=int, help="how many pages at most, 1 to 50 (default: the preset's)")
        parser.add_argument("--depth", type=int, help="links away from what matches, 0 to 2 (default: the preset's)")
        parser.add_argument(
            "--context-window",
            type=int,
            default=DEFAULT_WINDOW,
            help=f"tokens of the model that is to read it (default: {DEFAULT_WINDOW:,})",
        )
        add_filters(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def run(self, **options: Any) -> None:
        """Retrieve, and print the context or all of the answer."""
        answer = retrieve(
            " ".join(options["query"]),
            preset=options["preset"],
            k=shown_at_most(options["k"]),
            depth=options["depth"],
            context_window=options["context_window"],
            **filters(options),
        )
        if answer.unavailable:
            raise SynapseError(ErrorCode.SEARCH_UNAVAILABLE, " ".join((answer.degraded or {}).values()))
        if options["json"]:
            self.print_json(answer.as_dict())
            return
        if answer.degraded:
            self.stderr.write(" ".join(answer.degraded.values()))
        if answer.context is not None:
            self._print(answer.context, SEARCHED_BY[answer.mode])

    def _print(self, context: Context, searched_by: str) -> None:
        """The text; below it what each number stands for, and how much of the budget it takes."""
        if not context.citations:
            self.stdout.write("Nothing fits the query.")
            return
        self.stdout.write("\n".join(printable(line) for line in context.text.splitlines()))
        self.stdout.write("")
        for citation in context.citations:
            hit = citation.hit
            self.stdout.write(f"[{citation.n}]  {hit.score:.2f}  {printable(hit.page.title)}: {printable(hit.why)}")
        self.stdout.write(f"About {context.tokens:,} of {context.budget:,} tokens; searched by {searched_by}.")
