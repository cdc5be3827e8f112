"""The callers of these tests, and items for them to decide about."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from django.utils import timezone

from reviews import services
from reviews.models import ReviewItem, Status
from reviews.services import Finding
from tests.wiki.api.conftest import CLAUDE, Rest, nobody, page, paula, refused, rita, vault, wanda

__all__ = ["CLAUDE", "Rest", "nobody", "page", "paula", "refused", "rita", "vault", "wanda"]

UNKNOWN = "00000000-0000-4000-8000-000000000000"
#: What stands where an id should, and names nothing: unknown, misspelled, of another type or size.
NO_IDS: list[Any] = [
    UNKNOWN,
    "",
    "x",
    "7",
    "8d3f5a1c5f0e4f3b9a512f6f0d1b7c01",
    "{8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01}",
    "urn:uuid:8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01",
    " 8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01",
    "8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01\n",
    "0" * 5_000,
    "'; DROP TABLE reviews_reviewitem; --",
    "\u0000",
    "\ud800",
    "٠" * 36,
    7,
    -1,
    1.5,
    10**400,
    True,
    None,
    [],
    ["8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01"],
    {"id": "8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01"},
    [[[[]]]],
]
#: Those of them that an address can hold.
NO_IDS_IN_ADDRESSES = [quote(id, safe="") for id in NO_IDS if isinstance(id, str) and id and "\ud800" not in id]


def asked(title: str = "Say more about Alan Turing", **fields: Any) -> ReviewItem:
    """An item that an agent has filed."""
    return services.file(findings=[finding(title, **fields)], origin="agent", author=CLAUDE).filed[0]


def asked_many(count: int) -> list[str]:
    """The ids of so many items, filed at once."""
    findings = [finding(f"Question {number}") for number in range(count)]
    return [str(item.pk) for item in services.file(findings=findings, origin="agent", author=CLAUDE).filed]


def finding(title: str, *, item_type: str = "suggestion", **fields: Any) -> Finding:
    """What an agent finds."""
    fields.setdefault("target", title.casefold())
    return Finding(item_type=item_type, rule="agent", title=title, **fields)


def decided(status: Status, title: str = "An old question") -> ReviewItem:
    """An item of any terminal status, as its row is."""
    item = asked(title)
    ReviewItem.objects.filter(pk=item.pk).update(
        status=status, reviewed_at=timezone.now(), reviewed_by="user:ada", reviewed_via="admin"
    )
    item.refresh_from_db()
    return item


@pytest.fixture
def item(vault: Any) -> ReviewItem:
    """A question that waits."""
    return asked()
