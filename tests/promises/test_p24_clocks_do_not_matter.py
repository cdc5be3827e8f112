"""P24: clocks that jump, and files with any time, give the same index; and nothing is lost by them."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests.conftest import VaultFolder
from tests.promises.figures import Measured, figure
from tests.wiki.conftest import Writer, claude
from tests.wiki.index import rebuilt_index, whole_index
from tests.wiki.person import Person
from vault import history
from vault.current import current_vault
from wiki import jobs
from wiki.models import Job, Page
from wiki.sync import scan, sync_paths

__all__ = ["claude"]

pytestmark = pytest.mark.django_db

FILES = figure(40, 300)
OPERATIONS = figure(60, 600)
SEEDS = figure(1, 4)
YEAR = timedelta(days=365)
REAL_NOW, REAL_TIME, REAL_NS = timezone.now, time.time, time.time_ns


class Clock:
    """The clock of this process, as far as Synapse asks it; files go by the machine's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.off = timedelta()
        clock = self

        class Shifted(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return datetime.now(tz) + clock.off

        monkeypatch.setattr(time, "time", lambda: REAL_TIME() + self.off.total_seconds())
        monkeypatch.setattr(time, "time_ns", lambda: REAL_NS() + int(self.off.total_seconds()) * 10**9)
        monkeypatch.setattr(timezone, "now", lambda: REAL_NOW() + self.off)
        for module in (
            "vault.writing.pending",
            "wiki.services.logbook",
            "wiki.services.composing",
        ):
            monkeypatch.setattr(f"{module}.datetime", Shifted)

    def set(self, off: timedelta) -> None:
        self.off = off


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


#: What sync tools, cameras, archives and broken clocks leave as the time of a file, in ns since 1970.
TIMES: dict[str, Callable[[random.Random], int]] = {
    "now": lambda chance: REAL_NS() - chance.randrange(10**9),
    "a year ahead": lambda chance: REAL_NS() + 365 * 86_400 * 10**9 + chance.randrange(10**9),
    "a year ago": lambda chance: REAL_NS() - 365 * 86_400 * 10**9 - chance.randrange(10**9),
    "zero": lambda chance: 0,
    "before 1970": lambda chance: -chance.randrange(10**18),
    "whole seconds": lambda chance: chance.randrange(2 * 10**9) * 10**9,
    "2262 and later": lambda chance: chance.randrange(2**63 - 10**9, 10**19),
}


def test_the_same_files_give_the_same_index(vault_folder: VaultFolder, clock: Clock, measured: Measured) -> None:
    """Whatever times they have, whatever time it is, and also when it changes from one scan to the next."""
    chance = random.Random(24)
    for number in range(FILES):
        folder = "raw/sources" if number % 5 == 0 else "wiki/concepts"
        vault_folder.write(f"{folder}/p{number}.md", f"{number} [[p{chance.randrange(FILES)}]] #t{number % 7}")
    scan()
    expected = whole_index()
    tried = 0
    for name, moment in TIMES.items():
        for number, path in enumerate(vault_folder.files()):
            if number % 2 == 0 or chance.random() < 0.5:
                at = moment(chance)
                os.utime(vault_folder.root / path, ns=(0, at))
        for off in (timedelta(), YEAR, -YEAR):
            clock.set(off)
            assert scan().differences == 0, (name, off)
            assert whole_index() == expected, (name, off)
            assert rebuilt_index() == expected, (name, off)
            clock.set(-off)
            assert scan(full=True).differences == 0, (name, off)
            tried += 1
    measured(
        "P24",
        f"{FILES} files, {tried} pairs of file times and clocks ± 1 year: the same index, kept and rebuilt",
    )


@pytest.mark.parametrize("seed", range(SEEDS))
def test_changes_are_found_whatever_time_it_is(
    vault_folder: VaultFolder, clock: Clock, measured: Measured, seed: int
) -> None:
    """Before each scan the clock is set to another year; files keep the times that they are given."""
    person = Person(vault_folder, seed)
    told: set[str] = set()
    jumps = 0
    for turn in range(OPERATIONS):
        told |= person.act()
        if turn % 7 == 6:
            clock.set(person.chance.choice([timedelta(), YEAR, -YEAR]))
            jumps += 1
            by_path = person.chance.random() < 0.5
            report = sync_paths(told, allow_deletions=True) if by_path else scan(allow_deletions=True)
            assert report.stopped is None
            told = set()
    clock.set(timedelta())
    scan(allow_deletions=True)
    assert Page.objects.live().count() > 5
    kept = whole_index()
    assert rebuilt_index() == kept
    measured("P24", f"{OPERATIONS} random operations under {jumps} jumps of a year: rebuilt = incremental")


def test_a_second_save_in_the_instant_of_the_first_is_seen(
    vault_folder: VaultFolder, clock: Clock, measured: Measured
) -> None:
    """A clock that is behind the disk's believes no stat; one that is ahead believes them until the full pass."""
    offs = [-YEAR, YEAR, timedelta(seconds=-5), timedelta(seconds=5)] * figure(2, 20)
    for number, off in enumerate(offs):
        clock.set(off)
        file = vault_folder.write(f"wiki/p{number}.md", "first [[a]]")
        status = file.stat()
        scan()
        file.write_text("other [[b]]")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        clock.set(timedelta())
        scan(full=off > timedelta())
        assert Page.objects.get(path=f"wiki/p{number}.md").links.get().text == "b"
    measured(
        "P24", f"{len(offs)} saves in the instant of the one that was indexed, under clocks that are off: all found"
    )


def test_a_clock_that_was_ahead_makes_no_work_wait(
    vault_folder: VaultFolder, clock: Clock, claude: Writer, measured: Measured
) -> None:
    """What was to be done a second later is done, though by the right clock that second comes in a year."""
    clock.set(YEAR)
    claude.write("Ada")
    assert Job.objects.filter(finished_at__isnull=True).exists()
    clock.set(timedelta())
    while jobs.run_due():
        pass
    assert not Job.objects.filter(finished_at__isnull=True).exists()
    assert b"Ada" in vault_folder.read("wiki/index.md")
    measured("P24", "jobs of a clock a year ahead: run once it is right again")


@pytest.mark.parametrize("off", [YEAR, -YEAR], ids=["a year ahead", "a year behind"])
def test_no_clock_makes_a_page_unrestorable(
    vault_folder: VaultFolder, clock: Clock, claude: Writer, measured: Measured, off: timedelta
) -> None:
    """Retention goes by time; a clock that jumps makes no version a year old."""
    from vault.writing.pruning import prune

    page = claude.write("Ada", "1\n").page
    clock.set(-off)
    for number in range(2, 5):
        claude.write("Ada", f"{number}\n")
    vault = current_vault()
    numbers = [version.number for version in history.versions(vault, page.uid)]
    texts = {number: history.read_version(vault, page.uid, number) for number in numbers}
    clock.set(off)
    prune(vault, days=30)
    clock.set(timedelta())
    prune(vault, days=30)
    assert {number: history.read_version(vault, page.uid, number) for number in texts} == texts
    measured(
        "P24",
        f"retention, a clock {'ahead' if off > timedelta() else 'behind'} by a year: all {len(texts)} versions kept",
    )
