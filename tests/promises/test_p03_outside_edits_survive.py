"""P3: an edit made outside is never destroyed, whatever the writers do at that moment."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.promises.figures import Measured, figure
from tests.writing import ALICE, NEW, OLD, PAGE, PATH, Steps, kept_bytes, make_vault, pages, put, use_mechanism
from vault import drafts, history, writer
from vault.errors import ErrorCode, SynapseError
from vault.root import Vault
from vault.writing import exchange

SAVES = figure(200, 5_000)
AGENTS = figure(3, 8)


class Editor:
    """Saves without locks, in turn in place and by rename, and remembers what its own saves went over."""

    def __init__(self, folder: Path, *, by_rename: bool = True) -> None:
        self.file = folder / PATH
        self.by_rename = by_rename
        self.saved: list[bytes] = []
        self.overwritten: set[bytes] = set()

    def save(self, data: bytes) -> None:
        if self.by_rename and len(self.saved) % 2:
            self._save_by_rename(data)
        else:
            self._save_in_place(data)
        self.saved.append(data)

    def _save_in_place(self, data: bytes) -> None:
        with open(self.file, "r+b") as file:
            before = file.read()
            file.seek(0)
            file.truncate()
            file.write(data)
        self.overwritten.add(before)

    def _save_by_rename(self, data: bytes) -> None:
        # An exchange instead of a plain rename, only to learn for sure what this save went over.
        beside = self.file.with_name(".saving")
        beside.write_bytes(data)
        folder = os.open(self.file.parent, os.O_RDONLY)
        try:
            assert exchange.swap(folder, ".saving", self.file.name)
            self.overwritten.add(beside.read_bytes())
        finally:
            os.close(folder)


def agent(vault: Vault, number: int, stop: Path) -> None:
    """A process that writes until ``stop`` is there, and leaves the number of its writes beside it."""
    count = written = 0
    while not stop.exists():
        try:
            with vault.lock("page"):
                before = vault.read(PATH)
                text = f"agent {number}, text {count}".encode()
                writer.replace(vault, PATH, text, expected_hash=before.content_hash, page_id=PAGE, author=ALICE)
            written += 1
        except SynapseError as error:
            assert error.code is ErrorCode.CONFLICT, error
        count += 1
    stop.with_name(f"written-{number}").write_text(str(written))


@contextmanager
def agents_at_work(vault: Vault, stop: Path) -> Iterator[None]:
    """Processes that write as long as the block lasts; each must come to its end."""
    children = []
    for number in range(AGENTS):
        pid = os.fork()
        if pid == 0:
            try:
                agent(vault, number, stop)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(pid)
    try:
        yield
    finally:
        stop.touch()
        ended = [os.waitpid(pid, 0)[1] for pid in children]
    assert ended == [0] * AGENTS


@pytest.mark.parametrize(("mechanism", "by_rename"), [("exchange", True), ("link", False)])
def test_no_save_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str, by_rename: bool, measured: Measured
) -> None:
    vault = make_vault(tmp_path)
    put(vault)
    editor = Editor(vault.root, by_rename=by_rename)
    use_mechanism(monkeypatch, mechanism, vault)
    with agents_at_work(vault, tmp_path / "stop"):
        for number in range(SAVES):
            editor.save(f"save {number}".encode() * 50)
            time.sleep(0.002)
    history.recover_orphans(vault)
    lost = set(editor.saved) - editor.overwritten - kept_bytes(vault)
    assert lost == set()
    written = sum(int(file.read_text()) for file in tmp_path.glob("written-*"))
    assert written
    versions = history.versions(vault, PAGE)
    assert len(versions) == written
    kept = {history.read_version(vault, PAGE, version.number, displaced=True) for version in versions}
    displaced = len(kept & set(editor.saved))
    measured(
        "P3",
        f"by {mechanism}: {SAVES} saves, {AGENTS} writers, {written} writes: 0 lost, {displaced} displaced and kept",
    )


def save_at(
    monkeypatch: pytest.MonkeyPatch, vault: Vault, moments: dict[tuple[str, int], bytes], *, rename: bool
) -> set[bytes]:
    """Let an editor save in the middle of a write: after the n-th time of a step (before it: a negative n).

    Returns the set of what its saves went over, filled as it saves.
    """
    steps = Steps().install(monkeypatch)
    file = vault.root / PATH
    overwritten: set[bytes] = set()

    def save(data: bytes) -> None:
        if file.exists():
            overwritten.add(file.read_bytes())
        if rename:
            beside = file.with_name(".saving")
            beside.write_bytes(data)
            beside.rename(file)
        else:
            file.write_bytes(data)

    def before(at: int, name: str, args: object) -> None:
        data = moments.pop((name, -steps.taken.count(name)), None)
        if data is not None:
            save(data)

    def after(at: int, name: str) -> None:
        data = moments.pop((name, steps.taken.count(name)), None)
        if data is not None:
            save(data)

    steps.before, steps.after = before, after
    return overwritten


@pytest.mark.parametrize("rename", [True, False])
@pytest.mark.parametrize(
    "moments",
    [
        {("swap", -1): b"first"},
        {("swap", -1): b"first", ("swap", 1): b"second"},
        {("swap", -1): b"first", ("swap", -2): b"second", ("swap", -3): b"third"},
        {("swap", -1): b"first", ("swap", 2): b"second"},
        {("swap", -1): b"first", ("swap", -2): b"second", ("swap", 2): b"third", ("swap", 3): b"fourth"},
    ],
)
def test_the_last_save_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moments: dict[tuple[str, int], bytes], rename: bool
) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)
    last = list(moments.values())[-1]
    with monkeypatch.context() as patch:
        overwritten = save_at(patch, vault, dict(moments), rename=rename)
        with pytest.raises(SynapseError) as refused:
            writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)
    assert refused.value.code is ErrorCode.CONFLICT
    assert refused.value.repair["content_hash"] == writer.sha256(last)
    assert pages(vault) == {PATH: last}
    assert drafts.read_draft(vault, refused.value.repair["draft"])[1] == NEW
    assert history.versions(vault, PAGE) == []
    assert set(moments.values()) - overwritten <= kept_bytes(vault)


@pytest.mark.parametrize("rename", [True, False])
def test_without_exchange_a_save_before_the_last_look_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rename: bool
) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)
    with monkeypatch.context() as patch:
        use_mechanism(patch, "link", vault)
        save_at(patch, vault, {("link", 1): b"saved"}, rename=rename)
        with pytest.raises(SynapseError) as refused:
            writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)
    assert refused.value.code is ErrorCode.CONFLICT
    assert pages(vault) == {PATH: b"saved"}
    assert (vault.root / PATH).stat().st_nlink == 1
    assert drafts.read_draft(vault, refused.value.repair["draft"])[1] == NEW


def test_a_save_into_the_displaced_file_during_the_sync_is_a_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)
    opened = open(vault.root / PATH, "r+b")  # noqa: SIM115
    steps = Steps().install(monkeypatch)

    def late(at: int, name: str, args: object) -> None:
        if name == "sync_folder" and "swap" in steps.taken and not opened.closed:
            opened.write(b"late")
            opened.close()

    steps.before = late
    with pytest.raises(SynapseError) as refused:
        writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)
    assert refused.value.code is ErrorCode.CONFLICT
    assert vault.read(PATH).data == b"late" + OLD[4:]


def test_a_save_after_the_reply_into_the_displaced_file_is_kept(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)
    with open(vault.root / PATH, "r+b") as opened:
        writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)
        opened.truncate()
        opened.write(b"much too late")
    assert history.read_version(vault, PAGE, 1, displaced=True) == b"much too late"


def test_a_page_deleted_in_the_middle_stays_deleted_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)
    with monkeypatch.context() as patch:
        steps = Steps().install(patch)

        def editor(at: int, name: str, args: object) -> None:
            if name == "swap" and steps.taken.count("swap") == 1:
                (vault.root / PATH).write_bytes(b"saved")
            if name == "swap" and steps.taken.count("swap") == 2:
                (vault.root / PATH).unlink()

        steps.before = editor
        with pytest.raises(SynapseError) as refused:
            writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)
    assert refused.value.repair["content_hash"] is None
    assert pages(vault) == {}
    assert b"saved" in kept_bytes(vault)


@pytest.mark.parametrize("rename", [True, False])
def test_a_save_in_the_middle_of_a_delete_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rename: bool) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)
    with monkeypatch.context() as patch:
        save_at(patch, vault, {("rename_new", -1): b"saved"}, rename=rename)
        with pytest.raises(SynapseError) as refused:
            writer.remove(vault, PATH, expected_hash=expected, page_id=PAGE, author=ALICE)
    assert refused.value.code is ErrorCode.CONFLICT
    assert pages(vault) == {PATH: b"saved"}


def test_two_saves_in_the_middle_of_a_delete_are_both_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)
    with monkeypatch.context() as patch:
        save_at(patch, vault, {("rename_new", -1): b"first", ("rename_new", 1): b"second"}, rename=True)
        with pytest.raises(SynapseError):
            writer.remove(vault, PATH, expected_hash=expected, page_id=PAGE, author=ALICE)
    assert pages(vault) == {PATH: b"second"}
    assert b"first" in kept_bytes(vault)
