"""A layer between Synapse and the kernel: counts each system call on a vault's files, and lets one of them fail.

It is the tests' alone; nothing of it is in what is shipped. It takes the place of the functions of :mod:`os` and
:mod:`fcntl`, of the two system calls that have no such function (renameat2 and openat2), and of ``open`` where it reads
a descriptor. Only calls that Synapse's own rooms make are counted: what Django, Python's importer or a test does goes
by. That no call escapes it is a test of its own (tests/vault/test_faults.py).
"""

from __future__ import annotations

import builtins
import ctypes
import errno
import fcntl
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

import pytest

from vault import identity
from vault.disk import confined
from vault.writing import exchange

ROOMS: Final = ("vault", "wiki", "reviews", "mcpapi", "synapse")

#: Calls that can leave the disk otherwise than it was. ``open`` is one when it may create.
CHANGING: Final = {
    "write": os.write,
    "fsync": os.fsync,
    "unlink": os.unlink,
    "replace": os.replace,
    "link": os.link,
    "mkdir": os.mkdir,
    "ftruncate": os.ftruncate,
    "fchmod": os.fchmod,
    "fchown": os.fchown,
}
#: Calls that only look.
LOOKING: Final = {
    "open": os.open,
    "read": os.read,
    "pread": os.pread,
    "stat": os.stat,
    "lstat": os.lstat,
    "fstat": os.fstat,
    "access": os.access,
    "listdir": os.listdir,
    "scandir": os.scandir,
    "dup": os.dup,
}
#: Functions of :mod:`os` that the rooms use and that ask nothing of a vault's file system.
HARMLESS: Final = frozenset({"fsdecode", "fsencode", "register_at_fork", "strerror", "supports_effective_ids", "uname"})

#: What an error of the kernel may name, and no answer.
SECRET: Final = "/srv/home/of/the/vault"

#: What goes wrong: an error number; "short" (a write takes half), "full" (half, and no more after it).
Fault = int | Literal["short", "full"]
DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
#: The errors that each kind of call is made to answer.
ERRORS: Final = (errno.EIO, errno.ENOSPC, errno.EROFS, errno.EPERM, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Call:
    """One system call: its number in the run from 0, the function's name, and whether it can change anything."""

    number: int
    name: str
    changes: bool


class Kernel:
    """Counts the calls while it is on, and asks ``before`` and tells ``after`` of each.

    ``before`` may return a fault, which the call then answers instead of being made; it may also end the process.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.before: Callable[[Call], Fault | None] = lambda call: None
        self.after: Callable[[Call], None] = lambda call: None
        self.on = False
        self._full = False

    def install(self, monkeypatch: pytest.MonkeyPatch, *, sync: bool = True) -> Kernel:
        """Take the functions' places, whatever stands there by now, until the patches are undone.

        Without ``sync`` nothing waits for the disk, which no test can tell that has no power to cut.
        """
        if not sync:
            monkeypatch.setattr(os, "fsync", lambda fd: None)
        for name in (*CHANGING, *LOOKING):
            monkeypatch.setattr(os, name, self._hooked(name, getattr(os, name)))
        monkeypatch.setattr(os, "close", self._closing(os.close))
        monkeypatch.setattr(fcntl, "flock", self._hooked("flock", fcntl.flock))
        if exchange.rename_call is not None:
            renaming = self._syscall("renameat2", exchange.rename_call, always_changes=True)
            monkeypatch.setattr(exchange, "rename_call", renaming)
        opening = self._syscall("openat2", confined._syscall())
        monkeypatch.setattr(confined, "_syscall", lambda: opening)
        for module in (exchange, identity):
            monkeypatch.setattr(module, "open", self._hooked("fdopen", builtins.open), raising=False)
        return self

    @contextmanager
    def watching(self) -> Iterator[Kernel]:
        """Count, and fail, what happens in the block."""
        self.on, self._full = True, False
        try:
            yield self
        finally:
            self.on = False

    def fail_at(self, number: int, fault: Fault, *, lasting: bool = False) -> None:
        """The call of this number answers ``fault``; if it is ``lasting``, so does every later one that it can meet."""

        def before(call: Call) -> Fault | None:
            if call.number == number or (lasting and call.number > number and can_meet(call, fault)):
                return fault
            return None

        self.before = before

    def die_at(self, number: int, *, after: bool = False) -> None:
        """The process is killed just before, or just after, the call of this number."""

        def end(call: Call) -> None:
            if call.number == number:
                os.kill(os.getpid(), signal.SIGKILL)

        if after:
            self.after = end
        else:
            self.before = end

    def _begin(self, name: str, *, changes: bool) -> tuple[Call, Fault | None]:
        call = Call(len(self.calls), name, changes)
        self.calls.append(call)
        return call, self.before(call)

    def _counts(self) -> bool:
        """Whether the call comes from one of our rooms (asked by a hook, for whoever called the hook)."""
        return self.on and sys._getframe(2).f_globals.get("__name__", "").split(".")[0] in ROOMS

    def _hooked(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def hook(*args: Any, **kwargs: Any) -> Any:
            if not self._counts():
                return function(*args, **kwargs)
            call, fault = self._begin(name, changes=name in CHANGING or (name == "open" and bool(args[1] & os.O_CREAT)))
            if fault is not None and name == "write" and isinstance(fault, str):
                return self._half(function, args, fault)
            if isinstance(fault, int):
                if name == "access":
                    return False  # as the function does, whatever the error
                raise OSError(fault, os.strerror(fault), SECRET)
            if self._full and name == "write":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            result = function(*args, **kwargs)
            self.after(call)
            return result

        return hook

    def _half(self, function: Callable[..., Any], args: tuple[Any, ...], fault: str) -> int:
        fd, data = args
        self._full = fault == "full"
        half = len(data) // 2
        if not half:
            if self._full:  # of one byte there is no half
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            half = len(data)
        return int(function(fd, data[:half]))

    def _closing(self, function: Callable[[int], None]) -> Callable[[int], None]:
        def close(fd: int) -> None:
            if not self._counts():
                return function(fd)
            call, fault = self._begin("close", changes=False)
            function(fd)  # a close that fails has closed
            if isinstance(fault, int):
                raise OSError(fault, os.strerror(fault))
            self.after(call)
            return None

        return close

    def _syscall(self, name: str, function: Callable[..., int], *, always_changes: bool = False) -> Callable[..., int]:
        def call(*args: Any) -> int:
            if not self._counts():
                return function(*args)
            made, fault = self._begin(name, changes=always_changes)
            if isinstance(fault, int):
                ctypes.set_errno(fault)
                return -1
            result = function(*args)
            code = ctypes.get_errno()
            self.after(made)
            ctypes.set_errno(code)
            return result

        return call


@contextmanager
def database_counted(kernel: Kernel) -> Iterator[None]:
    """Count what is asked of the database as well: each statement as ``sql``, and each ``commit``."""
    from django.db import OperationalError, connection

    def ask(name: str, function: Callable[..., Any], *args: Any) -> Any:
        if not kernel.on:
            return function(*args)
        call, fault = kernel._begin(name, changes=name == "commit")
        if isinstance(fault, int):
            raise OperationalError(SECRET)
        result = function(*args)
        kernel.after(call)
        return result

    database: Any = connection
    commit = database._commit
    database._commit = lambda: ask("commit", commit)
    try:
        with database.execute_wrapper(lambda execute, *args: ask("sql", execute, *args)):
            yield
    finally:
        database._commit = commit


def can_meet(call: Call, fault: Fault) -> bool:
    """Whether a disk in this state would answer so: one that is full can be read, one that is broken can't."""
    if isinstance(fault, str):
        return call.name == "write"
    if fault == errno.EIO:
        return True
    if call.name == "commit":
        return False  # for a database there is one kind of fault
    if fault in DISK_FULL:
        return call.name in ("write", "mkdir", "link", "fsync") or (call.name == "open" and call.changes)
    return call.changes and call.name != "fsync"


def faults_of(call: Call) -> list[Fault]:
    """Each way in which this call can fail."""
    if call.name == "write":
        return [*ERRORS, "short", "full"]
    return [fault for fault in ERRORS if can_meet(call, fault)]
