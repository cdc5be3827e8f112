"""The vault as a folder on disk: the one way to its files. Each operation stays below the root, whatever the path."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import unicodedata
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path

from vault import locks
from vault.disk.birth import birth_ns
from vault.disk.confined import READ_FLAGS, Mechanism, folder_beneath, open_beneath, refusal
from vault.disk.reading import (
    FileDigest,
    FileRead,
    FileStat,
    digest_open_file,
    has_placeholder,
    not_downloaded,
    read_open_file,
)
from vault.disk.walking import Skipped, WalkEntry, walk
from vault.errors import ErrorCode, SynapseError
from vault.identity import (
    ID_FILE,
    STATE,
    FileVersion,
    IdLedger,
    file_version,
    is_folder,
    is_writable,
    path_id,
    state_base,
    store_id,
    stored_id,
)
from vault.paths import check_path, compile_exclude, has_invisible
from vault.writing.exchange import close

__all__ = ["FileDigest", "FileRead", "FileStat", "Skipped", "Vault", "WalkEntry"]


class Vault:
    """One vault. Holds no descriptor between operations, so that its root may be unmounted, replaced or come later.

    ``root`` may itself be a symlink; nothing below it may. ``exclude`` are the patterns of SYNAPSE_EXCLUDE.
    """

    def __init__(
        self, root: Path, data: Path, *, exclude: Sequence[str] = (), mechanism: Mechanism | None = None
    ) -> None:
        self.root = root
        self.data = data
        self.exclude = tuple(exclude)
        self._mechanism = mechanism
        self._state_base: Path | None = None
        self._id: uuid.UUID | None = None
        self._id_version: FileVersion | None = None

    # --- who it is ---

    @property
    def state(self) -> Path:
        """The ``.synapse`` folder (absolute; it may not exist yet): in the root, or in SYNAPSE_DATA for a root
        that can't be written. Raises ``storage_error`` if a symlink or a file stands in its place."""
        state = self._base() / STATE
        try:
            mode = os.lstat(state).st_mode
        except OSError:
            return state
        if not stat.S_ISDIR(mode):
            raise _no_state_folder()
        return state

    @property
    def writable(self) -> bool:
        """Whether files can be made in the root; False also when the root is not there."""
        return is_writable(self.root)

    @property
    def id(self) -> uuid.UUID:
        """The vault's id; ``storage_error`` if it has none yet or a damaged one."""
        if self._base() != self.root:
            return path_id(self.root)
        version = file_version(self.root / STATE / ID_FILE)
        if version is not None and version == self._id_version and self._id is not None:
            return self._id
        with self.open_state() as folder:
            found = None if folder is None else stored_id(folder)
        if found is None and self._id is not None:
            raise _lost_state_folder()
        if found is None:
            raise SynapseError(
                ErrorCode.STORAGE_ERROR, "The vault has no id yet. Run `manage.py init_vault` or `manage.py rescan`."
            )
        self._id, self._id_version = found, version
        return found

    def ensure_id(self) -> uuid.UUID:
        """The vault's id, made and synced to disk if there is none."""
        if self._base() != self.root:
            with self.make_state():
                return path_id(self.root)
        with self.open_state() as folder:
            known = None if folder is None else stored_id(folder)
        if known is not None:
            return known
        self._id = None  # one that is gone for good is no reason to make no other
        with self.lock("vault-id"), self.make_state() as folder:
            return store_id(folder)

    @cached_property
    def ids(self) -> IdLedger:
        """The ledger of page ids, one for the process."""
        return IdLedger(self)

    # --- reading ---

    def read(self, path: str, *, max_bytes: int | None = None, exact: bool = False) -> FileRead:
        """The whole file at a vault-relative path, one version of it.

        If nothing has exactly this name, the same name in another Unicode form is taken, unless ``exact``;
        ``FileRead.path`` is the name on disk. Raises ``path_not_allowed``, ``not_found``, ``not_a_file``,
        ``payload_too_large``, ``not_downloaded`` or ``storage_error``.
        """
        with self._open_file(path, exact=exact) as (descriptor, found):
            return read_open_file(descriptor, found, max_bytes)

    def digest(self, path: str) -> FileDigest:
        """The sha256 of the file at exactly this path, however large it is. Errors as :meth:`read`."""
        with self._open_file(path, exact=True) as (descriptor, found):
            return digest_open_file(descriptor, found)

    def stat(self, path: str) -> FileStat | None:
        """The file at exactly this path; None if there is no plain file that is reached without symlinks.

        Raises ``not_downloaded`` if it is only in the cloud and ``storage_error`` if the disk does not say:
        neither is the same as "not there".
        """
        check_path(path)
        try:
            with self.parent(path) as (folder, name):
                try:
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                except FileNotFoundError:
                    if has_placeholder(folder, name):
                        raise not_downloaded() from None
                    return None
        except OSError as error:
            raise refusal(error) from None
        except SynapseError as error:
            if error.code in (ErrorCode.NOT_FOUND, ErrorCode.PATH_NOT_ALLOWED):
                return None
            raise
        return FileStat.of(status) if stat.S_ISREG(status.st_mode) else None

    def birth_ns(self, path: str) -> int | None:
        """When the file was made, in nanoseconds since 1970; None if it is not there or the disk does not keep it."""
        try:
            with self._open_file(path, exact=True) as (descriptor, _):
                return birth_ns(descriptor)
        except SynapseError as error:
            if error.code is ErrorCode.STORAGE_ERROR:
                raise
            return None

    def walk(self, below: str = "") -> Iterator[WalkEntry | Skipped]:
        """Every file (of the folder ``below``) that is not hidden or excluded, and what was skipped; in no order.

        ``storage_error`` without a root, ``not_found`` without the folder.
        """
        with self._open_root() as root:
            try:
                yield from walk(root, below and check_path(below), compile_exclude(self.exclude), self._mechanism)
            except OSError as error:
                raise refusal(error) from None

    def locate(self, path: str) -> str | None:
        """The path on disk whose names equal these in any Unicode form, an exact one first; None if there is none."""
        check_path(path)
        found = ""
        with self._open_root() as root:
            for segment in path.split("/"):
                try:
                    with folder_beneath(root, found, mechanism=self._mechanism) as folder:
                        name = _named(os.listdir(folder), segment)
                except OSError:
                    return None
                if name is None:
                    return None
                found = f"{found}/{name}" if found else name
        return found

    # --- places to write ---

    @contextlib.contextmanager
    def parent(self, path: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """A descriptor of the folder that holds ``path`` and the file's name, for the length of the block.

        With ``create`` missing folders are made and synced. Says nothing of the file itself. Raises
        ``path_not_allowed``, ``not_found`` (a folder is missing) or ``storage_error``.
        """
        check_path(path)
        above, _, name = path.rpartition("/")
        with contextlib.ExitStack() as stack:
            try:
                root = stack.enter_context(self._open_root())
                folder = stack.enter_context(folder_beneath(root, above, create=create, mechanism=self._mechanism))
            except OSError as error:
                if create and error.errno == errno.ENOTDIR:
                    raise _file_in_the_way() from None
                raise refusal(error) from None
            yield folder, name

    @contextlib.contextmanager
    def open_state(self) -> Iterator[int | None]:
        """A descriptor of the ``.synapse`` folder for the length of the block; None if it is not there."""
        with contextlib.ExitStack() as stack:
            try:
                folder: int | None = stack.enter_context(self._state_folder(create=False))
            except FileNotFoundError:
                folder = None
            except OSError as error:
                raise refusal(error) from None
            yield folder

    @contextlib.contextmanager
    def make_state(self) -> Iterator[int]:
        """Like :meth:`open_state`, and makes the folder if it is not there.

        One that was there is not made again: an empty one would stand where it is to be mounted or put back, and what
        is kept in it would be missing. Raises ``storage_error``.
        """
        with contextlib.ExitStack() as stack:
            try:
                folder = stack.enter_context(self._state_folder(create=True))
            except OSError as error:
                raise refusal(error) from None
            yield folder

    def lock(self, name: str, *, blocking: bool = True, timeout: float | None = None) -> AbstractContextManager[None]:
        """See :func:`vault.locks.lock`: ``conflict`` if it is not got in time."""
        return locks.lock(self, name, blocking=blocking, timeout=timeout)

    def try_lock(self, name: str, *, timeout: float | None = 0.0) -> AbstractContextManager[bool]:
        """See :func:`vault.locks.try_lock`: whether it was got."""
        return locks.try_lock(self, name, timeout=timeout)

    # --- inside ---

    def _base(self) -> Path:
        # Decided once: a disk that turns read-only while we run is an error to report, not another vault.
        if self._state_base is None:
            base = state_base(self.root, self.data)
            if not is_folder(self.root):
                return base
            self._state_base = base
        return self._state_base

    @contextlib.contextmanager
    def _state_folder(self, *, create: bool) -> Iterator[int]:
        base = self._base()
        if create and base != self.root:
            base.mkdir(parents=True, exist_ok=True)
        known = base == self.root and self._id is not None
        with self._open_root() if base == self.root else _open_folder(base) as above, contextlib.ExitStack() as stack:
            try:
                opened = folder_beneath(above, STATE, create=create and not known, mechanism=self._mechanism)
                folder = stack.enter_context(opened)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR):
                    raise _no_state_folder() from None
                if create and error.errno == errno.ENOENT:
                    raise _lost_state_folder() from None
                raise
            yield folder

    @contextlib.contextmanager
    def _open_root(self) -> Iterator[int]:
        try:
            root = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            raise SynapseError(
                ErrorCode.STORAGE_ERROR,
                "The vault's folder can't be opened. Mount it, or correct SYNAPSE_VAULT.",
            ) from None
        try:
            yield root
        finally:
            close(root)

    @contextlib.contextmanager
    def _open_file(self, path: str, *, exact: bool) -> Iterator[tuple[int, str]]:
        check_path(path)
        with self._open_root() as root:
            found = path
            try:
                descriptor = open_beneath(root, path, READ_FLAGS, self._mechanism)
            except FileNotFoundError as error:
                twin = None if exact or path.isascii() else self.locate(path)
                if twin is None:
                    raise self._missing(path, error) from None
                found = twin
                descriptor = self._reopen(root, twin)
            except OSError as error:
                raise refusal(error) from None
            try:
                if ("~" in path or has_invisible(path)) and self.locate(path) is None:
                    # The file system took the name for another one (`OBSIDI~1`): no such name is in the folder.
                    raise refusal(FileNotFoundError(errno.ENOENT, ""))
                yield descriptor, found
            except OSError as error:
                raise refusal(error) from None
            finally:
                close(descriptor)

    def _reopen(self, root: int, path: str) -> int:
        try:
            return open_beneath(root, path, READ_FLAGS, self._mechanism)
        except OSError as error:
            raise refusal(error) from None

    def _missing(self, path: str, error: OSError) -> SynapseError:
        with contextlib.suppress(SynapseError), self.parent(path) as (folder, name):
            if has_placeholder(folder, name):
                return not_downloaded()
        return refusal(error)


@contextlib.contextmanager
def _open_folder(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        close(descriptor)


def _named(names: list[str], wanted: str) -> str | None:
    if wanted in names:
        return wanted
    form = unicodedata.normalize("NFC", wanted)
    twins = [name for name in names if unicodedata.normalize("NFC", name) == form]
    return form if form in twins else min(twins, default=None)


def _file_in_the_way() -> SynapseError:
    return SynapseError(
        ErrorCode.PATH_NOT_ALLOWED,
        "A file stands where a folder on this path belongs. Move it away, or choose another path.",
    )


def _no_state_folder() -> SynapseError:
    return SynapseError(
        ErrorCode.STORAGE_ERROR,
        "The name .synapse in the vault is a symlink or a file. Remove it, so that Synapse can make its own folder.",
    )


def _lost_state_folder() -> SynapseError:
    return SynapseError(
        ErrorCode.STORAGE_ERROR,
        "The vault's folder has lost its .synapse folder. Mount the vault, or put .synapse back from a copy.",
    )
