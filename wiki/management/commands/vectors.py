"""``manage.py vectors``: does the store have the vectors that the index has; make it so."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from wiki.embedding.reconcile import Comparison, check, repair
from wiki.management.base import SynapseCommand


class Command(SynapseCommand):
    help = (
        "Compare the vectors of the index with those of the store that QDRANT_URL names, passage by passage. The index "
        "is right; nothing is embedded. Exit code 1 if they differ."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--check", action="store_true", help="compare, and change nothing")
        what.add_argument("--repair", action="store_true", help="send what it lacks, take out the rest, compare again")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Compare, or repair and compare."""
        found = repair() if options["repair"] else check()
        if options["json"]:
            self.print_json(found.as_dict())
        else:
            self.stdout.write(_in_words(found))
        if not found.equal:
            raise SystemExit(1)


def _in_words(found: Comparison) -> str:
    if found.store == "local":
        return (
            f"Vectors are searched in the index itself ({found.chunks:,} passages): there is no copy that could differ."
        )
    repaired = f"{found.repaired:,} pages were repaired. " if found.repaired else ""
    if found.equal:
        return f"{repaired}The index and Qdrant have the same {found.chunks:,} passages."
    return (
        f"{repaired}The index and Qdrant differ: Qdrant lacks {len(found.missing):,} pages, has other passages of "
        f"{len(found.differing):,}, and {len(found.surplus):,} that the index does not have. "
        "`manage.py vectors --repair` makes them equal."
    )
