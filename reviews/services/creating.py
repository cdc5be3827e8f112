"""What the action ``create`` writes: the proposed change, the proposed page, or a stub of the page that is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reviews.actions import supported
from reviews.models import ItemType, ReviewItem
from reviews.services.findings import Finding, item_values
from reviews.services.stubs import (
    askers,
    not_in_obsidian,
    standing_page,
    stub_body,
    stub_language,
    unresolved_by,
)
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import compose
from vault.frontmatter.properties import aliases_of
from vault.history import Author
from vault.slugs import page_path
from wiki import sync
from wiki.models import Page, PageType
from wiki.services import Composed, PageWritten, compose_page, write_composed
from wiki.services.approved import conflicting, is_stale
from wiki.services.naming import taken_by
from wiki.services.rules import clean_title

#: Refusals of a write that stay, as long as the proposal is what it is.
_FOR_GOOD: Final = (
    ErrorCode.INVALID_FRONTMATTER,
    ErrorCode.INVALID_CONTENT,
    ErrorCode.PATH_NOT_ALLOWED,
    ErrorCode.PAYLOAD_TOO_LARGE,
)


def carry_out(item: ReviewItem, *, author: Author, note_intent: Callable[[str], None] | None = None) -> PageWritten:
    """Write what an item proposes, as ``author``, who decided so; the item itself is not touched.

    ``note_intent`` is called with the sha256 (hex) of the bytes just before they are written. A retry after a crash
    finds those bytes by ``item.write_hash``, and ends without a second write. ``warnings`` tell of links that lead to a
    new page here and not in Obsidian.

    Raises ``conflict`` where the page is not the version that the proposal was made from, or the place is taken, with
    the texts ``base``, ``current`` and ``proposed``; and what :func:`wiki.services.write_page` raises. Nothing has been
    written then.
    """
    written = _write(item, author, note_intent)
    if written.created:
        written.warnings.extend(not_in_obsidian(written.page))
    return written


def _write(item: ReviewItem, author: Author, note_intent: Callable[[str], None] | None) -> PageWritten:
    try:
        made = proposal(item, author=author)
        return write_composed(
            page=made.page,
            title=made.title,
            path=made.path,
            text=made.text,
            base_hash=made.base_hash,
            author=author,
            detail={"review": str(item.pk)},
            intent=note_intent,
        )
    except SynapseError as error:
        written = _written_before(item, error)
        if written is None:
            raise
        return written


def proposal(item: ReviewItem, *, author: Author) -> Composed:
    """The file that ``create`` would write now, with the same refusals; nothing is changed. Reads files."""
    if item.proposed_text:
        return _staged(item)
    if is_edit(item):
        return _edit(item, author)
    return _new_page(item, author)


def check_can_be_written(finding: Finding, *, author: Author) -> None:
    """Refuse what ``create`` would refuse whatever comes, with the code and the sentence of that refusal.

    What may be otherwise by then (the version of a page, a title that is taken, who asks for a page) is no reason, nor
    is an item that ``create`` does not fit. Composes the file; reads files and takes locks.
    """
    item = ReviewItem(item_type=finding.item_type, target=finding.target, **item_values(finding))
    if "create" not in supported(item):
        return
    try:
        proposal(item, author=author)
    except SynapseError as error:
        if error.code not in _FOR_GOOD:
            return
        if not is_edit(item) and "sources" in error.repair.get("fields", {}) and not finding.references:
            raise SynapseError(
                error.code,
                "No page asks for this one, so it has nothing to rest on, and create could not make it. Name the pages "
                "that ask for it in referenced_pages, or give sources in proposed_frontmatter.",
                **error.repair,
            ) from None
        raise


def is_edit(item: ReviewItem) -> bool:
    """Whether the item proposes another text for the page it is about.

    A body beside another title is a new page, which the item's page only gave rise to.
    """
    if item.proposed_body is None or not item.page_path or item.item_type == ItemType.MISSING_PAGE:
        return False
    return not item.proposed_title or (item.page is not None and item.proposed_title == item.page.title)


def _staged(item: ReviewItem) -> Composed:
    changes = bool(item.base_hash)
    page = _own_page(item, item.proposed_text) if changes else None
    path = page.path if page else item.target
    return Composed(page, path, item.proposed_title, item.proposed_text, item.base_hash or None)


def _edit(item: ReviewItem, author: Author) -> Composed:
    body = item.proposed_body or ""
    page = _own_page(item, body)
    if not item.base_hash:
        raise SynapseError(
            ErrorCode.BASE_REQUIRED,
            "The proposal does not name the version of the page it was made from, so it can't be told whether it still "
            "fits. Have it proposed again with base_hash.",
            path=page.path,
        )
    own = {"type": page.type, "title": page.title, "sources": page.sources, "lang": page.frontmatter.get("lang")}
    given = {**own, **_typed(item), **(item.proposed_frontmatter or {})}
    try:
        return compose_page(
            title=page.title,
            content=body,
            frontmatter=given,
            base_hash=item.base_hash,
            path=page.path,
            author=author,
        )
    except SynapseError as error:
        if not is_stale(error):
            raise
        message = "The page has changed since this was proposed."
        proposed = _whole(given, body)
        raise conflicting(message, page=page, base_hash=item.base_hash, proposed=proposed, path=page.path) from None


def _new_page(item: ReviewItem, author: Author) -> Composed:
    """The proposed page; where the proposal says nothing, it is a concept resting on the pages that ask for it."""
    asking = askers(item)
    proposed = item.proposed_frontmatter or {}
    title = clean_title(item.proposed_title or str(proposed.get("title") or item.target))
    page_type = str(proposed.get("type") or item.proposed_page_type or PageType.CONCEPT)
    given: dict[str, Any] = {
        "type": page_type,
        "title": title,
        "sources": [page.path for page in asking],
        "lang": stub_language(item),
        **proposed,
    }
    place = page_path(page_type, title)
    if item.item_type == ItemType.MISSING_PAGE:
        standing = standing_page(title)
        if standing is not None:  # written in another spelling, it would be a second page of one name
            raise taken_by(standing, "A page of this name is there already.")
        missed = unresolved_by(item, path=place, title=title, aliases=aliases_of(given))
        if missed:
            given["aliases"] = [*aliases_of(given), *missed]
    body = item.proposed_body if item.proposed_body is not None else stub_body(item, asking, path=place)
    return compose_page(title=title, content=body, frontmatter=given, only_new=True, author=author)


def _typed(item: ReviewItem) -> dict[str, Any]:
    return {"type": item.proposed_page_type} if item.proposed_page_type else {}


def _own_page(item: ReviewItem, proposed: str) -> Page:
    """The live page that the item is about, whatever it is called by now; ``conflict`` when it is gone."""
    page = Page.objects.filter(pk=item.page_id).first() if item.page_id else None
    if page is None or page.deleted_at is not None:
        message = "The page is not there any more."
        raise conflicting(message, page=page, base_hash=item.base_hash, proposed=proposed, path=item.page_path)
    return page


def _whole(given: dict[str, Any], body: str) -> str:
    try:
        return compose(given, body)
    except SynapseError:
        return body


def _written_before(item: ReviewItem, error: SynapseError) -> PageWritten | None:
    """The page, when what stands in the way is what an earlier attempt at this very item has written."""
    path, standing = error.repair.get("path"), error.repair.get("content_hash")
    if not is_stale(error) or not path or not standing or standing != item.write_hash:
        return None
    page = _indexed(path, standing)
    if page is None:
        sync.sync_paths([path])
        page = _indexed(path, standing)
    return PageWritten(page, standing, created=not (item.base_hash or is_edit(item))) if page else None


def _indexed(path: str, content_hash: str) -> Page | None:
    return Page.objects.live().filter(path=path, content_hash=content_hash).first()
