"""The versions that proposals were made from, kept while these wait.

A person may change a page in an editor after an agent has proposed another text for it. The vault's history has what
Synapse displaced, and not what an editor saved over; without this copy nobody could be shown what has changed since.
"""

from __future__ import annotations

from collections.abc import Iterable

from reviews.models import BaseText, ReviewItem, Status
from vault.errors import SynapseError
from vault.writing.target import sha256
from wiki.services import read_page


def keep_bases(items: Iterable[ReviewItem]) -> None:
    """Keep the version that each of these is based on, if its page's file still is that version; forget old ones.

    Reads files, so it has no place in a transaction. What can't be read is left out: it is of use, and not needed.
    """
    wanted = {item.base_hash: item for item in items if item.base_hash and item.page is not None}
    known = set(BaseText.objects.filter(content_hash__in=wanted).values_list("content_hash", flat=True))
    for content_hash in sorted(wanted.keys() - known):
        text = _text(wanted[content_hash], content_hash)
        if text is not None:
            BaseText.objects.get_or_create(content_hash=content_hash, defaults={"text": text})
    if wanted:
        waiting = ReviewItem.objects.filter(status=Status.PENDING).exclude(base_hash="")
        BaseText.objects.exclude(content_hash__in=waiting.values("base_hash")).delete()


def base_text(content_hash: str) -> str | None:
    """The version of this sha256 (hex), None when it is not kept."""
    return BaseText.objects.filter(content_hash=content_hash).values_list("text", flat=True).first()


def _text(item: ReviewItem, content_hash: str) -> str | None:
    try:
        data = read_page(item.page).data if item.page is not None else b""
    except SynapseError:
        return None
    if sha256(data) != content_hash:
        return None
    text = data.decode("utf-8", errors="replace")
    return None if "\0" in text else text  # PostgreSQL keeps no text with one
