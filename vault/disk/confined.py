"""Opening what lies below a folder, and never anything else.

Resolving a path and then opening it leaves a gap in which a folder can become a symlink. Here the kernel
does both at once (openat2), or, where that system call is missing, each component is opened from the one
before it without following links. Nothing below the root may be a symlink or another mount.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import stat
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from typing import Final

from vault.errors import ErrorCode, SynapseError
from vault.writing.exchange import close, sync_folder

# O_NONBLOCK: opening a FIFO must not wait for a writer. O_NOCTTY: nor may a terminal become ours.
READ_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NOCTTY
FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW

_OPENAT2: Final = 437  # the same number on every Linux architecture
_RESOLVE: Final = 0x01 | 0x02 | 0x04 | 0x08  # NO_XDEV, NO_MAGICLINKS, NO_SYMLINKS, BENEATH

# One sentence for every refusal, whether or not the target exists: the answer tells nothing about the disk.
NOT_ALLOWED: Final = (
    "This path is not allowed. Give a path below the vault's root with `/` between its parts: "
    "no `..`, no leading or doubled `/`, no backslash, no dot folder, and no symlink on the way."
)


class Mechanism(Enum):
    """How a path is kept below the root."""

    OPENAT2 = "openat2"
    WALK = "walk"


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def _syscall() -> Callable[..., int]:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_OpenHow), ctypes.c_size_t]
    return call


@cache
def best_mechanism() -> Mechanism:
    """openat2 where kernel and sandbox allow it, else the walk by folders."""
    if os.uname().sysname != "Linux":
        return Mechanism.WALK
    here = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        close(_openat2(here, ".", FOLDER_FLAGS))
    except OSError:  # ENOSYS before Linux 5.6, EPERM under an old seccomp profile
        return Mechanism.WALK
    finally:
        close(here)
    return Mechanism.OPENAT2


def open_beneath(folder: int, path: str, flags: int, mechanism: Mechanism | None = None) -> int:
    """A descriptor of ``path``, relative to the descriptor ``folder`` and never outside of it.

    ``path`` has no empty, ``.`` or ``..`` part (:func:`vault.paths.check_path` holds that); ``"."`` alone is
    the folder itself. Raises OSError: ELOOP for a symlink anywhere on the way, EXDEV for another mount, and
    what the kernel says of everything else. :func:`refusal` turns it into an answer.
    """
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW
    if (mechanism or best_mechanism()) is Mechanism.OPENAT2:
        return _openat2(folder, path, flags)
    return _open_by_walking(folder, path, flags)


def _openat2(folder: int, path: str, flags: int) -> int:
    # Without O_NOFOLLOW a symlink at the end is one to resolve, which is refused as a symlink; with it, a folder
    # would be "not a directory".
    how = _OpenHow(flags & ~os.O_NOFOLLOW, 0, _RESOLVE)
    encoded = os.fsencode(path)
    while True:
        found = _syscall()(_OPENAT2, folder, encoded, how, ctypes.sizeof(how))
        if found >= 0:
            return found
        code = ctypes.get_errno()
        # EAGAIN: a rename elsewhere made the kernel unsure that the path stayed below; asking again settles it.
        if code not in (errno.EAGAIN, errno.EINTR):
            raise OSError(code, os.strerror(code))


def _open_by_walking(folder: int, path: str, flags: int) -> int:
    *folders, last = path.split("/")
    if ".." in folders or last == "..":
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    device = os.fstat(folder).st_dev
    current = folder
    try:
        for name in folders:
            following = _open_component(current, name, FOLDER_FLAGS, device)
            if current != folder:
                close(current)
            current = following
        return _open_component(current, last, flags, device)
    finally:
        if current != folder:
            close(current)


def _open_component(folder: int, name: str, flags: int, device: int) -> int:
    try:
        found = os.open(name, flags, dir_fd=folder)
    except NotADirectoryError:
        # With O_DIRECTORY a symlink is reported as "not a directory"; the two have different answers.
        if is_symlink(folder, name):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
        raise
    status = os.fstat(found)
    # Folders only: on overlay file systems a plain file may show the device of a lower layer.
    if stat.S_ISDIR(status.st_mode) and status.st_dev != device:
        close(found)
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    return found


def is_symlink(folder: int, name: str) -> bool:
    """Whether ``name`` in the open folder is a symlink now; False if it is not there."""
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


@contextlib.contextmanager
def folder_beneath(
    folder: int, path: str, *, create: bool = False, mechanism: Mechanism | None = None
) -> Iterator[int]:
    """The folder at ``path`` ("" is ``folder`` itself) for the length of the block. Raises OSError.

    With ``create`` missing folders are made one by one, each from the one above it, and synced.
    """
    try:
        found = open_beneath(folder, path or ".", FOLDER_FLAGS, mechanism)
    except FileNotFoundError:
        if not create:
            raise
        found = _make_folders(folder, path, mechanism)
    try:
        yield found
    finally:
        close(found)


def _make_folders(folder: int, path: str, mechanism: Mechanism | None) -> int:
    current = os.dup(folder)
    try:
        for name in path.split("/"):
            try:
                os.mkdir(name, dir_fd=current)
                sync_folder(current)
            except FileExistsError:
                pass
            following = open_beneath(current, name, FOLDER_FLAGS, mechanism)
            close(current)
            current = following
    except BaseException:
        close(current)
        raise
    return current


#: What a person can do about a system call that failed, by its error number.
REPAIRS: Final = {
    errno.ENOSPC: "The disk is full. Free some space, then try again.",
    errno.EDQUOT: "The disk quota is used up. Free some space, then try again.",
    errno.EROFS: "The disk is read-only. Mount it writable, then try again.",
    errno.EIO: "The disk reports an input/output error. Check the disk, then try again.",
    errno.EACCES: "Synapse has no permission there. Give its user access to the vault's files and folders.",
    errno.EPERM: "The system does not allow this change. Check the permissions and attributes of file and folder.",
    errno.EMFILE: "Too many files are open. Raise the limit of open files, then try again.",
    errno.ENFILE: "Too many files are open. Raise the limit of open files, then try again.",
}


def refusal(error: OSError) -> SynapseError:
    """The answer that belongs to what the kernel said, without its text (which may name the root)."""
    code = error.errno
    if code in (errno.ELOOP, errno.EXDEV, errno.ENAMETOOLONG, errno.EILSEQ):
        return SynapseError(ErrorCode.PATH_NOT_ALLOWED, NOT_ALLOWED)
    if code in (errno.ENOENT, errno.ENOTDIR):
        return SynapseError(ErrorCode.NOT_FOUND, "There is no file at this path. List what is there and try again.")
    if code in (errno.EISDIR, errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP):
        return not_a_file()
    otherwise = "The disk did not answer as expected. Check that the vault is mounted and has room."
    return SynapseError(ErrorCode.STORAGE_ERROR, REPAIRS.get(code or 0, otherwise))


def not_a_file() -> SynapseError:
    """For folders, FIFOs, sockets and devices."""
    return SynapseError(ErrorCode.NOT_A_FILE, "This is not a plain file. Give the path of a file.")
