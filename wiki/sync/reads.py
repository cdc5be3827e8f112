"""Reading one page for the index. What can't be read or parsed is a page with a flag, never an error."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings

from vault.errors import ErrorCode, SynapseError
from vault.pages import ParsedPage, parse_page
from vault.root import FileRead, FileStat, Vault
from wiki.sync.diff import INODE_MASK
from wiki.sync.known import KnownPage

logger = logging.getLogger(__name__)

#: What a page is flagged with when its bytes are not to be had or can't be used, by code.
REASONS: Final = {
    "unreadable": "Synapse may not read this file. Give its user access; until then the index keeps what it knew.",
    "not_downloaded": "The file is only in the cloud. Download it in the sync tool.",
    "too_large": "The file is larger than SYNAPSE_MAX_PAGE_BYTES, so its text is not indexed. Split it.",
    "not_parsed": "The text can't be read as Markdown, so only the name of the page is indexed.",
    "being_written": "The file is being changed. It is taken once it is still.",
    "written_meanwhile": "The page was written while the scan ran. The next scan looks at it again.",
}


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page as found on disk, ready to be written to the index.

    ``parsed`` is None when the bytes could not be had: a known page then keeps its text. ``read_ns`` is the clock
    when they were read, 0 if they are to be read again at the next scan whatever the stat says.
    """

    path: str
    size: int
    mtime_ns: int
    inode: int
    birth_ns: int | None
    read_ns: int
    content_hash: str
    parsed: ParsedPage | None
    flags: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A page to be written: ``known`` is the row that the scan started from, None for a page that it lacks."""

    uid: UUID
    known: KnownPage | None
    read: PageRead

    @property
    def moved(self) -> bool:
        """Whether the page is at another path than its row says."""
        return self.known is not None and self.known.path != self.read.path


def read_page(vault: Vault, path: str, *, known_hash: str | None = None) -> PageRead | None:
    """The page at ``path``; None when it vanished or would not stay still: then it waits for the next scan.

    With ``known_hash`` a file whose bytes have that hash is not parsed: ``parsed`` is None and there are no flags.
    """
    started = time.time_ns()
    try:
        read = vault.read(path, max_bytes=settings.SYNAPSE_MAX_PAGE_BYTES, exact=True)
    except SynapseError as error:
        return _unread(vault, path, error, started)
    if not read.stable:
        return None
    if read.content_hash == known_hash:
        return _page_read(vault, read, None, (), started)
    parsed, flags = parse(path, read.data)
    return _page_read(vault, read, parsed, flags, started)


def parse(path: str, data: bytes) -> tuple[ParsedPage, tuple[tuple[str, str], ...]]:
    """The parsed page and its flags as (code, reason); text that breaks the parser leaves an empty page."""
    try:
        parsed = parse_page(path, data)
    except Exception as error:  # noqa: BLE001 - one page must never stop a scan, whatever it holds
        logger.warning("a page could not be parsed", extra={"path": path, "reason": type(error).__name__})
        return parse_page(path, b""), (("not_parsed", REASONS["not_parsed"]),)
    return parsed, _flags(parsed)


def from_file(vault: Vault, path: str, read: FileRead, parsed: ParsedPage | None) -> PageRead:
    """What a service has just written or read. Its stat counts as doubtful: somebody may save in the same instant."""
    if parsed is None:
        found, flags = parse(path, read.data)
    else:
        found, flags = parsed, _flags(parsed)
    return _page_read(vault, read, found, flags, read.stat.mtime_ns, path=path)


def _flags(parsed: ParsedPage) -> tuple[tuple[str, str], ...]:
    return tuple((flag["code"], flag["reason"]) for flag in parsed.flags)


def _page_read(
    vault: Vault,
    read: FileRead,
    parsed: ParsedPage | None,
    flags: tuple[tuple[str, str], ...],
    read_ns: int,
    *,
    path: str | None = None,
) -> PageRead:
    stat = read.stat
    return PageRead(
        path=path or read.path,
        size=stat.size,
        mtime_ns=stat.mtime_ns,
        inode=stat.inode & INODE_MASK,
        birth_ns=vault.birth_ns(path or read.path) if read.birth_ns is None else read.birth_ns,
        read_ns=read_ns,
        content_hash=read.content_hash,
        parsed=parsed,
        flags=flags,
    )


def _unread(vault: Vault, path: str, error: SynapseError, started: int) -> PageRead | None:
    """A page whose bytes can't be had: flagged, and tried again unless it is too large."""
    stat = _stat(vault, path)
    if stat is None or error.code is ErrorCode.NOT_FOUND:
        return None
    content_hash, parsed, read_ns = "", None, 0
    if error.code is ErrorCode.PAYLOAD_TOO_LARGE:
        code = "too_large"
        try:
            digest = vault.digest(path)
        except SynapseError:
            return None
        content_hash, parsed, read_ns, stat = digest.content_hash, parse_page(path, b""), started, digest.stat
    else:
        code = "not_downloaded" if error.code is ErrorCode.NOT_DOWNLOADED else "unreadable"
    return PageRead(
        path=path,
        size=stat.size,
        mtime_ns=stat.mtime_ns,
        inode=stat.inode & INODE_MASK,
        birth_ns=None,
        read_ns=read_ns,
        content_hash=content_hash,
        parsed=parsed,
        flags=((code, REASONS[code]),),
    )


def _stat(vault: Vault, path: str) -> FileStat | None:
    try:
        return vault.stat(path)
    except SynapseError:
        return None
