"""Parameters and examples of the queue and of research, for the OpenAPI document."""

from __future__ import annotations

import uuid
from typing import Any, Final

from drf_spectacular.utils import OpenApiExample, OpenApiParameter

REVIEW_ID: Final = OpenApiParameter("id", uuid.UUID, OpenApiParameter.PATH, description="the item's id")
RUN_ID: Final = OpenApiParameter("id", uuid.UUID, OpenApiParameter.PATH, description="the run's id")

_ITEM: Final = "4b8b1f5c-7c55-4f5e-8a0e-0f7b4f1f9a31"
_OTHER: Final = "9d2f6f0e-2f7c-4a39-b1a4-6a3c5d0e7b12"
_UNKNOWN: Final = "00000000-0000-4000-8000-000000000000"
_HASH: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_IDS: Final = [_ITEM, _OTHER, _UNKNOWN]


def _asked(name: str, value: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample(name, request_only=True, value=value)


def _answered(name: str, value: dict[str, Any], *statuses: str) -> OpenApiExample:
    return OpenApiExample(name, response_only=True, status_codes=list(statuses), value=value)


FILE: Final = [
    _asked(
        "an edit and a missing page",
        {
            "items": [
                {
                    "item_type": "suggestion",
                    "title": "Say when Alan Turing was born",
                    "rationale": "The source names the day, the page does not.",
                    "page": "wiki/entities/alan-turing.md",
                    "proposed_body": "Alan Turing, born on 23 June 1912, founded computer science.\n",
                    "base_hash": _HASH,
                },
                {
                    "item_type": "missing-page",
                    "title": "A page on computability",
                    "proposed_title": "Computability",
                    "referenced_pages": ["Alan Turing"],
                    "search_queries": ["computability theory"],
                },
            ]
        },
    ),
    _answered(
        "one is new, one waits already",
        {
            "result": [
                {"index": 0, "outcome": "filed", "id": _ITEM, "status": "pending"},
                {"index": 1, "outcome": "unchanged", "id": _OTHER, "status": "pending"},
            ],
            "filed": 1,
            "refreshed": 0,
            "unchanged": 1,
            "refused": 0,
        },
        "200",
        "201",
    ),
]
PATCH: Final = [
    _asked("by action", {"action": "dismiss", "note": "The two pages are about different people."}),
    _asked("by status", {"status": "created"}),
]
TERMINAL: Final = _answered(
    "somebody decided otherwise before",
    {
        "error": "The item has been decided already (dismissed), and a decision is never changed. Reopen it, if the "
        "question stands again.",
        "error_code": "review_terminal",
        "status": "dismissed",
        "reviewed_by": "user:ada",
        "reviewed_at": "2026-11-30T09:30:00Z",
    },
    "409",
)
_FAILED: Final = {
    "id": _OTHER,
    "error": "The page has changed since the version that the proposal was made from. Nothing was written.",
    "error_code": "conflict",
}
BULK: Final = [
    _asked("dismiss three", {"action": "dismiss", "ids": _IDS, "note": "Templates, not pages."}),
    _answered(
        "one decided now, one before, one unknown",
        {
            "updated": [_ITEM],
            "skipped_terminal": [_OTHER],
            "failed": [{"id": _UNKNOWN, "error": "No review item has this id.", "error_code": "review_not_found"}],
        },
        "200",
    ),
]
BULK_RESOLVE: Final = [
    _asked("create three", {"action": "create", "ids": _IDS}),
    _answered(
        "one created, one failed, one unknown",
        {"resolved": [_ITEM], "not_found": [_UNKNOWN], "already": [], "failed": [_FAILED], "count": 1},
        "200",
    ),
]
CLAIM: Final = [_asked("for half an hour", {"lease_seconds": 1800})]
COMPLETE: Final = [
    _asked("with the page that answers it", {"title": "Computability", "note": "From two of the sources."})
]
FAIL: Final = [_asked("for another try", {"note": "The archive is down.", "retry": True})]


def alternatives(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of the generator: bodies that must be there, and of which keys exactly one way of saying it."""
    by_name = {"anyOf": [{"required": ["title"]}, {"required": ["path"]}]}
    for path, method, ways in (
        ("/review/queue/{id}", "patch", [{"required": ["action"]}, {"required": ["status"]}]),
        ("/research/runs/{id}/complete", "post", [{"required": ["page_id"]}, by_name]),
    ):
        body = result["paths"][path][method]["requestBody"]
        body["required"] = True
        name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        result["components"]["schemas"][name]["oneOf"] = ways
    return result
