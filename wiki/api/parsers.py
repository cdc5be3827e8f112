"""Reading a request's body: one JSON object, taken literally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.conf import settings
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from vault.errors import ErrorCode, SynapseError
from vault.strict_json import loads_object


class StrictJSONParser(BaseParser):
    """JSON without the liberties that parsers take.

    Refused with ``malformed_body``: syntax errors, duplicate keys, NaN and infinities, nesting the parser
    can't follow, anything but an object. Refused with ``payload_too_large``: more than twice the largest page.
    """

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The object in the body; an empty body is an empty object."""
        request = (parser_context or {}).get("request")
        if request is not None and request.META.get("HTTP_CONTENT_ENCODING", "identity") != "identity":
            raise UnsupportedMediaType(request.META["HTTP_CONTENT_ENCODING"])  # a small body must stay small
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            _too_large(limit)
        return loads_object(body) if body.strip() else {}


def _too_large(limit: int) -> NoReturn:
    raise SynapseError(
        ErrorCode.PAYLOAD_TOO_LARGE, f"The body is larger than {limit} bytes. Send less at a time.", limit_bytes=limit
    )
