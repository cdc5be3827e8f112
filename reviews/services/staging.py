"""Writes that a person decides on: composed as they would be written, and filed instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reviews.models import ItemType, Origin, ReviewItem
from reviews.services.filing import file
from reviews.services.findings import Finding
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter.properties import sources_of
from vault.history import Author
from vault.writer import sha256
from wiki.services import Composed, compose_page
from wiki.services.merge import union

#: The rule under which staged writes are filed.
RULE: Final = "staged"


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
    sources = union(sources_of(frontmatter), [" ".join(origin_source.split())])
    finding = Finding(
        item_type=ItemType.SUGGESTION,
        rule=RULE,
        target=made.path,
        title=f"{'Change' if made.page else 'Make'} the page {made.title}",
        rationale=_rationale(made, author),
        page=made.page,
        proposed_title=made.title,
        proposed_page_type=str(frontmatter["type"]),
        proposed_frontmatter={**frontmatter, "sources": sources},
        proposed_body=content,
        proposed_text=made.text,
        base_hash=made.base_hash or "",
    )
    outcome = file(findings=[finding], origin=Origin.AGENT, author=author).outcomes[0]
    if outcome.item is None or outcome.what == "refused":
        raise _decided_before(outcome.item, outcome.reason)
    return outcome.item


def _rationale(made: Composed, author: Author) -> str:
    what = f"a new text for {made.path}" if made.page else f"a new page at {made.path}"
    return " ".join([f"{author.name} proposes {what}.", *made.warnings])


def _decided_before(item: ReviewItem | None, reason: str) -> SynapseError:
    known = {"id": str(item.pk), "status": item.status} if item else {}
    return SynapseError(ErrorCode.REVIEW_TERMINAL, f"This very write was proposed before. {reason}", **known)
