"""What the admin's pages have in common: rows of the index are looked at, not changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.safestring import SafeString, mark_safe

from wiki.admin.display import visible

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    Admin = ModelAdmin[Any]
else:
    from unfold.admin import ModelAdmin as Admin

__all__ = ["Admin", "ReadOnlyAdmin"]

#: In texts a quotation mark is escaped, so this is found in tags only.
_INLINE_STYLE: Final = re.compile(r' style="[^"]*"')


def _without_colours(shown: SafeString) -> SafeString:
    """JSON as the theme shows it, less the inline styles, which the policy of contents refuses."""
    return mark_safe(_INLINE_STYLE.sub("", shown).replace("<pre>", '<pre class="overflow-auto">'))  # noqa: S308


class ReadOnlyAdmin(Admin):
    """Rows that are made from files or by services: shown, searched and filtered, never edited."""

    change_list_template = "wiki/admin/rows.html"
    list_per_page = 50
    show_full_result_count = False  # counting all rows of a large vault again on every search
    show_facets = admin.ShowFacets.NEVER
    view_on_site = False  # a page that is gone has no such place, and a link to it would lead to the front page
    actions: Sequence[str] | None = None
    #: What a list without any row says of how rows come, and the command that brings them.
    when_empty = ""
    command_when_empty = ""

    @property
    def readonly_preprocess_fields(self) -> dict[str, Callable[[SafeString], SafeString]]:
        """The theme's hook: what is made of a field's HTML before it is shown."""
        fields = self.model._meta.concrete_fields
        return {field.name: _without_colours for field in fields if isinstance(field, models.JSONField)}

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
        """The row, its texts as :func:`~wiki.admin.display.visible` shows them: it is never saved.

        :func:`~wiki.admin.display.as_stored` gives it as it is.
        """
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            row._stored = copy(row)
            for field in row._meta.concrete_fields:
                value = getattr(row, field.attname)
                if isinstance(field, models.CharField | models.TextField) and value:
                    setattr(row, field.attname, visible(value))
        return row
