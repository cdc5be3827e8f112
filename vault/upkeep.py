"""What is amiss in ``.synapse`` itself, and how it is put right without touching a file of the user's."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vault.disk.state import state_folder, storage_guard
from vault.errors import SynapseError
from vault.writing import exchange
from vault.writing.pending import TEMP_NAME
from vault.writing.versions import HISTORY, LINES

if TYPE_CHECKING:
    from vault.root import Vault

_LEDGER: Final = "ids.jsonl"
#: Where lines that can't be read are kept, beside the file that they stood in.
ASIDE: Final = ".broken"
_OWN: Final = stat.S_IRUSR | stat.S_IWUSR
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def leftovers(vault: Vault) -> int:
    """How many temporary files lie in the vault; those of a write that is being made count too."""
    found = 0
    for _, folders, files in os.walk(vault.root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += sum(1 for name in files if TEMP_NAME.fullmatch(name))
    return found


def broken_lines(vault: Vault) -> dict[tuple[str, ...], int]:
    """How many lines can't be read, by file: the ledger of ids, and each page's versions."""
    with storage_guard("The records in .synapse could not be read."):
        return {place: len(broken) for place in _records(vault) if (broken := _read(vault, place)[1])}


def set_aside_broken(vault: Vault) -> int:
    """Copy the lines that can't be read into a file beside, named ``<file>.broken``, and blank them; how many.

    The file stays the same one, and is locked as by whoever adds a line: none that is added meanwhile is lost.
    """
    moved = 0
    with storage_guard("The records in .synapse could not be mended."), vault.lock("ids"):
        for place in _records(vault):
            if _read(vault, place)[1]:
                *folder_names, name = place
                with state_folder(vault, *folder_names) as folder:
                    moved += _blank(folder, name)
    return moved


def _blank(folder: int, name: str) -> int:
    fd = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        broken, offset = [], 0
        for line in os.pread(fd, os.fstat(fd).st_size, 0).split(b"\n"):
            if line.strip() and not _is_object(line):
                broken.append((offset, line))
            offset += len(line) + 1
        exchange.append_to(folder, name + ASIDE, b"".join(line + b"\n" for _, line in broken))
        for at, line in broken:
            os.pwrite(fd, b" " * len(line), at)
        exchange.sync_file(fd)
        return len(broken)
    finally:
        exchange.close(fd)


def loose(vault: Vault) -> list[Path]:
    """Files and folders of ``.synapse`` that others may write, or that their owner may not."""
    return [path for path, mode in _modes(vault) if _wanted(mode) != stat.S_IMODE(mode)]


def tighten(vault: Vault) -> int:
    """Let their owner alone write them; how many could be changed."""
    changed = 0
    for path, mode in _modes(vault):
        if _wanted(mode) != stat.S_IMODE(mode):
            with suppress(OSError):
                path.chmod(_wanted(mode))
                changed += 1
    return changed


def _wanted(mode: int) -> int:
    own = _OWN | (stat.S_IXUSR if stat.S_ISDIR(mode) else 0)
    return (stat.S_IMODE(mode) | own) & ~_OTHERS_WRITE


def _modes(vault: Vault) -> Iterator[tuple[Path, int]]:
    try:
        state = vault.state
    except SynapseError:
        return
    for folder, _, files in os.walk(state):
        # Locks are shared by all who work on the vault, under whatever account.
        names = [] if Path(folder).name == "locks" else files
        for path in (Path(folder), *(Path(folder) / name for name in names)):
            with suppress(OSError):
                mode = path.lstat().st_mode
                if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                    yield path, mode


def _records(vault: Vault) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [(_LEDGER,)]
    with suppress(FileNotFoundError), state_folder(vault, HISTORY) as history, os.scandir(history) as entries:
        found += sorted((HISTORY, entry.name, LINES) for entry in entries if entry.is_dir(follow_symlinks=False))
    return found


def _read(vault: Vault, place: tuple[str, ...]) -> tuple[list[bytes], list[bytes]]:
    """The lines of a record that can be read, and those that can't."""
    *folder_names, name = place
    try:
        with state_folder(vault, *folder_names) as folder:
            lines = [line for line in exchange.read_file(folder, name).split(b"\n") if line.strip()]
    except FileNotFoundError:
        return [], []
    whole = [line for line in lines if _is_object(line)]
    return whole, [line for line in lines if not _is_object(line)]


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
