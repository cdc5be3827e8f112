"""Files that are not pages: sources with the pages that rest on them, attachments, conflict copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.display import as_stored, links, once, page_link, table, text_column, visible, ways
from wiki.models import File, FileKind, Page
from wiki.services.citations import pages_by_source, pages_citing, source_key

MAX_ROWS: Final = 50


@admin.register(File)
class FileAdmin(ReadOnlyAdmin):
    when_empty = "Files come from the vault. A scan looks for them:"
    command_when_empty = ".venv/bin/python manage.py rescan"
    list_display = ["shown_path", "kind", "size", "citing", "gone", "at_the_desk"]
    list_filter = ["kind", ("deleted_at", admin.EmptyFieldListFilter)]
    search_fields = ["path"]
    search_help_text = "path"
    ordering = ["path"]
    fields = ["at_the_desk", "path", "kind", "size", "content_hash", "deleted_at", "cited_by"]
    readonly_fields = ["at_the_desk", "cited_by"]

    shown_path = text_column("path")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, of whose rows is known what :meth:`look_up` finds."""
        response: HttpResponse = super().changelist_view(request, extra_context)
        shown = (getattr(response, "context_data", None) or {}).get("cl")
        if shown is not None:
            shown.result_list = list(shown.result_list)
            self.look_up(shown.result_list)
        return response

    def look_up(self, files: Sequence[File]) -> None:
        """Find out, for all rows at once, what the list shows beside the rows' own fields."""
        sources = {file.pk: source_key(file.path) for file in files if file.kind == FileKind.SOURCE}
        found = pages_by_source(set(sources.values())) if sources else {}
        for file in files:
            file.__dict__["_citing"] = len(found.get(sources[file.pk], ())) if file.pk in sources else None

    @admin.display(description="cited by")
    def citing(self, file: File) -> str:
        """How many pages name a source, or link to it."""
        count = file.__dict__.get("_citing")
        return "-" if count is None else f"{count:,}"

    @admin.display(description="in the vault", ordering="deleted_at", boolean=True)
    def gone(self, file: File) -> bool:
        """Whether the file is there."""
        return file.deleted_at is None

    @admin.display(description="at the desk")
    def at_the_desk(self, file: File) -> str | SafeString:
        """Where the file is looked at."""
        return links((as_stored(file).get_absolute_url(), "Read")) or "-"

    @admin.display(description="cited by")
    @once
    def cited_by(self, file: File) -> SafeString:
        """The pages that name the file as a source or link to it."""
        pages = pages_citing(as_stored(file))
        rows = [(page_link(page), visible(page.path), *self.about(file, page), ways(page)) for page in pages[:MAX_ROWS]]
        return table(["page", "path", *self.about_headers, ""], rows, total=pages.count())

    #: What else is told of each page that cites the file; a room above has more to tell.
    about_headers: Sequence[str] = ()

    def about(self, file: File, page: Page) -> Sequence[str]:
        """The cells below :attr:`about_headers`."""
        return ()
