"""What several tests of the index share: looking at it whole, and throwing it away."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.conftest import VaultFolder
from wiki.models import File, Page, VaultState
from wiki.search import remove_words
from wiki.sync import ScanReport, dump_index, scan


def whole_index() -> list[dict[str, Any]]:
    """The index in the form in which two of them are compared."""
    return list(dump_index())


def forget_index() -> None:
    """As a lost database: all rows go, the vault stays."""
    remove_words(list(Page.objects.values_list("pk", flat=True)))
    Page.objects.all().delete()
    File.objects.all().delete()
    VaultState.objects.all().delete()


def rebuilt_index() -> list[dict[str, Any]]:
    """The index as a scan makes it from the vault alone."""
    forget_index()
    scan()
    return whole_index()


def scan_counting_writes() -> tuple[ScanReport, list[str]]:
    """A scan's report, and the statements with which it wrote."""
    with CaptureQueriesContext(connection) as queries:
        report = scan()
    writing = ("INSERT", "UPDATE", "DELETE", "REPLACE")
    return report, [query["sql"] for query in queries if query["sql"].lstrip().upper().startswith(writing)]


def fill(folder: VaultFolder, count: int) -> None:
    """Pages p0, p1, …, each with a link to the next."""
    for number in range(count):
        folder.write(f"wiki/p{number}.md", f"page {number} [[p{number + 1}]]")
