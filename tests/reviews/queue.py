"""What tests of the queue share: findings, and the people and programs that file and decide."""

from __future__ import annotations

from typing import Any

from reviews.models import ReviewEvent, ReviewItem
from reviews.services import Filed, Finding, file
from vault.history import Author

SCAN = Author("synapse", "scan")
SWEEP = Author("synapse", "sweep")
ALICE = Author("user:alice", "admin")
BOB = Author("user:bob", "rest")
CLAUDE = Author("agent:claude", "mcp-stdio")
TOKEN = Author("token:ci", "rest")


def finding(target: str = "turing", **values: Any) -> Finding:
    """A missing page, or what ``values`` make of it."""
    given = {"item_type": "missing-page", "rule": "missing-page", "title": f"{target} is missing", **values}
    return Finding(target=target, **given)


def file_all(*findings: Finding, origin: str = "rule", author: Author = SCAN, cap: int | None = None) -> Filed:
    """File these findings."""
    return file(findings=findings, origin=origin, author=author, cap=cap)


def pending(target: str = "turing", *, origin: str = "rule", **values: Any) -> ReviewItem:
    """A new item."""
    (item,) = file_all(finding(target, **values), origin=origin).filed
    return ReviewItem.objects.get(pk=item.pk)


def pending_of_type(item_type: str, target: str = "turing", **values: Any) -> ReviewItem:
    """A new item of a type, filed by an agent."""
    return pending(target, item_type=item_type, rule="agent", origin="agent", **values)


def history(item: ReviewItem) -> list[tuple[str, str, str]]:
    """What happened to an item: (what, who, to_status)."""
    return list(ReviewEvent.objects.filter(item=item).values_list("what", "who", "to_status"))


def state() -> tuple[list[Any], list[Any]]:
    """Every field of every item and event, to be compared."""
    return list(ReviewItem.objects.order_by("pk").values()), list(ReviewEvent.objects.order_by("pk").values())
