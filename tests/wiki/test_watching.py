"""Who watches: a server always, a process that serves one agent only while nobody else does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from tests.conftest import VaultFolder
from vault.current import current_vault
from wiki.sync import ScanReport, watching


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set once a thread has begun to watch; real watching is left out."""
    begun = threading.Event()

    def watch_vault(*, stop: threading.Event, heard: Callable[[ScanReport], None]) -> None:
        begun.set()
        stop.wait(5)

    monkeypatch.setattr(watching, "watch_vault", watch_vault)
    monkeypatch.setattr(watching, "STAND_IN_SECONDS", 0.02)
    return begun


def test_a_stand_in_waits_for_the_other_to_end_and_takes_over(
    vault_folder: VaultFolder, watched: threading.Event
) -> None:
    stop = threading.Event()
    stand_in = watching.WatchThread(stop, stand_in=True)
    with current_vault().try_lock(watching.WATCH_LOCK) as ours:
        assert ours
        stand_in.start()
        assert not watched.wait(0.15)
    assert watched.wait(2)
    stop.set()
    stand_in.join(2)
    assert not stand_in.is_alive()


def test_a_server_watches_even_if_another_process_does(vault_folder: VaultFolder, watched: threading.Event) -> None:
    stop = threading.Event()
    server = watching.WatchThread(stop)
    with current_vault().try_lock(watching.WATCH_LOCK):
        server.start()
        assert watched.wait(2)
    stop.set()
    server.join(2)


def test_a_watcher_keeps_stand_ins_waiting(vault_folder: VaultFolder, watched: threading.Event) -> None:
    stop = threading.Event()
    server = watching.WatchThread(stop)
    server.start()
    assert watched.wait(2)
    with current_vault().try_lock(watching.WATCH_LOCK) as ours:
        assert not ours
    stop.set()
    server.join(2)
    with current_vault().try_lock(watching.WATCH_LOCK) as ours:
        assert ours


def test_that_deletions_are_not_believed_is_logged_once(
    vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reports = [ScanReport(stopped="30 of 40 files are gone."), ScanReport(stopped="30 of 40 files are gone.")]

    def watch_vault(*, stop: threading.Event, heard: Callable[[ScanReport], None]) -> None:
        for report in [ScanReport(changed=1), *reports]:
            heard(report)

    monkeypatch.setattr(watching, "watch_vault", watch_vault)
    with caplog.at_level(logging.WARNING, logger=watching.__name__):
        watching.WatchThread(threading.Event()).run()
    assert [record.__dict__["reason"] for record in caplog.records] == ["30 of 40 files are gone."]
