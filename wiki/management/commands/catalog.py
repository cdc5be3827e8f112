"""``manage.py catalog``: make wiki/index.md again now, instead of within two seconds after the next write."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from vault.errors import ErrorCode, SynapseError
from wiki.management.base import SynapseCommand
from wiki.services.catalog import INDEX_PATH, write_index
from wiki.services.generated import is_ours, standing


class Command(SynapseCommand):
    help = "Make wiki/index.md again if the pages have changed. An index.md of your own is left as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Write the index and say what was done."""
        if settings.SYNAPSE_READ_ONLY:
            raise SynapseError(ErrorCode.READ_ONLY, "This vault is read-only. Unset SYNAPSE_READ_ONLY first.")
        written = write_index()
        read = standing(INDEX_PATH)
        ours = read is not None and is_ours(read.data)
        if options["json"]:
            self.print_json({"path": INDEX_PATH, "written": written, "ours": ours})
        elif written:
            self.stdout.write(f"Wrote {INDEX_PATH}")
        elif ours:
            self.stdout.write(f"{INDEX_PATH} says what the pages say already.")
        else:
            self.stdout.write(f"{INDEX_PATH} is your own (it lacks Synapse's mark), so it was left as it is.")
