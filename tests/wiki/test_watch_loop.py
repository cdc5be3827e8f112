"""The loop that keeps the index up to date: what it scans, what it takes in, and that nothing it is told is lost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import OperationalError

from benchmarks.scan import ROOT, own_place, run
from tests.conftest import VaultFolder
from vault.root import Vault
from wiki.sync import ScanReport, watch_vault
from wiki.sync import watching as sync_watching


class Passes:
    """Stands for the index: notes what it is asked to take in, and can fail."""

    def __init__(self) -> None:
        self.scans = 0
        self.paths: list[str] = []
        self.failures = 0

    def scan(self) -> ScanReport:
        self.scans += 1
        self._fail()
        return ScanReport(added=1)

    def sync_paths(self, paths: set[str]) -> ScanReport:
        self._fail()
        self.paths += sorted(paths)
        return ScanReport(changed=len(paths))

    def _fail(self) -> None:
        if self.failures:
            self.failures -= 1
            raise OperationalError


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Passes:
    made = Passes()
    monkeypatch.setattr(sync_watching, "scan", made.scan)
    monkeypatch.setattr(sync_watching, "sync_paths", made.sync_paths)
    monkeypatch.setattr(sync_watching, "RETRY_SECONDS", 0.1)
    monkeypatch.setattr(sync_watching, "close_old_connections", lambda: None)
    return made


@pytest.fixture
def watching(vault_folder: VaultFolder, passes: Passes, settings) -> Iterator[Callable[..., list[ScanReport]]]:  # type: ignore[no-untyped-def]
    """Start the loop; ends it with the test."""
    settings.SYNAPSE_SETTLE_SECONDS = 0.05
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def start(**options: float) -> list[ScanReport]:
        heard: list[ScanReport] = []
        threads.append(
            threading.Thread(target=watch_vault, kwargs={"stop": stop, "heard": heard.append, **options}, daemon=True)
        )
        threads[0].start()
        until(lambda: passes.scans > 0)
        return heard

    yield start
    stop.set()
    threads[0].join(10)
    assert not threads[0].is_alive()


def until(reached: Callable[[], bool], seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.01)


def test_it_scans_first_and_then_takes_in_what_changes(vault_folder: VaultFolder, passes: Passes, watching) -> None:  # type: ignore[no-untyped-def]
    heard = watching()
    vault_folder.write("wiki/a.md", "text")
    until(lambda: "wiki/a.md" in passes.paths)
    (vault_folder.root / "wiki/a.md").unlink()
    until(lambda: passes.paths.count("wiki/a.md") == 2)
    assert passes.scans == 1
    assert [report.differences for report in heard][:2] == [1, 1]


def test_news_that_could_not_be_taken_in_is_made_good_by_a_scan(
    vault_folder: VaultFolder,
    passes: Passes,
    watching,  # type: ignore[no-untyped-def]
) -> None:
    watching()
    passes.failures = 1
    vault_folder.write("wiki/a.md", "text")
    until(lambda: passes.scans == 2)


def test_a_scan_that_failed_is_tried_again(passes: Passes, watching) -> None:  # type: ignore[no-untyped-def]
    passes.failures = 2
    watching()
    until(lambda: passes.scans == 3)


def test_it_looks_at_everything_now_and_then(passes: Passes, watching) -> None:  # type: ignore[no-untyped-def]
    watching(safety_seconds=0.05)
    until(lambda: passes.scans >= 4)


@pytest.mark.parametrize("name", ["", ".synapse"], ids=["the root", "its .synapse alone"])
def test_what_comes_back_is_scanned_at_once(
    vault_folder: VaultFolder,
    passes: Passes,
    watching,  # type: ignore[no-untyped-def]
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    seen_away, real = threading.Event(), sync_watching._is_away

    def look(vault: Vault) -> bool:
        away = real(vault)
        if away:
            seen_away.set()
        return away

    vault_folder.write("wiki/a.md", "text")
    monkeypatch.setattr(sync_watching, "_is_away", look)
    watching()
    here, away = vault_folder.root / name, vault_folder.root.with_name("away")
    here.rename(away)
    assert seen_away.wait(60)
    before = passes.scans
    away.rename(here)
    until(lambda: passes.scans > before, 60)


def test_news_that_stopped_a_pass_is_followed_by_a_scan(
    vault_folder: VaultFolder,
    passes: Passes,
    watching,  # type: ignore[no-untyped-def]
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sync_watching, "sync_paths", lambda paths: ScanReport(stopped="Too much is gone."))
    watching()
    vault_folder.write("wiki/a.md", "text")
    until(lambda: passes.scans == 2, 60)


@pytest.mark.slow
def test_the_command_watches_until_it_is_ended() -> None:
    with own_place() as environment:
        run(environment, "manage.py", "init_vault")
        command = [sys.executable, "manage.py", "rescan", "--watch", "--json"]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        Path(environment["SYNAPSE_VAULT"], "wiki", "new.md").write_text("text")
        second = json.loads(process.stdout.readline())
        assert (second["added"], second["pages"]) == (1, first["pages"] + 1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
