"""Pages over REST: read, create, replace, delete, history, restore, move, retitle."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from wiki import services
from wiki.api import params, schema, serializers
from wiki.api.base import RestViewSet
from wiki.api.conditions import base_from_if_match, etag, not_modified, require_base
from wiki.api.schema import errors
from wiki.models import Page

MAX_VERSIONS: Final = 500


def _written(written: services.PageWritten, *, status: int = 200) -> Response:
    page = written.page
    body = {
        "id": str(page.uid),
        "title": page.title,
        "type": page.type,
        "path": page.path,
        "content_hash": written.content_hash,
        "created": written.created,
        "warnings": written.warnings,
    }
    response = Response(body, status=status, headers={"ETag": etag(written.content_hash)})
    if status == 201:
        response["Location"] = f"/pages/{page.uid}"
    return response


def _answer(request: Request, page: Page) -> Response:
    content = services.page_content(page)
    headers = {"ETag": etag(content["content_hash"]), "Cache-Control": "private, no-cache"}
    if not_modified(request, content["content_hash"]):
        return Response(status=304, headers=headers)
    return Response(content, headers=headers)


def _current_hash(page: Page) -> str | None:
    return None if page.deleted_at else services.read_page(page).content_hash


def _base_if_given(request: Request, page: Page) -> str | None:
    return base_from_if_match(request, _current_hash(page)) if "If-Match" in request.headers else None


def _required_base(request: Request, page: Page) -> str:
    return require_base(request, services.read_page(page).content_hash)


class PageViewSet(RestViewSet):
    """The pages of the vault."""

    lookup_field = "id"
    lookup_value_regex = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

    @extend_schema(
        operation_id="listPages",
        parameters=[serializers.PageListQuerySerializer],
        responses={200: serializers.PageListSerializer, **errors(400, 422)},
    )
    def list(self, request: Request) -> Response:
        """Live pages by title, a part at a time; reserved pages are left out."""
        return Response(services.list_pages(**params.query_params(request, serializers.PageListQuerySerializer)))

    @extend_schema(
        operation_id="createPage",
        parameters=[schema.ETAG],
        request=serializers.CreateSerializer,
        responses={201: serializers.WrittenSerializer, **errors(400, 409, 413, 415, 422, 507)},
        examples=[schema.CREATE_EXAMPLE],
    )
    def create(self, request: Request) -> Response:
        """Create a page. A title that a live page bears is refused with `conflict`."""
        given = params.body_params(request, serializers.CreateSerializer)
        return _written(services.create_page(**given, author=params.author(request)), status=201)

    @extend_schema(
        operation_id="getPage",
        parameters=[schema.PAGE_ID, schema.IF_NONE_MATCH, schema.ETAG],
        responses={200: serializers.PageSerializer, 304: None, **errors(400, 404, 409, 413, 415, 507)},
    )
    def retrieve(self, request: Request, id: str) -> Response:
        """One page with its text, read from its file."""
        params.query_params(request, serializers.NothingSerializer)
        return _answer(request, services.page_by_id(UUID(id)))

    @extend_schema(
        operation_id="getPageByTitle",
        parameters=[serializers.TitleQuerySerializer, schema.IF_NONE_MATCH, schema.ETAG],
        responses={200: serializers.PageSerializer, 304: None, **errors(400, 404, 409, 413, 415, 422, 507)},
    )
    def by_title(self, request: Request) -> Response:
        """One page by its exact title, or by `path` where several bear it."""
        given = params.query_params(request, serializers.TitleQuerySerializer)
        return _answer(request, services.page_by_title(given["title"], path=given["path"]))

    @extend_schema(
        operation_id="replacePage",
        parameters=[schema.PAGE_ID, schema.IF_MATCH, schema.ETAG],
        request=serializers.PutSerializer,
        responses={200: serializers.WrittenSerializer, **errors(400, 404, 409, 412, 413, 415, 422, 428, 507)},
        examples=[schema.PUT_EXAMPLE, schema.BODY_EXAMPLE, schema.STALE_EXAMPLE],
    )
    def update(self, request: Request, id: str) -> Response:
        """Replace a page's text, as it is given, on the version that If-Match names."""
        page = services.page_by_id(UUID(id))
        given = params.body_params(request, serializers.PutSerializer)
        base = _required_base(request, page)
        return _written(services.put_page(page=page, base_hash=base, author=params.author(request), **given))

    @extend_schema(
        operation_id="deletePage",
        parameters=[schema.PAGE_ID, schema.IF_MATCH],
        responses={200: serializers.DeletedSerializer, **errors(400, 404, 409, 412, 428, 507)},
    )
    def destroy(self, request: Request, id: str) -> Response:
        """Move a page's file to the history. What links to it is listed."""
        params.query_params(request, serializers.NothingSerializer)
        page = services.page_by_id(UUID(id))
        base = _required_base(request, page)
        return Response(services.page_delete(page=page, base_hash=base, author=params.author(request)))

    @extend_schema(
        operation_id="listPageVersions",
        parameters=[schema.PAGE_ID, serializers.HistoryQuerySerializer],
        responses={200: serializers.HistorySerializer, **errors(400, 404, 507)},
    )
    def history(self, request: Request, id: str) -> Response:
        """The recorded changes of a page, newest first; deleted pages have theirs too."""
        given = params.query_params(request, serializers.HistoryQuerySerializer)
        page = services.page_by_id(UUID(id), deleted=True)
        limit = max(1, min(given["limit"], MAX_VERSIONS))
        return Response({"result": services.page_history(page, limit=limit)})

    @extend_schema(
        operation_id="restorePage",
        parameters=[schema.PAGE_ID, schema.IF_MATCH_OPTIONAL, schema.ETAG],
        request=serializers.RestoreSerializer,
        responses={200: serializers.WrittenSerializer, **errors(400, 404, 409, 412, 413, 415, 422, 428, 507)},
    )
    def restore(self, request: Request, id: str) -> Response:
        """Write a version's bytes back as they were. What stood there goes to the history."""
        page = services.page_by_id(UUID(id), deleted=True)
        given = params.body_params(request, serializers.RestoreSerializer)
        base = _base_if_given(request, page)
        return _written(services.page_restore(page=page, base_hash=base, author=params.author(request), **given))

    @extend_schema(
        operation_id="movePage",
        parameters=[schema.PAGE_ID, schema.IF_MATCH_OPTIONAL],
        request=serializers.MoveSerializer,
        responses={200: serializers.RenamedSerializer, **errors(400, 404, 409, 412, 413, 415, 422, 507)},
        examples=[schema.MOVE_EXAMPLE],
    )
    def move(self, request: Request, id: str) -> Response:
        """Give the page's file another path. Its id stays; links that would break are rewritten."""
        page = services.page_by_id(UUID(id))
        given = params.body_params(request, serializers.MoveSerializer)
        base = _base_if_given(request, page)
        done = services.page_move(page=page, base_hash=base, author=params.author(request), **given)
        return Response(done.as_dict())

    @extend_schema(
        operation_id="retitlePage",
        parameters=[schema.PAGE_ID, schema.IF_MATCH_OPTIONAL],
        request=serializers.RetitleSerializer,
        responses={200: serializers.RenamedSerializer, **errors(400, 404, 409, 412, 413, 415, 422, 428, 507)},
        examples=[schema.RETITLE_EXAMPLE],
    )
    def retitle(self, request: Request, id: str) -> Response:
        """Change the title and the links that bear it; `preview` only tells which."""
        page = services.page_by_id(UUID(id))
        given: dict[str, Any] = params.body_params(request, serializers.RetitleSerializer)
        base = _base_if_given(request, page)
        done = services.page_retitle(page=page, base_hash=base, author=params.author(request), **given)
        return Response(done.as_dict())
