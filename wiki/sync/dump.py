"""The index as text that two databases can be compared by: live rows, no row numbers, no clocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from wiki.models import Alias, Edge, File, Link, Page, Tag


def dump_index() -> Iterator[dict[str, Any]]:
    """One object a page, then one a file, then one an edge, each kind sorted by path.

    A page: ``page`` (path), id, title, type, lang, reserved, aliases, tags, sources, frontmatter, flags,
    content_hash, summary, words, and links in their order. A file: ``file`` (path), kind, content_hash. An edge:
    ``edge`` (two paths), links, weight. Two indexes of one vault are the same when these are.
    """
    yield from _pages()
    for path, kind, content_hash in sorted(
        File.objects.filter(deleted_at__isnull=True).values_list("path", "kind", "content_hash")
    ):
        yield {"file": path, "kind": kind, "content_hash": content_hash}
    edges = Edge.objects.values_list("a__path", "b__path", "links", "weight").iterator(chunk_size=5_000)
    for one, other, links, weight in sorted((*sorted(row[:2]), *row[2:]) for row in edges):
        yield {"edge": [one, other], "links": links, "weight": weight}


def _pages() -> Iterator[dict[str, Any]]:
    aliases = _names(Alias)
    tags = _names(Tag)
    links = _links()
    for page in sorted(Page.objects.live().order_by().iterator(chunk_size=2_000), key=lambda page: page.path):
        yield {
            "page": page.path,
            "id": str(page.uid),
            "title": page.title,
            "type": page.type,
            "lang": page.lang,
            "reserved": page.reserved,
            "aliases": aliases.get(page.pk, []),
            "tags": tags.get(page.pk, []),
            "sources": page.sources,
            "frontmatter": page.frontmatter,
            "flags": page.flags,
            "content_hash": page.content_hash,
            "summary": page.summary,
            "words": page.words,
            "links": links.get(page.pk, []),
        }


def _names(model: type[Alias] | type[Tag]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for pk, name in model.objects.order_by("pk").values_list("page_id", "name"):
        found[pk].append(name)
    return found


def _links() -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    fields = ("order", "kind", "embed", "text", "subpath", "alias", "property", "state", "target_path", "target__path")
    rows = Link.objects.order_by("source_id", "order").values_list("source_id", *fields)
    for source, order, kind, embed, text, subpath, alias, name, state, path, page in rows.iterator(chunk_size=5_000):
        found[source].append(
            {
                "order": order,
                "kind": kind,
                "embed": embed,
                "target": text,
                "subpath": subpath,
                "alias": alias,
                "property": name,
                "state": state,
                "to": path,
                "page": page,
            }
        )
    return found
