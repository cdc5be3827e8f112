"""Writes that a person decides on: composed as they would be written, and filed instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reviews.models import ItemType, Origin, ReviewItem, Status
from reviews.services.bases import keep_bases
from reviews.services.filing import file
from reviews.services.findings import Finding
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import load, split, update
from vault.frontmatter.properties import sources_of
from vault.history import Author
from vault.writing.target import sha256
from wiki.services import Composed, compose_page
from wiki.services.merge import union

#: The rule under which staged writes are filed.
RULE: Final = "staged"
#: Somebody waits for these, so they stand above what agents ask and scans find.
RANK: Final = 1_000


def stage_write(
    *,
    title: str,
    content: str,
    frontmatter: Mapping[str, Any],
    origin_source: str = "",
    base_hash: str | None = None,
    path: str | None = None,
    author: Author,
) -> ReviewItem:
    """File the write of a page as a suggestion: refused as ``write_page`` refuses, and nothing in the vault changes.

    The item holds the file as it would be written; ``create`` writes those bytes. The same write staged twice is one
    item.

    Raises ``invalid_content`` where the page says exactly this already, ``review_terminal`` where this very write was
    decided before, and what :func:`wiki.services.write_page` raises.
    """
    made = compose_page(
        title=title,
        content=content,
        frontmatter=frontmatter,
        origin_source=origin_source,
        base_hash=base_hash,
        path=path,
        author=author,
    )
    if made.page is not None and sha256(made.text.encode()) == made.base_hash:
        raise SynapseError(
            ErrorCode.INVALID_CONTENT, "The page says exactly this already, so there is nothing to propose."
        )
    given = {**frontmatter, "sources": union(sources_of(frontmatter), [" ".join(origin_source.split())])}
    finding = Finding(
        item_type=ItemType.SUGGESTION,
        rule=RULE,
        target=made.path,
        title=f"{'Change' if made.page else 'Make'} the page {made.title}",
        rationale=_rationale(made, author),
        page=made.page,
        proposed_title=made.title,
        proposed_page_type=str(frontmatter["type"]),
        proposed_frontmatter=given,
        proposed_body=content,
        proposed_text=_text_waiting(made, given, content) or made.text,
        base_hash=made.base_hash or "",
        rank=RANK,
    )
    outcome = file(findings=[finding], origin=Origin.AGENT, author=author).outcomes[0]
    if outcome.item is None or outcome.what == "refused":
        raise _decided_before(outcome.item, outcome.reason)
    keep_bases([outcome.item])
    return outcome.item


def _text_waiting(made: Composed, given: Mapping[str, Any], content: str) -> str | None:
    """The text of a pending item that differs from this one in its days only: staged again it is the same write."""
    waiting = ReviewItem.objects.filter(
        status=Status.PENDING, rule=RULE, target=made.path, base_hash=made.base_hash or "", proposed_body=content
    )
    for text, properties in waiting.values_list("proposed_text", "proposed_frontmatter"):
        if properties == given and _with_days_of(text, made.text) == text:
            return str(text)
    return None


def _with_days_of(text: str, other: str) -> str:
    days = load(split(text).raw or "").data
    return update(other, {key: days.get(key) for key in ("created", "updated")})


def _rationale(made: Composed, author: Author) -> str:
    what = f"a new text for {made.path}" if made.page else f"a new page at {made.path}"
    return " ".join([f"{author.name} proposes {what}.", *made.warnings])


def _decided_before(item: ReviewItem | None, reason: str) -> SynapseError:
    known = {"id": str(item.pk), "status": item.status} if item else {}
    return SynapseError(ErrorCode.REVIEW_TERMINAL, f"This very write was proposed before. {reason}", **known)
