"""The one way that page files are made, changed, removed and moved.

Each function is safe against editors that know no lock; against other writers of
ours it is meant to be called under the page's lock. Up to the step that makes the
change visible an error leaves everything as it was. From then on the change
stands: what is still to be recorded and could not be is told by
``Written.history_pending``, and :func:`vault.history.recover_orphans` catches up.

A disk that fails after that step, and again when the step is to be taken back, gets
``storage_error`` with ``unconfirmed``: the change is visible and may not last.

Source: design, "Out: the one write path"; promises P1 to P6 and P20.
"""

from __future__ import annotations

import errno
import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from vault import drafts
from vault.disk.reading import FileStat
from vault.disk.state import storage_error, storage_guard
from vault.errors import ErrorCode, SynapseError
from vault.writing import exchange, orphans, placement, versions
from vault.writing.pending import Pending, begin
from vault.writing.placement import NotExpectedError, NotTakenBackError, identity
from vault.writing.target import drop_temp, find, sha256, write_temp
from vault.writing.versions import Author, page_folder

if TYPE_CHECKING:
    from vault.root import Vault

Place = tuple[int, str]  # a folder's descriptor and a name in it

logger = logging.getLogger(__name__)

_NOT_WRITTEN: Final = "The page was not written."
_NOT_REMOVED: Final = "The page was not removed."
_NOT_MOVED: Final = "The page was not moved."
_STALE: Final = (
    "The page is not the version this change was based on. Read it again, merge, and write with its content_hash."
)
_UNSAFE: Final = (
    "The disk failed just after the change, which stands for now but may not last. "
    "Look at the page before you repeat the change."
)
_EXISTS: Final = "There is a file at this path already. Read it, or choose another path."


@dataclass(frozen=True, slots=True)
class Written:
    """What stands on the disk after a change.

    ``content_hash``: sha256, hex, of the page; of a removed one, what was removed.
    ``history_pending``: the change stands, but its line in the history waits for
    recovery.
    """

    content_hash: str
    stat: FileStat
    displaced_hash: str | None
    history_pending: bool = False


def create(vault: Vault, path: str, data: bytes, *, page_id: UUID, author: Author, record: bool = True) -> Written:
    """Make a page that does not exist yet, with its folders.

    ``record=False`` is for files that code makes again: no line in the history.
    Raises SynapseError: CONFLICT (``content_hash`` of what is there, ``draft`` with
    the text), PATH_NOT_ALLOWED, NOT_A_FILE, STORAGE_ERROR.
    """
    content_hash = sha256(data)
    with vault.parent(path, create=True) as (folder, name), storage_guard(_NOT_WRITTEN):
        if (found := find(folder, name, to_change=False)) is not None:
            raise _conflict(vault, path, data, author, current=found.content_hash)
        with (
            page_folder(vault, page_id, create=True) as history,
            begin(
                vault,
                action="create",
                path=path,
                page_id=page_id,
                author=author,
                content_hash=content_hash,
                size=len(data),
                record=record,
            ) as pending,
        ):
            status = write_temp(folder, pending, data, like=None)
            try:
                exchange.rename_new(folder, pending.change.temp, folder, name)
            except exchange.HalfRenamedError as error:
                raise _in_doubt(vault, path, data, author, error, base_hash=None) from None
            except OSError as error:
                drop_temp(folder, pending)
                if isinstance(error, FileExistsError):
                    raise _conflict(vault, path, data, author, current=identity(folder, name)) from None
                raise
            try:
                exchange.sync_folder(folder)
            except OSError as error:
                withdrawn = _withdraw_new(vault, folder, name, history, pending)
                answer = _refused if withdrawn else _in_doubt
                raise answer(vault, path, data, author, error, base_hash=None) from None
            return _finish(folder, history, pending, status, displaced_hash=None, shelved=False)


def replace(
    vault: Vault,
    path: str,
    data: bytes,
    *,
    expected_hash: str,
    page_id: UUID,
    author: Author,
    action: str = "write",
    record: bool = True,
) -> Written:
    """Change a page whose bytes have the sha256 ``expected_hash``; mode and owner are kept.

    ``record=False`` is for files that code makes again: what is displaced is not
    kept. Raises SynapseError: CONFLICT (``content_hash`` of what is there, None when
    nothing is; ``draft`` with the text), PATH_NOT_ALLOWED, NOT_A_FILE, STORAGE_ERROR.
    """
    content_hash = sha256(data)
    with vault.parent(path) as (folder, name), storage_guard(_NOT_WRITTEN):
        found = find(folder, name)
        if found is None or found.content_hash != expected_hash:
            current = found.content_hash if found else None
            raise _conflict(vault, path, data, author, current=current, base_hash=expected_hash)
        with (
            page_folder(vault, page_id, create=True) as history,
            begin(
                vault,
                action=action,
                path=path,
                page_id=page_id,
                author=author,
                content_hash=content_hash,
                expected_hash=expected_hash,
                size=len(data),
                record=record,
            ) as pending,
        ):
            status = write_temp(folder, pending, data, like=found.stat)
            try:
                shelved = placement.put_over(folder, name, pending.change, history)
            except NotTakenBackError as failed:
                raise _in_doubt(vault, path, data, author, failed.error, base_hash=expected_hash) from None
            except (NotExpectedError, OSError) as error:
                _dispose(vault, folder, history, pending)
                if isinstance(error, NotExpectedError | FileNotFoundError):
                    current = identity(folder, name) or None
                    raise _conflict(vault, path, data, author, current=current, base_hash=expected_hash) from None
                raise _refused(vault, path, data, author, error, base_hash=expected_hash) from None
            return _finish(folder, history, pending, status, displaced_hash=expected_hash, shelved=shelved)


def remove(vault: Vault, path: str, *, expected_hash: str, page_id: UUID, author: Author) -> Written:
    """Take a page away; its file goes to the history.

    Raises SynapseError: PAGE_NOT_FOUND, CONFLICT (``content_hash`` of what is
    there), PATH_NOT_ALLOWED, NOT_A_FILE, STORAGE_ERROR.
    """
    with vault.parent(path) as (folder, name), storage_guard(_NOT_REMOVED):
        found = find(folder, name)
        if found is None:
            raise _missing()
        if found.content_hash != expected_hash:
            raise SynapseError(ErrorCode.CONFLICT, _STALE, content_hash=found.content_hash)
        with (
            page_folder(vault, page_id, create=True) as history,
            begin(
                vault,
                action="delete",
                path=path,
                page_id=page_id,
                author=author,
                content_hash=expected_hash,
                expected_hash=expected_hash,
                size=found.stat.st_size,
            ) as pending,
        ):
            temp = pending.change.temp
            try:
                exchange.rename_new(folder, name, folder, temp)
            except OSError as error:
                pending.settled = not isinstance(error, exchange.HalfRenamedError)
                if isinstance(error, FileNotFoundError):
                    raise _missing() from None
                raise
            try:
                placement.settle(folder, folder, temp, expected_hash)
            except (NotExpectedError, OSError) as error:
                try:
                    exchange.rename_new(folder, temp, folder, name)
                except FileExistsError:
                    pass  # a newer save has the name: then this one is kept as an orphan
                except exchange.HalfRenamedError:
                    raise storage_error(OSError(errno.EIO, ""), _NOT_REMOVED) from None
                except OSError as failed:
                    raise _unconfirmed(failed) from None
                _dispose(vault, folder, history, pending)
                if isinstance(error, NotExpectedError):
                    current = identity(folder, name) or None
                    raise SynapseError(ErrorCode.CONFLICT, _STALE, content_hash=current) from None
                raise
            status = FileStat.of(found.stat)
            return _finish(folder, history, pending, status, displaced_hash=expected_hash, shelved=False)


def move(vault: Vault, source: str, target: str, *, page_id: UUID, author: Author) -> Written:
    """Give a page another path, which must be free; its bytes, whatever they are by then, stay as they are.

    The page's id is recorded for the target first, so that it survives a crash in
    between. Raises SynapseError: PAGE_NOT_FOUND, CONFLICT (the target exists),
    PATH_NOT_ALLOWED, NOT_A_FILE, STORAGE_ERROR.
    """
    with vault.parent(source) as origin, storage_guard(_NOT_MOVED):
        found = find(*origin)
        if found is None:
            raise _missing()
        with (
            vault.parent(target, create=True) as goal,
            page_folder(vault, page_id, create=True) as history,
            begin(
                vault,
                action="move",
                path=target,
                source=source,
                page_id=page_id,
                author=author,
                content_hash=found.content_hash,
                size=found.stat.st_size,
            ) as pending,
        ):
            pending.settled = True
            with vault.ids.renamed(target, page_id):
                try:
                    _rename(origin, goal, found.stat, pending)
                except FileExistsError:
                    raise SynapseError(ErrorCode.CONFLICT, _EXISTS, content_hash=identity(*goal)) from None
                except FileNotFoundError:
                    raise _missing() from None
                except exchange.HalfRenamedError as error:
                    pending.settled = False
                    raise _unconfirmed(error) from None
                pending.settled = False
                try:
                    exchange.sync_folder(goal[0])
                    exchange.sync_folder(origin[0])
                except OSError:
                    try:
                        _rename(goal, origin, found.stat, pending)
                    except OSError as failed:
                        raise _unconfirmed(failed) from None
                    pending.settled = True
                    raise
            # The stat that belongs to the hash: a save that came since is told by it.
            status = FileStat.of(found.stat)
            return _finish(goal[0], history, pending, status, displaced_hash=None, shelved=False)


def _rename(origin: Place, goal: Place, status: os.stat_result, pending: Pending) -> None:
    """Rename without replacing; FileExistsError when the goal is another file."""
    try:
        exchange.rename_new(*origin, *goal)
    except FileExistsError:
        there = os.stat(goal[1], dir_fd=goal[0], follow_symlinks=False)
        if origin[1] == goal[1] or (there.st_dev, there.st_ino) != (status.st_dev, status.st_ino):
            raise
        _respell(origin, goal, pending.change.temp)


def _respell(origin: Place, goal: Place, temp: str) -> None:
    """Rename where both names are one entry, because case or Unicode form does not count on this file system."""
    exchange.rename_over(*origin, *goal)
    if goal[1] not in os.listdir(goal[0]):  # some kernels take it for nothing to do
        exchange.rename_new(*origin, goal[0], temp)
        exchange.rename_new(goal[0], temp, *goal)


def _finish(
    folder: int, history: int, pending: Pending, status: FileStat, *, displaced_hash: str | None, shelved: bool
) -> Written:
    """Record a change that stands. It is no failure of the change when this fails."""
    change = pending.change
    try:
        if not change.record:
            if displaced_hash:
                exchange.unlink(*((history, change.file) if shelved else (folder, change.temp)))
        else:
            if displaced_hash and not shelved:
                versions.shelve(folder, change.temp, history, change.file)
            versions.append(history, change.entry(displaced_hash))
        pending.settled = True
    except OSError as error:
        logger.warning("A change waits to be recorded in the history (error %s); the next start does it.", error.errno)
    return Written(change.content_hash, status, displaced_hash, history_pending=not pending.settled)


def _withdraw_new(vault: Vault, folder: int, name: str, history: int, pending: Pending) -> bool:
    """Take a new page away again, unless somebody has saved into it meanwhile; False if the disk lets it stand."""
    temp = pending.change.temp
    try:
        exchange.rename_new(folder, name, folder, temp)
    except FileNotFoundError:
        pass  # somebody else has taken it away
    except OSError as error:
        logger.warning("A new page could not be taken back (error %s).", error.errno)
        return False
    with suppress(OSError):
        if identity(folder, temp) not in ("", pending.change.content_hash):
            exchange.rename_new(folder, temp, folder, name)
    _dispose(vault, folder, history, pending)
    return True


def _dispose(vault: Vault, folder: int, history: int, pending: Pending) -> None:
    """Keep what a withdrawn change left at its temporary name.

    It has been visible, so an editor may have it open and save into it yet: it is
    moved, never removed. Our own text goes beside the page's versions without a
    line, anybody else's to the orphans.
    """
    change = pending.change
    try:
        held = identity(folder, change.temp)
        left_behind = identity(history, change.file)
        if held and held == change.content_hash != change.expected_hash:
            versions.shelve(folder, change.temp, history, change.file)
        elif held:
            orphans.keep(
                vault, folder, change.temp, path=change.path, page_id=change.page_id, reason="displaced by another save"
            )
        pending.settled = not left_behind
    except (OSError, SynapseError):
        logger.warning("What a withdrawn change left behind waits for recovery.")


def _conflict(
    vault: Vault, path: str, data: bytes, author: Author, *, current: str | None, base_hash: str | None = None
) -> SynapseError:
    """The answer to a text that would go over somebody else's version; the text is kept."""
    draft = _keep_draft(vault, path, data, author, reason="conflict", base_hash=base_hash)
    message = _EXISTS if base_hash is None else _STALE
    if draft:
        message += " The text is kept as a draft."
    return SynapseError(ErrorCode.CONFLICT, message, content_hash=current, draft=draft)


def _refused(
    vault: Vault, path: str, data: bytes, author: Author, error: OSError, *, base_hash: str | None
) -> SynapseError:
    """The answer to a disk that failed when the text was visible already; kept, if the disk still takes it."""
    answer = storage_error(error, _NOT_WRITTEN)
    answer.repair["draft"] = _keep_draft(vault, path, data, author, reason="storage_error", base_hash=base_hash)
    return answer


def _in_doubt(
    vault: Vault, path: str, data: bytes, author: Author, error: OSError | None, *, base_hash: str | None
) -> SynapseError:
    """The answer to a disk that failed, and failed again when the text was to be taken back."""
    answer = _unconfirmed(error)
    answer.repair["draft"] = _keep_draft(vault, path, data, author, reason="storage_error", base_hash=base_hash)
    return answer


def _unconfirmed(error: OSError | None) -> SynapseError:
    """``storage_error`` for a change that stands, but perhaps not for long; its record stays for recovery."""
    answer = storage_error(error or OSError(errno.EIO, ""), _UNSAFE)
    answer.repair["unconfirmed"] = True
    return answer


def _keep_draft(
    vault: Vault, path: str, data: bytes, author: Author, *, reason: str, base_hash: str | None
) -> str | None:
    try:
        return drafts.keep(vault, path=path, data=data, author=author, reason=reason, base_hash=base_hash)
    except SynapseError:
        return None


def _missing() -> SynapseError:
    return SynapseError(
        ErrorCode.PAGE_NOT_FOUND, "The page's file is not there any more. Scan the vault, then look again."
    )
