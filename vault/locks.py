"""Locks between processes and threads that the kernel frees when their holder dies (flock)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from vault.disk.confined import folder_beneath, refusal
from vault.errors import ErrorCode, SynapseError
from vault.writing.exchange import close

if TYPE_CHECKING:
    from vault.root import Vault

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Locks of single pages, named after an id or a digest; were they not removed, there would be one file for each page.
_OF_ONE_PAGE: Final = re.compile(r"(?:[a-z]+-)?[0-9a-f-]{32,}")
_FIRST_PAUSE: Final = 0.001
_LONGEST_PAUSE: Final = 0.02


@dataclass
class _Held:
    descriptor: int
    depth: int = 1


class _HeldByThread(threading.local):
    def __init__(self) -> None:
        self.locks: dict[tuple[str, str], _Held] = {}


_held = _HeldByThread()
_descriptors: set[int] = set()


def _forget_in_child() -> None:
    # A forked child holds copies of the descriptors, but not the locks: those are the parent's.
    for descriptor in _descriptors:
        with contextlib.suppress(OSError):
            close(descriptor)
    _descriptors.clear()
    _held.locks.clear()


os.register_at_fork(after_in_child=_forget_in_child)


@contextlib.contextmanager
def lock(vault: Vault, name: str, *, blocking: bool = True, timeout: float | None = None) -> Iterator[None]:
    """Hold the vault's lock ``name`` for the length of the block, against all threads and processes.

    A thread that holds it may take it again. Waits for ever by default; with ``timeout`` (seconds) or
    ``blocking=False`` raises ``conflict`` instead. Raises ``storage_error`` where the disk allows no lock.
    """
    with try_lock(vault, name, timeout=timeout if blocking else 0.0) as got:
        if not got:
            raise SynapseError(ErrorCode.CONFLICT, "Another process is at work on this. Try again in a moment.")
        yield


@contextlib.contextmanager
def try_lock(vault: Vault, name: str, *, timeout: float | None = 0.0) -> Iterator[bool]:
    """Like :func:`lock`, but tells whether the lock was got instead of raising."""
    key = (str(vault.state), name)
    held = _held.locks.get(key)
    if held is None:
        descriptor = _take(vault, name, timeout)
        if descriptor is None:
            yield False
            return
        held = _held.locks[key] = _Held(descriptor, 0)
    held.depth += 1
    try:
        yield True
    finally:
        held.depth -= 1
        # After a fork inside the block the child has no such entry, and nothing to release.
        if not held.depth and _held.locks.get(key) is held:
            del _held.locks[key]
            _release(vault, name, held.descriptor)


def _take(vault: Vault, name: str, timeout: float | None) -> int | None:
    if not _NAME.fullmatch(name):
        raise ValueError("a lock's name is made of letters, digits, dots and dashes")
    deadline = None if timeout is None else time.monotonic() + timeout
    with vault.make_state() as state:
        try:
            with folder_beneath(state, "locks", create=True) as folder:
                return _take_in(folder, name, deadline)
        except OSError as error:
            raise refusal(error) from None


def _take_in(folder: int, name: str, deadline: float | None) -> int | None:
    while True:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666, dir_fd=folder)
        try:
            got = _flock(descriptor, deadline)
            # The one who held it before may have removed the file we waited on; then the lock is another file.
            if got and _is_at(folder, name, descriptor):
                _descriptors.add(descriptor)
                return descriptor
        except BaseException:
            close(descriptor)
            raise
        close(descriptor)
        if not got:
            return None


def _flock(descriptor: int, deadline: float | None) -> bool:
    if deadline is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return True
    pause = _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(pause * 2, _LONGEST_PAUSE)
        else:
            return True


def _is_at(folder: int, name: str, descriptor: int) -> bool:
    try:
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


def _release(vault: Vault, name: str, descriptor: int) -> None:
    if _OF_ONE_PAGE.fullmatch(name):
        # Best effort: a file that stays behind is only litter. Never that of another holder.
        with contextlib.suppress(OSError, SynapseError), vault.open_state() as state:
            if state is not None:
                with folder_beneath(state, "locks") as folder:
                    if _is_at(folder, name, descriptor):
                        os.unlink(name, dir_fd=folder)
    _descriptors.discard(descriptor)
    # Unlocked, not only closed: a child forked meanwhile may hold a copy.
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    close(descriptor)
