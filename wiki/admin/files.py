"""Files that are not pages: sources with the pages that rest on them, attachments, conflict copies."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString

from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.display import once, page_link, table, text_column, visible
from wiki.models import File
from wiki.services.citations import pages_citing

MAX_ROWS = 50


@admin.register(File)
class FileAdmin(ReadOnlyAdmin):
    list_display = ["shown_path", "kind", "size", "gone"]
    list_filter = ["kind", ("deleted_at", admin.EmptyFieldListFilter)]
    search_fields = ["path"]
    search_help_text = "path"
    ordering = ["path"]
    fields = ["path", "kind", "size", "content_hash", "deleted_at", "cited_by"]
    readonly_fields = ["cited_by"]

    shown_path = text_column("path")

    @admin.display(description="in the vault", ordering="deleted_at", boolean=True)
    def gone(self, file: File) -> bool:
        """Whether the file is there."""
        return file.deleted_at is None

    @admin.display(description="cited by")
    @once
    def cited_by(self, file: File) -> SafeString:
        """The pages that name the file as a source or link to it."""
        pages = pages_citing(File.objects.get(pk=file.pk))
        rows = [(page_link(page), visible(page.path)) for page in pages[:MAX_ROWS]]
        return table(["page", "path"], rows, total=pages.count())
