"""The file a change is about: what may be replaced at all, and the temporary file that is to take its place."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Final, NamedTuple

from vault.disk.confined import not_a_file
from vault.disk.reading import FileStat
from vault.errors import ErrorCode, SynapseError
from vault.writing import exchange
from vault.writing.pending import Pending

_SYMLINK: Final = "This name is a symbolic link, and a change would replace the link. Change the file it leads to."
_HARD_LINK: Final = (
    "This file has a second name (a hard link), and a change would part the two. Make it a file of its own first."
)
_OWNER: Final = (
    "This file belongs to another user or group, and a change would take it from them. "
    "Give it to Synapse's user, or change it in an editor."
)
_WRITE_PROTECTED: Final = "This file is write-protected for Synapse's user. Allow it to write, then try again."


class Found(NamedTuple):
    """A plain file that may be changed, and the sha256 of its bytes, hex."""

    content_hash: str
    stat: os.stat_result


def sha256(data: bytes) -> str:
    """The content hash of bytes, hex."""
    return hashlib.sha256(data).hexdigest()


def find(folder: int, name: str, *, to_change: bool = True) -> Found | None:
    """The file with this name, None when there is nothing.

    Raises SynapseError with the reason for what a rename would harm: NOT_A_FILE,
    PATH_NOT_ALLOWED (symbolic link; if it is ``to_change``, also hard link and
    write-protected); and OSError.
    """
    try:
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(there.st_mode):
        raise SynapseError(ErrorCode.PATH_NOT_ALLOWED, _SYMLINK)
    if not stat.S_ISREG(there.st_mode):
        raise not_a_file()
    if to_change and there.st_nlink > 1:
        raise SynapseError(ErrorCode.PATH_NOT_ALLOWED, _HARD_LINK)
    # A rename needs no permission on the file itself: without this look it would go around it.
    if to_change and not os.access(name, os.W_OK, dir_fd=folder):
        raise SynapseError(ErrorCode.PATH_NOT_ALLOWED, _WRITE_PROTECTED)
    try:
        return Found(*exchange.hash_file(folder, name))
    except FileNotFoundError:
        return None


def write_temp(folder: int, pending: Pending, data: bytes, *, like: os.stat_result | None) -> FileStat:
    """Write the change's temporary file and sync it; owner and mode are those of ``like``, the file to be replaced.

    On an error nothing of it stays. Raises OSError, and SynapseError
    PATH_NOT_ALLOWED when the owner can't be kept.
    """
    temp = pending.change.temp
    try:
        fd = exchange.create_file(folder, temp, 0o666 if like is None else 0o600)
    except OSError:
        pending.settled = True
        raise
    try:
        exchange.write_all(fd, data)
        if like is not None:
            _keep_owner_and_mode(fd, like)
        exchange.sync_file(fd)
        return FileStat.of(os.fstat(fd))
    except (OSError, SynapseError):
        drop_temp(folder, pending)
        raise
    finally:
        exchange.close(fd)


def drop_temp(folder: int, pending: Pending) -> None:
    """Remove a temporary file that was never visible; if that fails, recovery finds it."""
    try:
        exchange.unlink(folder, pending.change.temp)
    except OSError:
        return
    pending.settled = True


def _keep_owner_and_mode(fd: int, like: os.stat_result) -> None:
    ours = os.fstat(fd)
    if (ours.st_uid, ours.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.fchown(fd, like.st_uid, like.st_gid)
        except PermissionError:
            raise SynapseError(ErrorCode.PATH_NOT_ALLOWED, _OWNER) from None
    mode = stat.S_IMODE(like.st_mode) & 0o777
    if stat.S_IMODE(ours.st_mode) != mode:
        os.fchmod(fd, mode)
