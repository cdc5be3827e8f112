"""Files and sources, with what the queue knows of them: which have changed under the pages that cite them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from reviews.services.outdated import changed_sources, pages_behind
from wiki.admin.display import as_stored
from wiki.admin.files import FileAdmin
from wiki.models import File, Page

admin.site.unregister(File)


class ChangedFilter(admin.SimpleListFilter):
    """Sources that changed since pages that cite them were written."""

    title = "changed"
    parameter_name = "changed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The one choice besides all."""
        return [("yes", "since a page that cites it was written")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[File]) -> QuerySet[File]:
        """The files of the choice."""
        return queryset.filter(pk__in=changed_sources()) if self.value() == "yes" else queryset


@admin.register(File)
class SourceAdmin(FileAdmin):
    list_display = ["shown_path", "kind", "size", "citing", "behind", "gone", "at_the_desk"]
    list_filter = ["kind", ChangedFilter, ("deleted_at", admin.EmptyFieldListFilter)]
    about_headers = ("since the source changed",)

    def look_up(self, files: Sequence[File]) -> None:
        """Also which pages are behind."""
        super().look_up(files)
        behind = pages_behind(files)
        for file in files:
            file.__dict__["_behind"] = behind.get(file.pk, set())

    @admin.display(description="pages behind")
    def behind(self, file: File) -> str:
        """How many pages cite another version than the source is now."""
        return f"{len(file.__dict__['_behind']):,}" if file.__dict__.get("_behind") else "-"

    def about(self, file: File, page: Page) -> Sequence[str]:
        """Whether the page has been rewritten since the source changed."""
        if "_behind" not in file.__dict__:
            file.__dict__["_behind"] = pages_behind([as_stored(file)]).get(file.pk, set())
        return ("not rewritten" if page.pk in file.__dict__["_behind"] else "-",)
