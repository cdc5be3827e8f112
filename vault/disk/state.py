"""The folders below .synapse, opened without following links, and what a failing disk answers."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from vault.disk.confined import REPAIRS, folder_beneath, refusal
from vault.errors import ErrorCode, SynapseError

if TYPE_CHECKING:
    from vault.root import Vault

logger = logging.getLogger(__name__)

_NOT_THERE: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EXDEV, errno.ENAMETOOLONG, errno.EILSEQ})
_OTHERWISE: Final = "The disk refused the operation. Check that the vault is mounted and has room, then try again."


@contextmanager
def state_folder(vault: Vault, *parts: str, create: bool = False) -> Iterator[int]:
    """The folder ``.synapse/<parts>`` as a descriptor for the length of the block.

    A symbolic link anywhere below the vault's root is refused. Raises OSError:
    FileNotFoundError when there is no such folder and ``create`` is false.
    """
    with vault.make_state() if create else vault.open_state() as state:
        if state is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        with folder_beneath(state, "/".join(parts), create=create) as folder:
            yield folder


@contextmanager
def storage_guard(what: str) -> Iterator[None]:
    """Turn an OSError of the block into its answer: ``what`` (a sentence), then how to repair it."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, what) from None


def storage_error(error: OSError, what: str) -> SynapseError:
    """The answer to a failed system call; never holds the system's own text, which may name the root."""
    logger.warning("%s (%s)", what, errno.errorcode.get(error.errno or 0, "no error number"))
    if error.errno in _NOT_THERE:
        return refusal(error)
    if error.errno == errno.EBUSY:
        return SynapseError(
            ErrorCode.PATH_NOT_ALLOWED, "This file is a mount point of its own and can't be replaced. Unmount it first."
        )
    return SynapseError(ErrorCode.STORAGE_ERROR, f"{what} {REPAIRS.get(error.errno or 0, _OTHERWISE)}")
