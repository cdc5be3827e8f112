"""Deciding in the admin: a question that names the items, then one POST to the services.

A GET never changes anything, and what a form does not name is never touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.html import format_html

from reviews import services
from reviews.actions import ACTIONS, action_named
from reviews.admin.display import item_link
from reviews.admin.item_page import item_context, run_address
from reviews.admin.navigating import FILTERS, filters_of, item_address, item_query, list_address, neighbours
from reviews.admin.preview import BUTTONS, DONE, preview
from reviews.models import ReviewItem
from reviews.services.bulk import MAX_IDS, BulkOutcome
from reviews.services.reading import get_item
from reviews.services.rules import as_id
from vault.errors import SynapseError
from wiki.admin.display import page_link, visible
from wiki.admin.who import person

if TYPE_CHECKING:
    from reviews.services.deciding import Resolved
    from wiki.admin.base import ReadOnlyAdmin as _Base
else:
    _Base = object

REOPEN: Final = "reopen"


class Decisions(_Base):
    """The part of the items' admin that decides."""

    def has_decide_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may change both items and pages decides: a decision may write a page."""
        return request.user.has_perms(["reviews.change_reviewitem", "wiki.change_page"])

    def decision_urls(self) -> list[Any]:
        """The addresses of the questions and of the decisions."""
        wrap = self.admin_site.admin_view
        return [
            path("bulk/", wrap(self.bulk_view), name="reviews_reviewitem_bulk"),
            path("<uuid:object_id>/decide/", wrap(self.decide_view), name="reviews_reviewitem_decide"),
        ]

    def get_actions(self, request: HttpRequest, *args: Any, **options: Any) -> dict[str, Any]:
        """The actions of the table, for those who may decide."""
        if not self.has_decide_permission(request):
            return {}
        return {action.name: (self._ask, action.name, f"{BUTTONS[action.name]}…") for action in ACTIONS}

    def response_action(self, request: HttpRequest, queryset: Any, *args: Any, **options: Any) -> HttpResponse | None:
        """Ask about the items that were ticked: those that were seen, whatever "all" would mean by now."""
        del queryset
        names = [name for name in request.POST.getlist("action") if name]
        return self._ask(request, names[0] if names else "", request.POST.getlist(ACTION_CHECKBOX_NAME))

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
            return self._back(request, error.message, filters)
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
            "item_query": item_query(filters),
            "run": run_address(item),
            "media": self.media,
        }
        return TemplateResponse(request, "reviews/admin/item.html", context)

    def decide_view(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        """Decide about one item, tell the outcome, and open the next one of the same list."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_decide_permission(request):
            raise PermissionDenied
        filters = filters_of(request)
        _, follows = neighbours(self, request, filters, object_id)
        action, note = request.POST.get("action", ""), request.POST.get("note", "")
        try:
            if action == REOPEN:
                item = services.reopen(item_id=object_id, author=person(request))
                self.message_user(request, "Asked again; this is the new item.", messages.SUCCESS)
                return HttpResponseRedirect(item_address(item.pk, filters))
            resolved = services.resolve(item_id=object_id, action=action, note=note, author=person(request))
        except SynapseError as error:
            self.message_user(request, error.message, messages.ERROR)
            return HttpResponseRedirect(item_address(object_id, filters))
        level = messages.SUCCESS if resolved.changed else messages.INFO
        self.message_user(request, _told(resolved), level)
        for warning in resolved.warnings:
            self.message_user(request, visible(warning), messages.WARNING)
        return HttpResponseRedirect(item_address(follows, filters) if follows else list_address(filters))

    def bulk_view(self, request: HttpRequest) -> HttpResponse:
        """Decide about the items that were ticked in the preview, and tell the outcome item by item."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_decide_permission(request):
            raise PermissionDenied
        filters = filters_of(request)
        ids = request.POST.getlist(ACTION_CHECKBOX_NAME)
        if not ids:
            return self._back(request, "No item was ticked, so nothing has been done.", filters, messages.WARNING)
        try:
            outcome = services.bulk(
                ids=ids,
                action=request.POST.get("action", ""),
                note=request.POST.get("note", ""),
                author=person(request),
            )
        except SynapseError as error:
            return self._back(request, error.message, filters)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Outcome",
            "back": list_address(filters),
            "groups": _groups(outcome, item_query(filters)),
            "media": self.media,
        }
        return TemplateResponse(request, "reviews/admin/outcome.html", context)

    def _ask(self, request: HttpRequest, name: str, ids: list[str]) -> HttpResponse:
        """The page that names each item and what will happen to it."""
        # In the address of a list stand its filters themselves; other pages pass them on.
        filters = request.GET.urlencode() if FILTERS not in request.GET else filters_of(request)
        if not self.has_decide_permission(request):
            raise PermissionDenied
        try:
            action = action_named(name)
        except SynapseError as error:
            return self._back(request, error.message, filters)
        if len(ids) > MAX_IDS:
            message = f"{len(ids)} items were ticked; at most {MAX_IDS} are decided at once."
            return self._back(request, message, filters)
        shown = preview(action, map(as_id, ids))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"{shown.button}?",
            "preview": shown,
            "lines": [{"line": line, "link": item_link(line.item, item_query(filters))} for line in shown.lines],
            "checkbox": ACTION_CHECKBOX_NAME,
            "filters_name": FILTERS,
            "filters": filters,
            "back": list_address(filters),
            "media": self.media,
        }
        return TemplateResponse(request, "reviews/admin/preview.html", context)

    def _back(self, request: HttpRequest, message: str, filters: str, level: int = messages.ERROR) -> HttpResponse:
        self.message_user(request, message, level)
        return HttpResponseRedirect(list_address(filters))


def _told(resolved: Resolved) -> Any:
    item = resolved.item
    if not resolved.changed:
        return format_html("{}: decided already, {} by {}.", item_link(item), item.status, visible(item.reviewed_by))
    done = DONE[next(action.name for action in ACTIONS if action.status == item.status)]
    if item.created_page is not None:
        return format_html("{}: wrote {}.", item_link(item), page_link(item.created_page))
    return format_html("{}: {}.", item_link(item), done)


def _groups(outcome: BulkOutcome, query: str) -> list[dict[str, Any]]:
    """The outcome by what became of the items, each named and with its reason."""
    failed = {str(entry["id"]): str(entry["error"]) for entry in outcome.failed}
    ids = [*outcome.updated, *outcome.already, *failed]
    rows = ReviewItem.objects.filter(pk__in=ids).select_related("created_page")
    known = {str(item.pk): item for item in rows.only("title", "created_page__title")}

    def named(item_id: str) -> Any:
        return item_link(known[item_id], query) if item_id in known else visible(item_id)

    def wrote(item_id: str) -> Any:
        page = known[item_id].created_page if item_id in known else None
        known_of = " ".join(visible(warning) for warning in outcome.warnings.get(item_id, ()))
        return format_html("wrote {}. {}" if known_of else "wrote {}", page_link(page), known_of) if page else ""

    groups = [
        (DONE[outcome.action.name], [(named(item_id), wrote(item_id)) for item_id in outcome.updated]),
        (
            "decided before, left as they were",
            [(named(item_id), outcome.statuses.get(item_id, "")) for item_id in outcome.already],
        ),
        ("not done, still waiting", [(named(item_id), error) for item_id, error in failed.items()]),
        ("no longer there", [(visible(item_id), "") for item_id in outcome.not_found]),
    ]
    done = DONE[outcome.action.name]
    return [{"what": what, "lines": lines, "good": what == done} for what, lines in groups if lines]
