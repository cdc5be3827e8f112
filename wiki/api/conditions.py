"""Conditional requests as RFC 9110 has them: the ETag of a page is the hash of its file's bytes."""

from __future__ import annotations

import re
from typing import Final

from rest_framework.request import Request

from vault.errors import ErrorCode, SynapseError

_ETAG: Final = re.compile(r'(?P<weak>W/)?"(?P<opaque>[\x21\x23-\x7e\x80-\xff]*)"')
_BETWEEN: Final = re.compile(r"[ \t]*,[ \t,]*|[ \t]*\Z")
_MAX_TAGS: Final = 100


def etag(content_hash: str) -> str:
    """The strong validator of a version: the sha256 of the file's bytes."""
    return f'"{content_hash}"'


def _tags(header: str) -> list[str] | None:
    """The entity tags of a header, weak ones with their ``W/``; None if it is not a list of them."""
    found: list[str] = []
    at = 0
    while at < len(header) and len(found) < _MAX_TAGS:
        tag = _ETAG.match(header, at)
        after = _BETWEEN.match(header, tag.end()) if tag else None
        if tag is None or after is None:
            return None
        found.append(tag[0])
        at = after.end()
    return found


def base_from_if_match(request: Request, current: str | None) -> str | None:
    """The version that the caller's change was made from, as If-Match names it (section 13.1.1).

    ``current`` is the hash of the file now, None where there is no file. ``*`` holds for whatever stands. The answer
    is ``current`` where a tag matches; else the first tag, which the service refuses and under which it keeps the
    caller's text as a draft (a weak tag with its ``W/``, since it never matches). None without the header.

    Raises ``stale_base`` where nothing stands that could match, ``invalid_param_value`` for what is no list of tags.
    """
    header = request.headers.get("If-Match", "").strip()
    if not header:
        return None
    tags = ["*"] if header == "*" else _tags(header)
    if not tags:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, "If-Match takes the ETag as it was given, in its quotation marks, or *."
        )
    if current is None:
        raise SynapseError(
            ErrorCode.STALE_BASE,
            "The page has been deleted since. Send the request without If-Match.",
            content_hash=None,
        )
    if tags == ["*"] or etag(current) in tags:
        return current
    return tags[0].strip('"')


def require_base(request: Request, current: str) -> str:
    """As :func:`base_from_if_match`; ``base_required`` (428) without the header."""
    base = base_from_if_match(request, current)
    if base is None:
        raise SynapseError(
            ErrorCode.BASE_REQUIRED,
            "Send If-Match with the ETag of the version you changed, so that nobody's edit is overwritten.",
            content_hash=current,
        )
    return base


def not_modified(request: Request, content_hash: str) -> bool:
    """Whether If-None-Match names this version (compared weakly, section 13.1.2), so that an empty 304 will do."""
    header = request.headers.get("If-None-Match", "").strip()
    if header == "*":
        return True
    return etag(content_hash) in [tag.removeprefix("W/") for tag in _tags(header) or []]
