"""Pages: what the index knows of each, its links both ways, what agents get of it, and its versions."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from vault.errors import SynapseError
from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.display import once, page_link, table, text_column, visible
from wiki.admin.levels import shown_levels
from wiki.models import Link, Page, Tag
from wiki.services import page_history

MAX_ROWS = 50
MAX_TAGS = 40


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
    """Pages whose file has something wrong."""

    title = "flags"
    parameter_name = "flagged"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """With or without."""
        return [("yes", "flagged"), ("no", "not flagged")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Page]) -> QuerySet[Page]:
        """The pages of the choice."""
        if self.value() is None:
            return queryset
        return queryset.exclude(flags=[]) if self.value() == "yes" else queryset.filter(flags=[])


class TagFilter(admin.SimpleListFilter):
    """Pages by the tags that occur most."""

    title = "tag"
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The tags that most pages have, in alphabetical order, and the one that is chosen."""
        often = Tag.objects.values("key").annotate(pages=Count("page")).order_by("-pages", "key")
        keys = {*often.values_list("key", flat=True)[:MAX_TAGS], *filter(None, [request.GET.get("tag")])}
        return [(key, visible(key)) for key in sorted(keys)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Page]) -> QuerySet[Page]:
        """The pages with the tag."""
        if not self.value():
            return queryset
        return queryset.filter(pk__in=Tag.objects.filter(key=self.value()).values("page_id"))


@admin.register(Page)
class PageAdmin(ReadOnlyAdmin):
    list_display = ["shown_title", "shown_path", "type", "lang", "words", "flagged", "indexed_at"]
    list_filter = ["type", "lang", FlaggedFilter, TagFilter, "reserved", DeletedFilter]
    search_fields = ["title", "path"]
    search_help_text = "title or path"
    ordering = ["path"]
    fieldsets = [
        (None, {"fields": ["uid", "title", "path", "type", "lang", "summary", "words", "tag_names", "alias_names"]}),
        ("Links", {"fields": ["links_out", "links_in"]}),
        ("For agents", {"fields": ["levels"]}),
        ("Sources and properties", {"fields": ["sources", "frontmatter"]}),
        ("Versions", {"fields": ["versions"]}),
        ("File", {"fields": ["flags", "reserved", "content_hash", "size", "indexed_at", "deleted_at"]}),
    ]
    readonly_fields = ["tag_names", "alias_names", "links_out", "links_in", "levels", "versions"]

    shown_title = text_column("title")
    shown_path = text_column("path")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Page]:
        """Without what only the page's own page shows."""
        pages: QuerySet[Page] = super().get_queryset(request)
        return pages if "object_id" in _arguments(request) else pages.defer("frontmatter", "sources", "summary")

    @admin.display(description="flags")
    def flagged(self, page: Page) -> str:
        """The codes of what is wrong with the file."""
        return ", ".join(sorted({str(flag.get("code")) for flag in page.flags})) or "-"

    @admin.display(description="tags")
    @once
    def tag_names(self, page: Page) -> str:
        """The page's tags."""
        return ", ".join(visible(tag.name) for tag in page.tags.order_by("key")[:MAX_ROWS]) or "-"

    @admin.display(description="aliases")
    @once
    def alias_names(self, page: Page) -> str:
        """The names that the page gives itself."""
        return ", ".join(visible(alias.name) for alias in page.aliases.order_by("name")[:MAX_ROWS]) or "-"

    @admin.display(description="links from here")
    @once
    def links_out(self, page: Page) -> SafeString:
        """The links of the page in their order, and what each leads to."""
        links = page.links.select_related("target").order_by("order")
        rows = [(visible(link.text + link.subpath), link.kind, link.state, _target(link)) for link in links[:MAX_ROWS]]
        return table(["target", "kind", "state", "leads to"], rows, total=links.count())

    @admin.display(description="links to here")
    @once
    def links_in(self, page: Page) -> SafeString:
        """The links of other pages that lead here."""
        links = page.backlinks.select_related("source").order_by("source__title", "order")
        rows = [(page_link(link.source), visible(link.text), link.kind, link.state) for link in links[:MAX_ROWS]]
        return table(["page", "as", "kind", "state"], rows, total=links.count())

    @admin.display(description="levels")
    @once
    def levels(self, page: Page) -> str | SafeString:
        """The page at its three lengths, with what each costs an agent."""
        return shown_levels(page)

    @admin.display(description="versions")
    @once
    def versions(self, page: Page) -> str | SafeString:
        """Who changed the page when, through which door."""
        try:
            found = page_history(page, limit=MAX_ROWS)
        except SynapseError as error:
            return error.message
        rows = [
            (version["number"], version["at"], visible(version["author"]), version["door"], version["action"])
            for version in found
        ]
        return table(["number", "at", "author", "door", "action"], rows)


def _arguments(request: HttpRequest) -> dict[str, Any]:
    return request.resolver_match.kwargs if request.resolver_match else {}


def _target(link: Link) -> str | SafeString:
    if link.target:
        return page_link(link.target)
    if link.target_path:
        return format_html(
            '<a href="{}?q={}">{}</a>',
            reverse("admin:wiki_file_changelist"),
            link.target_path,
            visible(link.target_path),
        )
    return "-"
