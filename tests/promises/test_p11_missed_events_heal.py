"""P11: what nobody told of, and what no stat shows, is found by a full pass."""

from __future__ import annotations

import os
import random

import pytest

from tests.conftest import VaultFolder
from tests.promises.figures import Measured, figure
from tests.wiki.index import rebuilt_index, whole_index
from wiki.models import File, Page
from wiki.sync import scan

pytestmark = pytest.mark.django_db

FILES = figure(80, 2_000)
LONG_AGO = 1_500_000_000_123_456_789  # ns


def text(number: int, turn: int) -> bytes:
    """Of the same length whatever the turn."""
    return f"---\ntitle: Page {number:05} {turn}\n---\n{turn} [[p{(number + turn) % FILES:05}]] #t{turn}\n".encode()


def path(number: int) -> str:
    return f"raw/sources/s{number:05}.md" if number % 4 == 0 else f"wiki/concepts/p{number:05}.md"


def test_a_full_pass_finds_what_no_stat_shows(vault_folder: VaultFolder, measured: Measured) -> None:
    chance = random.Random(11)
    for number in range(FILES):
        file = vault_folder.write(path(number), text(number, 0))
        if number % 2:  # an old file, whose stat is believed; of the others the time is too fresh for that
            os.utime(file, ns=(LONG_AGO, LONG_AGO))
    scan()
    edited = sorted(chance.sample(range(FILES), FILES // 2))
    for number in edited:
        file = vault_folder.root / path(number)
        status = file.stat()
        if number % 3:
            file.write_bytes(text(number, 1))
        else:  # an editor that saves through another file
            beside = vault_folder.write(path(number) + ".saving", text(number, 1))
            os.replace(beside, file)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        after = file.stat()
        assert (after.st_size, after.st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    report = scan(full=True)
    found = report.changed + report.files_changed
    assert (found, report.added, report.moved, report.deleted) == (len(edited), 0, 0, 0)
    titles = set(Page.objects.live().values_list("title", flat=True))
    assert titles == {f"Page {number:05} {int(number in edited)}" for number in range(FILES) if number % 4}
    assert File.objects.filter(kind="source").count() == FILES - len(titles)
    kept = whole_index()
    assert rebuilt_index() == kept
    measured(
        "P11",
        f"{len(edited):,} same-size edits of {FILES:,} files, mtime kept, nobody told: the full pass finds {found:,}",
    )
