"""From one item to the next of the same list, and back to the list as it was filtered."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from reviews.models import ReviewItem

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

#: How an address names the filters of the list that led to it: Django's own name.
FILTERS: Final = "_changelist_filters"
#: So many items of a list are looked through for the next one.
_LOOKED_THROUGH: Final = 10_000


def filters_of(request: HttpRequest) -> str:
    """The query of the list that this page was opened from, as ``a=1&b=2``; "" for the list as it opens."""
    return QueryDict((request.POST or request.GET).get(FILTERS, "")).urlencode()


def list_address(filters: str) -> str:
    """The list with these filters."""
    address = reverse("admin:reviews_reviewitem_changelist")
    return f"{address}?{filters}" if filters else address


def item_query(filters: str) -> str:
    """What is put behind an item's address, so that it remembers the list: "" or ``?…``."""
    return f"?{urlencode({FILTERS: filters})}" if filters else ""


def item_address(item_id: UUID | str, filters: str) -> str:
    """An item's own page, which remembers the list."""
    return reverse("admin:reviews_reviewitem_change", args=[item_id]) + item_query(filters)


def neighbours(
    admin: ModelAdmin[Any], request: HttpRequest, filters: str, item_id: UUID, *, followed_by: UUID | None = None
) -> tuple[UUID | None, UUID | None]:
    """The items before and after this one in the list with these filters.

    After the last one comes the first. After one that is not in the list (any more) comes ``followed_by``, which is
    what came after it when it was shown, or else the first; before those comes none.
    """
    first = before = None
    passed = known = False
    for other in _listed(admin, request, filters).values_list("pk", flat=True)[:_LOOKED_THROUGH]:
        if passed:
            return before, other
        if other == item_id:
            passed = True
        else:
            first, before = first or other, other
        known |= other == followed_by
    if not passed and known:
        return None, followed_by
    return (before if passed else None), first


def _listed(admin: ModelAdmin[Any], request: HttpRequest, filters: str) -> QuerySet[ReviewItem]:
    """The items of the list in its order; those of the Inbox when nobody can read the filters."""
    asked = copy(request)
    asked.GET = QueryDict(filters)
    try:
        found: QuerySet[ReviewItem] = admin.get_changelist_instance(asked).queryset
    except (IncorrectLookupParameters, DisallowedModelAdminLookup, SuspiciousOperation):
        asked.GET = QueryDict("")
        found = admin.get_changelist_instance(asked).queryset
    return found
