"""Ends that can't be undone: rows are named first, and those that were named are ended, by a POST alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.decorators import action

from wiki.admin.base import ReadOnlyAdmin

CONFIRMED: Final = "confirmed"


class RevokingAdmin(ReadOnlyAdmin):
    """Rows that are looked at, and ended by whoever may change them: several by the list's action, one by its row."""

    actions = ["revoke_selected"]
    actions_row = ["revoke_one"]
    revoke_title = "Revoke"
    revoke_question = "Revoke these? Whoever uses them is refused from then on. It can't be undone."

    def has_revoke_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may change such rows may end them."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    @admin.action(description="Revoke selected", permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Ask about the rows that were ticked; once confirmed, end those that were named."""
        if CONFIRMED not in request.POST:
            return self._question(request, queryset)
        count = self.revoke(request, queryset)
        self.message_user(request, f"{count} revoked." if count else "They were revoked already.", messages.SUCCESS)
        return None

    @action(description="Revoke", permissions=["revoke"])  # type: ignore[untyped-decorator]
    def revoke_one(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask about one row: a link only leads to the question, so that no other site can have it followed."""
        return self._question(request, self.get_queryset(request).filter(pk=object_id))

    def revoke(self, request: HttpRequest, rows: QuerySet[Any]) -> int:
        """End these rows; how many had not ended before."""
        raise NotImplementedError

    def named(self, row: Any) -> str:
        """The row as the question names it."""
        return str(row)

    def has_ended(self, row: Any) -> bool:
        """Whether nothing is left to be ended."""
        return False

    def _question(self, request: HttpRequest, rows: Iterable[Any]) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": self.revoke_title,
            "opts": self.opts,
            "question": self.revoke_question,
            "rows": [{"pk": row.pk, "name": self.named(row), "ended": self.has_ended(row)} for row in rows],
            "list": reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"),
            "checkbox": ACTION_CHECKBOX_NAME,
            "confirmed": CONFIRMED,
        }
        return TemplateResponse(request, "wiki/admin/revoke.html", context)
