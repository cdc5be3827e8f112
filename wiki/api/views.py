"""Search, graph, sources, status and health over REST."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from vault.errors import ErrorCode, SynapseError
from wiki import services
from wiki.api import finding_serializers as serializers
from wiki.api import params, schema
from wiki.api.base import RestView
from wiki.api.schema import errors
from wiki.api.serializers import NothingSerializer
from wiki.graph import neighborhood
from wiki.search import MOST_SHOWN, retrieve


class SearchView(RestView):
    """Find pages."""

    @extend_schema(
        operation_id="searchPages",
        parameters=[serializers.SearchQuerySerializer],
        responses={200: serializers.SearchSerializer, **errors(400, 422, 503)},
        examples=[schema.SEARCH_EXAMPLE],
    )
    def get(self, request: Request) -> Response:
        """The pages that answer a query, best first, and the passages that matched as one text with citations.

        Found by words and meaning, and over the links of what was found. Operators are words.
        """
        given = params.query_params(request, serializers.SearchQuerySerializer)
        try:
            answer = retrieve(
                given["q"],
                preset=given["preset"],
                k=None if given["k"] is None else max(1, min(given["k"], MOST_SHOWN)),
                depth=given["depth"],
                context_window=given["context_window"],
                types=[given["type"]] if given["type"] else None,
                tag=given["tag"],
                path_prefix=given["prefix"],
                lang=given["lang"],
                updated_since=given["updated_since"],
                with_context=given["context"],
            )
        except SynapseError as error:
            if error.repair.get("parameter") == "query":
                error.repair["parameter"] = "q"  # what it is called here
            raise
        if answer.unavailable:
            raise SynapseError(ErrorCode.SEARCH_UNAVAILABLE, " ".join((answer.degraded or {}).values()))
        return Response(answer.as_dict())


class NeighborhoodView(RestView):
    """What a page is tied to."""

    @extend_schema(
        operation_id="getNeighborhood",
        parameters=[serializers.NeighborhoodQuerySerializer],
        responses={200: serializers.NeighborhoodSerializer, **errors(400, 404, 409, 422)},
    )
    def get(self, request: Request) -> Response:
        """The pages around one, at most 200, the strongest ties first. Rows are read; nothing is computed."""
        given = params.query_params(request, serializers.NeighborhoodQuerySerializer)
        page = services.page_by_title(given["title"], path=given["path"])
        return Response(neighborhood(page, depth=given["depth"]))


class SourceListView(RestView):
    """What a person put in."""

    @extend_schema(
        operation_id="listSources",
        parameters=[serializers.SourceListQuerySerializer],
        responses={200: serializers.SourceListSerializer, **errors(400, 422)},
    )
    def get(self, request: Request) -> Response:
        """The files under raw/sources, by path."""
        return Response(services.list_sources(**params.query_params(request, serializers.SourceListQuerySerializer)))


class SourceView(RestView):
    """One source's text."""

    @extend_schema(
        operation_id="readSource",
        parameters=[
            OpenApiParameter(
                "path",
                str,
                OpenApiParameter.PATH,
                description="vault-relative, or relative to raw/sources; with its slashes",
            ),
            serializers.SourceQuerySerializer,
        ],
        responses={200: serializers.SourceTextSerializer, **errors(400, 404, 409, 413, 415, 507)},
    )
    def get(self, request: Request, path: str) -> Response:
        """A part of a source's text, at most 100,000 characters from `offset`. Nothing outside raw/sources is read."""
        given = params.query_params(request, serializers.SourceQuerySerializer)
        return Response(services.read_source(path, offset=given["offset"]))


class RescanView(RestView):
    """Look for changes in the vault."""

    @extend_schema(
        operation_id="requestRescan",
        request=None,
        responses={202: serializers.RescanSerializer, **errors(400, 413, 415, 507)},
    )
    def post(self, request: Request) -> Response:
        """Enqueue the incremental scan; one that waits or runs already is named instead."""
        params.body_params(request, NothingSerializer)
        return Response(services.request_rescan(), status=202)


class StatusView(RestView):
    """The state of the index."""

    @extend_schema(operation_id="getStatus", responses={200: serializers.StatusSerializer, **errors(400)})
    def get(self, request: Request) -> Response:
        """Counts, versions and the last scan."""
        params.query_params(request, NothingSerializer)
        return Response({"version": settings.VERSION, **services.status()})


class LiveView(RestView):
    """Is the process up."""

    authentication_classes: list[Any] = []
    permission_classes = [AllowAny]
    throttle_classes: list[Any] = []  # whoever watches over the server must hear from it

    @extend_schema(
        operation_id="getLiveness", responses={200: serializers.LiveSerializer, **errors(anonymous=True)}, auth=[]
    )
    def get(self, request: Request) -> Response:
        """Always ok while the process answers."""
        return Response({"ok": True})


class ReadyView(LiveView):
    """Can the process serve."""

    @extend_schema(
        operation_id="getReadiness",
        responses={200: serializers.ReadySerializer, 503: serializers.ReadySerializer, **errors(anonymous=True)},
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """Ok when the database answers and the vault's root is there; `problems` are faults with a sentence each.

        One with `stops` answers 503. Others narrow what can be done: the broker is away, the disk is full.
        """
        checks = services.readiness()
        problems = services.troubles()
        ok = all(checks.values()) and not any(problem.stops for problem in problems)
        shown = [problem.as_dict() for problem in problems]
        return Response({"ok": ok, "checks": checks, "problems": shown}, status=200 if ok else 503)
