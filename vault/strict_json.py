"""JSON from outside, taken literally: what two readers could understand differently is refused."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

from vault.errors import ErrorCode, SynapseError

# Every escape is matched, so that the `u` behind an escaped backslash is never taken for the start of one.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def _malformed(reason: str) -> NoReturn:
    raise SynapseError(ErrorCode.MALFORMED_BODY, f"The body is not acceptable JSON: {reason}.")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        _malformed("a key occurs twice in one object")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _malformed("a number is too large")
    return number


def _constant(_: str) -> NoReturn:
    _malformed("NaN and Infinity are not JSON")


def loads_object(body: bytes) -> dict[str, Any]:
    """The one JSON object in ``body`` (UTF-8).

    Raises ``malformed_body`` for syntax errors, duplicate keys, NaN, infinities, numbers too large, nesting
    deeper than the reader can follow, bytes that are not UTF-8, and any document that is not an object.
    """
    try:
        found = json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique, parse_float=_finite, parse_constant=_constant
        )
    except UnicodeDecodeError:
        _malformed("it is not UTF-8")
    except RecursionError:
        _malformed("it is nested too deeply")
    except ValueError:  # JSONDecodeError, and integers of too many digits
        _malformed("its syntax is wrong")
    if not isinstance(found, dict):
        _malformed("an object is expected")
    return found


def halves_as_nul(body: bytes) -> bytes:
    """The JSON text in which an escaped half of a surrogate pair has become an escaped NUL.

    Readers stricter than Python's call such a document no JSON at all, and whoever sent it would never hear which
    value was wrong. No path, title or text may hold a NUL either, so it is refused where a half would have been.
    """
    if b"\\ud" not in body and b"\\uD" not in body:
        return body
    return _ESCAPE.sub(lambda found: b"\\u0000" if found["half"] else found[0], body)
