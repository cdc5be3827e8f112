"""Which pages a search may find: the filters, as one query over Page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import F, Q
from django.db.models.functions import Left

from vault.errors import ErrorCode, SynapseError
from wiki.models import Page, PageQuerySet, PageType, Tag
from wiki.search.text import clean

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 2**63 - 1  # the last nanosecond that a column can hold, in 2262


@dataclass(frozen=True, slots=True)
class Filters:
    """What a page must be to be found; an empty field asks for nothing."""

    types: Collection[str] = ()
    tag: str = ""
    path_prefix: str = ""
    lang: str = ""
    updated_since: datetime | None = None
    only: Collection[int] = ()
    """Keys of the pages that may be found; some thousands at most."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.types) - set(PageType.values))
        if unknown:
            raise SynapseError(
                ErrorCode.INVALID_PARAM_VALUE,
                f"A page's type is one of {', '.join(PageType.values)}.",
                parameter="type",
                allowed=list(PageType.values),
            )
        if self.updated_since is not None and self.updated_since.tzinfo is None:
            raise SynapseError(
                ErrorCode.INVALID_PARAM_VALUE, "Give updated_since with its time zone.", parameter="updated_since"
            )

    def __bool__(self) -> bool:
        return bool(self.types or self.tag or self.path_prefix or self.lang or self.updated_since or self.only)

    def pages(self) -> PageQuerySet:
        """Listed pages (live, not reserved) that pass."""
        pages = Page.objects.listed()
        if self.types:
            pages = pages.filter(type__in=sorted(self.types))
        if self.tag:
            key = clean(self.tag).lstrip("#").casefold()
            # #project finds #project/alpha too, as in Obsidian
            tagged = Tag.objects.alias(start=Left(F("key"), len(key) + 1)).filter(Q(key=key) | Q(start=key + "/"))
            pages = pages.filter(pk__in=tagged.values("page_id"))
        if self.path_prefix:
            prefix = clean(self.path_prefix)
            pages = pages.alias(start=Left(F("path"), len(prefix))).filter(start=prefix)
        if self.only:
            pages = pages.filter(pk__in=self.only)
        if self.lang:
            lang = clean(self.lang).lower()
            pages = pages.filter(Q(lang__iexact=lang) | Q(lang__istartswith=lang + "-"))
        if self.updated_since is not None:
            since = self.updated_since - _EPOCH
            nanoseconds = min(int(since.total_seconds() * 1e9), _LATEST)
            pages = pages.filter(mtime_ns__gte=nanoseconds)
        return pages

    def sql(self) -> tuple[str, tuple[Any, ...]]:
        """The keys of :meth:`pages` as a statement and its parameters, for full-text queries to join."""
        statement: tuple[str, tuple[Any, ...]] = self.pages().order_by().values("pk").query.sql_with_params()
        return statement
