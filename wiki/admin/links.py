"""Links: which lead somewhere, and which do not."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString

from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.display import page_link, text_column, ways
from wiki.models import Link


@admin.register(Link)
class LinkAdmin(ReadOnlyAdmin):
    when_empty = "Links come from the pages of the vault. A scan looks for them:"
    command_when_empty = ".venv/bin/python manage.py rescan"
    list_display = ["shown_text", "from_page", "kind", "state", "shown_target", "at_the_desk"]
    list_filter = ["state", "kind", "embed"]
    list_select_related = ["source"]
    search_fields = ["text", "source__path", "target_path"]
    search_help_text = "target as written, or path at either end"
    ordering = ["source_id", "order"]
    fields = [
        "at_the_desk",
        "from_page",
        "to_page",
        "order",
        "kind",
        "embed",
        "text",
        "subpath",
        "alias",
        "property",
        "state",
        "target_path",
    ]
    readonly_fields = ["at_the_desk", "from_page", "to_page"]

    shown_text = text_column("text", "target")
    shown_target = text_column("target_path", "leads to")

    @admin.display(description="on page", ordering="source__title")
    def from_page(self, link: Link) -> SafeString:
        """The page that the link stands on."""
        return page_link(link.source)

    @admin.display(description="at the desk")
    def at_the_desk(self, link: Link) -> SafeString:
        """Where the page that it stands on is read, and its versions."""
        return ways(link.source)

    @admin.display(description="to page")
    def to_page(self, link: Link) -> str | SafeString:
        """The page that it leads to, if it does."""
        return page_link(link.target) if link.target else "-"
