"""Many items in one address or field: 200 ids stay well below what servers and proxies take of an address."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from reviews.services.bulk import MAX_IDS

_BYTES: Final = 16


def packed(ids: Iterable[UUID]) -> str:
    """The ids in order, as letters that an address may hold."""
    return urlsafe_b64encode(b"".join(item_id.bytes for item_id in ids)).decode()


def unpacked(text: str) -> list[UUID]:
    """The ids again, at most 200; none of a text that :func:`packed` did not make."""
    try:
        data = urlsafe_b64decode(text[: MAX_IDS * _BYTES * 2])
    except ValueError:
        return []
    whole = range(0, min(len(data) - len(data) % _BYTES, MAX_IDS * _BYTES), _BYTES)
    return [UUID(bytes=data[at : at + _BYTES]) for at in whole]
