"""``manage.py export_links``: every link of the vault and where it leads."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from wiki.management.base import SynapseCommand
from wiki.sync import export_links


class Command(SynapseCommand):
    help = "Print the links of all pages, one JSON object a page: path, links, property_links."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="accepted; the output is JSON lines anyway")

    def run(self, **options: Any) -> None:
        """Print a line a page."""
        for page in export_links():
            self.stdout.write(json.dumps(page, ensure_ascii=False))
