"""Parameters of a request: declared once as serializers, unknown ones refused."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote_to_bytes

from rest_framework import serializers
from rest_framework.request import Request

from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki.authentication import actor_name

_SHOWN_CHARACTERS = 200


def _refuse_unknown(given: set[str], allowed: set[str], where: str) -> None:
    unknown = given - allowed
    if unknown:
        named = ", ".join(sorted(_printable(name) for name in unknown))[:_SHOWN_CHARACTERS]
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            f"Unknown {where}: {named}. Known: {', '.join(sorted(allowed)) or 'none'}.",
        )


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name) or '""'


def query_params(request: Request, kind: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    """The query string read by a serializer of ``kind``.

    Raises ``invalid_param_value`` for a name that it does not declare or that is given twice: another reader
    of the same address could take the other one. ``invalid_content`` for bytes that are no UTF-8, which Django would
    replace; half a surrogate pair is such.
    """
    try:
        unquote_to_bytes(request.META.get("QUERY_STRING", "")).decode()
    except UnicodeDecodeError:
        raise SynapseError(
            ErrorCode.INVALID_CONTENT,
            "The query string is not UTF-8: it holds half a surrogate pair or another encoding's bytes. Remove them.",
        ) from None
    form = kind(data=request.query_params.dict())
    _refuse_unknown(set(request.query_params), set(form.fields), "query parameters")
    twice = sorted(name for name, values in request.query_params.lists() if len(values) > 1)
    if twice:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"Give each of these once: {', '.join(twice)}.")
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def body_params(request: Request, kind: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    """The body read by a serializer of ``kind``.

    Raises ``invalid_param_value`` for a key that it does not declare, and for anything in the query string.
    """
    _refuse_unknown(set(request.query_params), set(), "query parameters")
    form = kind(data=request.data)
    _refuse_unknown(set(request.data), set(form.fields), "keys in the body")
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def author(request: Request) -> Author:
    """Who makes this change, for history and audit."""
    return Author(name=actor_name(request.user), door="rest")
