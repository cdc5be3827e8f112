"""Pages: what the index knows of each, its links both ways, what agents get of it, and its versions."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from vault.errors import SynapseError
from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.display import as_stored, links, once, page_link, table, text_column, visible, ways
from wiki.admin.levels import shown_levels
from wiki.admin.page_filters import DeletedFilter, FlaggedFilter, LinksFilter, TagFilter
from wiki.models import Link, Page
from wiki.services import page_history

MAX_ROWS = 50


@admin.register(Page)
class PageAdmin(ReadOnlyAdmin):
    when_empty = "Pages come from the Markdown files of the vault. A scan looks for them:"
    command_when_empty = ".venv/bin/python manage.py rescan"
    list_display = ["shown_title", "shown_path", "type", "lang", "words", "flagged", "indexed_at", "at_the_desk"]
    list_filter = ["type", "lang", LinksFilter, FlaggedFilter, TagFilter, "reserved", DeletedFilter]
    search_fields = ["title", "path"]
    search_help_text = "title or path"
    ordering = ["path"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    "at_the_desk",
                    "uid",
                    "title",
                    "path",
                    "type",
                    "lang",
                    "summary",
                    "words",
                    "tag_names",
                    "alias_names",
                ]
            },
        ),
        ("Links", {"fields": ["links_out", "links_in"]}),
        ("For agents", {"fields": ["levels"]}),
        ("Sources and properties", {"fields": ["sources", "frontmatter"]}),
        ("Versions", {"fields": ["versions"]}),
        ("File", {"fields": ["flags", "reserved", "content_hash", "size", "indexed_at", "deleted_at"]}),
    ]
    readonly_fields = ["at_the_desk", "tag_names", "alias_names", "links_out", "links_in", "levels", "versions"]

    shown_title = text_column("title")
    shown_path = text_column("path")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Page]:
        """Without what only the page's own page shows."""
        pages: QuerySet[Page] = super().get_queryset(request)
        return pages if "object_id" in _arguments(request) else pages.defer("frontmatter", "sources", "summary")

    @admin.display(description="at the desk")
    def at_the_desk(self, page: Page) -> SafeString:
        """Where the page is read, and its versions, of which one can be restored."""
        return ways(as_stored(page))

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
        path = as_stored(page).path
        rows = [
            (
                version["number"],
                version["at"],
                visible(version["author"]),
                version["door"],
                version["action"],
                _ways_of(path, version),
            )
            for version in found
        ]
        return table(["number", "at", "author", "door", "action", ""], rows)


def _ways_of(path: str, version: dict[str, Any]) -> SafeString:
    """Links to what a version changed, and to the question whether it is to be restored."""
    history, restore = (reverse(name, args=[path]) for name in (settings.PAGE_HISTORY_URL, settings.PAGE_RESTORE_URL))
    number = version["number"]
    changed = f"{history}?old={number}d&new={number}" if version["displaced_hash"] else ""
    return links(
        (changed, "What it changed"), (f"{restore}?version={number}" if version["restorable"] else "", "Restore")
    )


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
