"""Parameters of a request: declared once as serializers, unknown ones refused, conditions as RFC 9110 has them."""

from __future__ import annotations

from typing import Any, NoReturn

from rest_framework import serializers
from rest_framework.request import Request

from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki.authentication import actor_name


def _refuse_unknown(given: set[str], allowed: set[str], where: str) -> None:
    unknown = sorted(given - allowed)
    if unknown:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            f"Unknown {where}: {', '.join(unknown)[:200]}. Known: {', '.join(sorted(allowed)) or 'none'}.",
        )


def query_params(request: Request, shape: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    """The query string read by ``shape``; a name it does not declare is ``invalid_param_value``."""
    form = shape(data=request.query_params.dict())
    _refuse_unknown(set(request.query_params), set(form.fields), "query parameters")
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def body_params(request: Request, shape: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    """The body read by ``shape``; a key it does not declare is ``invalid_param_value``."""
    form = shape(data=request.data)
    _refuse_unknown(set(request.data), set(form.fields), "keys in the body")
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def author(request: Request) -> Author:
    """Who makes this change, for history and audit."""
    return Author(name=actor_name(request.user), door="rest")


def etag(content_hash: str) -> str:
    """The strong validator of a version: the sha256 of the file's bytes."""
    return f'"{content_hash}"'


def _tags(header: str) -> list[str]:
    return [tag.strip() for tag in header.split(",") if tag.strip()]


def base_from_if_match(request: Request, current: str) -> str:
    """The version that the caller's If-Match names (RFC 9110, section 13.1.1).

    ``current`` is the file's hash now. ``*`` holds for any version that exists. A weak tag never matches.
    Raises ``base_required`` (428) without the header and ``stale_base`` (412) when nothing matches.
    """
    header = request.headers.get("If-Match", "")
    if not header.strip():
        raise SynapseError(
            ErrorCode.BASE_REQUIRED,
            "Send If-Match with the ETag of the version you changed, so that nobody's edit is overwritten.",
            content_hash=current,
        )
    if header.strip() == "*" or etag(current) in _tags(header):
        return current
    strong = [tag[1:-1] for tag in _tags(header) if tag.startswith('"') and tag.endswith('"')]
    if len(strong) == 1:
        return strong[0]  # the service refuses it, and keeps the caller's text as a draft
    refuse_stale(current)


def refuse_stale(current: str, **repair: Any) -> NoReturn:
    """``stale_base``: the file is not the version that the caller changed."""
    raise SynapseError(
        ErrorCode.STALE_BASE,
        "The page has changed since that version. Read it again, merge, and send If-Match with the new ETag.",
        content_hash=current,
        **repair,
    )


def not_modified(request: Request, content_hash: str) -> bool:
    """Whether If-None-Match names this version, so that an empty 304 will do."""
    tags = [tag.removeprefix("W/") for tag in _tags(request.headers.get("If-None-Match", ""))]
    return etag(content_hash) in tags or "*" in tags
