"""The system calls of the writer, and what stands in for those that a system does not know."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vault.writing import exchange


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def refuse_flags(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """A file system that answers every rename with flags with an error number."""

    def call(*args: Any) -> int:
        ctypes.set_errno(code)
        return -1

    monkeypatch.setattr(exchange, "rename_call", call)


def refuse_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)


def test_swap_exchanges_both_names(tmp_path: Path, folder: int) -> None:
    (tmp_path / "a").write_text("A")
    (tmp_path / "b").write_text("B")
    assert exchange.swap(folder, "a", "b")
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("B", "A")


def test_swap_needs_both_names(tmp_path: Path, folder: int) -> None:
    (tmp_path / "a").write_text("A")
    with pytest.raises(FileNotFoundError):
        exchange.swap(folder, "a", "missing")
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP])
def test_swap_tells_that_the_system_cannot(
    tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    (tmp_path / "a").write_text("A")
    (tmp_path / "b").write_text("B")
    refuse_flags(monkeypatch, code)
    assert not exchange.swap(folder, "a", "b")
    assert (tmp_path / "a").read_text() == "A"


def test_swap_raises_what_is_no_missing_support(folder: int, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_flags(monkeypatch, errno.EROFS)
    with pytest.raises(OSError) as failed:
        exchange.swap(folder, "a", "b")
    assert failed.value.errno == errno.EROFS


@pytest.mark.parametrize("system", ["flags", "links", "neither"])
def test_rename_new_never_replaces(tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    if system != "flags":
        refuse_flags(monkeypatch, errno.EINVAL)
    if system == "neither":
        refuse_links(monkeypatch)
    (tmp_path / "a").write_text("A")
    (tmp_path / "taken").write_text("B")
    with pytest.raises(FileExistsError):
        exchange.rename_new(folder, "a", folder, "taken")
    assert ((tmp_path / "a").read_text(), (tmp_path / "taken").read_text()) == ("A", "B")
    exchange.rename_new(folder, "a", folder, "free")
    assert sorted(os.listdir(tmp_path)) == ["free", "taken"]
    assert (tmp_path / "free").stat().st_nlink == 1
    with pytest.raises(FileNotFoundError):
        exchange.rename_new(folder, "a", folder, "other")


def test_a_half_done_rename_is_undone(tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_flags(monkeypatch, errno.EINVAL)
    (tmp_path / "a").write_text("A")
    unlink = exchange.unlink

    def fail(at: int, name: str) -> None:
        if name == "a":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        unlink(at, name)

    monkeypatch.setattr(exchange, "unlink", fail)
    with pytest.raises(OSError):
        exchange.rename_new(folder, "a", folder, "b")
    assert os.listdir(tmp_path) == ["a"]


def test_the_kernel_is_reached_without_the_librarys_function(
    tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Musl:
        syscall = ctypes.CDLL(None, use_errno=True).syscall

    monkeypatch.setattr(exchange.ctypes, "CDLL", lambda *args, **kwargs: Musl())
    call = exchange._find_rename()
    known = sys.platform == "linux" and platform.machine() in exchange._SYSCALL_RENAMEAT2
    assert (call is not None) is known
    (tmp_path / "a").write_text("A")
    (tmp_path / "b").write_text("B")
    if call is not None:
        assert call(folder, b"a", folder, b"b", 2) == 0
        assert (tmp_path / "a").read_text() == "B"


@pytest.mark.parametrize(("system", "flags"), [("linux", (1, 2)), ("darwin", (4, 2))])
def test_each_system_has_its_flags(
    folder: int, monkeypatch: pytest.MonkeyPatch, system: str, flags: tuple[int, int]
) -> None:
    seen: list[int] = []

    def call(source_dir: int, source: bytes, target_dir: int, target: bytes, flag: int) -> int:
        seen.append(flag)
        return 0

    monkeypatch.setattr(exchange.sys, "platform", system)
    monkeypatch.setattr(exchange, "rename_call", call)
    exchange.rename_new(folder, "a", folder, "b")
    exchange.swap(folder, "a", "b")
    assert tuple(seen) == flags


def test_write_all_goes_on_after_a_short_write_and_stops_when_nothing_is_taken(
    tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:3]))
    fd = exchange.create_file(folder, "a", 0o600)
    exchange.write_all(fd, b"0123456789")
    monkeypatch.setattr(os, "write", lambda fd, data: 0)
    with pytest.raises(OSError):
        exchange.write_all(fd, b"more")
    os.close(fd)
    assert (tmp_path / "a").read_bytes() == b"0123456789"


def test_create_file_takes_nothing_that_is_there(tmp_path: Path, folder: int) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        exchange.create_file(folder, "link", 0o600)
    assert not (tmp_path / "target").exists()


def test_only_plain_files_are_read(tmp_path: Path, folder: int) -> None:
    (tmp_path / "target").write_text("secret")
    (tmp_path / "link").symlink_to("target")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name in ("link", "fifo", "folder"):
        with pytest.raises(OSError):
            exchange.hash_file(folder, name)
        with pytest.raises(OSError):
            exchange.read_file(folder, name)
    assert exchange.read_file(folder, "target", limit=3) == b"sec"


def test_a_system_that_cannot_sync_folders_is_no_failure(folder: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(code: int) -> Any:
        def fsync(fd: int) -> None:
            raise OSError(code, os.strerror(code))

        return fsync

    monkeypatch.setattr(os, "fsync", refuse(errno.EINVAL))
    exchange.sync_folder(folder)
    monkeypatch.setattr(os, "fsync", refuse(errno.EIO))
    with pytest.raises(OSError):
        exchange.sync_folder(folder)


def test_without_links_writers_take_turns(tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_flags(monkeypatch, errno.EINVAL)
    refuse_links(monkeypatch)
    (tmp_path / "a").write_text("A")
    other = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    answers: list[BaseException | None] = []

    def rename() -> None:
        try:
            exchange.rename_new(folder, "a", folder, "b")
            answers.append(None)
        except OSError as error:
            answers.append(error)

    thread = threading.Thread(target=rename)
    thread.start()
    thread.join(0.1)
    (tmp_path / "b").write_text("the other writer's")
    os.close(other)
    thread.join()
    assert isinstance(answers[0], FileExistsError)
    assert (tmp_path / "b").read_text() == "the other writer's"
