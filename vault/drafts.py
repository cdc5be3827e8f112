"""Texts that could not be written over somebody else's version: kept until a person applies or drops them.

``.synapse/drafts/<id>.md`` holds the bytes, ``<id>.json`` what they are: path,
title, author, door, at (UTC, ISO 8601), reason, base_hash, size. A draft without
its .json (a crash in between) is not listed and not removed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from vault.disk.state import state_folder, storage_guard
from vault.errors import ErrorCode, SynapseError
from vault.writing import exchange
from vault.writing.pending import now
from vault.writing.versions import Author, encode_line

if TYPE_CHECKING:
    from vault.root import Vault

DRAFTS: Final = "drafts"
_ID: Final = re.compile(r"[0-9a-f]{16}")
_RECORD_NAME: Final = re.compile(r"([0-9a-f]{16})\.json")
_MAX_RECORD: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Draft:
    """A kept text: where it was to go, whose it is, why it was not written, and which version it was based on."""

    id: str
    path: str
    title: str
    author: str
    door: str
    at: str
    reason: str
    base_hash: str | None
    size: int


def keep(
    vault: Vault,
    *,
    path: str,
    data: bytes,
    author: Author,
    reason: str,
    base_hash: str | None = None,
    title: str = "",
) -> str:
    """Keep a text and return its draft's id, 16 hex digits that can't be guessed. Returns when it is on the disk.

    Raises SynapseError(STORAGE_ERROR) when the disk does not take it.
    """
    with storage_guard("The draft could not be saved. Check the disk of the vault, then send the text again."):
        draft = Draft(
            id=secrets.token_hex(8),
            path=path,
            title=title,
            author=author.name,
            door=author.door,
            at=now(),
            reason=reason,
            base_hash=base_hash,
            size=len(data),
        )
        with state_folder(vault, DRAFTS, create=True) as folder:
            _new_file(folder, f"{draft.id}.md", data)
            try:
                _new_file(folder, f"{draft.id}.json", encode_line(asdict(draft)))
            except OSError:
                exchange.unlink(folder, f"{draft.id}.md")
                raise
            exchange.sync_folder(folder)
        return draft.id


def list_drafts(vault: Vault) -> list[Draft]:
    """All drafts, newest first. Raises SynapseError(STORAGE_ERROR)."""
    with storage_guard("The drafts could not be read. Check the disk of the vault."):
        try:
            with state_folder(vault, DRAFTS) as folder:
                ids = [match[1] for name in os.listdir(folder) if (match := _RECORD_NAME.fullmatch(name))]
                drafts = [draft for draft_id in ids if (draft := _load(folder, draft_id))]
        except FileNotFoundError:
            return []
        return sorted(drafts, key=lambda draft: (draft.at, draft.id), reverse=True)


def read_draft(vault: Vault, draft_id: str) -> tuple[Draft, bytes]:
    """A draft and its bytes. Raises SynapseError: NOT_FOUND, STORAGE_ERROR."""
    _check_id(draft_id)
    with storage_guard("The draft could not be read. Check the disk of the vault."):
        try:
            with state_folder(vault, DRAFTS) as folder:
                draft = _load(folder, draft_id)
                if draft is None:
                    _not_found()
                return draft, exchange.read_file(folder, f"{draft_id}.md")
        except FileNotFoundError:
            _not_found()


def drop_draft(vault: Vault, draft_id: str) -> None:
    """Remove a draft for good. Raises SynapseError: NOT_FOUND, STORAGE_ERROR."""
    _check_id(draft_id)
    with storage_guard("The draft could not be removed. Check the disk of the vault."):
        try:
            with state_folder(vault, DRAFTS) as folder:
                exchange.unlink(folder, f"{draft_id}.json")
                with suppress(FileNotFoundError):
                    exchange.unlink(folder, f"{draft_id}.md")
                exchange.sync_folder(folder)
        except FileNotFoundError:
            _not_found()


def _new_file(folder: int, name: str, data: bytes) -> None:
    fd = exchange.create_file(folder, name, 0o600)
    try:
        exchange.write_all(fd, data)
        exchange.sync_file(fd)
    except OSError:
        exchange.unlink(folder, name)
        raise
    finally:
        exchange.close(fd)


def _load(folder: int, draft_id: str) -> Draft | None:
    try:
        record: dict[str, Any] = json.loads(exchange.read_file(folder, f"{draft_id}.json", limit=_MAX_RECORD))
        draft = Draft(**{name: record[name] for name in Draft.__slots__})
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return draft if draft.id == draft_id else None


def _check_id(draft_id: str) -> None:
    if not _ID.fullmatch(draft_id):
        _not_found()


def _not_found() -> NoReturn:
    raise SynapseError(ErrorCode.NOT_FOUND, "There is no draft with this id. List the drafts to see those there are.")
