"""P26: a folder that is exchanged with a link to the outside while files are read through it leaks nothing.

Another process exchanges the two as fast as the kernel lets it; meanwhile files are read, listed, and made.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.places import CANARY, MECHANISMS, Place
from tests.promises.figures import Measured, figure
from vault.disk.confined import Mechanism
from vault.errors import ErrorCode, SynapseError
from vault.root import WalkEntry
from vault.writing import exchange

READS = figure(3_000, 60_000)
WRITES = figure(100, 2_000)
#: Exchanges until its input ends, or after five minutes, whoever started it; says how often.
SWAPPER = """
import os, select, sys, time
from vault.writing import exchange
folder, count, until = os.open(sys.argv[1], os.O_RDONLY), 0, time.monotonic() + 300
print("ready", flush=True)
while time.monotonic() < until and not select.select([sys.stdin], [], [], 0)[0]:
    for _ in range(200):
        assert exchange.swap(folder, "swap", "other")
        count += 1
print(count)
"""


@contextmanager
def swapping(root: Path) -> Iterator[list[int]]:
    """``swap`` and ``other`` below the root change places all the time; at the end the list has how often."""
    swaps: list[int] = []
    with subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(root)],
        cwd=Path(__file__).resolve().parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield swaps
        said, _ = process.communicate()
        swaps.append(int(said))
    assert process.returncode == 0


def able_to_swap(folder: Path) -> bool:
    """Whether the system can exchange two names at once."""
    for name in ("one", "two"):
        (folder / name).touch()
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return exchange.swap(descriptor, "one", "two")
    finally:
        os.close(descriptor)


@pytest.fixture(params=MECHANISMS, ids=lambda mechanism: mechanism.value)
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    if not able_to_swap(tmp_path):
        pytest.skip("this file system can not exchange two names")
    home = tmp_path / "home"
    home.mkdir()
    made = Place(home, request.param)
    (made.outside / "deep").mkdir()
    for name in ("d.md", "deep/d.md"):
        (made.outside / name).write_bytes(CANARY)
        made.write(f"swap/{name}", b"inside")
    (made.root / "other").symlink_to(made.outside)
    return made


def name_of(mechanism: Mechanism) -> str:
    return "openat2" if mechanism is Mechanism.OPENAT2 else "the walk by folders"


def test_no_read_leaks(place: Place, request: pytest.FixtureRequest, measured: Measured) -> None:
    answers: Counter[str] = Counter()
    with swapping(place.root) as swaps:
        for number in range(READS):
            path = "swap/d.md" if number % 2 else "swap/deep/d.md"
            try:
                data = place.vault.read(path).data
                assert data == b"inside"
                answers["read"] += 1
            except SynapseError as error:
                assert error.code in (ErrorCode.PATH_NOT_ALLOWED, ErrorCode.NOT_FOUND)
                answers["refused"] += 1
    assert swaps[0] > 0
    assert answers.total() == READS
    assert answers["read"] and answers["refused"], "both were met"
    mechanism = name_of(request.node.callspec.params["place"])
    measured(
        "P26",
        f"{READS:,} reads by {mechanism} during {swaps[0]:,} exchanges of the folder with a link out: 0 leaked"
        f" ({answers['refused']:,} met the link and were refused)",
    )


def test_no_walk_lists_what_is_outside(place: Place) -> None:
    outside = {file.stat().st_ino for file in place.outside.rglob("*")}
    with swapping(place.root) as swaps:
        for _ in range(READS // 30):
            found = {entry.inode for entry in place.vault.walk() if isinstance(entry, WalkEntry)}
            assert not outside & found
    assert swaps[0] > 0


def test_nothing_is_made_outside(place: Place, request: pytest.FixtureRequest, measured: Measured) -> None:
    with place.vault.parent("swap/first/page.md", create=True) as (folder, name):
        os.close(exchange.create_file(folder, name, 0o600))
    before = sorted(str(path) for path in place.outside.rglob("*"))
    made = 1
    with swapping(place.root) as swaps:
        for number in range(WRITES):
            try:
                with place.vault.parent(f"swap/new{number}/page.md", create=True) as (folder, name):
                    os.close(exchange.create_file(folder, name, 0o600))
                made += 1
            except SynapseError as error:
                assert error.code in (ErrorCode.PATH_NOT_ALLOWED, ErrorCode.NOT_FOUND)
    assert swaps[0] > 0
    assert sorted(str(path) for path in place.outside.rglob("*")) == before
    mechanism = name_of(request.node.callspec.params["place"])
    measured("P26", f"{WRITES:,} files to be made by {mechanism} during {swaps[0]:,} exchanges: {made} made, 0 outside")
