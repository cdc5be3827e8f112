"""Reading a request's body: one JSON object, taken literally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.utils.http import parse_header_parameters
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from vault.errors import ErrorCode, SynapseError
from vault.strict_json import loads_object


class StrictJSONParser(BaseParser):
    """JSON without the liberties that parsers take.

    Refused with ``malformed_body``: syntax errors, duplicate keys, NaN and infinities, nesting the parser
    can't follow, anything but an object. Refused with ``payload_too_large``: more than twice the largest page;
    with ``unsupported_media_type``: a compressed body (a small one must stay small), another charset than UTF-8.
    """

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The object in the body; an empty body is an empty object."""
        encoding = parser_context["request"].headers.get("Content-Encoding", "identity") if parser_context else ""
        if encoding.strip().lower() not in ("identity", ""):
            raise UnsupportedMediaType(encoding)
        _, parameters = parse_header_parameters(media_type or "")
        if parameters.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
            raise UnsupportedMediaType(media_type or "")
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise SynapseError(
                ErrorCode.PAYLOAD_TOO_LARGE,
                f"The body is larger than {limit} bytes. Send less at a time.",
                limit_bytes=limit,
            )
        return loads_object(body) if body.strip() else {}
