"""One pass over all files of the vault, by open folders, following nothing."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from vault.disk.birth import mtime_ns
from vault.disk.confined import FOLDER_FLAGS, Mechanism, open_beneath
from vault.paths import BAD_CHARACTERS, MAX_PATH_BYTES, is_allowed
from vault.writing.exchange import close


class WalkEntry(NamedTuple):
    """A plain file: vault-relative path, size in bytes, mtime in nanoseconds, inode."""

    path: str
    size: int
    mtime_ns: int
    inode: int


class Skipped(NamedTuple):
    """What is there but not taken, with a code for programs and a reason for people.

    Codes: symlink, special_file, unreadable, other_mount, name_not_utf8, name_not_allowed, not_downloaded.
    ``path`` can be shown: bytes that are no UTF-8 and control characters are written as ``\\xNN``.
    """

    path: str
    code: str
    reason: str


_REASONS: Final = {
    "symlink": "Symlinks are not followed. Put the file itself into the vault.",
    "special_file": "This is a pipe, a socket or a device, not a file.",
    "unreadable": "Synapse may not read this. Give its user access.",
    "other_mount": "Another file system is mounted here; it is not part of the vault.",
    "name_not_utf8": "The name is not UTF-8. Rename it.",
    "name_not_allowed": "The name holds a backslash or control characters, looks like a drive or is too long.",
    "not_downloaded": "The file is only in the cloud. Download it in the sync tool.",
}
_FOLDER_REFUSALS: Final = {errno.ELOOP: "symlink", errno.EXDEV: "other_mount"}
_PLACEHOLDER: Final = re.compile(r"\.(.+)\.icloud")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def shown_name(name: str) -> str:
    """A name as it can be logged, stored and sent: one line of valid text."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def _skip(path: str, code: str) -> Skipped:
    return Skipped(shown_name(path), code, _REASONS[code])


def walk(
    root: int, below: str, excluded: Callable[[str], bool] | None, mechanism: Mechanism | None
) -> Iterator[WalkEntry | Skipped]:
    """Every file in the folder ``below`` (""; all) of the open folder ``root``, in no order.

    Hidden and excluded names are left out silently.

    What vanishes meanwhile is left out too. Each folder is opened from the root without following links, so
    that one swapped for a symlink leads nowhere. Raises OSError only when ``below`` itself can't be listed.
    """
    start = below or "."
    pending = [start]
    while pending:
        path = pending.pop()
        try:
            folder = open_beneath(root, path, FOLDER_FLAGS, mechanism)
        except OSError as error:
            if path == start:
                raise
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                yield _skip(path, _FOLDER_REFUSALS.get(error.errno or 0, "unreadable"))
            continue
        try:
            found, folders = _list_folder(folder, "" if path == "." else path + "/", excluded)
        except OSError:
            if path == start:
                raise
            yield _skip(path, "unreadable")
            continue
        finally:
            close(folder)
        pending += folders
        yield from found


def _list_folder(
    folder: int, prefix: str, excluded: Callable[[str], bool] | None
) -> tuple[list[WalkEntry | Skipped], list[str]]:
    found: list[WalkEntry | Skipped] = []
    folders: list[str] = []
    may_be_long = len(prefix) > MAX_PATH_BYTES // 8
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            path = prefix + name
            if name[0] == ".":
                if (match := _PLACEHOLDER.fullmatch(name)) and not BAD_CHARACTERS.search(name):
                    found.append(_skip(prefix + match[1], "not_downloaded"))
            elif excluded is not None and excluded(path):
                pass
            elif BAD_CHARACTERS.search(name) or ((may_be_long or not prefix) and not is_allowed(path)):
                found.append(_skip(path, _name_fault(name)))
            elif entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif (entry_found := _entry(entry, path)) is not None:
                found.append(entry_found)
    return found, folders


def _name_fault(name: str) -> str:
    return "name_not_utf8" if any("\udc80" <= character <= "\udcff" for character in name) else "name_not_allowed"


def _entry(entry: os.DirEntry[str], path: str) -> WalkEntry | Skipped | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError:
        return _skip(path, "unreadable")
    if stat.S_ISREG(status.st_mode):
        return WalkEntry(path, status.st_size, mtime_ns(status), status.st_ino)
    return _skip(path, "symlink" if stat.S_ISLNK(status.st_mode) else "special_file")
