"""The views of the queue, and what else it is filtered by; each choice is an address, with its count."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from reviews.admin.counts import queue_counts
from reviews.models import ItemType, Origin, ReviewItem, Status
from reviews.producers import PRODUCERS
from reviews.services.diff import conflicting

INBOX: Final = "inbox"
CONFLICTS: Final = "conflicts"
DONE: Final = "done"
EVERYTHING: Final = "all"


def current_view(request: HttpRequest) -> str:
    """The view that a list shows: the Inbox, unless another one or a status is asked for."""
    asked = request.GET.get(ViewFilter.parameter_name, "")
    if asked in (INBOX, CONFLICTS, DONE, EVERYTHING):
        return asked
    return EVERYTHING if request.GET.get(StatusFilter.parameter_name) else INBOX


class ViewFilter(admin.SimpleListFilter):
    """What waits, what of it has come into conflict, what is done."""

    title = "view"
    parameter_name = "view"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The views but the default one."""
        counts = queue_counts(request)
        return [
            (CONFLICTS, f"Conflicts ({counts.conflicts:,})"),
            (DONE, f"Done ({counts.done:,})"),
            (EVERYTHING, f"Everything ({counts.inbox + counts.done:,})"),
        ]

    def choices(self, changelist: Any) -> Any:
        """The choices, with the default called by its name."""
        for choice in super().choices(changelist):
            yield {**choice, "display": "Inbox"} if choice["display"] == "All" else choice

    def queryset(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> QuerySet[ReviewItem]:
        """The items of the view."""
        view = current_view(request)
        if view == DONE:
            return queryset.exclude(status=Status.PENDING)
        if view == EVERYTHING:
            return queryset
        waiting = queryset.filter(status=Status.PENDING)
        return conflicting(waiting) if view == CONFLICTS else waiting


class FieldFilter(admin.SimpleListFilter):
    """Items by one field, with the number of pending ones beside each choice."""

    values: tuple[str, ...] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The values there are."""
        pending = queue_counts(request).pending.get(str(self.parameter_name), Counter())
        return [(value, f"{value} ({pending[value]:,})" if value in pending else value) for value in self.values]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> QuerySet[ReviewItem]:
        """The items with the value."""
        value = self.value()
        if not value:
            return queryset
        return queryset.filter(**{str(self.parameter_name): value}) if value in self.values else queryset.none()


class TypeFilter(FieldFilter):
    """By what kind of decision is asked for."""

    title = "type"
    parameter_name = "item_type"
    values = tuple(ItemType.values)


class OriginFilter(FieldFilter):
    """By who asks."""

    title = "origin"
    parameter_name = "origin"
    values = tuple(Origin.values)


class RuleFilter(FieldFilter):
    """By what found it."""

    title = "rule"
    parameter_name = "rule"
    values = (*(producer.rule for producer in PRODUCERS), "agent", "staged")


class StatusFilter(FieldFilter):
    """By where it stands."""

    title = "status"
    parameter_name = "status"
    values = tuple(Status.values)
