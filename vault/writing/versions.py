"""One page's history on disk: a line for each change, and the bytes that changes displaced.

``.synapse/history/<page id>/versions.jsonl`` holds one JSON object a line,
oldest first, numbered from 1: number, at, author, door, action, path,
content_hash, displaced_hash, size, file, token. ``file`` names the displaced
bytes beside it, null when nothing was displaced. Lines are only ever added, each
with one write; a line torn by a crash is passed over, and the next starts anew.

A displaced file is moved here, never copied and deleted, as long as both places
are on one file system: an editor that still has it open goes on writing into a
file that is kept.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from vault.disk.state import state_folder
from vault.writing import exchange

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from vault.root import Vault

LINES: Final = "versions.jsonl"
HISTORY: Final = "history"
_BLOCK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a change (a user's or client's name), and the door they came through (rest, mcp, desk, command …)."""

    name: str
    door: str


@dataclass(frozen=True, slots=True)
class Version:
    """One acknowledged change of a page.

    ``at`` is ISO 8601 in UTC with a Z; hashes are sha256 in hex; ``size`` is in
    bytes. ``content_hash`` is the page after the change; of a delete, the page
    that was deleted. ``displaced_hash`` is what the change took away, None when
    nothing (create, move).
    """

    number: int
    at: str
    author: str
    door: str
    action: str
    path: str
    content_hash: str
    displaced_hash: str | None
    size: int
    file: str | None
    token: str


def page_folder(vault: Vault, page_id: UUID, *, create: bool = False) -> AbstractContextManager[int]:
    """The folder of a page's history as a descriptor; FileNotFoundError when there is none and ``create`` is false."""
    return state_folder(vault, HISTORY, str(page_id), create=create)


def append(folder: int, entry: dict[str, Any]) -> Version:
    """Add a line: ``entry`` is a Version without its number. Returns when line and folder are on the disk.

    The lock on the file makes numbers unique across processes. OSError leaves no
    part of a line behind.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(LINES, flags, 0o600, dir_fd=folder)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        size = os.fstat(fd).st_size
        last = next(_newest_first(fd, size), None)
        version = Version(number=last.number + 1 if last else 1, **entry)
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        _write_line(fd, size, (b"\n" if torn else b"") + encode_line(asdict(version)))
        fcntl.flock(fd, fcntl.LOCK_UN)
        exchange.sync_file(fd)
    finally:
        exchange.close(fd)
    exchange.sync_folder(folder)
    return version


def encode_line(record: dict[str, Any]) -> bytes:
    """One JSON line. A lone surrogate, which UTF-8 can't hold, becomes the JSON escape that reads back as itself."""
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _write_line(fd: int, size: int, line: bytes) -> None:
    written = 0
    try:
        written = os.write(fd, line)
        if written < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        if written:
            os.ftruncate(fd, size)
        raise


def newest_first(folder: int) -> Iterator[Version]:
    """The page's versions, newest first, reading from the end of the file only as far as they are asked for."""
    try:
        fd = exchange.open_file(folder, LINES)
    except FileNotFoundError:
        return
    try:
        yield from _newest_first(fd, os.fstat(fd).st_size)
    finally:
        exchange.close(fd)


def _newest_first(fd: int, size: int) -> Iterator[Version]:
    for line in _lines_backwards(fd, size):
        version = _parse(line)
        if version is not None:
            yield version


def _lines_backwards(fd: int, size: int) -> Iterator[bytes]:
    rest = b""
    while size > 0:
        step = min(_BLOCK, size)
        size -= step
        first, *lines = (os.pread(fd, step, size) + rest).split(b"\n")
        rest = first
        yield from reversed(lines)
    yield rest


def _parse(line: bytes) -> Version | None:
    try:
        record = json.loads(line)
        return Version(**{name: record[name] for name in Version.__slots__})
    except (ValueError, KeyError, TypeError, RecursionError):
        return None  # an empty or torn line


def shelve(source: int, name: str, folder: int, file: str) -> None:
    """Move what is called ``name`` in ``source`` into a history folder, under the new name ``file``.

    Across file systems: a copy, synced before the original goes. FileExistsError
    when ``file`` is taken. The caller syncs ``folder``.
    """
    try:
        exchange.rename_new(source, name, folder, file)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        copy(source, name, folder, file)
        exchange.unlink(source, name)


def copy(source: int, name: str, folder: int, file: str) -> None:
    """Write the bytes of a regular file to a new one, and sync it; on an error no part of it stays."""
    reading = exchange.open_file(source, name)
    try:
        writing = exchange.create_file(folder, file, 0o600)
        try:
            os.fchmod(writing, os.fstat(reading).st_mode & 0o777)
            while chunk := os.read(reading, 1 << 20):
                exchange.write_all(writing, chunk)
            exchange.sync_file(writing)
        except OSError:
            exchange.unlink(folder, file)
            raise
        finally:
            exchange.close(writing)
    finally:
        exchange.close(reading)
