"""GET /raw-file/<path>: the bytes of a picture of the vault, and of nothing else."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from desk.rendering.leads import is_picture
from desk.views.base import DeskView
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.paths import classify

_TYPES: Final = {
    "avif": "image/avif",
    "bmp": "image/bmp",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webp": "image/webp",
}
#: A picture can be a document (SVG): opened by itself it may neither run nor load anything.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


class RawFile(DeskView):
    """A picture, as the page that shows it asks for it."""

    def get(self, request: HttpRequest, path: str) -> HttpResponse:
        """Its bytes, as the kind of picture that its name says."""
        if not is_picture(path) or classify(path, settings.SYNAPSE_EXCLUDE) is None:
            raise SynapseError(ErrorCode.NOT_FOUND, "Only pictures of the vault are shown here.")
        read = current_vault().read(path, max_bytes=settings.SYNAPSE_MAX_PAGE_BYTES * 4)
        etag = f'"{read.content_hash}"'
        if request.headers.get("If-None-Match") == etag:
            return HttpResponse(status=304, headers={"ETag": etag})
        name = path.rpartition("/")[2]
        kind = name.rpartition(".")[2].lower()
        way = "attachment" if kind == "svg" else "inline"
        return HttpResponse(
            read.data,
            content_type=_TYPES[kind],
            headers={
                "ETag": etag,
                "X-Content-Type-Options": "nosniff",
                "Content-Security-Policy": _POLICY,
                "Content-Disposition": f"{way}; filename*=UTF-8''{quote(name, safe='')}",
                "Cross-Origin-Resource-Policy": "same-origin",
            },
        )
