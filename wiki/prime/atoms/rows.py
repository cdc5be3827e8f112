"""Writing what prime knows of pages, in the transaction that writes the pages: the scan and the write path alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.db import transaction
from django.db.models import Q, QuerySet

from vault.markdown import ParsedLink, parse_body
from vault.slugs import slugify
from wiki.data_version import STATE_PK
from wiki.models import Alias, AtomRelation, AtomRow, Link, LinkKind, Page, Tag, VaultState
from wiki.prime.atoms.facts import facts_of
from wiki.prime.atoms.levels import levels_of
from wiki.prime.atoms.pagetext import NO_TYPE, PageText
from wiki.prime.atoms.quality import failed_checks, quality_of
from wiki.prime.atoms.relations import relations_of
from wiki.rows import chunks, index_lock, insert
from wiki.search import texts
from wiki.search.budget import tokens

#: The version of the rules by which levels, relations and quality are made. Raise it when one of them changes what
#: it makes of a page: the next scan makes all anew.
RULES: Final = 1
#: Pages of one transaction when levels are made from the index.
AT_ONCE: Final = 60

#: Flags of a page that say nothing of the text it was indexed with.
_NOT_THE_TEXTS: Final = frozenset({"title_too_long", "too_large", "unreadable", "not_downloaded"})
_FIELDS: Final = (
    "page",
    "kind",
    "slug",
    "description",
    "tokens_summary",
    "tokens_core",
    "tokens_full",
    "quality",
    "failed",
    "contract",
    "lifecycle",
    "version",
    "created",
    "updated",
    "rules",
    "summary",
    "core",
    "rest",
    "tail",
)


def write_levels(pages: Iterable[tuple[int, str, PageText]], *, replacing: Iterable[int]) -> None:
    """Write the atoms of pages, given as ``(row, path, text)``, in the caller's transaction.

    ``replacing`` are the rows that may have one already.
    """
    remove_levels(replacing)
    rows: list[tuple[Any, ...]] = []
    relations: list[tuple[Any, ...]] = []
    for pk, path, page in pages:
        rows.append(_row(pk, path, page))
        relations += (
            (pk, order, written.verb, written.text, written.link_order)
            for order, written in enumerate(relations_of(page))
        )
    insert(AtomRow, _FIELDS, rows)
    insert(AtomRelation, ("page", "order", "verb", "text", "link_order"), relations)


def remove_levels(pks: Iterable[int]) -> None:
    """Take the atoms of pages away, in the caller's transaction; rows that have none are no error."""
    for chunk in chunks(pks):
        AtomRow.objects.filter(page__in=chunk).delete()
        AtomRelation.objects.filter(page__in=chunk).delete()


def slug_of(path: str) -> str:
    """The slug of a page's file."""
    name = path.rpartition("/")[2]
    return slugify(name[:-3] if name[-3:].lower() == ".md" else name)


def _row(pk: int, path: str, page: PageText) -> tuple[Any, ...]:
    levels, facts, failed = levels_of(page), facts_of(page), failed_checks(page)
    return (
        pk,
        page.kind,
        slug_of(path),
        levels.description,
        tokens(levels.summary),
        tokens(levels.core),
        tokens(levels.full),
        quality_of(failed),
        failed,
        *facts,
        RULES,
        levels.summary,
        levels.core,
        levels.rest,
        levels.tail,
    )


# --- from the index ----------------------------------------------------------------------------


def levels_wait() -> bool:
    """Whether some page may have no atom, or one by older rules: the index is older than they are."""
    return VaultState.objects.filter(pk=STATE_PK).exclude(levels_by=RULES).exists()


def fill_levels() -> int:
    """Make the atoms that wait from what the index holds of their pages; no file is read. Returns how many."""
    done = 0
    while True:
        with transaction.atomic():
            index_lock()
            pages = list(_waiting().order_by("pk")[:AT_ONCE])
            write_levels(_from_index(pages), replacing=[page.pk for page in pages])
            done += len(pages)
            if len(pages) < AT_ONCE:
                VaultState.objects.filter(pk=STATE_PK).update(levels_by=RULES)
                return done


def _waiting() -> QuerySet[Page]:
    return Page.objects.listed().filter(Q(atom__isnull=True) | ~Q(atom__rules=RULES))


def _from_index(pages: list[Page]) -> Iterator[tuple[int, str, PageText]]:
    pks = [page.pk for page in pages]
    bodies = dict(texts(pks))
    aliases, tags = _names(Alias, pks), _names(Tag, pks)
    links: dict[int, list[ParsedLink]] = {}
    rows = Link.objects.filter(source__in=pks, kind=LinkKind.PROPERTY).order_by("source", "order")
    for source, text, subpath, alias, name in rows.values_list("source", "text", "subpath", "alias", "property"):
        links.setdefault(source, []).append(ParsedLink("property", False, text, subpath, alias, 0, 0, name))
    for page in pages:
        body = bodies.get(page.pk, "")
        yield (
            page.pk,
            page.path,
            PageText(
                title=page.title,
                kind=page.type or NO_TYPE,
                lang=page.lang,
                body=body,
                read=parse_body(body),
                frontmatter=page.frontmatter,
                tags=tags.get(page.pk, []),
                aliases=aliases.get(page.pk, []),
                sources=page.sources,
                property_links=links.get(page.pk, []),
                flags=[flag for flag in page.flags if flag["code"] not in _NOT_THE_TEXTS],
            ),
        )


def _names(model: type[Alias] | type[Tag], pks: list[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for pk, name in model.objects.filter(page__in=pks).order_by("pk").values_list("page_id", "name"):
        found.setdefault(pk, []).append(name)
    return found
