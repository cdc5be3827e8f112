"""A page's file under its lock: read again, checked, replaced; or made. What every change of a page goes through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from vault import writer
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from vault.paths import check_writable_name
from vault.root import FileRead
from wiki import catchup, deadlines
from wiki.models import Page
from wiki.services import rules
from wiki.services.identity import uid_at
from wiki.services.reading import read_page
from wiki.services.recording import Change, PageWritten, record_bytes

#: Seconds to wait for another writer of the same page.
LOCK_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Held:
    """A live page and its file as they are while its lock is held."""

    page: Page
    read: FileRead

    @property
    def text(self) -> str:
        """The file as text, a byte order mark included; ``not_a_text_file`` for what is not UTF-8."""
        try:
            return self.read.data.decode("utf-8")
        except UnicodeDecodeError:
            raise SynapseError(
                ErrorCode.NOT_A_TEXT_FILE,
                "The page's file is not UTF-8, so it is not rewritten. Save it as UTF-8 in an editor first.",
                path=self.page.path,
            ) from None


def check_may_change(page: Page, author: Author) -> None:
    """Refuse pages that this author may not change, whatever the change (``path_not_allowed``, ``read_only``)."""
    rules.check_writes_allowed()
    check_writable_name(page.path, existing=True)
    if rules.is_agent(author):
        rules.check_place(page.path)


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold a lock of the vault; ``conflict`` after LOCK_SECONDS, ``tool_timeout`` when the call's time is over."""
    with current_vault().try_lock(name, timeout=deadlines.within(LOCK_SECONDS)) as got:
        if not got:
            deadlines.check()
            raise SynapseError(ErrorCode.CONFLICT, "Another process is at work on this. Try again in a moment.")
        yield


@contextmanager
def held(page: Page) -> Iterator[Held]:
    """Hold a page's lock and look again: ``page_not_found`` when it has been deleted meanwhile."""
    with locked(rules.page_lock_name(page.uid)):
        now = Page.objects.live().filter(uid=page.uid).first()
        if now is None:
            raise SynapseError(
                ErrorCode.PAGE_NOT_FOUND, "The page has been deleted. Search for it, or restore it from its history."
            )
        try:
            read = read_page(now)
        except SynapseError as error:
            if error.code is ErrorCode.PAGE_NOT_FOUND:
                catchup.note([now.path])  # gone behind the index's back: let it be looked at
            raise
        yield Held(now, read)


def replace(
    held: Held, data: bytes, *, author: Author, action: str = "write", detail: dict[str, Any] | None = None
) -> PageWritten:
    """Put other bytes in the place of a held page's and record it; nothing is done when they are the same.

    Raises ``conflict`` (``stale_base`` where the door speaks of If-Match) when somebody saved after the page was read.
    """
    page, read = held.page, held.read
    rules.check_size(data)
    if data == read.data:
        return PageWritten(page, read.content_hash)
    deadlines.lift()
    with stale_by_door(page.path, author), looked_at_again(page.path):
        written = writer.replace(
            current_vault(),
            page.path,
            data,
            expected_hash=read.content_hash,
            page_id=page.uid,
            author=author,
            action=action,
        )
    change = Change(
        action=action,
        uid=page.uid,
        path=page.path,
        author=author,
        written=written,
        before_hash=read.content_hash,
        detail=detail or {},
    )
    return record_bytes(change, data)


def make(path: str, data: bytes, *, author: Author, detail: dict[str, Any] | None = None) -> PageWritten:
    """Make a new page's file at a path that was found free, and record it; the caller holds the lock of its title.

    Raises ``conflict`` when something has taken the place meanwhile.
    """
    vault = current_vault()
    rules.check_size(data)
    uid = uid_at(path)
    with locked(rules.page_lock_name(uid)):
        deadlines.lift()
        with looked_at_again(path):
            written = writer.create(vault, path, data, page_id=uid, author=author)
        change = Change(
            action="write", uid=uid, path=path, author=author, written=written, created=True, detail=detail or {}
        )
        return record_bytes(change, data)


@contextmanager
def looked_at_again(*paths: str) -> Iterator[None]:
    """Have these paths indexed anew if the disk failed so that the change may stand all the same."""
    try:
        yield
    except SynapseError as error:
        if error.repair.get("unconfirmed"):
            catchup.note(paths)
        raise


@contextmanager
def stale_by_door(path: str, author: Author) -> Iterator[None]:
    """Give the writer's ``conflict`` the name that the author's door has for it."""
    try:
        yield
    except SynapseError as error:
        if error.code is not ErrorCode.CONFLICT:
            raise
        repair = error.repair
        raise rules.stale(path, repair.get("content_hash"), author=author, draft=repair.get("draft")) from None


def or_composed(merged: Callable[[], bytes], composed: Callable[[], bytes]) -> bytes:
    """What would have been written, or where that can't be told, the text by itself."""
    try:
        return merged()
    except SynapseError:
        return composed()
