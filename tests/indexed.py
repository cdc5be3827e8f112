"""Pages in the index without files: what tests of reads need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vault.links import name_key, path_key, text_key
from wiki.models import Alias, Page, Tag
from wiki.search import PageWords, index_words


def indexed(
    title: str, body: str = "", *, path: str = "", aliases: Sequence[str] = (), tags: Sequence[str] = (), **fields: Any
) -> Page:
    """A page with its words indexed; its path is made from the title unless it is given."""
    path = path or f"wiki/concepts/{title}.md"
    page = Page.objects.create(
        path=path,
        path_key=path_key(path),
        name_key=name_key(path),
        title=title,
        title_key=text_key(title),
        content_hash="0" * 64,
        **fields,
    )
    Alias.objects.bulk_create(Alias(page=page, name=alias, key=text_key(alias)) for alias in aliases)
    Tag.objects.bulk_create(Tag(page=page, name=tag, key=tag.casefold()) for tag in tags)
    index_words([PageWords(page.pk, title, body, page.lang, aliases, tags)])
    return page
