"""wiki/log.md: one line for each thing done, in the order it was done. Only ever added to.

A log.md without our mark (see wiki.services.generated) is the user's: no line is added to it.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import stat
from datetime import UTC, datetime
from typing import Final

from django.conf import settings

from vault.current import current_vault
from vault.errors import SynapseError
from vault.writing import exchange
from wiki.services.generated import MARK, is_ours

logger = logging.getLogger(__name__)

LOG_PATH: Final = "wiki/log.md"
_HEAD: Final = f"---\ntitle: Log\n{MARK}---\n\n# Log\n\n"
_HEAD_BYTES: Final = 4096


def log_line(action: str, title: str) -> str:
    """``## [2026-04-01] write | Title``, on one line whatever the title holds."""
    shown = " ".join("".join(character if character.isprintable() else " " for character in title).split())
    return f"## [{datetime.now(UTC):%Y-%m-%d}] {action} | {shown}\n"


def append_log(action: str, title: str) -> bool:
    """Add a line by one write at the file's end; False where log.md is not ours or can't be written.

    The page stands whatever becomes of its line, so nothing is raised: a failure is logged.
    """
    if settings.SYNAPSE_READ_ONLY:
        return False
    try:
        with current_vault().parent(LOG_PATH, create=True) as (folder, name):
            return _append(folder, name, log_line(action, title).encode("utf-8", "replace"))
    except (OSError, SynapseError) as error:
        logger.warning("log.md did not take a line", extra={"reason": type(error).__name__})
        return False


def _append(folder: int, name: str, line: bytes) -> bool:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(name, flags, 0o644, dir_fd=folder)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if found.st_size == 0:
            return _begin(fd, line)
        if not is_ours(os.pread(fd, _HEAD_BYTES, 0)):
            return False
        ends_with_newline = os.pread(fd, 1, found.st_size - 1) == b"\n"
        exchange.write_all(fd, line if ends_with_newline else b"\n" + line)
        return True
    finally:
        exchange.close(fd)


def _begin(fd: int, line: bytes) -> bool:
    """The first line with the head before it; of several processes that come first, one writes the head."""
    fcntl.flock(fd, fcntl.LOCK_EX)
    exchange.write_all(fd, line if os.fstat(fd).st_size else _HEAD.encode() + line)
    return True
