"""What changes left behind whose process died: completed where the disk shows that they stand, else kept.

Nothing is destroyed. A temporary file may hold a person's save that an exchange
had just displaced, so it goes to the page's history or to the orphans. A file
of a change that is still being made is not touched: its record is locked.

A version line is completed with what the change's record says. After a power cut
the record may be lost, and with it the line; the bytes are kept all the same.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any
from uuid import UUID

from vault.disk.confined import folder_beneath
from vault.disk.state import state_folder, storage_guard
from vault.errors import SynapseError
from vault.identity import STATE
from vault.writing import exchange, orphans, pending, versions
from vault.writing.pending import PENDING, TEMP_NAME, Change
from vault.writing.placement import identity
from vault.writing.versions import HISTORY, newest_first, page_folder

if TYPE_CHECKING:
    from vault.root import Vault

logger = logging.getLogger(__name__)

Record = dict[str, Any]
Place = tuple[int, str]  # a folder's descriptor and a name in it

_INTERRUPTED = "left by an interrupted change"


def recover_orphans(vault: Vault) -> list[Record]:
    """Deal with all that interrupted changes left; safe while other processes write.

    Returns a record of each thing done: at, path, page_id, content_hash, file (in
    the page's history when reason is "completed", else in the orphans; None when
    there was nothing to keep), reason. Raises SynapseError(STORAGE_ERROR).
    """
    with storage_guard("Leftovers of interrupted changes could not be looked for."):
        try:
            with state_folder(vault, HISTORY, PENDING) as records:
                settled = _settle_all(vault, records, pending.tokens(records))
                return [*settled, *_collect_strays(vault, records)]
        except FileNotFoundError:
            return list(_collect_strays(vault, None))


def settle_page(vault: Vault, page_id: UUID) -> None:
    """Settle what interrupted changes left of one page, so that their lines are there before the next change's.

    The caller is about to change the page. What can't be settled is left for recovery: nothing is raised.
    """
    with suppress(OSError, SynapseError), state_folder(vault, HISTORY, PENDING) as records:
        waiting = [(token, pending.look(records, token)) for token in pending.tokens(records)]
        tokens = [token for token, change in waiting if change is not None and change.page_id == str(page_id)]
        for _ in _settle_all(vault, records, tokens):
            pass


def _settle_all(vault: Vault, records: int, tokens: list[str]) -> Iterator[Record]:
    for token in tokens:
        try:
            with pending.take_over(records, token) as change:
                if change is not None:
                    yield from _settle(vault, change)
                pending.forget(records, token)
        except (FileNotFoundError, BlockingIOError):
            continue  # finished meanwhile, or still being made
        except (OSError, SynapseError):
            logger.warning("An interrupted change could not be settled; the next start tries again.")


def _settle(vault: Vault, change: Change) -> list[Record]:
    done: list[Record] = []
    with ExitStack() as stack:
        history = stack.enter_context(page_folder(vault, UUID(change.page_id), create=True))
        place = _enter(stack, vault, change.path)
        held = ""
        if place is not None:
            _drop_second_name(place, change.temp)
            held = identity(place[0], change.temp)
            if held:
                done += _keep_held(vault, history, place, change, held)
        origin = _enter(stack, vault, change.source) if change.source else None
        if place is not None and origin is not None:
            _drop_second_name(place, origin[1], in_folder=origin[0])
        if change.record and _stands(history, place, origin, change, held):
            version = versions.append(history, change.entry(change.expected_hash))
            done.append(_record(change, version.content_hash, version.file))
    return done


def _enter(stack: ExitStack, vault: Vault, path: str) -> Place | None:
    """The place of a path, None when its folder is gone."""
    try:
        return stack.enter_context(vault.parent(path))
    except SynapseError:
        return None


def _keep_held(vault: Vault, history: int, place: Place, change: Change, held: str) -> list[Record]:
    """Move the temporary file to where it belongs."""
    folder, name = place
    displaced = change.record and held == change.expected_hash
    if displaced and (change.action == "delete" or held != change.content_hash):
        if exchange.exists(history, change.file):
            exchange.unlink(history, change.file)  # a copy, perhaps half of one, of what is still here whole
        versions.shelve(folder, change.temp, history, change.file)
        return []
    if change.action in ("delete", "move"):
        # A save that came in the middle of a delete, or a page in the middle of a rename: it has a place.
        try:
            exchange.rename_new(folder, change.temp, folder, name)
            exchange.sync_folder(folder)
        except FileExistsError:
            pass
        else:
            return [_record(change, held, None, reason="put back")]
    return [orphans.keep(vault, folder, change.temp, path=change.path, page_id=change.page_id, reason=_INTERRUPTED)]


def _stands(history: int, place: Place | None, origin: Place | None, change: Change, held: str) -> bool:
    """Whether the change took place and has no line yet."""
    if any(version.token == change.token for version in newest_first(history)):
        return False
    here = identity(*place) if place else ""
    if change.action == "move":
        return here == change.content_hash and (origin is None or not identity(*origin))
    if change.action == "create":
        last = next(newest_first(history), None)
        known = last is not None and last.action != "delete" and last.content_hash == here
        return not held and here == change.content_hash and not known
    if place is not None:
        _drop_second_name(place, change.file, in_folder=history)
    ours_never_placed = held == change.content_hash and change.action != "delete"
    return not ours_never_placed and identity(history, change.file) == change.expected_hash


def _drop_second_name(place: Place, second: str, *, in_folder: int | None = None) -> None:
    """Remove ``second`` if it is a second hard link to the page's file: a page with two could not be changed."""
    folder = place[0] if in_folder is None else in_folder
    try:
        page = os.stat(place[1], dir_fd=place[0], follow_symlinks=False)
        other = os.stat(second, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if page.st_nlink > 1 and (page.st_dev, page.st_ino) == (other.st_dev, other.st_ino):
        exchange.unlink(folder, second)


def _collect_strays(vault: Vault, records: int | None) -> Iterator[Record]:
    """Temporary files without a record: it was lost in a power cut, or their folder was moved since."""
    with vault.parent("root") as (root, _):
        waiting = [""]
        while waiting:
            path = waiting.pop()
            try:
                with folder_beneath(root, path) as folder:
                    strays, inside = _look_into(folder)
                    if path and _is_vault(folder):
                        continue  # a vault of its own, whose temporary files are its own to recover
                    waiting += [f"{path}/{name}" if path else name for name in inside]
                    for name in strays:
                        if not _is_known(records, name):
                            with suppress(FileNotFoundError):  # its change was just finished
                                yield orphans.keep(vault, folder, name, path=path, page_id=None, reason=_INTERRUPTED)
            except OSError:
                continue  # gone, or unreadable: the scan reports such folders


def _is_vault(folder: int) -> bool:
    try:
        os.stat(STATE, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _look_into(folder: int) -> tuple[list[str], list[str]]:
    """The temporary files and the visible folders in a folder."""
    strays: list[str] = []
    inside: list[str] = []
    visible: dict[int, str] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if TEMP_NAME.fullmatch(entry.name):
                strays.append(entry.name)
            elif entry.name.startswith("."):
                continue
            elif entry.is_dir(follow_symlinks=False):
                inside.append(entry.name)
            else:
                visible[entry.inode()] = entry.name
    return [name for name in strays if not _is_second_name(folder, name, visible)], inside


def _is_second_name(folder: int, stray: str, visible: dict[int, str]) -> bool:
    page = visible.get(os.stat(stray, dir_fd=folder, follow_symlinks=False).st_ino)
    if page is None:
        return False
    _drop_second_name((folder, page), stray)
    return True


def _is_known(records: int | None, name: str) -> bool:
    """Whether the file belongs to a change that is being made, or that is still to be settled."""
    match = TEMP_NAME.fullmatch(name)
    if records is None or match is None:
        return False
    try:
        with pending.take_over(records, match[1]):
            return True
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False


def _record(change: Change, content_hash: str, file: str | None, *, reason: str = "completed") -> Record:
    return {
        "at": change.at,
        "path": change.path,
        "page_id": change.page_id,
        "content_hash": content_hash,
        "file": file,
        "reason": reason,
    }
