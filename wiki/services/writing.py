"""Making and changing pages: the one write path.

Source: the write rules in docs/writing.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import compose, split
from vault.history import Author
from wiki.models import Page
from wiki.services import rules
from wiki.services.composing import composed, put
from wiki.services.filing import Held, check_may_change, held, or_composed, replace
from wiki.services.merge import existing_properties, with_properties
from wiki.services.recording import PageWritten


def write_page(
    *,
    title: str,
    content: str,
    frontmatter: Mapping[str, Any],
    origin_source: str = "",
    base_hash: str | None = None,
    path: str | None = None,
    sources_replace: bool = False,
    author: Author,
) -> PageWritten:
    """Make the page of this title, or change it: the frontmatter is merged, the body replaced, links made to work.

    ``base_hash`` is the sha256 (hex) of the version a change was made from; it may be left out while Synapse itself
    wrote the file last. ``path`` decides between pages of one title. ``sources_replace`` sets ``sources`` instead of
    adding to them.

    Raises ``invalid_frontmatter``, ``invalid_content``, ``payload_too_large``, ``path_not_allowed``,
    ``ambiguous_title``, ``base_required``, ``conflict``, ``read_only``, ``storage_error``, all before anything is
    changed.
    """
    return composed(
        title=title,
        content=content,
        frontmatter=frontmatter,
        origin_source=origin_source,
        base_hash=base_hash,
        path=path,
        sources_replace=sources_replace,
        author=author,
        then=partial(put, author=author, detail={"sources_replace": True} if sources_replace else None),
    )


def create_page(
    *,
    title: str,
    content: str,
    frontmatter: Mapping[str, Any],
    origin_source: str = "",
    author: Author,
) -> PageWritten:
    """Make a page as :func:`write_page` does; ``conflict`` when its title is taken already."""
    return composed(
        title=title,
        content=content,
        frontmatter=frontmatter,
        origin_source=origin_source,
        only_new=True,
        author=author,
        then=partial(put, author=author),
    )


def put_page(
    *,
    page: Page,
    text: str | None = None,
    content: str | None = None,
    frontmatter: Mapping[str, Any] | None = None,
    base_hash: str | None,
    author: Author,
) -> PageWritten:
    """Replace a page as a person does: the whole ``text``, or its body and its properties, links kept as given.

    Of ``content`` and ``frontmatter`` what is left out stays; properties that ``frontmatter`` lacks are removed.
    Frontmatter need only parse. ``base_hash`` is always needed. Raises ``base_required``, ``stale_base`` or
    ``conflict``, ``invalid_frontmatter``, ``invalid_content``, ``payload_too_large``, ``path_not_allowed``.
    """
    check_may_change(page, author)
    if text is not None and (content is not None or frontmatter is not None):
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "Send either the whole text, or content and frontmatter.")
    if text is None and content is None and frontmatter is None:
        raise SynapseError(ErrorCode.MISSING_REQUIRED_PARAMS, "Send the whole text, or content, or frontmatter.")
    for part in (text, content):
        if part is not None:
            rules.check_text(part)

    def new_text(now: Held) -> bytes:
        made = text if text is not None else with_properties(now.text, content, frontmatter)
        existing_properties(split(made), whose="The new")
        return made.encode()

    def alone() -> bytes:
        return (text if text is not None else compose(frontmatter or {}, content or "")).encode()

    with held(page) as now:
        rules.check_base(
            now.page,
            now.read,
            base_hash,
            author=author,
            required=True,
            text=lambda: or_composed(lambda: new_text(now), alone),
        )
        return replace(now, new_text(now), author=author)
