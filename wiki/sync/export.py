"""All links of the vault for other programs, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from wiki.models import Link, LinkKind, Page

_FIELDS = ("source_id", "kind", "embed", "text", "subpath", "alias", "property", "state", "target_path")


def export_links() -> Iterator[dict[str, Any]]:
    """One object a page, sorted by path: ``path``; ``links`` in the order of the body, each with target, subpath,
    alias, embed, kind (wikilink, embed or markdown), state and to (a vault path or null); ``property_links``, each
    with key, target, subpath, alias, state and to.
    """
    paths = dict(Page.objects.live().order_by().values_list("pk", "path"))
    rows = Link.objects.order_by("source_id", "order").values_list(*_FIELDS).iterator(chunk_size=5_000)
    links = {source: [row[1:] for row in group] for source, group in groupby(rows, key=itemgetter(0))}
    for pk, path in sorted(paths.items(), key=itemgetter(1)):
        found = links.get(pk, [])
        yield {
            "path": path,
            "links": [_body_link(row) for row in found if row[0] != LinkKind.PROPERTY],
            "property_links": [_property_link(row) for row in found if row[0] == LinkKind.PROPERTY],
        }


def _body_link(row: tuple[Any, ...]) -> dict[str, Any]:
    kind, embed, target, subpath, alias, _, state, path = row
    return {
        "target": target,
        "subpath": subpath,
        "alias": alias,
        "embed": embed,
        "kind": kind,
        "state": state,
        "to": path,
    }


def _property_link(row: tuple[Any, ...]) -> dict[str, Any]:
    _, _, target, subpath, alias, name, state, path = row
    return {"key": name, "target": target, "subpath": subpath, "alias": alias, "state": state, "to": path}
