"""What the admin's pages have in common: rows of the index are looked at, not changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from wiki.admin.display import visible

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    Admin = ModelAdmin[Any]
else:
    from unfold.admin import ModelAdmin as Admin

__all__ = ["Admin", "ReadOnlyAdmin"]


class ReadOnlyAdmin(Admin):
    """Rows that are made from files or by services: shown, searched and filtered, never edited."""

    list_per_page = 50
    show_full_result_count = False  # counting all rows of a large vault again on every search
    show_facets = admin.ShowFacets.NEVER
    actions: Sequence[str] | None = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds rows here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody changes rows here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes rows here."""
        return False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The row, its texts as :func:`~wiki.admin.display.visible` shows them: it is never saved."""
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            for field in row._meta.concrete_fields:
                value = getattr(row, field.attname)
                if isinstance(field, models.CharField | models.TextField) and value:
                    setattr(row, field.attname, visible(value))
        return row
