"""Who a vault is, and which page is which: the vault's id and the ledger of page ids.

Settings import this module to find the index of a vault, so it needs neither Django nor a Vault.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vault.disk.confined import READ_FLAGS, open_beneath, refusal
from vault.errors import ErrorCode, SynapseError
from vault.writing.exchange import close, create_file, rename_new, sync_file, sync_folder, unlink, write_all

if TYPE_CHECKING:
    from vault.root import Vault

STATE: Final = ".synapse"
ID_FILE: Final = "vault-id"
_LEDGER: Final = "ids.jsonl"

FileVersion = tuple[int, int, int]  # inode, size and mtime in nanoseconds


def file_version(path: Path) -> FileVersion | None:
    """Which version of a file is there, to tell whether what was read from it still holds. None: no file."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def is_writable(folder: Path) -> bool:
    """Whether this process may make files in the folder."""
    effective = os.access in os.supports_effective_ids
    return os.access(folder, os.W_OK | os.X_OK, effective_ids=effective)


def is_folder(path: Path) -> bool:
    """Whether a folder is there that this process can reach. Unlike ``Path.is_dir``, never raises."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except OSError:
        return False


def state_base(root: Path, data: Path) -> Path:
    """The folder that holds ``.synapse``: the root itself, or a folder in SYNAPSE_DATA if the root can't be written."""
    if is_folder(root) and not is_writable(root):
        return data / str(path_id(root))
    return root


def path_id(root: Path) -> uuid.UUID:
    """The id of a vault that can't keep one: uuid5 of its real path."""
    return uuid.uuid5(uuid.NAMESPACE_URL, Path(os.path.realpath(root)).as_uri())


def read_vault_id(root: Path, data: Path) -> str | None:
    """The vault's id as hex with dashes; None when nobody has made it yet, or what is there is no id. Never writes."""
    if state_base(root, data) != root:
        return str(path_id(root))
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = stored_id(folder, f"{STATE}/{ID_FILE}")
    except SynapseError:
        return None
    finally:
        close(folder)
    return str(found) if found else None


def stored_id(folder: int, path: str = ID_FILE) -> uuid.UUID | None:
    """The id kept at ``path`` below the open folder, None if there is no such file.

    Raises ``storage_error`` for a file that holds no id: guessing a new one would give every page another id.
    """
    try:
        descriptor = open_beneath(folder, path, READ_FLAGS)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refusal(error) from None
    try:
        plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        text = os.read(descriptor, 100).decode("ascii", "replace").strip() if plain else ""
    except OSError as error:
        raise refusal(error) from None
    finally:
        close(descriptor)
    with contextlib.suppress(ValueError):
        found = uuid.UUID(text)
        if str(found) == text.lower():
            return found
    raise SynapseError(
        ErrorCode.STORAGE_ERROR,
        "The file .synapse/vault-id does not hold a vault's id. Restore it from a copy of the vault, "
        "or delete it to begin a new index.",
    )


def store_id(folder: int) -> uuid.UUID:
    """Make an id and keep it in the open state folder, unless one is there. The caller holds the lock."""
    known = stored_id(folder)
    if known is not None:
        return known
    made = uuid.uuid4()
    temporary = f".{secrets.token_hex(8)}"
    try:
        descriptor = create_file(folder, temporary, 0o644)
        try:
            write_all(descriptor, f"{made}\n".encode())
            sync_file(descriptor)
        finally:
            close(descriptor)
        rename_new(folder, temporary, folder, ID_FILE)
        sync_folder(folder)
    except OSError as error:
        with contextlib.suppress(OSError):
            unlink(folder, temporary)
        raise refusal(error) from None
    return made


class IdLedger:
    """``.synapse/ids.jsonl``: which page id a path was given last. Lines are only ever appended.

    A page's id is the last line of its path, else uuid5 of vault id and path; so ids survive a lost database.
    When an index is made anew, paths that the ledger knows are to be given their ids before the others.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._lock = threading.Lock()
        self._known: dict[str, uuid.UUID] = {}
        self._seen: FileVersion | None = None  # of what was read
        self._read_to = 0  # offset after the last whole line

    def id_at(self, path: str) -> uuid.UUID | None:
        """What the ledger's last line for the path says, None if it has none."""
        with self._lock:
            self._refresh()
            return self._known.get(path)

    def ids_at(self, paths: Iterable[str]) -> dict[str, uuid.UUID]:
        """What the ledger's last lines say of these paths, without those that it does not know."""
        with self._lock:
            self._refresh()
            return {path: self._known[path] for path in paths if path in self._known}

    def id_for(self, path: str, taken: Callable[[uuid.UUID], bool]) -> uuid.UUID:
        """The id of the page at ``path``. ``taken``: does a live page elsewhere hold this id?

        A page whose id is taken gets a numbered one, which is recorded before it is returned.
        """
        vault_id = self._vault.id
        candidate = self.id_at(path) or uuid.uuid5(vault_id, path)
        if not taken(candidate):
            return candidate
        number = 1
        while taken(candidate := uuid.uuid5(vault_id, f"{path}\n{number}")):
            number += 1
        self.record(path, candidate)
        return candidate

    def record(self, path: str, page_id: uuid.UUID) -> None:
        """Append that ``path`` is this page from now on. On disk when it returns, else ``storage_error``."""
        self.record_all([(path, page_id)])

    def record_all(self, pairs: Iterable[tuple[str, uuid.UUID]]) -> None:
        """Append several lines with one write and one sync."""
        lines = [json.dumps({"path": path, "id": str(page_id)}, ensure_ascii=False) for path, page_id in pairs]
        if not lines:
            return
        data = "".join(f"{line}\n" for line in lines).encode()
        with self._vault.lock("ids"), self._vault.make_state() as folder:
            try:
                _append(folder, data)
            except OSError as error:
                raise refusal(error) from None

    @contextlib.contextmanager
    def renamed(self, path: str, page_id: uuid.UUID) -> Iterator[None]:
        """Record that ``path`` is this page, for a block that makes it so; what held before is recorded if it fails.

        First, so that the id survives a crash in between. A change that is refused must leave no line: where the path
        is another page's, an index made anew would take that one for this.
        """
        before = self.id_at(path) or uuid.uuid5(self._vault.id, path)
        self.record(path, page_id)
        try:
            yield
        except BaseException as error:
            stands = isinstance(error, SynapseError) and "unconfirmed" in error.repair
            if before != page_id and not stands:
                with contextlib.suppress(SynapseError):  # the disk failed: that is what is to be told
                    self.record(path, before)
            raise

    def _refresh(self) -> None:
        if self._seen is not None and file_version(self._vault.state / _LEDGER) == self._seen:
            return
        with self._vault.open_state() as folder:
            if folder is None:
                self._forget()
                return
            try:
                descriptor = open_beneath(folder, _LEDGER, READ_FLAGS)
            except FileNotFoundError:
                self._forget()
                return
            except OSError as error:
                raise refusal(error) from None
            try:
                self._read_news(descriptor)
            except OSError as error:
                raise refusal(error) from None
            finally:
                close(descriptor)

    def _forget(self) -> None:
        self._known, self._seen, self._read_to = {}, None, 0

    def _read_news(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        now = (status.st_ino, status.st_size, status.st_mtime_ns)
        if now == self._seen:
            return
        if self._seen is None or now[0] != self._seen[0] or now[1] <= self._seen[1]:
            self._forget()  # another file, or one that did not grow: synced from elsewhere
        with open(descriptor, "rb", closefd=False) as file:
            file.seek(self._read_to)
            data = file.read(max(0, status.st_size - self._read_to))
        for line in data.split(b"\n"):
            self._learn(line)
        self._read_to += data.rfind(b"\n") + 1
        self._seen = now

    def _learn(self, line: bytes) -> None:
        # A line torn by a crash, or by a sync tool, is no line: the path falls back to its uuid5.
        try:
            row = json.loads(line)
            self._known[str(row["path"])] = uuid.UUID(row["id"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return


def _append(folder: int, data: bytes) -> None:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(_LEDGER, flags, 0o644, dir_fd=folder)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            data = b"\n" + data  # end the torn line of a crash, or this one would be lost with it
        write_all(descriptor, data)
        sync_file(descriptor)
    finally:
        close(descriptor)
    if not size:
        sync_folder(folder)
