"""What the action ``create`` writes: the proposed change, the proposed page, or a stub of the page that is missing."""

from __future__ import annotations

from collections.abc import Callable

from reviews.models import ReviewItem
from vault.history import Author
from wiki.services import PageWritten


def carry_out(item: ReviewItem, *, author: Author, note_intent: Callable[[str], None] | None = None) -> PageWritten:
    """Write what an item proposes, as ``author``, who decided so; the item itself is not touched.

    ``note_intent`` is called with the sha256 (hex) of the bytes just before they are written, so that a retry after a
    crash can tell its own file by ``item.write_hash`` and ends without a second write.
    """
    raise NotImplementedError
