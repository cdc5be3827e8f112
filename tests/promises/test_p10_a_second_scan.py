"""P10: a scan of a vault in which nothing has changed does nothing: no row, no vector, no file."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.vault import Shape, make_vault
from tests.conftest import VaultFolder
from tests.embedding import Hashed, hashed
from tests.promises.figures import Measured, figure
from tests.wiki.conftest import Writer, claude
from wiki import jobs, tasks
from wiki.data_version import data_version
from wiki.embedding.pipeline import Outcome, embed_some
from wiki.models import Job, Page
from wiki.sync import scan, sync_paths

__all__ = ["claude", "hashed"]

pytestmark = pytest.mark.django_db

PAGES = figure(60, 1_000)
WRITING = ("INSERT", "UPDATE", "DELETE", "REPLACE", "COPY", "CREATE", "ALTER", "DROP", "TRUNCATE")


def by_command() -> None:
    call_command("rescan", stdout=StringIO(), stderr=StringIO())


def by_paths() -> None:
    sync_paths(Page.objects.live().values_list("path", flat=True))


SCANS: dict[str, Callable[[], object]] = {
    "a scan": scan,
    "a full pass": lambda: scan(full=True),
    "all paths told": by_paths,
    "the command": by_command,
    "the task": tasks.rescan,
}


def stats(root: Path) -> dict[str, tuple[int, ...]]:
    """What the disk says of each file and folder below the root, .synapse and its locks included."""
    found = {}
    for folder, _, names in os.walk(root):
        for path in [folder, *(os.path.join(folder, name) for name in names)]:
            status = os.lstat(path)
            found[path] = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode)
    return found


def test_a_second_scan_does_nothing(
    vault_folder: VaultFolder,
    claude: Writer,
    hashed: Hashed,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    measured: Measured,
) -> None:
    monkeypatch.setattr("wiki.management.commands.rescan.ensure_vault", lambda: None)
    settings.SYNAPSE_REVIEW_CAP = 100_000  # else what one run may not file yet is filed after the next scan
    make_vault(vault_folder.root, PAGES, shape=Shape(words=(20, 60)))
    for number in range(PAGES // 10):
        vault_folder.write(f"raw/sources/{number}.txt", f"source {number}")
        vault_folder.write(f"files/{number}.png", f"picture {number}")
        vault_folder.write(f"wiki/poison{number}.md", b"---\na: [\n---\n\xff")
    scan()
    claude.write("Written by an agent", "With [[nobody]].\n")
    for _ in range(3):  # what follows from the first scan: the catalog, then the review queue, which reads it
        jobs.drain()
        scan()
    assert not Job.objects.filter(finished_at__isnull=True).exists()
    while embed_some(embedder=hashed) != Outcome():
        pass
    assert len(hashed.passages) > PAGES
    hashed.passages.clear()
    version, before = data_version(), stats(vault_folder.root)
    for name, again in SCANS.items():
        with CaptureQueriesContext(connection) as queries:
            again()
        written = [query["sql"] for query in queries if query["sql"].lstrip().upper().startswith(WRITING)]
        assert written == [], name
    assert embed_some(embedder=hashed) == Outcome()
    after = stats(vault_folder.root)
    assert (data_version(), hashed.passages) == (version, [])
    assert {
        path: (before.get(path), after.get(path)) for path in before | after if before.get(path) != after.get(path)
    } == {}
    measured(
        "P10",
        f"{len(SCANS)} scans of {PAGES:,} pages again: 0 writes, 0 vector calls, 0 of {len(after):,} files touched",
    )
