"""The lines of an export: one JSON object each, and whether what they say can be believed.

First a header (``line`` "header"), then research runs, sources that have changed, and items with their events.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import IO, Any, Final

from django.conf import settings
from django.utils.dateparse import parse_datetime

from reviews.models import ItemType, Origin, RunStatus, Status
from reviews.services.findings import MAX_QUERIES, MAX_RATIONALE, MAX_REFERENCES
from reviews.services.rules import MAX_NOTE, as_id
from vault.errors import ErrorCode, SynapseError
from vault.strict_json import loads_object
from wiki.models import PageType
from wiki.sync.values import storable

FORMAT: Final = "synapse-reviews"
VERSION: Final = 1

Check = Callable[[Any], Any]
_HASH: Final = re.compile("[0-9a-f]{64}")
_TEXT: Final = 4_000
_MANY: Final = 100_000
_WORD: Final = 32
_NAME: Final = 120


def bounded_lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """The lines of a file with their numbers, from 1; None for one that is longer than a line can be."""
    # A page's text stands in a line at most twice, and JSON writes a character in six bytes at worst.
    longest = 12 * settings.SYNAPSE_MAX_PAGE_BYTES + 1_000_000
    number = 0
    while line := stream.readline(longest + 1):
        number += 1
        if len(line) <= longest:
            yield number, line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(longest)
        yield number, None


def read_line(line: bytes | None) -> dict[str, Any]:
    """What a line says, its values checked and turned into those of rows.

    Raises ``malformed_body``, ``invalid_param_value`` or ``payload_too_large``, which say what is wrong with it.
    """
    if line is None:
        raise SynapseError(ErrorCode.PAYLOAD_TOO_LARGE, "The line is longer than any line of an export.")
    try:
        given = loads_object(line)
    except SynapseError as error:
        raise SynapseError(error.code, error.message.replace("The body", "The line")) from None
    kind = given.pop("line", None)
    if kind not in _KINDS:
        raise _wrong("line", f"one of {', '.join(_KINDS)}")
    fields = _KINDS[kind]
    unknown = sorted(given.keys() - fields.keys() - _DERIVED)
    missing = sorted(fields.keys() - given.keys())
    if unknown or missing:
        names = ", ".join(repr(name)[:_NAME] for name in (unknown or missing)[:5])
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, f"The line {'has unknown keys' if unknown else 'lacks'}: {names}."
        )
    read = {name: _checked(name, check, given[name]) for name, check in fields.items()}
    if kind == "item" and (read["status"] == Status.PENDING) != (read["reviewed_at"] is None):
        raise _wrong("reviewed_at", "a time for a decided item, and null for a pending one")
    return {"line": kind, **read}


def _checked(name: str, check: Check, value: Any) -> Any:
    try:
        return check(value)
    except _WrongError as wrong:
        raise _wrong(name, str(wrong)) from None


class _WrongError(Exception):
    """Says what was expected."""


def _wrong(name: str, expected: str) -> SynapseError:
    return SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"{name} must be {expected}.")


def _text(longest: int, *, least: int = 0) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, str) or not least <= len(value) <= longest or storable(value) != value:
            raise _WrongError(f"a text of {least} to {longest} characters")
        return value

    return check


def _page_text(value: Any) -> str:
    return str(_text(settings.SYNAPSE_MAX_PAGE_BYTES)(value))


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise _WrongError("a number from 0 to 2147483647")
    return value


def _one_of(values: list[str]) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in values:
            raise _WrongError(f"one of {', '.join(known or 'an empty text' for known in values)}")
        return value

    return check


def _id(value: Any) -> Any:
    known = as_id(value)
    if known is None:
        raise _WrongError("an id")
    return known


def _hash(value: Any) -> str:
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise _WrongError("64 hexadecimal digits")
    return value


def _moment(value: Any) -> datetime:
    try:
        moment = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise _WrongError("a time in ISO 8601 with its zone")
    return moment


def _or(nothing: Any, check: Check) -> Check:
    """``nothing`` itself (null, an empty text), or what the check takes."""

    def either(value: Any) -> Any:
        return value if value is nothing or (value == nothing and isinstance(value, str)) else check(value)

    return either


def _list(longest: int, check: Check) -> Check:
    def each(value: Any) -> list[Any]:
        if not isinstance(value, list) or len(value) > longest:
            raise _WrongError(f"a list of at most {longest}")
        return [check(entry) for entry in value]

    return each


def _object(fields: dict[str, Check]) -> Check:
    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or value.keys() != fields.keys():
            raise _WrongError(f"an object of {', '.join(fields)}")
        return {name: inner(value[name]) for name, inner in fields.items()}

    return check


def _properties(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not _is_storable(value):
        raise _WrongError("an object of properties")
    return value


def _hashes(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(as_id(key) for key in value):
        raise _WrongError("an object of ids, each with 64 hexadecimal digits")
    return {key: _hash(found) for key, found in value.items()}


def _is_storable(value: Any) -> bool:
    if isinstance(value, str):
        return storable(value) == value
    if isinstance(value, dict):
        return all(_is_storable(part) for part in (*value, *value.values()))
    return all(map(_is_storable, value)) if isinstance(value, list) else True


_NAMED_PAGE: Final = _object({"id": _or(None, _id), "title": _or(None, _text(_TEXT)), "path": _text(_TEXT)})
_REFERENCE: Final = _object({"id": _text(_NAME), "title": _text(_TEXT), "path": _text(_TEXT)})
_STATUS: Final = _one_of([*Status.values, ""])
_EVENT: Final = _object(
    {
        "at": _moment,
        "what": _text(_WORD, least=1),
        "who": _text(_NAME),
        "door": _text(12),
        "from_status": _STATUS,
        "to_status": _STATUS,
        "note": _text(_TEXT),
    }
)
#: Keys that follow from others: shown in the export, not read.
_DERIVED: Final = {"has_proposal"}
_KINDS: Final[dict[str, dict[str, Check]]] = {
    "header": {"format": _text(_NAME), "version": _number, "vault": _id},
    "run": {
        "id": _id,
        "topic": _text(_TEXT, least=1),
        "queries": _list(MAX_QUERIES, _text(_TEXT)),
        "backend": _text(24),
        "status": _one_of(RunStatus.values),
        "claimed_by": _text(_NAME),
        "lease_until": _or(None, _moment),
        "attempts": _number,
        "page": _or(None, _NAMED_PAGE),
        "page_path": _text(_TEXT),
        "note": _text(MAX_NOTE),
        "created_at": _moment,
        "finished_at": _or(None, _moment),
    },
    "source": {
        "path": _text(_TEXT, least=1),
        "content_hash": _hash,
        "noticed_hash": _hash,
        "waiting": _hashes,
    },
    "item": {
        "id": _id,
        "item_type": _one_of(ItemType.values),
        "rule": _text(_WORD, least=1),
        "origin": _one_of(Origin.values),
        "status": _one_of(Status.values),
        "title": _text(_TEXT, least=1),
        "rationale": _text(MAX_RATIONALE),
        "rank": _number,
        "page": _or(None, _NAMED_PAGE),
        "page_path": _text(_TEXT),
        "file": _or(None, _object({"path": _text(_TEXT, least=1)})),
        "target": _text(_TEXT),
        "proposed_title": _text(_TEXT),
        "proposed_page_type": _one_of([*PageType.values, ""]),
        "proposed_frontmatter": _or(None, _properties),
        "proposed_body": _or(None, _page_text),
        "proposed_text": _page_text,
        "base_hash": _or("", _hash),
        "referenced_pages": _list(MAX_REFERENCES, _REFERENCE),
        "search_queries": _list(MAX_QUERIES, _text(_TEXT)),
        "content_key": _hash,
        "evidence_hash": _or("", _hash),
        "evidence": _list(_MANY, _id),
        "created_page": _or(None, _NAMED_PAGE),
        "created_path": _text(_TEXT),
        "research_run": _or(None, _id),
        "note": _text(MAX_NOTE),
        "failure": _text(_TEXT),
        "previous": _or(None, _id),
        "previous_reason": _text(12),
        "filed_by": _text(_NAME),
        "filed_via": _text(12),
        "created_at": _moment,
        "refreshed_at": _or(None, _moment),
        "reviewed_at": _or(None, _moment),
        "reviewed_by": _text(_NAME),
        "reviewed_via": _text(12),
        "events": _list(_MANY, _EVENT),
    },
}
