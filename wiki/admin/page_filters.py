"""What the list of pages can be narrowed down by."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest

from wiki.admin.display import visible
from wiki.models import Link, LinkState, Page, Tag

MAX_TAGS: Final = 40
#: Flagged pages that are looked at for what there is to be wrong.
MAX_FLAGGED: Final = 500
_UNLINKED: Final = "none"


class DeletedFilter(admin.SimpleListFilter):
    """Live pages unless asked for others."""

    title = "file"
    parameter_name = "file"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The choices besides the default."""
        return [("deleted", "deleted"), ("all", "all")]

    def choices(self, changelist: Any) -> Any:
        """The choices, with the default called by its name."""
        for choice in super().choices(changelist):
            yield {**choice, "display": "in the vault"} if choice["display"] == "All" else choice

    def queryset(self, request: HttpRequest, queryset: QuerySet[Page]) -> QuerySet[Page]:
        """The pages of the choice."""
        if self.value() == "all":
            return queryset
        return queryset.filter(deleted_at__isnull=self.value() != "deleted")


class FlaggedFilter(admin.SimpleListFilter):
    """Pages whose file has something wrong, or has a certain thing wrong."""

    title = "flags"
    parameter_name = "flagged"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """With or without, and what there is to be wrong."""
        some = Page.objects.live().exclude(flags=[]).values_list("flags", flat=True)[:MAX_FLAGGED]
        codes = {str(flag.get("code")) for flags in some for flag in flags}
        shown = sorted(codes | ({self.value() or "yes"} - {"yes", "no"}))
        return [("yes", "flagged"), ("no", "not flagged"), *((code, visible(code)) for code in shown)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Page]) -> QuerySet[Page]:
        """The pages of the choice."""
        chosen = self.value()
        if chosen is None:
            return queryset
        if chosen in ("yes", "no"):
            return queryset.exclude(flags=[]) if chosen == "yes" else queryset.filter(flags=[])
        # A file has a fault of its bytes and one of its properties at most; both databases find one by its place.
        return queryset.filter(Q(flags__0__code=chosen) | Q(flags__1__code=chosen))


class LinksFilter(admin.SimpleListFilter):
    """Pages with a link in a certain state."""

    title = "links"
    parameter_name = "links"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The states that a link can be in, and pages that none leads to."""
        return [
            *((value, f"with {label.lower()}") for value, label in LinkState.choices),
            (_UNLINKED, "none leads here"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Page]) -> QuerySet[Page]:
        """The pages of the choice."""
        if self.value() == _UNLINKED:
            others = Link.objects.filter(target=OuterRef("pk")).exclude(source=OuterRef("pk"))
            return queryset.filter(~Exists(others), reserved=False)
        if not self.value():
            return queryset
        links = Link.objects.filter(state=self.value())
        if self.value() == LinkState.RESOLVED:  # nearly every page has one, which is found among its first links
            return queryset.filter(Exists(links.filter(source=OuterRef("pk"))))
        return queryset.filter(pk__in=links.values("source_id"))


class TagFilter(admin.SimpleListFilter):
    """Pages by the tags that occur most."""

    title = "tag"
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The tags that most pages have, in alphabetical order, and the one that is chosen."""
        # Rows are counted, which the index on the key tells; the pages of rows would have to be read.
        often = Tag.objects.values("key").annotate(pages=Count("pk")).order_by("-pages", "key")
        keys = {*often.values_list("key", flat=True)[:MAX_TAGS], *filter(None, [request.GET.get("tag")])}
        return [(key, visible(key)) for key in sorted(keys)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Page]) -> QuerySet[Page]:
        """The pages with the tag."""
        if not self.value():
            return queryset
        return queryset.filter(pk__in=Tag.objects.filter(key=self.value()).values("page_id"))
