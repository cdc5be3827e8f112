"""Deciding about many items: a page that names them, one POST, and a page that tells what became of each.

The items are named by the form that was seen, never by a filter. Both pages are plain addresses, so that going back to
them, or loading them again, asks and does nothing.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from reviews import services
from reviews.actions import ACTIONS, Action, action_named
from reviews.admin.display import item_link
from reviews.admin.naming import packed, unpacked
from reviews.admin.navigating import FILTERS, filters_of, item_query, list_address
from reviews.admin.preview import BUTTONS, DONE, preview
from reviews.models import ReviewItem
from reviews.services.bulk import MAX_IDS, BulkOutcome
from reviews.services.rules import as_id
from vault.errors import SynapseError
from wiki.admin.display import page_link, visible
from wiki.admin.who import person

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from wiki.admin.base import ReadOnlyAdmin as _Base
else:
    _Base = object

#: Fields of the list's form: whether all that match are meant, and which these were when it was shown.
ALL: Final = "matching"
ALL_IDS: Final = "matching_ids"
#: The last outcome of a bulk, in the session of whoever decided; an address names it by its token.
_OUTCOME: Final = "review_outcome"


class BulkDecisions(_Base):
    """The part of the items' admin that decides about many."""

    def has_decide_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may change both items and pages decides: a decision may write a page."""
        return request.user.has_perms(["reviews.change_reviewitem", "wiki.change_page"])

    def bulk_urls(self) -> list[Any]:
        """The addresses of the question, the decision and its outcome."""
        wrap = self.admin_site.admin_view
        return [
            path("bulk/", wrap(self.bulk_view), name="reviews_reviewitem_bulk"),
            path("bulk/preview/", wrap(self.preview_view), name="reviews_reviewitem_preview"),
            path("bulk/outcome/", wrap(self.outcome_view), name="reviews_reviewitem_outcome"),
        ]

    def get_actions(self, request: HttpRequest, *args: Any, **options: Any) -> dict[str, Any]:
        """The actions of the table, for those who may decide."""
        if not self.has_decide_permission(request):
            return {}
        return {action.name: (self.ask, action.name, f"{BUTTONS[action.name]}…") for action in ACTIONS}

    def response_action(self, request: HttpRequest, queryset: Any, *args: Any, **options: Any) -> HttpResponse | None:
        """Lead to the question about the items that were shown: those ticked, or all that the list had then."""
        del queryset
        filters = request.GET.urlencode()
        if not self.has_decide_permission(request):
            raise PermissionDenied
        names = [name for name in request.POST.getlist("action") if name]
        ids = request.POST.getlist(ACTION_CHECKBOX_NAME)
        try:
            action = action_named(names[0] if names else "")
        except SynapseError as error:
            return self.back_to_list(request, error.message, filters)
        if len(ids) > MAX_IDS:
            message = f"{len(ids)} items were ticked; at most {MAX_IDS} are decided at once."
            return self.back_to_list(request, message, filters)
        named = [item_id for item_id in map(as_id, ids) if item_id is not None]
        if request.POST.get(ALL):
            named = unpacked(request.POST.get(ALL_IDS, ""))
        return HttpResponseRedirect(_preview_address(action, named, filters))

    def preview_view(self, request: HttpRequest) -> HttpResponse:
        """The page that names each item and what will happen to it."""
        return self.ask(request, request.GET.get("action", ""), unpacked(request.GET.get("items", "")))

    def ask(self, request: HttpRequest, name: str, ids: Iterable[UUID | str]) -> HttpResponse:
        """The question about these items; nothing is decided."""
        filters = filters_of(request)
        if not self.has_decide_permission(request):
            raise PermissionDenied
        try:
            action = action_named(name)
        except SynapseError as error:
            return self.back_to_list(request, error.message, filters)
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

    def bulk_view(self, request: HttpRequest) -> HttpResponse:
        """Decide about the items that were ticked in the preview, and lead to the outcome."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_decide_permission(request):
            raise PermissionDenied
        filters = filters_of(request)
        ids = request.POST.getlist(ACTION_CHECKBOX_NAME)
        if not ids:
            message = "No item was ticked, so nothing has been done."
            return self.back_to_list(request, message, filters, messages.WARNING)
        try:
            outcome = services.bulk(
                ids=ids,
                action=request.POST.get("action", ""),
                note=request.POST.get("note", ""),
                author=person(request),
            )
        except SynapseError as error:
            return self.back_to_list(request, error.message, filters)
        token = secrets.token_urlsafe(8)
        request.session[_OUTCOME] = {"of": token, **_kept(outcome)}
        query = urlencode({"of": token, **({FILTERS: filters} if filters else {})})
        return HttpResponseRedirect(f"{reverse('admin:reviews_reviewitem_outcome')}?{query}")

    def outcome_view(self, request: HttpRequest) -> HttpResponse:
        """What became of each item of the last bulk of this session."""
        filters = filters_of(request)
        if not self.has_view_permission(request):
            raise PermissionDenied
        kept = request.session.get(_OUTCOME)
        if not kept or kept["of"] != request.GET.get("of"):
            return self.back_to_list(request, "That outcome is not kept any more; the items tell it.", filters)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Outcome",
            "back": list_address(filters),
            "groups": _groups(kept, item_query(filters)),
            "media": self.media,
        }
        return TemplateResponse(request, "reviews/admin/outcome.html", context)

    def back_to_list(
        self, request: HttpRequest, message: str, filters: str, level: int = messages.ERROR
    ) -> HttpResponse:
        """The list as it was filtered, with a message."""
        self.message_user(request, message, level)
        return HttpResponseRedirect(list_address(filters))


def _preview_address(action: Action, ids: list[UUID], filters: str) -> str:
    query = {"action": action.name, "items": packed(ids), **({FILTERS: filters} if filters else {})}
    return f"{reverse('admin:reviews_reviewitem_preview')}?{urlencode(query)}"


def _kept(outcome: BulkOutcome) -> dict[str, Any]:
    """An outcome as a session keeps it."""
    return {
        "action": outcome.action.name,
        "updated": outcome.updated,
        "already": {item_id: outcome.statuses.get(item_id, "") for item_id in outcome.already},
        "failed": {str(entry["id"]): str(entry["error"]) for entry in outcome.failed},
        "not_found": outcome.not_found,
        "warnings": outcome.warnings,
    }


def _groups(kept: dict[str, Any], query: str) -> list[dict[str, Any]]:
    """The outcome by what became of the items, each named and with its reason."""
    ids = [*kept["updated"], *kept["already"], *kept["failed"]]
    rows = ReviewItem.objects.filter(pk__in=ids).select_related("created_page")
    known = {str(item.pk): item for item in rows.only("title", "created_page__title")}

    def named(item_id: str) -> Any:
        return item_link(known[item_id], query) if item_id in known else visible(item_id)

    def wrote(item_id: str) -> Any:
        page = known[item_id].created_page if item_id in known else None
        known_of = " ".join(visible(warning) for warning in kept["warnings"].get(item_id, ()))
        return format_html("wrote {}. {}" if known_of else "wrote {}", page_link(page), known_of) if page else ""

    done = DONE[kept["action"]]
    groups = [
        (done, [(named(item_id), wrote(item_id)) for item_id in kept["updated"]]),
        ("decided before, left as they were", [(named(one), status) for one, status in kept["already"].items()]),
        ("not done, still waiting", [(named(item_id), error) for item_id, error in kept["failed"].items()]),
        ("no longer there", [(visible(item_id), "") for item_id in kept["not_found"]]),
    ]
    return [{"what": what, "lines": lines, "good": what == done} for what, lines in groups if lines]
