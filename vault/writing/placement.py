"""Putting new bytes under a page's name so that nobody else's version is lost.

Three mechanisms, tried in this order:

1. exchange: both names change places in one step; what comes out is hashed, and
   if it is not the version that was checked, exchanged back.
2. link: where there is no exchange, the old file gets a second name in the
   history, is checked again, and is replaced.
3. copy: where there are no hard links either, or the history lies on another
   file system, the same with a copy.

The first loses no save whenever it comes. The others leave a gap of microseconds
between the last check and the replacement, in which an editor that saves by
rename can lose; one that saves in place writes into the file that is kept.

Source: promise P3 and the measured facts beside it.
"""

from __future__ import annotations

import errno
import logging
import os
import secrets
from contextlib import suppress
from typing import Final, NamedTuple

from vault.writing import exchange, versions
from vault.writing.pending import Change, temp_name

logger = logging.getLogger(__name__)

_ROUNDS: Final = 1000


class NotExpectedError(Exception):
    """Another version than the checked one was there; it is back in place, and ours, if it was, is at the temp name."""


class NotTakenBackError(Exception):
    """The disk failed after the exchange, and again when it was to be taken back: the new bytes stand for now.

    What they displaced is at the temporary name, or in the history, for recovery to find. ``error`` is the first
    failure; None when it was another version that was found.
    """

    def __init__(self, error: OSError | None) -> None:
        super().__init__()
        self.error = error


def put_over(folder: int, name: str, change: Change, history: int) -> bool:
    """Replace ``name`` by the file at ``change.temp`` and sync the folder.

    Returns whether the displaced file is in the history already (mechanisms 2 and
    3), under ``change.file``; else it is at the temporary name. Raises
    NotExpectedError, or OSError; after both the name has somebody's whole version,
    and the temporary name, if it is still taken, holds what has been visible. Or
    raises NotTakenBackError, after which the name has ours.
    """
    ours = Held(change.content_hash, _inode(folder, change.temp))
    try:
        exchanged = exchange.swap(folder, change.temp, name)
    except OSError:
        exchange.unlink(folder, change.temp)
        raise
    if not exchanged:
        _link_then_replace(folder, name, change, history, ours)
        return True
    try:
        settle(folder, folder, change.temp, change.expected_hash)
    except (NotExpectedError, OSError) as error:
        if not take_back(folder, name, change.temp, ours):
            raise NotTakenBackError(_cause(error)) from None
        raise
    return False


def _cause(error: Exception) -> OSError | None:
    return error if isinstance(error, OSError) else None


def settle(folder: int, place: int, kept: str, expected_hash: str | None) -> None:
    """Check what was displaced, sync the folder, and check again: who opened the file before may have saved since."""
    _check(place, kept, expected_hash)
    exchange.sync_folder(folder)
    _check(place, kept, expected_hash)


def _check(folder: int, name: str, expected_hash: str | None) -> None:
    """NotExpectedError unless a plain file with these bytes has the name; OSError when it can't be read."""
    try:
        found = exchange.hash_file(folder, name)[0]
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.EINVAL):
            raise NotExpectedError from error
        raise
    if found != expected_hash:
        raise NotExpectedError


def take_back(folder: int, name: str, temp: str, ours: Held) -> bool:
    """Exchange until what comes out is what was put in last: then nobody has saved in between.

    What an editor put over ours meanwhile is newer than what we displaced, and
    goes back in its turn. If the name is gone, it was deleted, and stays so.
    Returns False if the disk failed so that ours has the name still.
    """
    placed, back = ours, False
    try:
        for _ in range(_ROUNDS):
            held = _held(folder, temp)
            try:
                exchange.swap(folder, temp, name)
            except FileNotFoundError:
                back = True
                break
            back = placed is ours or held.digest != ours.digest
            if _held(folder, temp).is_same(placed):
                break
            placed = held
        exchange.sync_folder(folder)
    except OSError as error:
        logger.warning("A change that was withdrawn may not be safe on the disk (error %s).", error.errno)
    return back


class Held(NamedTuple):
    """A file as a name held it at one moment: the sha256, None when it could not be read, and the inode."""

    digest: str | None
    inode: int

    def is_same(self, other: Held) -> bool:
        """Whether no save can have come between the two moments."""
        if self.digest is None or other.digest is None:
            return self.inode == other.inode
        return self.digest == other.digest


def _held(folder: int, name: str) -> Held:
    try:
        digest, found = exchange.hash_file(folder, name)
        return Held(digest, found.st_ino)
    except FileNotFoundError:
        return Held("", 0)
    except OSError:
        return Held(None, _inode(folder, name))


def _inode(folder: int, name: str) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino


def identity(folder: int, name: str) -> str:
    """The sha256 of a plain file; of what can't be read, what tells it apart; "" when nothing is there."""
    held = _held(folder, name)
    return f"inode {held.inode}" if held.digest is None else held.digest


def _link_then_replace(folder: int, name: str, change: Change, history: int, ours: Held) -> None:
    try:
        if not exchange.link(folder, name, history, change.file):
            versions.copy(folder, name, history, change.file)
        try:
            exchange.sync_folder(history)
            _check(history, change.file, change.expected_hash)
            _check(folder, name, change.expected_hash)
            exchange.rename_over(folder, change.temp, folder, name)
        except (NotExpectedError, OSError):
            exchange.unlink(history, change.file)
            raise
    except (NotExpectedError, OSError):
        exchange.unlink(folder, change.temp)
        raise
    try:
        settle(folder, history, change.file, change.expected_hash)
    except (NotExpectedError, OSError) as error:
        try:
            _put_kept_back(folder, name, change, history, ours)
        except OSError:
            raise NotTakenBackError(_cause(error)) from None
        raise


def _put_kept_back(folder: int, name: str, change: Change, history: int, ours: Held) -> None:
    """Undo the replacement, unless an editor has saved over ours since: then the old version stays in the history.

    Ours keeps a name, in the end the temporary one: an editor may be writing into it at this moment.
    """
    if not _held(folder, name).is_same(ours):
        return
    if not exchange.link(history, change.file, folder, change.temp):
        versions.copy(history, change.file, folder, change.temp)
    aside = temp_name(secrets.token_hex(6))  # a stray for recovery, if nobody comes so far as to rename it
    kept = exchange.link(folder, name, folder, aside)
    exchange.rename_over(folder, change.temp, folder, name)
    if kept:
        with suppress(OSError):
            exchange.rename_over(folder, aside, folder, change.temp)
    with suppress(OSError):  # it is back; a second name that stays in the history is recovery's to remove
        exchange.unlink(history, change.file)
        exchange.sync_folder(folder)
