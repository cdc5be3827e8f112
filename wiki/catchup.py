"""Pages that are on disk but did not get into the index, noted where a lost database can't lose them.

``.synapse/index-pending.jsonl`` holds a path a line. Whoever drains the jobs next takes the file and scans those
paths; a full scan would find them as well, so a note that can't be written costs delay only.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable
from typing import Final

from vault.current import current_vault
from vault.errors import SynapseError
from vault.writing.exchange import close

_NAME: Final = "index-pending.jsonl"
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def note(paths: Iterable[str]) -> None:
    """Remember that these paths wait for the index. Never raises."""
    lines = "".join(json.dumps(path) + "\n" for path in paths).encode()
    with contextlib.suppress(OSError, SynapseError), current_vault().make_state() as folder:
        fd = os.open(_NAME, _FLAGS | os.O_CREAT, 0o600, dir_fd=folder)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            os.write(fd, lines)
        finally:
            close(fd)


def noted() -> bool:
    """Whether something waits: one look at the disk."""
    try:
        return bool(os.stat(current_vault().state / _NAME).st_size)
    except (OSError, SynapseError):
        return False


def take() -> list[str]:
    """The paths that wait, in order, each once; they are forgotten, so note them again if the scan fails."""
    with contextlib.suppress(OSError, SynapseError), current_vault().make_state() as folder:
        fd = os.open(_NAME, _FLAGS, dir_fd=folder)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            data = os.pread(fd, os.fstat(fd).st_size, 0)
            os.ftruncate(fd, 0)
        finally:
            close(fd)
        return list(dict.fromkeys(path for line in data.split(b"\n") if (path := _path(line))))
    return []


def _path(line: bytes) -> str | None:
    try:
        path = json.loads(line)
    except ValueError:
        return None
    return path if isinstance(path, str) else None
