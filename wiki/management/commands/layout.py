"""``manage.py layout``: make the map of the vault, its communities and places, now."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from wiki.graph.layout import is_stale, make_map, map_state
from wiki.management.base import SynapseCommand


class Command(SynapseCommand):
    help = (
        "Make the map of the vault (communities and places of pages) if the index has changed. `serve` does it hourly, "
        "and when somebody looks."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--force", action="store_true", help="make all places anew, even if nothing has changed")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Make the map unless it is of today's index, and say what is on it."""
        stale = options["force"] or is_stale()
        state = make_map(anew=options["force"]) if stale else map_state()
        if state is None:  # another process forgot the index between the two looks
            state = make_map()
        if options["json"]:
            self.print_json(
                {
                    "made": stale,
                    "pages": state.pages,
                    "edges": state.edges,
                    "communities": state.communities,
                    "modularity": state.modularity,
                }
            )
            return
        what = f"{state.pages:,} pages, {state.edges:,} edges, {state.communities:,} communities"
        self.stdout.write(f"{'Made the map' if stale else 'The map is of today already'}: {what}")
