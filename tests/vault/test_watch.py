"""Changed files are told of once they are still, whatever happens to the root (promises P11, P12, P13)."""

from __future__ import annotations

import logging
import os
import queue
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from vault import watch as watching
from vault.errors import SynapseError
from vault.root import Vault
from vault.watch import Tracker, watch

SETTLE = 0.15


class Folder:
    """A vault's folder that a test changes as a person would."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        self.vault = Vault(root, root.parent / "data", exclude=["Archive"])

    def write(self, path: str, text: str = "x") -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "vault")


# --- the tracker, with a clock of the test's own ---


@pytest.fixture
def tracker(folder: Folder) -> Tracker:
    folder.write("a.md")
    folder.write("wiki/b.md")
    made = Tracker(folder.vault, settle=1.0)
    made.learn()
    return made


def test_both_ends_of_a_move_are_given_together(folder: Folder, tracker: Tracker) -> None:
    (folder.root / "a.md").rename(folder.root / "z.md")
    tracker.touch(["a.md", "z.md"], 10.0)
    folder.write("z.md", "written on")
    tracker.touch(["z.md"], 10.8)
    assert tracker.take(11.5) == set()
    assert tracker.take(11.8) == {"a.md", "z.md"}


def test_a_file_that_came_before_the_other_went_waits_for_it(folder: Folder, tracker: Tracker) -> None:
    folder.write("z.md")
    tracker.touch(["z.md"], 10.0)
    (folder.root / "a.md").unlink()
    tracker.touch(["a.md"], 10.5)
    assert tracker.take(11.2) == set()
    assert tracker.take(11.5) == {"a.md", "z.md"}


def test_a_file_that_is_written_for_long_does_not_keep_a_deletion_back(folder: Folder, tracker: Tracker) -> None:
    (folder.root / "a.md").unlink()
    tracker.touch(["a.md"], 10.0)
    given = {}
    for tenth in range(60):
        now = 10.0 + tenth / 10
        folder.write("z.md", "x" * tenth)
        tracker.touch(["z.md"], now)
        given |= dict.fromkeys(tracker.take(now), now)
    assert list(given) == ["a.md"] and 13.0 <= given["a.md"] < 13.2


def test_a_changed_file_is_given_once_after_it_was_still(folder: Folder, tracker: Tracker) -> None:
    folder.write("a.md", "changed")
    tracker.touch(["a.md"], 10.0)
    assert tracker.take(10.9) == set()
    assert tracker.take(11.0) == {"a.md"}
    assert tracker.take(99.0) == set()


def test_each_event_starts_the_wait_anew(folder: Folder, tracker: Tracker) -> None:
    tracker.touch(["a.md"], 10.0)
    tracker.touch(["a.md"], 10.8)
    assert tracker.take(11.5) == set()
    folder.write("a.md", "changed without an event")
    assert tracker.take(11.8) == set()
    assert tracker.take(12.8) == {"a.md"}


def test_a_file_that_comes_and_goes_is_no_news(folder: Folder, tracker: Tracker) -> None:
    folder.write("4913")
    tracker.touch(["4913"], 1.0)
    (folder.root / "4913").unlink()
    tracker.touch(["4913"], 1.1)
    assert tracker.take(9.0) == tracker.take(19.0) == set()


def test_deleted_and_moved_files_and_folders(folder: Folder, tracker: Tracker) -> None:
    folder.write("wiki/deep/c.md")
    tracker.touch(["wiki/deep"], 1.0)
    assert tracker.take(2.0) == {"wiki/deep/c.md"}
    (folder.root / "a.md").unlink()
    (folder.root / "wiki").rename(folder.root / "new")
    tracker.touch(["a.md", "wiki", "new"], 3.0)
    assert tracker.take(4.0) == {"a.md", "wiki/b.md", "wiki/deep/c.md", "new/b.md", "new/deep/c.md"}
    # a folder put in the place of another
    shutil.rmtree(folder.root / "new")
    folder.write("new/d.md")
    tracker.touch(["new"], 5.0)
    assert tracker.take(6.0) == {"new/b.md", "new/deep/c.md", "new/d.md"}


def test_hidden_excluded_and_foreign_names_are_left_out(folder: Folder, tracker: Tracker) -> None:
    names = [".synapse/vault-id", ".x.tmp", "Archive/x.md", "wiki/.obsidian/y", "a\\b.md", "..", ""]
    for name in names[:5]:
        folder.write(name)
    (folder.root / "link.md").symlink_to("a.md")
    tracker.touch([*names, "link.md"], 1.0)
    assert tracker.take(9.0) == set()


def test_a_look_at_everything_finds_what_no_event_told(folder: Folder, tracker: Tracker) -> None:
    folder.write("wiki/b.md", "longer")
    folder.write("new.md")
    (folder.root / "a.md").unlink()
    tracker.compare(1.0)
    assert tracker.take(2.0) == {"wiki/b.md", "new.md", "a.md"}
    tracker.compare(3.0)
    assert tracker.take(4.0) == set()


def test_an_empty_root_is_no_news_of_deletions(folder: Folder, tracker: Tracker) -> None:
    shutil.rmtree(folder.root)
    with pytest.raises(SynapseError):
        tracker.compare(1.0)
    folder.root.mkdir()
    tracker.compare(2.0)
    assert tracker.take(9.0) == set()


def test_a_file_that_cannot_be_looked_at_is_news_for_whoever_reads_it(
    folder: Folder, tracker: Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.root / "a.md").unlink()
    folder.write(".a.md.icloud")
    tracker.touch(["a.md"], 1.0)
    assert tracker.take(2.0) == {"a.md"}


# --- the real thing ---


class Watcher:
    """watch() in a thread; ``next`` waits for one set of paths."""

    def __init__(self, vault: Vault, settle: float = SETTLE) -> None:
        self.stop = threading.Event()
        self._found: queue.Queue[tuple[float, set[str]]] = queue.Queue()
        news = watch(vault, stop=self.stop, settle=settle)
        self._thread = threading.Thread(target=self._run, args=[news])
        self._thread.start()

    def _run(self, news: Iterator[set[str]]) -> None:
        for paths in news:
            self._found.put((time.monotonic(), paths))

    def next(self, timeout: float = 10.0) -> tuple[float, set[str]]:
        return self._found.get(timeout=timeout)

    def collect(self, expected: set[str], timeout: float = 10.0) -> set[str]:
        """All paths told of until the expected ones have come."""
        found: set[str] = set()
        deadline = time.monotonic() + timeout
        while not expected <= found:
            found |= self.next(max(0.01, deadline - time.monotonic()))[1]
        return found

    def is_quiet(self, seconds: float) -> bool:
        try:
            self._found.get(timeout=seconds)
        except queue.Empty:
            return True
        return False

    def end(self) -> None:
        self.stop.set()
        self._thread.join(timeout=5)
        assert not self._thread.is_alive()


@pytest.fixture
def watcher(folder: Folder) -> Iterator[Watcher]:
    folder.write("a.md")
    made = Watcher(folder.vault)
    yield made
    made.end()


def test_a_save_comes_out_soon_after_it_has_settled(folder: Folder, watcher: Watcher) -> None:
    folder.write("warm-up.md")
    watcher.collect({"warm-up.md"})
    delays = []
    for number in range(3):
        saved = time.monotonic()
        folder.write("a.md", "x" * (number + 2))
        at, paths = watcher.next()
        assert paths == {"a.md"}
        delays.append(at - saved)
    # settle + 0.15 s is the aim, which the benchmark measures; here it is only told from waiting for the next tick
    assert SETTLE <= min(delays) < SETTLE + 3


def test_folders_moved_in_and_files_taken_out(folder: Folder, watcher: Watcher, tmp_path: Path) -> None:
    (tmp_path / "elsewhere/deep").mkdir(parents=True)
    (tmp_path / "elsewhere/deep/c.md").write_text("c")
    (tmp_path / "elsewhere").rename(folder.root / "moved")
    assert watcher.collect({"moved/deep/c.md"}) == {"moved/deep/c.md"}
    folder.write("moved/deep/d.md")
    assert watcher.collect({"moved/deep/d.md"}) == {"moved/deep/d.md"}
    (folder.root / "moved").rename(tmp_path / "elsewhere")
    (folder.root / "a.md").unlink()
    gone = {"moved/deep/c.md", "moved/deep/d.md", "a.md"}
    assert watcher.collect(gone) == gone


def test_a_file_that_is_being_written_waits(folder: Folder, watcher: Watcher) -> None:
    with (folder.root / "slow.md").open("w") as file:
        for _ in range(12):
            file.write("x" * 100)
            file.flush()
            time.sleep(SETTLE / 3)
    _, paths = watcher.next()
    assert paths == {"slow.md"}
    assert watcher.is_quiet(2 * SETTLE)


def test_our_own_work_is_no_news(folder: Folder, watcher: Watcher) -> None:
    folder.vault.ensure_id()
    folder.write(".1a2b3c")
    folder.write(".obsidian/workspace.json")
    assert watcher.is_quiet(3 * SETTLE)


def test_what_changes_before_the_first_look_is_news(folder: Folder) -> None:
    folder.write("a.md")
    stop = threading.Event()
    news = watch(folder.vault, stop=stop, settle=0.01)
    folder.write("a.md", "changed")
    assert next(news) == {"a.md"}
    stop.set()
    assert list(news) == []


def test_a_root_that_comes_later_goes_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_ROOT_RETRY_SECONDS", 0.05)
    root = tmp_path / "later"
    watcher = Watcher(Vault(root, tmp_path / "data"))
    try:
        assert watcher.is_quiet(0.2)
        root.mkdir()
        (root / "a.md").write_text("a")
        assert watcher.collect({"a.md"}) == {"a.md"}
        root.rename(tmp_path / "away")
        (tmp_path / "away/b.md").write_text("b")
        assert watcher.is_quiet(0.5)
        (tmp_path / "away").rename(root)
        assert watcher.collect({"b.md"}) == {"b.md"}
        # another folder in its place
        root.rename(tmp_path / "away")
        root.mkdir()
        (root / "c.md").write_text("c")
        assert watcher.collect({"a.md", "b.md", "c.md"}) == {"a.md", "b.md", "c.md"}
    finally:
        watcher.end()


def test_a_linked_root_is_watched_where_it_leads(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder.root)
    watcher = Watcher(Vault(tmp_path / "link", tmp_path / "data"))
    try:
        folder.write("wiki/a.md")
        assert watcher.collect({"wiki/a.md"}) == {"wiki/a.md"}
    finally:
        watcher.end()


def test_without_a_notifier_it_looks_itself(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*arguments: object, **named: object) -> None:
        raise OSError(28, f"no watches left for {folder.root}")

    monkeypatch.setattr(watching.watchfiles, "watch", refuse)
    monkeypatch.setattr(watching, "_ROOT_RETRY_SECONDS", 0.05)
    monkeypatch.setattr(watching, "_POLL_SECONDS", 0.1)
    with caplog.at_level(logging.DEBUG):
        watcher = Watcher(folder.vault)
        try:
            folder.write("a.md")
            assert watcher.collect({"a.md"}) == {"a.md"}
        finally:
            watcher.end()
    assert len([record for record in caplog.records if record.name == "vault.watch"]) == 1
    assert str(folder.root) not in caplog.text


def test_nothing_is_logged_with_absolute_paths(folder: Folder, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        watcher = Watcher(folder.vault)
        folder.write("a.md")
        watcher.collect({"a.md"})
        watcher.end()
    assert os.fspath(folder.root) not in caplog.text
