"""What the OpenAPI document says of failures, in one place."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiResponse

from vault.errors import HTTP_STATUS
from wiki.api.shapes import ErrorShape

_ALWAYS = (401, 403, 406, 500)


def errors(*statuses: int) -> dict[int, OpenApiResponse]:
    """The envelope under each status that a view can answer, with the codes that belong to it."""
    found = {}
    for status in sorted({*statuses, *_ALWAYS}):
        codes = ", ".join(code.value for code, belongs in HTTP_STATUS.items() if belongs == status)
        found[status] = OpenApiResponse(ErrorShape, description=codes)
    return found
