"""What may be written where, and by whom: the checks that every service makes before it takes a lock.

Source: the write rules in docs/writing.md.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django.conf import settings

from vault import drafts, history
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter.page_rules import OWNED_KEYS, check_characters
from vault.history import Author
from vault.paths import is_reserved
from vault.root import FileRead
from vault.slugs import slugify
from wiki.models import Page
from wiki.sync.values import MAX_TITLE

#: Names and titles of the files that Synapse makes itself: no page may take them, whether they are there yet or not.
MADE_BY_CODE: Final = frozenset({"index", "Index", "log", "Log"})
#: Characters that make one title look like another and mean nothing in any script: zero-width ones (but for the
#: joiners and marks that Persian, Hindi, Hebrew and emoji need) and those that turn the order of what follows.
_DISGUISE: Final = re.compile("[\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\ufff9-\ufffb]")
#: Doors through which agents come; people come through the others.
_AGENT_DOOR: Final = "mcp"
#: Doors that speak of If-Match, whose word for a stale base is 412 stale_base.
_IF_MATCH_DOORS: Final = ("rest", "desk", "admin")


def is_agent(author: Author) -> bool:
    """Whether the author came through a door of agents: these may change only what they are given to keep."""
    return author.door.startswith(_AGENT_DOOR)


def check_writes_allowed() -> None:
    """Refuse everything while SYNAPSE_READ_ONLY is set: ``read_only``."""
    if settings.SYNAPSE_READ_ONLY:
        raise SynapseError(
            ErrorCode.READ_ONLY, "This vault is served read-only. Unset SYNAPSE_READ_ONLY on the server to write."
        )


def check_text(text: str) -> None:
    """Refuse what no file can keep (``invalid_content``) or what is too long (``payload_too_large``)."""
    if len(text) > settings.SYNAPSE_MAX_PAGE_BYTES:
        raise too_large()
    check_characters(text)


def check_size(data: bytes) -> None:
    """``payload_too_large`` for a whole file above SYNAPSE_MAX_PAGE_BYTES."""
    if len(data) > settings.SYNAPSE_MAX_PAGE_BYTES:
        raise too_large()


def too_large() -> SynapseError:
    """The refusal of a page that is too long."""
    return SynapseError(
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"A page holds at most {settings.SYNAPSE_MAX_PAGE_BYTES} bytes. Split it into several pages.",
        limit=settings.SYNAPSE_MAX_PAGE_BYTES,
    )


def in_write_dirs(path: str) -> bool:
    """Whether a vault path lies under one of SYNAPSE_WRITE_DIRS (compared as NFC, in the case given)."""
    path = unicodedata.normalize("NFC", path)
    for folder in settings.SYNAPSE_WRITE_DIRS:
        prefix = unicodedata.normalize("NFC", folder).strip("/")
        if prefix in ("", ".") or path.startswith(f"{prefix}/"):
            return True
    return False


def check_place(path: str) -> None:
    """Refuse to change a page that agents do not keep: a reserved one, or one outside SYNAPSE_WRITE_DIRS."""
    if is_reserved(path):
        raise SynapseError(
            ErrorCode.PATH_NOT_ALLOWED,
            f"{path} is kept by the person or by Synapse itself; choose another title.",
            path=path,
        )
    if not in_write_dirs(path):
        raise SynapseError(
            ErrorCode.PATH_NOT_ALLOWED,
            f"{path} is outside the folders that may be written ({', '.join(settings.SYNAPSE_WRITE_DIRS)}); "
            "choose another title, or leave this page to the person.",
            path=path,
        )


def clean_title(title: str) -> str:
    """A title as it is looked up and stored: NFC, without blanks around it.

    Raises ``invalid_content`` for what no database can look up, ``invalid_frontmatter`` for one that is too long.
    """
    check_characters(title)
    title = unicodedata.normalize("NFC", title).strip()
    if len(title) > MAX_TITLE:
        sentence = f"Make it at most {MAX_TITLE} characters long."
        raise SynapseError(
            ErrorCode.INVALID_FRONTMATTER, f"The title is too long. {sentence}", fields={"title": sentence}
        )
    return title


def check_new_title(title: str) -> None:
    """Refuse a title that no page has yet and none may be given.

    ``path_not_allowed`` when it belongs to a reserved file, which the index need not know yet;
    ``invalid_frontmatter`` when it can't be told from another by looking at it, or can't be seen at all.
    """
    if _DISGUISE.search(title) or not any(character.isprintable() and character.strip() for character in title):
        sentence = "Take out the characters that can't be seen."
        raise SynapseError(
            ErrorCode.INVALID_FRONTMATTER, f"The title has to change. {sentence}", fields={"title": sentence}
        )
    for path in (f"wiki/{title}.md", f"{title}.md"):
        if is_reserved(path) and (title in MADE_BY_CODE or current_vault().stat(path) is not None):
            check_place(path)


def without_owned(given: dict[str, Any], existing: dict[str, Any]) -> dict[str, Any]:
    """What a caller gives, less the keys that are Synapse's but stand in the file already with the same value.

    A caller that sends back all it has read has not tried to set them.
    """
    return {key: value for key, value in given.items() if not (key in OWNED_KEYS and existing.get(key) == value)}


#: How each door takes the version that a change was made from.
_AS_BASE: Final = "name its content_hash as the base (base_hash of a tool, If-Match over REST, --base in a terminal)"


def check_base(
    page: Page,
    read: FileRead,
    base_hash: str | None,
    *,
    author: Author,
    required: bool = False,
    text: Callable[[], bytes] | None = None,
) -> None:
    """Refuse a change whose author has not seen the version that stands. Nothing has been written when it raises.

    ``base_hash`` is the sha256 (hex) of the version the change was made from. Without it, and unless ``required``,
    the file must hold the bytes that Synapse itself wrote last. Raises ``conflict`` (or ``stale_base`` where the
    door speaks of If-Match) with ``draft``, the id under which what ``text`` makes was kept; or ``base_required``.
    Both tell the ``content_hash`` that stands.
    """
    standing = read.content_hash
    if base_hash:
        if base_hash.strip().lower() != standing:
            kept = keep_draft(page, text(), author=author, base_hash=base_hash) if text else None
            raise stale(page.path, standing, author=author, draft=kept)
        return
    if required or history.last_written_hash(current_vault(), page.uid) != standing:
        raise SynapseError(
            ErrorCode.BASE_REQUIRED,
            f"The page was last changed by somebody else. Read it, make your text from that version, and {_AS_BASE}.",
            content_hash=standing,
            path=page.path,
        )


def stale(path: str, standing: str | None, *, author: Author, draft: str | None = None) -> SynapseError:
    """The refusal of a change made from a version that no longer stands."""
    code = ErrorCode.STALE_BASE if author.door.startswith(_IF_MATCH_DOORS) else ErrorCode.CONFLICT
    kept = " Your text was kept as a draft." if draft else ""
    return SynapseError(
        code,
        f"The page has changed since the version you started from. Nothing was written.{kept} "
        f"Read it again, and {_AS_BASE}.",
        content_hash=standing,
        path=path,
        **({"draft": draft} if draft else {}),
    )


def keep_draft(page: Page, data: bytes, *, author: Author, base_hash: str | None) -> str | None:
    """Keep a refused text as a draft and give its id; None when the disk refuses that too."""
    try:
        return drafts.keep(
            current_vault(),
            path=page.path,
            title=page.title,
            data=data,
            author=author,
            reason="stale_base",
            base_hash=base_hash,
        )
    except SynapseError:
        return None  # the refusal is what the caller must hear; it still has its text


def title_lock_name(title: str) -> str:
    """The lock under which a title is given to a page: the digest of its slug, so that two titles on one slug queue."""
    return f"title-{hashlib.sha256(slugify(title).encode()).hexdigest()[:32]}"


def page_lock_name(uid: UUID) -> str:
    """The lock under which a page is changed."""
    return f"page-{uid}"
