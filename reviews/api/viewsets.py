"""The review queue over REST: list, file, look, decide. What may be decided, and how, is the services' to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews import services
from reviews.actions import action_for_status, action_named
from reviews.api import schema, serializers
from reviews.producers.runner import sweep
from reviews.services.bulk import MAX_IDS
from vault.errors import ErrorCode, SynapseError
from wiki.api import params
from wiki.api.base import RestViewSet
from wiki.api.schema import errors
from wiki.api.serializers import NothingSerializer
from wiki.api.throttles import count_decisions

_DECIDING = (400, 404, 409, 413, 415, 422)
#: What writing a page, and opening a research run, can answer beside that.
_WRITING = (428, 507)
_RESEARCH = (503,)


def _decide(request: Request, item_id: str, action: str, note: str) -> Response:
    count_decisions(request, 1)
    done = services.resolve(item_id=item_id, action=action, note=note, author=params.author(request))
    return Response({"item": services.item_as_dict(done.item), "changed": done.changed, "warnings": done.warnings})


def _verb(action: str, operation_id: str, *effect: int) -> Callable[..., Response]:
    """The method behind an address that names its action; ``effect``: the statuses that its effect can answer."""

    @extend_schema(
        operation_id=operation_id,
        description=f"Decide about one item. {action_named(action).help} A body may hold a note.",
        parameters=[schema.REVIEW_ID],
        request=serializers.NoteSerializer,
        responses={200: serializers.DecidedSerializer, **errors(*_DECIDING, *effect)},
        examples=[schema.TERMINAL],
    )
    def decide(self: ReviewItemViewSet, request: Request, id: str) -> Response:
        given = params.body_params(request, serializers.NoteSerializer)
        return _decide(request, id, action, given["note"])

    return decide


def _bulk(request: Request) -> services.BulkOutcome:
    given = params.body_params(request, serializers.BulkSerializer)
    ids = given["ids"]
    # What is refused as a whole decides nothing; an id named twice is one decision.
    if isinstance(ids, list) and len(ids) <= MAX_IDS:
        count_decisions(request, len({str(id) for id in ids}))
    return services.bulk(**given, author=params.author(request))


def _warnings(done: services.BulkOutcome) -> dict[str, dict[str, list[str]]]:
    """What there is to know of pages that were written; nothing where there is nothing."""
    return {"warnings": done.warnings} if done.warnings else {}


class ReviewItemViewSet(RestViewSet):
    """The review queue."""

    @extend_schema(
        operation_id="listReviews",
        parameters=[serializers.ItemListQuerySerializer],
        responses={200: serializers.ItemListSerializer, **errors(400, 422)},
    )
    def list(self, request: Request) -> Response:
        """Items of the queue, a part at a time: the pending ones, oldest first, unless something else is asked for."""
        return Response(services.list_items(**params.query_params(request, serializers.ItemListQuerySerializer)))

    @extend_schema(
        operation_id="fileReviews",
        request=serializers.FileItemsSerializer,
        responses={
            200: serializers.FiledSerializer,
            201: serializers.FiledSerializer,
            **errors(400, 409, 413, 415, 422),
        },
        examples=schema.FILE,
    )
    def create(self, request: Request) -> Response:
        """Put up to 20 items before the queue. Each has its own answer; 201 if any of them is new."""
        given = params.body_params(request, serializers.FileItemsSerializer)
        filed = services.propose(items=given["items"], author=params.author(request))
        return Response(filed, status=201 if filed["filed"] else 200)

    @extend_schema(
        operation_id="getReview",
        parameters=[schema.REVIEW_ID],
        responses={200: serializers.ItemDetailSerializer, **errors(400, 404)},
    )
    def retrieve(self, request: Request, id: str) -> Response:
        """One item with its events, the actions that can be taken now, and what it proposes as a diff."""
        params.query_params(request, NothingSerializer)
        return Response(services.item_detail(services.get_item(id)))

    @extend_schema(
        operation_id="decideReview",
        parameters=[schema.REVIEW_ID],
        request=serializers.DecisionSerializer,
        responses={200: serializers.DecidedSerializer, **errors(*_DECIDING, *_WRITING, *_RESEARCH)},
        examples=[*schema.PATCH, schema.TERMINAL],
    )
    def partial_update(self, request: Request, id: str) -> Response:
        """Decide about an item, by `action` or by the `status` that it shall have."""
        given = params.body_params(request, serializers.DecisionSerializer)
        return _decide(request, id, _action_meant(given), given["note"])

    skip = _verb("skip", "skipReview")
    dismiss = _verb("dismiss", "dismissReview")
    create_page = _verb("create", "createFromReview", *_WRITING)
    approve = _verb("approve", "approveReview", *_WRITING)
    deep_research = _verb("deep-research", "researchReview", *_RESEARCH)
    mark_resolved = _verb("mark-resolved", "markReviewResolved")

    @extend_schema(
        operation_id="reopenReview",
        parameters=[schema.REVIEW_ID],
        request=NothingSerializer,
        responses={200: serializers.ReopenedSerializer, **errors(400, 404, 413, 415)},
    )
    def reopen(self, request: Request, id: str) -> Response:
        """Ask a decided item's question anew, as an item that names the old one; if it is pending, name that one."""
        params.body_params(request, NothingSerializer)
        item = services.reopen(item_id=id, author=params.author(request))
        return Response({"item": services.item_as_dict(item)})

    @extend_schema(
        operation_id="bulkReviews",
        request=serializers.BulkSerializer,
        responses={200: serializers.BulkDoneSerializer, **errors(400, 413, 415, 422)},
        examples=schema.BULK,
    )
    def bulk(self, request: Request) -> Response:
        """Take one action on the items that are named; each has its own answer, and one failure hides no other."""
        done = _bulk(request)
        unknown = SynapseError(ErrorCode.REVIEW_NOT_FOUND, "No review item has this id. List the queue.").envelope()
        return Response(
            {
                "updated": done.updated,
                "skipped_terminal": done.already,
                "failed": [*done.failed, *({"id": id, **unknown} for id in done.not_found)],
                **_warnings(done),
            }
        )

    @extend_schema(
        operation_id="bulkResolveReviews",
        request=serializers.BulkSerializer,
        responses={200: serializers.BulkResolvedSerializer, **errors(400, 413, 415, 422)},
        examples=schema.BULK_RESOLVE,
    )
    def bulk_resolve(self, request: Request) -> Response:
        """Take one action on 1 to 200 items, for agents and scripts: as `bulk`, with what is not found told apart."""
        done = _bulk(request)
        return Response(
            {
                "resolved": done.updated,
                "not_found": done.not_found,
                "already": done.already,
                "failed": done.failed,
                "count": len(done.updated),
                **_warnings(done),
            }
        )

    @extend_schema(
        operation_id="sweepReviews",
        request=None,
        responses={200: serializers.SweptSerializer, **errors(400, 413, 415)},
    )
    def sweep(self, request: Request) -> Response:
        """Look at all pending findings again, and close those that are no longer true."""
        params.body_params(request, NothingSerializer)
        return Response({"auto_resolved": sweep()})


def _action_meant(given: dict[str, Any]) -> str:
    """The action that a PATCH names by itself or by its status.

    Raises ``invalid_action`` for both and for a status that nobody can choose, ``missing_required_params`` for neither.
    """
    if "action" in given and "status" in given:
        raise SynapseError(ErrorCode.INVALID_ACTION, "Send either action or status, not both.")
    if "status" in given:
        return action_for_status(given["status"]).name
    if "action" not in given:
        raise SynapseError(ErrorCode.MISSING_REQUIRED_PARAMS, "Send the action to take, or the status it leads to.")
    action: str = given["action"]
    return action
