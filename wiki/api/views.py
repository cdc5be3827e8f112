"""Search, graph, sources, status and health over REST."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from vault.current import current_vault
from wiki import services
from wiki.api import params, shapes
from wiki.api.schema import errors
from wiki.graph import neighborhood
from wiki.search import search

MAX_K = 50


class SearchView(APIView):
    """Find pages."""

    @extend_schema(parameters=[shapes.SearchParams], responses={200: shapes.SearchShape, **errors(400, 503, 504)})
    def get(self, request: Request) -> Response:
        """The pages that fit a query best, with the reason and the passage. Operators are words."""
        given = params.query_params(request, shapes.SearchParams)
        answer = search(
            given["q"],
            k=min(max(given["k"], 1), MAX_K),
            types=[given["type"]] if given["type"] else None,
            tag=given["tag"],
            path_prefix=given["path"],
            lang=given["lang"],
        )
        hits = [
            {
                "id": hit.page.uid,
                "title": hit.page.title,
                "type": hit.page.type,
                "path": hit.page.path,
                "relevance_score": hit.score,
                "why": hit.why,
                "snippet": hit.snippet,
            }
            for hit in answer.hits
        ]
        return Response(
            {"results": hits, "mode": answer.mode, "degraded": answer.degraded, "data_version": answer.data_version}
        )


class NeighborhoodView(APIView):
    """What a page is tied to."""

    @extend_schema(
        parameters=[shapes.NeighborhoodParams], responses={200: shapes.NeighborhoodShape, **errors(400, 404, 409)}
    )
    def get(self, request: Request) -> Response:
        """The pages around one, at most 200, the strongest ties first. Rows are read; nothing is computed."""
        given = params.query_params(request, shapes.NeighborhoodParams)
        page = services.page_by_title(given["title"], path=given["path"])
        return Response(neighborhood(page, depth=min(max(given["depth"], 1), 2)))


class SourceListView(APIView):
    """What a person put in."""

    @extend_schema(parameters=[shapes.SourceListParams], responses={200: shapes.SourceListShape, **errors(400)})
    def get(self, request: Request) -> Response:
        """The files under raw/sources, by path."""
        given = params.query_params(request, shapes.SourceListParams)
        listing = services.list_sources(limit=given["limit"], cursor=given["cursor"])
        rows = [{"path": f.path, "size_bytes": f.size, "content_hash": f.content_hash} for f in listing.files]
        return Response({"results": rows, "next_cursor": listing.next_cursor, "total": listing.total})


class SourceView(APIView):
    """One source's text."""

    @extend_schema(
        parameters=[OpenApiParameter("path", str, OpenApiParameter.PATH), shapes.SourceParams],
        responses={200: shapes.SourceTextShape, **errors(400, 404, 409, 413, 415, 507)},
    )
    def get(self, request: Request, path: str) -> Response:
        """A part of a source's text, at most 100,000 characters from `offset`. Nothing outside raw/sources is read."""
        given = params.query_params(request, shapes.SourceParams)
        return Response(services.read_source(path, offset=given["offset"]))


class RescanView(APIView):
    """Look for changes in the vault."""

    @extend_schema(request=None, responses={202: shapes.RescanShape, **errors(403, 415)})
    def post(self, request: Request) -> Response:
        """Enqueue the incremental scan; one that waits or runs already is named instead."""
        return Response(services.request_rescan(), status=202)


class StatusView(APIView):
    """The state of the index."""

    @extend_schema(responses={200: shapes.StatusShape, **errors()})
    def get(self, request: Request) -> Response:
        """Counts, versions and the last scan."""
        return Response({"version": settings.VERSION, **services.status()})


class LiveView(APIView):
    """Is the process up."""

    authentication_classes: list[Any] = []
    permission_classes = [AllowAny]

    @extend_schema(responses={200: shapes.HealthShape}, auth=[])
    def get(self, request: Request) -> Response:
        """Always ok while the process answers."""
        return Response({"ok": True})


class ReadyView(LiveView):
    """Can the process serve."""

    @extend_schema(responses={200: shapes.HealthShape, 503: shapes.HealthShape}, auth=[])
    def get(self, request: Request) -> Response:
        """Ok when the database answers and the vault's root is there."""
        checks = {"database": self._database(), "vault": current_vault().root.is_dir()}
        ok = all(checks.values())
        return Response({"ok": ok, "checks": checks}, status=200 if ok else 503)

    def _database(self) -> bool:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 FROM wiki_vaultstate LIMIT 1")
        except DatabaseError:
            return False
        return True
