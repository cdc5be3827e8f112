"""Reads of raw/sources: the person's own files, shown in bounded parts and never changed."""

from __future__ import annotations

import codecs
import unicodedata
from typing import Any, Final

from django.db.models import Q

from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import check_characters
from vault.paths import source_path
from wiki.models import File, FileKind
from wiki.services.cursors import make_cursor, read_cursor

MAX_CHARACTERS: Final = 100_000
MAX_SOURCE_BYTES: Final = 32 * 1024 * 1024
MAX_LIST: Final = 500
_STEP: Final = 1 << 20


def read_source(path: str, *, offset: int = 0) -> dict[str, Any]:
    """At most 100,000 characters (code points) of a text file under raw/sources, from the character ``offset``.

    ``path`` is vault-relative (``raw/sources/…``) or relative to raw/sources. Returns ``path``, ``content``,
    ``size_bytes``, ``truncated``, ``next_offset`` (or null) and ``content_hash`` (sha256 of the whole file, hex).
    Raises ``path_not_allowed``, ``source_not_found``, ``not_a_file``, ``not_a_text_file``, ``not_downloaded``,
    ``payload_too_large`` (files above 32 MiB) or ``invalid_param_value`` (a negative offset).
    """
    if offset < 0:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "offset counts characters from 0; it can't be negative.")
    allowed = source_path(path)
    try:
        read = current_vault().read(allowed, max_bytes=MAX_SOURCE_BYTES)
    except SynapseError as error:
        if error.code is not ErrorCode.NOT_FOUND:
            raise
        raise SynapseError(
            ErrorCode.SOURCE_NOT_FOUND,
            "No source is at this path. Paths are those that a page's sources name; the resources of this server "
            "(`resources/list`) and GET /sources list them.",
        ) from None
    content, more = _part(read.data, offset)
    return {
        "path": allowed,
        "content": content,
        "size_bytes": len(read.data),
        "truncated": more,
        "next_offset": offset + len(content) if more else None,
        "content_hash": read.content_hash,
    }


def _part(data: bytes, offset: int) -> tuple[str, bool]:
    """The text from a character offset, and whether more follows. Decoded in steps: never all of it at once."""
    if b"\0" in data:
        raise _not_text()
    decoder = codecs.getincrementaldecoder("utf-8")()
    view, parts, passed, held = memoryview(data), [], 0, 0
    wanted = MAX_CHARACTERS + 1
    for start in range(0, len(data) or 1, _STEP):
        try:
            text = decoder.decode(view[start : start + _STEP], final=start + _STEP >= len(data))
        except UnicodeDecodeError:
            raise _not_text() from None
        if held < wanted:
            piece = text[max(0, offset - passed) :][: wanted - held]
            parts.append(piece)
            held += len(piece)
        passed += len(text)
    found = "".join(parts)
    return found[:MAX_CHARACTERS], len(found) > MAX_CHARACTERS


def _not_text() -> SynapseError:
    return SynapseError(
        ErrorCode.NOT_A_TEXT_FILE,
        "This source is not UTF-8 text (a PDF, an image, another encoding?). Put a text version of it beside it.",
    )


def list_sources(*, prefix: str = "", limit: int = 100, cursor: str | None = None) -> dict[str, Any]:
    """The files under raw/sources by path: ``result`` ({path, size_bytes, content_hash}), ``next_cursor``, ``total``.

    ``prefix`` keeps those whose path starts with it; ``limit`` is clamped to 1..500. Raises ``invalid_cursor``,
    ``invalid_content`` for a prefix that no path can have.
    """
    check_characters(prefix)
    limit = max(1, min(limit, MAX_LIST))
    files = File.objects.filter(kind=FileKind.SOURCE, deleted_at__isnull=True)
    if prefix:
        files = files.filter(path__startswith=unicodedata.normalize("NFC", prefix))
    name = f"sources:{prefix}"
    rest = files
    if cursor:
        path, pk = read_cursor(name, cursor)
        rest = files.filter(Q(path__gt=path) | Q(path=path, pk__gt=pk))
    rows = list(rest.order_by("path", "pk")[: limit + 1])
    more = len(rows) > limit
    rows = rows[:limit]
    return {
        "result": [
            {"path": row.path, "size_bytes": row.size, "content_hash": row.content_hash or None} for row in rows
        ],
        "next_cursor": make_cursor(name, after=rows[-1].path, pk=rows[-1].pk) if more else None,
        "total": files.count(),
    }
