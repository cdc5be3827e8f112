"""Which pages rest on a source: those whose frontmatter names it, and those that link to it.

A source is known by its key: its vault path, NFC (:func:`wiki.sync.values.source_key`). A page may name a source that
is not there, or no longer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from django.db.models import Q, QuerySet

from vault.links import RESOLVED, Targets, path_key, resolve
from vault.paths import SOURCES
from wiki.models import Citation, File, FileKind, Link, LinkKind, LinkState, Page, PageQuerySet
from wiki.rows import chunks, select
from wiki.storable import key
from wiki.sync.values import source_key

__all__ = ["cited_by", "pages_by_source", "pages_citing", "pages_missing", "source_key", "sources_at"]

# Built by hand, for it is asked after each write. The empty text keeps SQLite from walking all broken links.
_CITED: Final = (
    "SELECT key FROM {citation} WHERE page_id IN {items} "
    "UNION SELECT target_path FROM {link} WHERE source_id IN {items} AND target_path LIKE 'raw/sources/%%' "
    "UNION SELECT file.path FROM {link} link JOIN {file} file ON file.name_key = link.name_key "
    "AND file.kind = 'source' AND file.deleted_at IS NOT NULL "
    "WHERE link.source_id IN {items} AND link.state || '' = 'broken'"
)
_LISTED: Final = Q(source__deleted_at__isnull=True, source__reserved=False)


def pages_citing(file: File) -> PageQuerySet:
    """The live pages that name this file in ``sources`` (by either form of its path) or link to it, by title."""
    naming = Citation.objects.filter(key=source_key(file.path)).values("page")
    linking = Link.objects.filter(name_key=file.name_key, target_path=file.path).values("source")
    return Page.objects.live().filter(Q(pk__in=naming) | Q(pk__in=linking)).order_by("title", "pk")


def pages_by_source(sources: Collection[str] | None = None) -> dict[str, set[int]]:
    """The listed pages (by number) that name or link to each of these sources (by key), or to any source at all.

    Sources that nobody cites are not in it.
    """
    found: dict[str, set[int]] = defaultdict(set)
    for page, source in _naming(sources):
        found[source].add(page)
    links = Link.objects.filter(_LISTED).order_by()
    if sources is None:
        to_sources = links.filter(target__isnull=True, target_path__startswith=f"{SOURCES}/")
        for page, path in to_sources.values_list("source_id", "target_path"):
            found[source_key(path or "")].add(page)
        return dict(found)
    for chunk in chunks(sources_at(sources)):
        names, paths = {file.name_key for file in chunk}, {file.path for file in chunk}
        leading = links.filter(name_key__in=names, target_path__in=paths)
        for page, path in leading.values_list("source_id", "target_path"):
            found[source_key(path or "")].add(page)
    return dict(found)


def cited_by(pages: Iterable[int]) -> set[str]:
    """The keys of the sources that these pages name or link to, and of those that their broken links once led to."""
    return {source_key(path) for (path,) in select(_CITED, pages) if path}


def pages_missing(files: Collection[File]) -> dict[str, set[int]]:
    """The listed pages (by number) that name each of these sources, which are gone, or whose broken links mean it."""
    found: dict[str, set[int]] = defaultdict(set)
    for page, source in _naming({source_key(file.path) for file in files}):
        found[source].add(page)
    by_name: dict[str, list[File]] = defaultdict(list)
    for file in files:
        by_name[file.name_key].append(file)
    for names in chunks(by_name):
        broken = Link.objects.filter(_LISTED, state=LinkState.BROKEN, name_key__in=names).order_by()
        for page, path, kind, text, name in broken.values_list("source_id", "source__path", "kind", "text", "name_key"):
            for file in by_name[name]:
                if _would_lead(text, path, file.path, markdown=kind == LinkKind.MARKDOWN):
                    found[source_key(file.path)].add(page)
    return dict(found)


def sources_at(keys: Collection[str], *, gone: bool = False) -> list[File]:
    """The sources with these keys that are in the vault, or with ``gone`` those that were, by path."""
    wanted = set(keys)
    found: list[File] = []
    for chunk in chunks({key(path_key(source)) for source in wanted}):
        files = _sources(deleted_at__isnull=not gone, path_key__in=chunk)
        found += [file for file in files if source_key(file.path) in wanted]
    return sorted(found, key=lambda file: file.path)


def _sources(**conditions: object) -> QuerySet[File]:
    return File.objects.filter(kind=FileKind.SOURCE, **conditions)


def _naming(sources: Collection[str] | None) -> Iterator[tuple[int, str]]:
    rows = Citation.objects.filter(page__deleted_at__isnull=True, page__reserved=False)
    for chunk in [None] if sources is None else chunks(sources):
        chosen = rows if chunk is None else rows.filter(key__in=chunk)
        yield from chosen.values_list("page_id", "key")


def _would_lead(text: str, source: str, path: str, *, markdown: bool) -> bool:
    """Whether a link would lead to this path, were the file there."""
    targets = Targets()
    targets.add_file(path, page=False)
    found = resolve(text, source=source, targets=targets, markdown=markdown)
    return found.state == RESOLVED and found.path == path
