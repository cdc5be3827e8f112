"""The list of review items: views with counts, filters, row and bulk actions, and why it is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import checkbox
from unfold.decorators import action

from reviews.actions import ACTIONS
from reviews.admin import views
from reviews.admin.counts import queue_counts
from reviews.admin.decisions import Decisions
from reviews.admin.display import age, page_of
from reviews.admin.emptiness import why_empty
from reviews.admin.filters import (
    DONE,
    EVERYTHING,
    OriginFilter,
    RuleFilter,
    StatusFilter,
    TypeFilter,
    ViewFilter,
    current_view,
)
from reviews.admin.naming import packed
from reviews.admin.preview import BUTTONS
from reviews.models import Evidence, ItemType, ReviewItem, Status
from reviews.services import held_back
from reviews.services.bulk import MAX_IDS
from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.display import text_column, visible

if TYPE_CHECKING:
    from collections.abc import Callable

#: What a row of the list needs; texts and proposals stay where they are.
_LISTED: Final = (
    "item_type",
    "status",
    "title",
    "rank",
    "page_path",
    "file_path",
    "created_at",
    "reviewed_at",
    "reviewed_by",
    "reviewed_via",
    "page__title",
)
#: The classes of the theme's boxes, by which its scripts and ours find them.
_BOX_CLASS: Final = str(checkbox.attrs["class"])
_FILTERED_BY: Final = ("q", "item_type", "rule", "origin", "status")
_WAITING: Final = ("kind", "shown_title", "about", "waits", "evidence")
_DECIDED: Final = ("kind", "shown_title", "about", "state", "by", "when")


def _ask_about_one(name: str) -> Callable[..., HttpResponse]:
    """The row action that asks about one item: a link only leads to the question."""

    @action(description=BUTTONS[name], permissions=["decide"], url_path=f"ask-{name}")  # type: ignore[untyped-decorator]
    def ask(self: Any, request: HttpRequest, object_id: str) -> HttpResponse:
        answer: HttpResponse = self.ask(request, name, [object_id])
        return answer

    return ask  # type: ignore[no-any-return]


def _offered(request: HttpRequest) -> list[str]:
    """The names of the actions that fit what a list shows: none of what is decided, else by the type if it has one."""
    decided = request.GET.get("status", Status.PENDING) not in ("", Status.PENDING)
    if decided or current_view(request) == DONE:
        return []
    wanted = request.GET.get("item_type")
    return [action.name for action in ACTIONS if wanted not in ItemType.values or wanted in action.types]


def _all_that_match(shown: Any) -> dict[str, Any]:
    """The items of all pages of a list, as it was when it was shown: so many as can be decided at once."""
    if shown.result_count <= len(shown.result_list):
        return {}
    ids = shown.queryset.values_list("pk", flat=True)[:MAX_IDS]
    return {"matching": packed(ids), "matching_count": min(shown.result_count, MAX_IDS)}


@admin.register(ReviewItem)
class ReviewItemAdmin(Decisions, ReadOnlyAdmin):
    list_filter = [ViewFilter, TypeFilter, RuleFilter, OriginFilter, StatusFilter]
    list_filter_sheet = False
    list_select_related = ["page"]
    list_display_links = ["shown_title"]
    list_disable_select_all = True
    list_max_show_all = MAX_IDS
    list_before_template = "reviews/admin/views.html"
    change_list_template = "reviews/admin/items.html"
    search_fields = ["title", "page_path", "page__path"]
    search_help_text = "title or page path"
    actions_row = ["ask_create", "ask_mark_resolved", "ask_skip", "ask_dismiss", "ask_deep_research"]

    ask_create = _ask_about_one("create")
    ask_mark_resolved = _ask_about_one("mark-resolved")
    ask_skip = _ask_about_one("skip")
    ask_dismiss = _ask_about_one("dismiss")
    ask_deep_research = _ask_about_one("deep-research")

    shown_title = text_column("title")

    class Media:
        css = {"all": ["reviews/admin/desk.css"]}
        js = ["reviews/admin/keys.js"]

    def get_urls(self) -> list[Any]:
        """The decisions' addresses before those of rows, which would take them for ids."""
        return [*self.decision_urls(), *super().get_urls()]

    def get_actions_row(self, request: HttpRequest) -> list[Any]:
        """What can be decided about some row of this list; the menu of the theme is the same in all of them."""
        offered = [f"_ask_{name.replace('-', '_')}" for name in _offered(request)]
        row = super().get_actions_row(request)  # type: ignore[misc]
        return [one for one in row if one.action_name.endswith(tuple(offered))]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReviewItem]:
        """What the columns show."""
        items: QuerySet[ReviewItem] = super().get_queryset(request)
        rests_on = Evidence.objects.filter(item=OuterRef("pk")).order_by().values("item").annotate(count=Count("pk"))
        counted = Coalesce(Subquery(rests_on.values("count"), output_field=IntegerField()), 0)
        return items.select_related("page").only(*_LISTED).annotate(evidence_pages=counted)

    def get_list_display(self, request: HttpRequest) -> Any:
        """What waits is shown with its age, what is done with who did it."""
        return _DECIDED if current_view(request) in (DONE, EVERYTHING) else _WAITING

    def get_ordering(self, request: HttpRequest) -> Any:
        """What most rests on first, then the oldest; what is done with the newest first."""
        return ["-reviewed_at", "id"] if current_view(request) == DONE else ["-rank", "created_at", "id"]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list, with its rows of links, what is held back, and why it is empty if it is."""
        view = current_view(request)
        filtered = any(request.GET.get(name) for name in _FILTERED_BY)
        context = {
            "title": "Review",
            "view_rows": views.rows(request),
            "why": lambda: why_empty(view, queue_counts(request), filtered=filtered),
            "held_back": held_back(),
            **(extra_context or {}),
        }
        answer: HttpResponse = super().changelist_view(request, context)
        if isinstance(answer, TemplateResponse) and answer.context_data and "cl" in answer.context_data:
            answer.context_data |= _all_that_match(answer.context_data["cl"])
        return answer

    @admin.display(description="select")
    def action_checkbox(self, item: ReviewItem) -> SafeString:
        """The box to tick. Back on a list a browser would tick the same places, in which other items are by then."""
        box = '<input type="checkbox" name="{}" value="{}" class="{}" aria-label="Select {}" autocomplete="off">'
        return format_html(box, ACTION_CHECKBOX_NAME, item.pk, _BOX_CLASS, visible(item.title))

    @admin.display(description="type", ordering="item_type")
    def kind(self, item: ReviewItem) -> SafeString:
        """What kind of decision is asked for."""
        return format_html('<span class="review-type" data-type="{}">{}</span>', item.item_type, item.item_type)

    @admin.display(description="page", ordering="page_path")
    def about(self, item: ReviewItem) -> str | SafeString:
        """The page, or the file, that it is about."""
        return page_of(item)

    @admin.display(description="age", ordering="-created_at")
    def waits(self, item: ReviewItem) -> SafeString:
        """For how long it has been waiting."""
        return age(item.created_at)

    @admin.display(description="evidence", ordering="evidence_pages")
    def evidence(self, item: ReviewItem) -> int:
        """How many pages it rests on."""
        return int(item.evidence_pages)  # type: ignore[attr-defined]

    @admin.display(description="status", ordering="status")
    def state(self, item: ReviewItem) -> str:
        """Where it stands."""
        return item.status

    @admin.display(description="by", ordering="reviewed_by")
    def by(self, item: ReviewItem) -> str:
        """Who decided, through which door."""
        return f"{visible(item.reviewed_by)} ({item.reviewed_via})" if item.reviewed_via else "-"

    @admin.display(description="decided", ordering="reviewed_at")
    def when(self, item: ReviewItem) -> str | SafeString:
        """How long ago it was decided."""
        return age(item.reviewed_at) if item.reviewed_at else "-"
