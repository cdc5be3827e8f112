"""``manage.py dump_index``: the index as lines that two databases can be compared by."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from wiki.management.base import SynapseCommand
from wiki.sync import dump_index


class Command(SynapseCommand):
    help = "Print the index, one JSON object a line, in an order and a form that do not depend on how it was made."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="accepted; the output is JSON lines anyway")

    def run(self, **options: Any) -> None:
        """Print pages, files and edges."""
        for row in dump_index():
            self.stdout.write(json.dumps(row, ensure_ascii=False, sort_keys=True))
