"""The domain files of a vault, ``.synapse/domains/*.yaml``: the owner's words on its subject. Read, never written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from vault.disk.state import state_folder, storage_guard
from vault.writing import exchange

if TYPE_CHECKING:
    from vault.root import Vault

DOMAINS: Final = "domains"
ENDINGS: Final = (".yaml", ".yml")
MAX_BYTES: Final = 256 * 1024
MAX_FILES: Final = 100


class DomainFile(NamedTuple):
    """A file of the folder: its name, and its text or, where that can't be had, why not."""

    name: str
    text: str
    reason: str = ""


def domain_files(vault: Vault) -> list[DomainFile]:
    """The files by name. Raises SynapseError(STORAGE_ERROR) when the folder can't be read."""
    with storage_guard("The folder of the domain files can't be read. Check the disk of the vault."):
        try:
            with state_folder(vault, DOMAINS) as folder:
                names = sorted(name for name in os.listdir(folder) if name.lower().endswith(ENDINGS) and name[0] != ".")
                found = [_read(folder, name) for name in names[:MAX_FILES]]
        except FileNotFoundError:
            return []
    return found + [DomainFile(name, "", f"There are more than {MAX_FILES} files.") for name in names[MAX_FILES:]]


def _read(folder: int, name: str) -> DomainFile:
    try:
        data = exchange.read_file(folder, name, limit=MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError:
        return DomainFile(name, "", "It can't be read. Make it a plain file that Synapse may read.")
    except UnicodeDecodeError:
        return DomainFile(name, "", "It is not UTF-8. Save it as UTF-8.")
    if len(data) > MAX_BYTES:
        return DomainFile(name, "", f"It is larger than {MAX_BYTES // 1024} KiB.")
    return DomainFile(name, text)
