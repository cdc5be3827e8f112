"""Times of files as an index can hold them, and the one that Python's os.stat leaves out on Linux: the birth."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any, Final

#: A file may bear any time that its file system can (ext4: until 2446), integers of databases end in 2262.
LATEST_NS: Final = (1 << 63) - 1

_AT_EMPTY_PATH: Final = 0x1000
_STATX_BTIME: Final = 0x800


class _StatxTime(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_int64), ("nanoseconds", ctypes.c_uint32), ("reserved", ctypes.c_int32))


class _Statx(ctypes.Structure):
    # The head of the kernel's struct statx; the call fills 256 bytes.
    _fields_ = (
        ("mask", ctypes.c_uint32),
        ("block_size", ctypes.c_uint32),
        ("attributes", ctypes.c_uint64),
        ("links_owner_mode", ctypes.c_uint32 * 4),
        ("inode_size_blocks_attributes", ctypes.c_uint64 * 4),
        ("accessed", _StatxTime),
        ("born", _StatxTime),
        ("rest", ctypes.c_uint8 * 160),
    )


@cache
def _statx() -> Any:
    try:
        return ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError):  # macOS, and C libraries older than the call
        return None


def mtime_ns(status: os.stat_result) -> int:
    """When the file was last changed, in nanoseconds since 1970, at most LATEST_NS before or after that."""
    return max(-LATEST_NS, min(status.st_mtime_ns, LATEST_NS))


def birth_ns(descriptor: int) -> int | None:
    """When the open file was made, in nanoseconds since 1970; None where the file system does not keep it."""
    born = _birth_ns(descriptor)
    return born if born is not None and abs(born) <= LATEST_NS else None


def _birth_ns(descriptor: int) -> int | None:
    known = getattr(os.fstat(descriptor), "st_birthtime", None)
    if known is not None:
        return int(known * 1_000_000_000)
    call = _statx()
    if call is None:
        return None
    answer = _Statx()
    arguments = (ctypes.c_int(_AT_EMPTY_PATH), ctypes.c_uint(_STATX_BTIME), ctypes.byref(answer))
    if call(ctypes.c_int(descriptor), ctypes.c_char_p(b""), *arguments) or not answer.mask & _STATX_BTIME:
        return None
    born = answer.born
    return int(born.seconds) * 1_000_000_000 + int(born.nanoseconds)
