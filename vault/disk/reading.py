"""Reading one open file: bounded, whole, and hashed as it was returned."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from dataclasses import dataclass
from typing import Final

from vault.disk.birth import birth_ns, mtime_ns
from vault.disk.confined import not_a_file
from vault.errors import ErrorCode, SynapseError

_CHUNK: Final = 1 << 20
_TRIES: Final = 4
_PAUSE_SECONDS: Final = 0.003
_SF_DATALESS: Final = 0x40000000  # macOS: the content is in the cloud, and reading would fetch it


@dataclass(frozen=True, slots=True)
class FileStat:
    """What the disk says of a plain file. Sizes in bytes, times in nanoseconds since 1970."""

    size: int
    mtime_ns: int
    inode: int
    mode: int
    nlink: int
    uid: int
    gid: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileStat:
        """From ``os.stat`` or ``os.fstat``."""
        return cls(
            status.st_size,
            mtime_ns(status),
            status.st_ino,
            status.st_mode,
            status.st_nlink,
            status.st_uid,
            status.st_gid,
        )


@dataclass(frozen=True, slots=True)
class FileRead:
    """One version of a file: its bytes, the stat from before they were read, and their sha256 in hex.

    ``path`` is the path on disk. ``stable`` is False when the file went on changing at every try: the bytes
    may be half of a save, and the stat will differ from the file's. ``birth_ns`` as :func:`vault.disk.birth.birth_ns`.
    """

    data: bytes
    stat: FileStat
    content_hash: str
    path: str
    stable: bool = True
    birth_ns: int | None = None


@dataclass(frozen=True, slots=True)
class FileDigest:
    """Like FileRead for a file that is too large to keep: the sha256 only."""

    stat: FileStat
    content_hash: str
    path: str
    stable: bool = True


def read_open_file(descriptor: int, path: str, max_bytes: int | None) -> FileRead:
    """All bytes of an open plain file, or ``not_a_file``, ``payload_too_large``, ``not_downloaded``.

    Never reads more than the size that the file had when the try began, so a file that is appended to for
    ever is no trap. Raises OSError as the kernel does.
    """
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE_SECONDS)
        before = _checked_stat(descriptor, max_bytes)
        data = _read_exactly(descriptor, before.st_size)
        stable = _is_same(before, os.fstat(descriptor)) and len(data) == before.st_size
        if stable:
            break
    if before.st_size and not before.st_blocks and data.count(0) == len(data):
        raise _not_downloaded()
    return FileRead(data, FileStat.of(before), hashlib.sha256(data).hexdigest(), path, stable, birth_ns(descriptor))


def digest_open_file(descriptor: int, path: str) -> FileDigest:
    """The sha256 of an open plain file, in memory of one chunk. Errors as :func:`read_open_file`."""
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE_SECONDS)
        before = _checked_stat(descriptor, None)
        digest, offset, zeros = hashlib.sha256(), 0, 0
        while offset < before.st_size:
            chunk = os.pread(descriptor, min(_CHUNK, before.st_size - offset), offset)
            if not chunk:
                break
            digest.update(chunk)
            offset += len(chunk)
            if not before.st_blocks:
                zeros += chunk.count(0)
        stable = _is_same(before, os.fstat(descriptor)) and offset == before.st_size
        if stable:
            break
    if before.st_size and not before.st_blocks and zeros == offset:
        raise _not_downloaded()
    return FileDigest(FileStat.of(before), digest.hexdigest(), path, stable)


def _checked_stat(descriptor: int, max_bytes: int | None) -> os.stat_result:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise not_a_file()
    if max_bytes is not None and status.st_size > max_bytes:
        raise SynapseError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The file is larger than {max_bytes} bytes. Split it, or raise the limit in the settings.",
            size_bytes=status.st_size,
            max_bytes=max_bytes,
        )
    if getattr(status, "st_flags", 0) & _SF_DATALESS:
        raise _not_downloaded()
    return status


def _read_exactly(descriptor: int, size: int) -> bytes:
    chunks: list[bytes] = []
    offset = 0
    while offset < size:
        chunk = os.pread(descriptor, min(_CHUNK, size - offset), offset)
        if not chunk:
            break
        chunks.append(chunk)
        offset += len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _is_same(before: os.stat_result, after: os.stat_result) -> bool:
    return (before.st_size, before.st_mtime_ns, before.st_ctime_ns) == (
        after.st_size,
        after.st_mtime_ns,
        after.st_ctime_ns,
    )


def _not_downloaded() -> SynapseError:
    # Blocks alone decide nothing: many file systems show none for small or fresh files. No blocks and nothing
    # but zero bytes is a placeholder of a sync tool, or a hole: no text of anybody's is refused.
    return not_downloaded()


def not_downloaded() -> SynapseError:
    """For a placeholder of a cloud drive."""
    return SynapseError(
        ErrorCode.NOT_DOWNLOADED, "The file is only in the cloud. Download it in the sync tool, then try again."
    )


def has_placeholder(folder: int, name: str) -> bool:
    """Whether iCloud's placeholder ``.<name>.icloud`` stands in the open folder in place of ``name``."""
    try:
        os.stat(f".{name}.icloud", dir_fd=folder, follow_symlinks=False)
    except (OSError, ValueError):
        return False
    return True
