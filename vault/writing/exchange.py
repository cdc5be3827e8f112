"""The system calls the writer is made of: each one step that can fail, or after which a process can die.

Files are named by the descriptor of their folder and a name without a slash,
so a folder swapped for a symbolic link in between leads nowhere else.
Everything raises plain :class:`OSError`; the writer turns it into an answer.

Source: promises P1, P2, P3 and P6. ``renameat2`` is rename(2) of Linux,
``renameatx_np`` is renamex_np(2) of macOS.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import os
import platform
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any, Final

_CHUNK: Final = 1 << 20
# What a kernel or file system answers when it does not know the flag, or has no hard links.
_UNSUPPORTED: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP})
_NO_LINKS: Final = _UNSUPPORTED | {errno.EPERM, errno.EMLINK, errno.EXDEV}
_SYSCALL_RENAMEAT2: Final = {"x86_64": 316, "aarch64": 276, "riscv64": 276}

RenameCall = Callable[[int, bytes, int, bytes, int], int]


class HalfRenamedError(OSError):
    """A file has its new name and still its old one, and the disk lets neither go."""


class Flag(Enum):
    """How a rename treats a target that exists, as (value on Linux, value on macOS)."""

    NO_REPLACE = (1, 4)
    EXCHANGE = (2, 2)


def _find_rename() -> RenameCall | None:
    """The C library's rename with flags; None where there is none. Looks symbols up, calls nothing."""
    libc = ctypes.CDLL(None, use_errno=True)
    arguments: list[Any] = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function = getattr(libc, "renameatx_np" if sys.platform == "darwin" else "renameat2", None)
    if function is not None:
        function.argtypes = arguments
        function.restype = ctypes.c_int
        return function  # type: ignore[no-any-return]
    number = _SYSCALL_RENAMEAT2.get(platform.machine()) if sys.platform == "linux" else None
    if number is None:
        return None
    syscall = libc.syscall  # a C library without the wrapper (musl) still reaches the kernel
    syscall.argtypes = [ctypes.c_long, *arguments]
    syscall.restype = ctypes.c_long
    return lambda *call: int(syscall(number, *call))


rename_call: RenameCall | None = _find_rename()


def _rename(flag: Flag, source_dir: int, source: str, target_dir: int, target: str) -> bool:
    """Rename with a flag; False, and nothing done, where the system can't."""
    if rename_call is None:
        return False
    value = flag.value[sys.platform == "darwin"]
    if rename_call(source_dir, os.fsencode(source), target_dir, os.fsencode(target), value) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code))


def swap(folder: int, one: str, other: str) -> bool:
    """Exchange two names of one folder in one step; False, and nothing done, where the system can't."""
    return _rename(Flag.EXCHANGE, folder, one, folder, other)


def rename_new(source_dir: int, source: str, target_dir: int, target: str) -> None:
    """Give a file another name; FileExistsError, and nothing done, when that name is taken.

    Without the flag: a hard link under the new name, then the old one goes; HalfRenamedError when neither goes.
    Without hard links: a look under a lock on the folder, which keeps out all
    writers of ours, but for a moment not an editor that makes the same file.
    """
    if _rename(Flag.NO_REPLACE, source_dir, source, target_dir, target):
        return
    if link(source_dir, source, target_dir, target):
        try:
            unlink(source_dir, source)
        except OSError as error:
            try:
                unlink(target_dir, target)
            except OSError:
                raise HalfRenamedError(error.errno, error.strerror) from None
            raise
        return
    fcntl.flock(target_dir, fcntl.LOCK_EX)
    try:
        if exists(target_dir, target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        rename_over(source_dir, source, target_dir, target)
    finally:
        with suppress(OSError):  # it goes with the descriptor
            fcntl.flock(target_dir, fcntl.LOCK_UN)


def exists(folder: int, name: str) -> bool:
    """Whether anything has this name, a link to nowhere included."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def rename_over(source_dir: int, source: str, target_dir: int, target: str) -> None:
    """Give a file another name, destroying what had it."""
    os.replace(source, target, src_dir_fd=source_dir, dst_dir_fd=target_dir)


def link(source_dir: int, source: str, target_dir: int, target: str) -> bool:
    """A second name for the same file; False where hard links can't be, FileExistsError when the name is taken."""
    try:
        os.link(source, target, src_dir_fd=source_dir, dst_dir_fd=target_dir, follow_symlinks=False)
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    return True


def unlink(folder: int, name: str) -> None:
    """Remove a name."""
    os.unlink(name, dir_fd=folder)


def create_file(folder: int, name: str, mode: int) -> int:
    """A new empty file open for writing; never follows or reuses what is there. The caller closes it."""
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte: the kernel may take fewer than it is given."""
    rest = memoryview(data)
    while rest:
        written = os.write(fd, rest)
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]


def sync_file(fd: int) -> None:
    """Return when the file's bytes are on the disk itself."""
    full = getattr(fcntl, "F_FULLFSYNC", None)  # macOS, where fsync stops at the drive's cache
    if full is not None:
        with suppress(OSError):
            fcntl.fcntl(fd, full)
            return
    os.fsync(fd)


def sync_folder(fd: int) -> None:
    """Return when the folder's names are on the disk; nothing to do where folders can't be synced (SMB, 9p)."""
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise


def close(fd: int) -> None:
    """Give a descriptor back. No error: it is gone either way, and what counts has been synced before."""
    with suppress(OSError):
        os.close(fd)


def append_to(folder: int, name: str, data: bytes) -> None:
    """Add bytes to a file, made for its owner alone if it is not there; return when they are on the disk."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        write_all(fd, data)
        sync_file(fd)
    finally:
        close(fd)


def open_file(folder: int, name: str) -> int:
    """A file open for reading: no link is followed, and a FIFO does not block. The caller closes it."""
    return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=folder)


def hash_file(folder: int, name: str) -> tuple[str, os.stat_result]:
    """The sha256 of a regular file, hex, and its stat; OSError(EINVAL) for anything else."""
    fd = open_file(folder, name)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        digest = hashlib.sha256()
        while chunk := os.read(fd, _CHUNK):
            digest.update(chunk)
        return digest.hexdigest(), found
    finally:
        close(fd)


def read_file(folder: int, name: str, *, limit: int | None = None) -> bytes:
    """The bytes of a regular file, the first ``limit`` of them; OSError(EINVAL) for anything else."""
    fd = open_file(folder, name)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        with open(fd, "rb", closefd=False) as file:
            return file.read(-1 if limit is None else limit)
    finally:
        close(fd)
