"""The index as text that two databases can be compared by: live rows, no row numbers, no clocks."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from wiki.models import Alias, AtomRelation, AtomRow, Edge, File, Link, Page, Tag
from wiki.prime.atoms.levels import Level
from wiki.rows import chunks

_ATOMS_AT_ONCE: Final = 200


def dump_index() -> Iterator[dict[str, Any]]:
    """One object a page, then one a file, then one an edge, each kind sorted by path.

    A page: ``page`` (path), id, title, type, lang, reserved, aliases, tags, sources, frontmatter, flags,
    content_hash, summary, words, links in their order, and levels (see :func:`_levels`; null for a reserved page). A
    file: ``file`` (path), kind, content_hash. An edge:
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
    links, levels = _links(), dict(_levels())
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
            "levels": levels.get(page.pk),
        }


def _levels() -> Iterator[tuple[int, dict[str, Any]]]:
    """Of each atom its kind, slug, tokens and the sha256 of each level's text, and what it writes of others."""
    from wiki.prime.atoms.reading import level_texts  # it brings numpy, which only a dump should wait for

    relations: dict[int, list[list[Any]]] = defaultdict(list)
    written = AtomRelation.objects.order_by("page_id", "order").values_list("page_id", "verb", "text", "link_order")
    for pk, *relation in written.iterator(chunk_size=5_000):
        relations[pk].append(relation)
    rows = iter(AtomRow.objects.order_by("page_id").iterator(chunk_size=_ATOMS_AT_ONCE))
    for some in chunks(rows, _ATOMS_AT_ONCE):
        full = level_texts([row.page_id for row in some], Level.FULL)
        for row in some:
            texts = (row.summary, row.core, full[row.page_id])
            yield (
                row.page_id,
                {
                    "kind": row.kind,
                    "slug": row.slug,
                    "tokens": [row.tokens_summary, row.tokens_core, row.tokens_full],
                    "sha256": [hashlib.sha256(text.encode()).hexdigest() for text in texts],
                    "quality": row.quality,
                    "failed": row.failed,
                    "contract": row.contract,
                    "state": [row.lifecycle, row.version, row.created, row.updated],
                    "relations": relations.get(row.page_id, []),
                },
            )


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
