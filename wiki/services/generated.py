"""Files that Synapse makes itself: how they are told from the user's, and how their bytes reach the index."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import transaction

from vault import frontmatter
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from vault.pages import parse_page
from vault.root import FileRead
from wiki import sync
from wiki.binding import bump_data_version
from wiki.models import Page
from wiki.services.identity import uid_at

#: The frontmatter lines that make a file ours. Without both it is the user's.
MARK: Final = "auto_generated: true\ngenerator: synapse\n"
AUTHOR: Final = Author(name="synapse", door="catalog")
_NOT_THERE: Final = (ErrorCode.NOT_FOUND, ErrorCode.SOURCE_NOT_FOUND, ErrorCode.PAGE_NOT_FOUND)


def is_ours(data: bytes) -> bool:
    """Whether a file's bytes carry the mark."""
    block = frontmatter.split(data.decode("utf-8", errors="replace")).raw
    if block is None:
        return False
    found = frontmatter.load(block).data
    return found.get("auto_generated") is True and found.get("generator") == "synapse"


def standing(path: str) -> FileRead | None:
    """The file as it is now, or None when there is none."""
    try:
        return current_vault().read(path)
    except SynapseError as error:
        if error.code in _NOT_THERE:
            return None
        raise


def index_if_ours(path: str) -> bool:
    """Bring the index up to a file of ours, so that no scan finds it changed; True if it was behind."""
    read = standing(path)
    if read is None or len(read.data) > settings.SYNAPSE_MAX_PAGE_BYTES or not is_ours(read.data):
        return False
    page = Page.objects.live().filter(path=path).first()
    if page and page.content_hash == read.content_hash:
        return False
    uid = page.uid if page else uid_at(path)
    parsed = parse_page(path, read.data)
    with transaction.atomic():
        sync.index_page(page_id=uid, path=path, read=read, parsed=parsed)
        bump_data_version()
    return True
