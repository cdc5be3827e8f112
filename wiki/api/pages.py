"""Pages over REST: read, create, replace, delete, history, restore, move, retitle."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from vault.errors import ErrorCode, SynapseError
from wiki import services
from wiki.api import params, shapes
from wiki.api.schema import errors
from wiki.models import Page
from wiki.services.reading import PageText

IF_MATCH = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, required=True, description="the ETag of the base")
PAGE_ID = OpenApiParameter("id", uuid.UUID, OpenApiParameter.PATH)


def _written(written: services.PageWritten, *, status: int = 200) -> Response:
    page = written.page
    body = {
        "id": page.uid,
        "title": page.title,
        "type": page.type,
        "path": page.path,
        "content_hash": written.content_hash,
        "created": written.created,
        "warnings": written.warnings,
    }
    response = Response(body, status=status, headers={"ETag": params.etag(written.content_hash)})
    if status == 201:
        response["Location"] = f"/pages/{page.uid}"
    return response


def _page_answer(request: Request, text: PageText) -> Response:
    headers = {"ETag": params.etag(text.content_hash)}
    if params.not_modified(request, text.content_hash):
        return Response(status=304, headers=headers)
    return Response(text.as_dict(), headers=headers)


def _find(page_id: str) -> Page:
    return services.page_by_id(uuid.UUID(page_id))


def _stale_if_conflict(error: SynapseError) -> None:
    """A conflict over a base that If-Match named is 412 over HTTP; the repair fields stay."""
    if error.code is ErrorCode.CONFLICT and "content_hash" in error.repair:
        repair = dict(error.repair)
        params.refuse_stale(repair.pop("content_hash"), **repair)


class PageViewSet(ViewSet):
    """The pages of the vault."""

    lookup_field = "id"
    lookup_value_regex = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

    @extend_schema(parameters=[shapes.ListParams], responses={200: shapes.PageListShape, **errors(400)})
    def list(self, request: Request) -> Response:
        """Live pages by title, a part at a time; reserved pages are left out."""
        given = params.query_params(request, shapes.ListParams)
        listing = services.list_pages(type=given["type"], limit=given["limit"], cursor=given["cursor"])
        refs = [{"id": p.uid, "title": p.title, "type": p.type, "path": p.path} for p in listing.pages]
        return Response({"results": refs, "next_cursor": listing.next_cursor, "total": listing.total})

    @extend_schema(
        request=shapes.CreateShape, responses={201: shapes.WrittenShape, **errors(400, 403, 409, 413, 415, 422, 507)}
    )
    def create(self, request: Request) -> Response:
        """Create a page. A title that a live page bears is refused with `conflict`."""
        given = params.body_params(request, shapes.CreateShape)
        return _written(services.create_page(**given, author=params.author(request)), status=201)

    @extend_schema(parameters=[PAGE_ID], responses={200: shapes.PageShape, **errors(404, 413, 507)})
    def retrieve(self, request: Request, id: str) -> Response:
        """One page with its text, read from its file."""
        return _page_answer(request, services.page_text(_find(id)))

    @extend_schema(parameters=[shapes.TitleParams], responses={200: shapes.PageShape, **errors(400, 404, 409, 413)})
    @action(detail=False, url_path="by-title")
    def by_title(self, request: Request) -> Response:
        """One page by its exact title, or by `path` where several bear it."""
        given = params.query_params(request, shapes.TitleParams)
        return _page_answer(request, services.page_text(services.page_by_title(given["title"], path=given["path"])))

    @extend_schema(
        parameters=[PAGE_ID, IF_MATCH],
        request=shapes.PutShape,
        responses={200: shapes.WrittenShape, **errors(400, 403, 404, 412, 413, 415, 422, 428, 507)},
    )
    def update(self, request: Request, id: str) -> Response:
        """Replace a page's text, as it is given, on the version that If-Match names."""
        page = _find(id)
        given = params.body_params(request, shapes.PutShape)
        base = params.base_from_if_match(request, services.current_hash(page))
        try:
            return _written(services.put_page(page=page, base_hash=base, author=params.author(request), **given))
        except SynapseError as error:
            _stale_if_conflict(error)
            raise

    @extend_schema(
        parameters=[PAGE_ID, IF_MATCH], responses={200: shapes.DeletedShape, **errors(403, 404, 412, 428, 507)}
    )
    def destroy(self, request: Request, id: str) -> Response:
        """Move a page's file to the history. What links to it is listed."""
        page = _find(id)
        base = params.base_from_if_match(request, services.current_hash(page))
        try:
            return Response(services.delete_page(page=page, base_hash=base, author=params.author(request)).as_dict())
        except SynapseError as error:
            _stale_if_conflict(error)
            raise

    @extend_schema(parameters=[PAGE_ID], responses={200: shapes.HistoryShape, **errors(404)})
    @action(detail=True)
    def history(self, request: Request, id: str) -> Response:
        """Every recorded version of a page, newest first; deleted pages have theirs too."""
        return Response({"results": services.page_history(uuid.UUID(id))})

    @extend_schema(
        parameters=[PAGE_ID],
        request=shapes.RestoreShape,
        responses={200: shapes.WrittenShape, **errors(400, 403, 404, 409, 422, 507)},
    )
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, id: str) -> Response:
        """Write a version's bytes back as they were. What stood there goes to the history."""
        given = params.body_params(request, shapes.RestoreShape)
        done = services.restore_page(page_id=uuid.UUID(id), version=given["version"], author=params.author(request))
        return _written(done)

    @extend_schema(
        parameters=[PAGE_ID],
        request=shapes.MoveShape,
        responses={200: shapes.WrittenShape, **errors(400, 403, 404, 409, 422, 507)},
    )
    @action(detail=True, methods=["post"])
    def move(self, request: Request, id: str) -> Response:
        """Give the page's file another path. Its id stays; links that would break are rewritten."""
        given = params.body_params(request, shapes.MoveShape)
        return Response(services.move_page(page=_find(id), path=given["path"], author=params.author(request)).as_dict())

    @extend_schema(
        parameters=[PAGE_ID],
        request=shapes.RetitleShape,
        responses={200: shapes.RetitledShape, **errors(400, 403, 404, 409, 422, 507)},
    )
    @action(detail=True, methods=["post"])
    def retitle(self, request: Request, id: str) -> Response:
        """Change the title and the links that bear it; `preview` only tells which."""
        given: dict[str, Any] = params.body_params(request, shapes.RetitleShape)
        done = services.retitle_page(page=_find(id), author=params.author(request), **given)
        return Response(done.as_dict())
