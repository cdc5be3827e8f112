"""Changes on their way: a record of each, made before its first step, locked until its last.

``.synapse/history/pending/<token>.json`` tells whoever finds a leftover temporary
file what was going on. The kernel's lock on it, freed when its process dies,
tells whether it still is. The record is not synced: a kill leaves it readable,
and after a power cut the temporary file alone still keeps the bytes.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from vault.disk.state import state_folder
from vault.writing import exchange
from vault.writing.versions import HISTORY, Author, encode_line

if TYPE_CHECKING:
    from vault.root import Vault

PENDING: Final = "pending"
TEMP_NAME: Final = re.compile(r"\.synapse-([0-9a-f]{12})\.tmp")
_RECORD_NAME: Final = re.compile(r"([0-9a-f]{12})\.json")


def temp_name(token: str) -> str:
    """A temporary file's name; ``token`` is 12 hexadecimal digits."""
    return f".synapse-{token}.tmp"


@dataclass(frozen=True, slots=True)
class Change:
    """What is about to be done to one page.

    ``content_hash`` is the page after it, ``expected_hash`` what it will
    displace; ``source`` is the path a moved page comes from. ``record`` is
    false for files that are made again by code and need no history.
    """

    action: str
    path: str
    page_id: str
    author: str
    door: str
    at: str
    content_hash: str
    expected_hash: str | None
    size: int
    source: str | None
    record: bool
    token: str

    @property
    def temp(self) -> str:
        """The temporary file's name: short whatever the page is called, hidden from Obsidian and from scans."""
        return temp_name(self.token)

    @property
    def file(self) -> str:
        """The name of the displaced bytes in the page's history, sorted by time for a person who looks there."""
        return f"{self.at.replace('-', '').replace(':', '')}-{self.token}.md"

    def entry(self, displaced_hash: str | None) -> dict[str, Any]:
        """The version line of the change, without its number."""
        return {
            "at": self.at,
            "author": self.author,
            "door": self.door,
            "action": self.action,
            "path": self.path,
            "content_hash": self.content_hash,
            "displaced_hash": displaced_hash,
            "size": self.size,
            "file": self.file if displaced_hash else None,
            "token": self.token,
        }


class Pending:
    """A change being made by this process; ``settled`` when no step of it is left for recovery."""

    def __init__(self, change: Change) -> None:
        self.change = change
        self.settled = False


@contextmanager
def begin(
    vault: Vault,
    *,
    action: str,
    path: str,
    page_id: UUID,
    author: Author,
    content_hash: str,
    expected_hash: str | None = None,
    size: int = 0,
    source: str | None = None,
    record: bool = True,
) -> Iterator[Pending]:
    """Record a change and hold its lock. On leaving, the record goes if ``settled``, else it stays for recovery."""
    with state_folder(vault, HISTORY, PENDING, create=True) as folder:
        token, fd = _claim_token(folder)
        pending = Pending(
            Change(
                action=action,
                path=path,
                page_id=str(page_id),
                author=author.name,
                door=author.door,
                at=now(),
                content_hash=content_hash,
                expected_hash=expected_hash,
                size=size,
                source=source,
                record=record,
                token=token,
            )
        )
        try:
            try:
                exchange.write_all(fd, encode_line(asdict(pending.change)))
            except OSError:
                pending.settled = True
                raise
            yield pending
        finally:
            if pending.settled:
                forget(folder, token)
            exchange.close(fd)


def now() -> str:
    """The time as the lines of .synapse write it: UTC, to the second, ``2026-04-01T10:15:00Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _claim_token(folder: int) -> tuple[str, int]:
    """A new record that only this process has locked."""
    while True:
        token = secrets.token_hex(6)
        try:
            fd = exchange.create_file(folder, f"{token}.json", 0o600)
        except FileExistsError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if os.fstat(fd).st_nlink:
                return token, fd
        except OSError:
            forget(folder, token)
            exchange.close(fd)
            raise
        exchange.close(fd)  # recovery took the still unlocked record for a dead one


def forget(folder: int, token: str) -> None:
    """Remove a record; one that can't be removed is looked at again by recovery, which finds the change done."""
    try:
        exchange.unlink(folder, f"{token}.json")
    except OSError:
        return


def tokens(folder: int) -> list[str]:
    """The tokens that have a record, in the order in which they were written."""
    found: list[tuple[int, str]] = []
    for name in os.listdir(folder):
        if match := _RECORD_NAME.fullmatch(name):
            with suppress(FileNotFoundError):  # its change was just finished
                found.append((os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns, match[1]))
    return [token for _, token in sorted(found)]


def look(folder: int, token: str) -> Change | None:
    """What a record says, whoever holds it; None when there is none or it can't be read."""
    try:
        fd = exchange.open_file(folder, f"{token}.json")
    except FileNotFoundError:
        return None
    try:
        return _parse(os.read(fd, 1 << 20), token)
    finally:
        exchange.close(fd)


@contextmanager
def take_over(folder: int, token: str) -> Iterator[Change | None]:
    """Hold the record of a change whose process is gone.

    Yields None when it can't be read. Raises FileNotFoundError when there is no
    record, BlockingIOError when the change is still being made.
    """
    fd = exchange.open_file(folder, f"{token}.json")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(fd).st_nlink:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        yield _parse(os.read(fd, 1 << 20), token)
    finally:
        exchange.close(fd)


def _parse(data: bytes, token: str) -> Change | None:
    try:
        record = json.loads(data)
        change = Change(**{name: record[name] for name in Change.__slots__})
        UUID(change.page_id)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return change if change.token == token else None
