"""REST addresses of the review queue and of research, each with and without its trailing slash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponseBase

from reviews.api.research import ResearchRunViewSet
from reviews.api.viewsets import ReviewItemViewSet
from wiki.api.addresses import at
from wiki.authentication import MayPropose

# What is no id names no item: that is for the service to say.
_ID = "(?P<id>(?s:[^/]+))"


def _reviews(**methods: Any) -> Callable[..., HttpResponseBase]:
    return ReviewItemViewSet.as_view(methods)


def _verb(action: str) -> Callable[..., HttpResponseBase]:
    return ReviewItemViewSet.as_view({"post": action})


def _runs(method: str, action: str) -> Callable[..., HttpResponseBase]:
    # A run ends in a page, which is written with a scope of its own.
    return ResearchRunViewSet.as_view({method: action}, permission_classes=[MayPropose])


urlpatterns = [
    at(
        "review/queue",
        ReviewItemViewSet.as_view({"get": "list", "post": "create"}, permission_classes=[MayPropose]),
        "reviews",
    ),
    at("review/queue/bulk", _verb("bulk"), "review-bulk"),
    at("review/queue/bulk-resolve", _verb("bulk_resolve"), "review-bulk-resolve"),
    at("review/queue/sweep", _verb("sweep"), "review-sweep"),
    at(f"review/queue/{_ID}", _reviews(get="retrieve", patch="partial_update"), "review"),
    at(f"review/queue/{_ID}/skip", _verb("skip"), "review-skip"),
    at(f"review/queue/{_ID}/dismiss", _verb("dismiss"), "review-dismiss"),
    at(f"review/queue/{_ID}/create", _verb("create_page"), "review-create"),
    at(f"review/queue/{_ID}/approve", _verb("approve"), "review-approve"),
    at(f"review/queue/{_ID}/deep-research", _verb("deep_research"), "review-deep-research"),
    at(f"review/queue/{_ID}/mark-resolved", _verb("mark_resolved"), "review-mark-resolved"),
    at(f"review/queue/{_ID}/reopen", _verb("reopen"), "review-reopen"),
    at("research/runs", _runs("get", "list"), "research-runs"),
    at(f"research/runs/{_ID}/claim", _runs("post", "claim"), "research-claim"),
    at(f"research/runs/{_ID}/complete", _runs("post", "complete"), "research-complete"),
    at(f"research/runs/{_ID}/fail", _runs("post", "fail"), "research-fail"),
]
