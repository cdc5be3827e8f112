"""A new vault's files, put in place without touching what is there."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import Final

from vault.disk.confined import FOLDER_FLAGS, folder_beneath, open_beneath
from vault.errors import ErrorCode, SynapseError
from vault.writing.exchange import close, create_file, rename_new, sync_file, sync_folder, unlink, write_all

STARTER: Final = Path(__file__).resolve().parent / "starter"
FOLDERS: Final = (
    "raw/sources",
    "raw/assets",
    "wiki/entities",
    "wiki/concepts",
    "wiki/sources",
    "wiki/synthesis",
    "wiki/comparisons",
)


def create_starter(root: Path) -> list[str]:
    """Make the root, the folders and the starter files that are missing; the paths made, sorted, folders with a `/`.

    Idempotent. A file that is there, whatever it holds, stays as it is. Raises ``storage_error`` if something
    can't be made; what was made before that stays, and another call goes on from there.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            made = [f"{path}/" for path in FOLDERS if _make_folder(folder, path)]
            for file in sorted(path for path in STARTER.rglob("*") if path.is_file()):
                path = file.relative_to(STARTER).as_posix()
                if _make_file(folder, path, file.read_bytes()):
                    made.append(path)
        finally:
            close(folder)
    except OSError:
        raise SynapseError(
            ErrorCode.STORAGE_ERROR,
            "The vault's first files can't be made. Give Synapse's user write access to the folder that "
            "SYNAPSE_VAULT names, and let no symlink or file stand in the place of raw or wiki.",
        ) from None
    return sorted(made)


def _make_folder(root: int, path: str) -> bool:
    try:
        close(open_beneath(root, path, FOLDER_FLAGS))
    except FileNotFoundError:
        with folder_beneath(root, path, create=True):
            return True
    return False


def _make_file(root: int, path: str, data: bytes) -> bool:
    above, _, name = path.rpartition("/")
    with folder_beneath(root, above, create=True) as folder:
        if name in os.listdir(folder):
            return False
        # Complete before it has its name: a crash leaves no half file that would count as the person's own.
        temporary = f".{secrets.token_hex(8)}"
        descriptor = create_file(folder, temporary, 0o644)
        try:
            write_all(descriptor, data)
            sync_file(descriptor)
            rename_new(folder, temporary, folder, name)
        except FileExistsError:
            return False
        finally:
            close(descriptor)
            with contextlib.suppress(FileNotFoundError):
                unlink(folder, temporary)
        sync_folder(folder)
        return True
