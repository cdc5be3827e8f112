"""Deciding about one item in the admin: its page, and one POST to the services.

A GET never changes anything, and what a form does not name is never touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.html import format_html

from reviews import services
from reviews.actions import ACTIONS, action_named
from reviews.admin.bulk import BulkDecisions
from reviews.admin.display import item_link
from reviews.admin.item_page import item_context, run_address, would_write_otherwise
from reviews.admin.navigating import FILTERS, filters_of, item_address, item_query, list_address, neighbours
from reviews.admin.preview import DONE
from reviews.models import Status
from reviews.services.reading import get_item
from reviews.services.rules import as_id
from vault.errors import SynapseError
from wiki.admin.display import page_link, visible
from wiki.admin.who import person
from wiki.services.approved import is_stale

if TYPE_CHECKING:
    from reviews.services.deciding import Resolved

REOPEN: Final = "reopen"
_CONFLICT: Final = "Nothing was written: what stands there has changed. This shows how it is now."
_OTHERWISE: Final = (
    "Nothing was written: what would be written is not what was shown to you any more. This shows how it is now."
)


class Decisions(BulkDecisions):
    """The part of the items' admin that decides."""

    def decision_urls(self) -> list[Any]:
        """The addresses of the questions and of the decisions."""
        decide = self.admin_site.admin_view(self.decide_view)
        return [*self.bulk_urls(), path("<uuid:object_id>/decide/", decide, name="reviews_reviewitem_decide")]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The item's own page. Looking at it changes nothing; the buttons lead to :meth:`decide_view`."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method not in ("GET", "HEAD"):
            raise PermissionDenied  # rows are not edited here
        filters = filters_of(request)
        try:
            item = get_item(object_id)
        except SynapseError as error:
            return self.back_to_list(request, error.message, filters)
        precedes, follows = neighbours(self, request, filters, item.pk)
        context = {
            **self.admin_site.each_context(request),
            **item_context(request, item, may_decide=self.has_decide_permission(request)),
            "opts": self.opts,
            "title": "Review",
            "filters_name": FILTERS,
            "filters": filters,
            "back": list_address(filters),
            "before": item_address(precedes, filters) if precedes else "",
            "next": item_address(follows, filters) if follows else "",
            "next_id": follows or "",
            "item_query": item_query(filters),
            "run": run_address(item),
            "media": self.media,
        }
        return TemplateResponse(request, "reviews/admin/item.html", context)

    def decide_view(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        """Decide about one item, tell the outcome, and open the next one of the same list.

        A text that is not the one that the form has shown is not written: the item is shown as it is now.
        """
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_decide_permission(request):
            raise PermissionDenied
        filters = filters_of(request)
        shown_next = as_id(request.POST.get("next", ""))
        _, follows = neighbours(self, request, filters, object_id, followed_by=shown_next)
        action, note = request.POST.get("action", ""), request.POST.get("note", "")
        try:
            if action == REOPEN:
                item = services.reopen(item_id=object_id, author=person(request))
                self.message_user(request, "Asked again; this is the new item.", messages.SUCCESS)
                return HttpResponseRedirect(item_address(item.pk, filters))
            creates = action_named(action).status is Status.CREATED
            if creates and would_write_otherwise(get_item(object_id), request.POST.get("seen", "")):
                return self._shown_anew(request, object_id, filters, _OTHERWISE)
            resolved = services.resolve(item_id=object_id, action=action, note=note, author=person(request))
        except SynapseError as error:
            return self._shown_anew(request, object_id, filters, _CONFLICT if is_stale(error) else error.message)
        level = messages.SUCCESS if resolved.changed else messages.INFO
        self.message_user(request, _told(resolved), level)
        for warning in resolved.warnings:
            self.message_user(request, visible(warning), messages.WARNING)
        return HttpResponseRedirect(item_address(follows, filters) if follows else list_address(filters))

    def _shown_anew(self, request: HttpRequest, item_id: UUID, filters: str, message: str) -> HttpResponse:
        self.message_user(request, message, messages.ERROR)
        return HttpResponseRedirect(item_address(item_id, filters))


def _told(resolved: Resolved) -> Any:
    item = resolved.item
    if not resolved.changed:
        return format_html("{}: decided already, {} by {}.", item_link(item), item.status, visible(item.reviewed_by))
    done = DONE[next(action.name for action in ACTIONS if action.status == item.status)]
    if item.created_page is not None:
        return format_html("{}: wrote {}.", item_link(item), page_link(item.created_page))
    return format_html("{}: {}.", item_link(item), done)
