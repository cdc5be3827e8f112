"""What was: every acknowledged change of a page, and the bytes that changes displaced.

On disk: see vault/writing/versions.py. Bytes are kept for SYNAPSE_HISTORY_DAYS, the newest
always (vault/writing/pruning.py); the lines that say who changed what are kept for good.
"""

from __future__ import annotations

import itertools
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from uuid import UUID

from vault.disk.state import state_folder, storage_guard
from vault.errors import ErrorCode, SynapseError
from vault.writing import exchange
from vault.writing.pruning import Pruned, expire_drafts, prune
from vault.writing.recovery import recover_orphans
from vault.writing.target import sha256
from vault.writing.versions import HISTORY, Author, Version, newest_first, page_folder

if TYPE_CHECKING:
    from vault.root import Vault

__all__ = [
    "Author",
    "Pruned",
    "Version",
    "expire_drafts",
    "history_size",
    "last_written_hash",
    "prune",
    "read_version",
    "recover_orphans",
    "restorable",
    "versions",
]

_NOT_READ: Final = "The history could not be read."


def versions(vault: Vault, page_id: UUID, *, limit: int | None = None) -> list[Version]:
    """The page's versions, newest first, at most ``limit``. Raises SynapseError(STORAGE_ERROR)."""
    with storage_guard(_NOT_READ):
        try:
            with page_folder(vault, page_id) as folder:
                return list(itertools.islice(newest_first(folder), limit))
        except FileNotFoundError:
            return []


def read_version(vault: Vault, page_id: UUID, number: int, *, displaced: bool = False) -> bytes:
    """The page as change ``number`` left it (for a delete: as it was); with ``displaced``, what the change took away.

    What a change left is known while it is the page itself, or when a later change
    displaced it. An editor that saved over it in between destroyed it, as it would
    without Synapse. Raises SynapseError: NOT_FOUND (no such version, or its bytes are
    gone), STORAGE_ERROR.
    """
    with storage_guard(_NOT_READ):
        try:
            with page_folder(vault, page_id) as folder:
                all_versions = list(newest_first(folder))
                version = next((version for version in all_versions if version.number == number), None)
                if version is None:
                    raise _not_found()
                data = _read_kept(folder, version) if displaced else _read_left(vault, folder, version, all_versions)
        except FileNotFoundError:
            raise _not_found() from None
    if data is None:
        raise _not_found()
    return data


def _read_kept(folder: int, version: Version) -> bytes | None:
    """The file a version displaced, as it is: an editor may have gone on saving into it."""
    if version.file is None:
        return None
    try:
        return exchange.read_file(folder, version.file)
    except FileNotFoundError:
        return None


def _read_left(vault: Vault, folder: int, wanted: Version, all_versions: list[Version]) -> bytes | None:
    for version in reversed(all_versions):
        if version.displaced_hash == wanted.content_hash:
            data = _read_kept(folder, version)
            if data is not None and sha256(data) == wanted.content_hash:
                return data
    try:
        current = vault.read(all_versions[0].path)
    except SynapseError:
        return None
    return current.data if current.content_hash == wanted.content_hash else None


def last_written_hash(vault: Vault, page_id: UUID) -> str | None:
    """The sha256 of the bytes Synapse itself last wrote to the page; None when it wrote none or deleted it last.

    A move writes no bytes. Reads the end of the file only. Raises
    SynapseError(STORAGE_ERROR).
    """
    with storage_guard(_NOT_READ):
        try:
            with page_folder(vault, page_id) as folder:
                version = next((version for version in newest_first(folder) if version.action != "move"), None)
        except FileNotFoundError:
            return None
    return version.content_hash if version and version.action != "delete" else None


def history_size(vault: Vault) -> int:
    """The bytes that the history's files hold, lines and orphans included. Raises SynapseError(STORAGE_ERROR)."""
    with storage_guard(_NOT_READ):
        return sum(status.st_size for name in _folders(vault) for _, status in _files(vault, name))


def restorable(vault: Vault, page_id: UUID) -> set[int]:
    """The numbers of the versions that :func:`read_version` still has what they left of. Reads the page's file once.

    Raises SynapseError(STORAGE_ERROR).
    """
    with storage_guard(_NOT_READ):
        try:
            with page_folder(vault, page_id) as folder:
                all_versions = list(newest_first(folder))
                there = set(os.listdir(folder))
        except FileNotFoundError:
            return set()
        hashes = {version.displaced_hash for version in all_versions if version.file in there}
        if all_versions:
            with suppress(SynapseError):
                hashes.add(vault.digest(all_versions[0].path).content_hash)
    return {version.number for version in all_versions if version.content_hash in hashes}


def _folders(vault: Vault) -> list[str]:
    try:
        with state_folder(vault, HISTORY) as history, os.scandir(history) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def _files(vault: Vault, name: str) -> list[tuple[str, os.stat_result]]:
    with state_folder(vault, HISTORY, name) as folder, os.scandir(folder) as entries:
        found = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        return [(file, status) for file, status in found if stat.S_ISREG(status.st_mode)]


def _not_found() -> SynapseError:
    return SynapseError(
        ErrorCode.NOT_FOUND, "This version, or what it held, is not kept any more. List the page's history first."
    )
