"""Research runs over REST: what waits, and how an agent takes one and ends it."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews import services
from reviews.api import research_serializers as serializers
from reviews.api import schema
from reviews.services.research import run_as_dict
from wiki.api import params
from wiki.api.base import RestViewSet
from wiki.api.schema import errors


class ResearchRunViewSet(RestViewSet):
    """Research that the queue has handed on."""

    @extend_schema(
        operation_id="listResearchRuns",
        parameters=[serializers.RunListQuerySerializer],
        responses={200: serializers.RunListSerializer, **errors(400, 422)},
    )
    def list(self, request: Request) -> Response:
        """Runs, oldest first: those that can be claimed now, unless something else is asked for."""
        return Response(services.list_runs(**params.query_params(request, serializers.RunListQuerySerializer)))

    @extend_schema(
        operation_id="claimResearchRun",
        parameters=[schema.RUN_ID],
        request=serializers.ClaimSerializer,
        responses={200: serializers.RunChangedSerializer, **errors(400, 404, 409, 413, 415)},
        examples=schema.CLAIM,
    )
    def claim(self, request: Request, id: str) -> Response:
        """Take a run that waits, until the lease ends: then it is anybody's again. Its holder gets a new lease."""
        given = params.body_params(request, serializers.ClaimSerializer)
        claimed = services.claim_run(run_id=id, author=params.author(request), **given)
        return Response({"run": run_as_dict(claimed.run), "changed": claimed.changed})

    @extend_schema(
        operation_id="completeResearchRun",
        parameters=[schema.RUN_ID],
        request=serializers.CompleteSerializer,
        responses={200: serializers.RunChangedSerializer, **errors(400, 404, 409, 413, 415, 422)},
        examples=schema.COMPLETE,
    )
    def complete(self, request: Request, id: str) -> Response:
        """End a run that the caller holds with the page that answers it, which the caller has written before."""
        given = params.body_params(request, serializers.CompleteSerializer)
        ended = services.complete_run(run_id=id, author=params.author(request), **given)
        return Response({"run": run_as_dict(ended.run), "changed": ended.changed})

    @extend_schema(
        operation_id="failResearchRun",
        parameters=[schema.RUN_ID],
        request=serializers.FailSerializer,
        responses={200: serializers.RunChangedSerializer, **errors(400, 404, 409, 413, 415, 422)},
        examples=schema.FAIL,
    )
    def fail(self, request: Request, id: str) -> Response:
        """Give back a run that the caller holds: for good, or for another try."""
        given = params.body_params(request, serializers.FailSerializer)
        ended = services.fail_run(run_id=id, author=params.author(request), **given)
        return Response({"run": run_as_dict(ended.run), "changed": ended.changed})
