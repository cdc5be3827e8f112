"""P12: while a file is being written, no part of it is indexed as the page."""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import VaultFolder
from tests.promises.figures import Measured, figure
from wiki.models import Page
from wiki.sync import ScanReport
from wiki.sync.watching import watch_vault

pytestmark = pytest.mark.django_db(transaction=True)

PARTS = figure(24, 60)
PAUSE = 0.05
SIZE = figure(300_000, 1_000_000)
PATH = "wiki/slow.md"


class Watched:
    """A vault whose changes come to the index by themselves; each pass tells what the page is then."""

    def __init__(self, folder: VaultFolder) -> None:
        self.folder = folder
        self.stop = threading.Event()
        self.news: queue.Queue[str | None] = queue.Queue()
        self.thread = threading.Thread(target=watch_vault, kwargs={"stop": self.stop, "heard": self._tell})
        self.thread.start()

    def _tell(self, report: ScanReport) -> None:
        # Asked from the thread that writes: a test's database in memory has one lock for a whole table.
        self.news.put(Page.objects.live().filter(path=PATH).values_list("content_hash", flat=True).first())


@pytest.fixture
def watched(vault_folder: VaultFolder) -> Iterator[Watched]:
    vault_folder.write("wiki/first.md", "there from the start")
    made = Watched(vault_folder)
    try:
        assert made.news.get(timeout=60) is None
        yield made
    finally:
        made.stop.set()
        made.thread.join(timeout=60)


@pytest.mark.parametrize("known", [False, True], ids=["new", "rewritten in place"])
def test_only_the_whole_file_is_indexed(watched: Watched, measured: Measured, settings: Any, known: bool) -> None:
    if known:
        watched.folder.write(PATH, b"the version before")
        assert watched.news.get(timeout=60) == hashlib.sha256(b"the version before").hexdigest()
    part = (b"A line that drips in, slowly. " * 1_200)[: SIZE // PARTS]
    whole = hashlib.sha256(part * PARTS).hexdigest()
    started = last = time.monotonic()
    longest = 0.0
    with (watched.folder.root / PATH).open("wb") as file:
        for _ in range(PARTS):
            file.write(part)
            file.flush()
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
            time.sleep(PAUSE)
    seconds = time.monotonic() - started
    heard = []
    while not heard or heard[-1] != whole:
        heard.append(watched.news.get(timeout=60))
    # A machine that held the writer up for longer than the settle time has shown a file that was still.
    assert heard == [whole] or longest >= settings.SYNAPSE_SETTLE_SECONDS / 2
    measured(
        "P12", f"{SIZE:,} bytes dripped over {round(seconds)} s, {'known' if known else 'new'}: 0 partial hashes stay"
    )
