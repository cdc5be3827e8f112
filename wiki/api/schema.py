"""What the OpenAPI document says of callers, conditions and failures, in one place."""

from __future__ import annotations

import uuid
from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from vault.errors import HTTP_STATUS
from wiki.api.serializers import ErrorSerializer

_ALWAYS: Final = (401, 403, 406, 429, 500, 503)
_HEADER: Final = OpenApiParameter.HEADER

PAGE_ID: Final = OpenApiParameter("id", uuid.UUID, OpenApiParameter.PATH, description="the page's id")
ETAG: Final = OpenApiParameter(
    "ETag", str, _HEADER, response=[200, 201], description="the version's strong validator, for If-Match"
)
IF_MATCH: Final = OpenApiParameter(
    "If-Match", str, _HEADER, required=True, description="the ETag of the version that was changed, or *"
)
IF_MATCH_OPTIONAL: Final = OpenApiParameter(
    "If-Match",
    str,
    _HEADER,
    description="the ETag of the version that is meant; may be left out while Synapse itself wrote the page last",
)
IF_NONE_MATCH: Final = OpenApiParameter("If-None-Match", str, _HEADER, description="an ETag; 304 if it still stands")


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A token of ``manage.py token create``."""

    target_class = "wiki.authentication.TokenAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """The scheme as OpenAPI has it."""
        return {"type": "http", "scheme": "bearer", "description": "a token of `manage.py token create`"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The cookie of a person who is logged in."""

    target_class = "wiki.authentication.BrowserSession"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """The scheme as OpenAPI has it."""
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "the session of /admin/; changes also need X-CSRFToken",
        }


def errors(*statuses: int, anonymous: bool = False) -> dict[int, OpenApiResponse]:
    """The envelope under each status that a view can answer, with the codes that belong to it."""
    found = {}
    always = (406, 500) if anonymous else _ALWAYS
    for status in sorted({*statuses, *always}):
        found[status] = OpenApiResponse(ErrorSerializer, description=_codes(status))
    return found


def _codes(status: int) -> str:
    return ", ".join(code.value for code, belongs in HTTP_STATUS.items() if belongs == status)


_HASH: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_FRONTMATTER: Final = {"type": "entity", "title": "Alan Turing", "sources": ["raw/sources/turing.md"], "lang": "en"}
CREATE_EXAMPLE: Final = OpenApiExample(
    "a new page",
    request_only=True,
    value={
        "title": "Alan Turing",
        "content": "Alan Turing founded computer science. See [[Computability]].\n",
        "frontmatter": _FRONTMATTER,
    },
)
PUT_EXAMPLE: Final = OpenApiExample(
    "the whole file",
    request_only=True,
    value={"text": "---\ntype: entity\ntitle: Alan Turing\n---\nAlan Turing founded computer science.\n"},
)
BODY_EXAMPLE: Final = OpenApiExample(
    "only the body", request_only=True, value={"content": "Alan Turing founded computer science.\n"}
)
MOVE_EXAMPLE: Final = OpenApiExample(
    "to another folder", request_only=True, value={"path": "wiki/entities/people/alan-turing.md", "preview": True}
)
RETITLE_EXAMPLE: Final = OpenApiExample(
    "tell what would change", request_only=True, value={"title": "Alan Mathison Turing", "preview": True}
)
SEARCH_EXAMPLE: Final = OpenApiExample(
    "a page that matches, and one that it links to",
    response_only=True,
    status_codes=["200"],
    value={
        "result": [
            {
                "id": "6f1c7a52-3c1b-5d0e-9a55-0a6f8f6f3a11",
                "title": "Alan Turing",
                "type": "entity",
                "relevance_score": 1.0,
                "path": "wiki/entities/alan-turing.md",
                "phase": "both",
                "why": "matched words: founded, computer; similar passage",
                "snippet": "Alan Turing founded computer science.",
            },
            {
                "id": "0d2f4c1e-77a9-5b1c-8f0e-5b8f6e0c9d22",
                "title": "Computability",
                "type": "concept",
                "relevance_score": 0.5,
                "path": "wiki/concepts/computability.md",
                "phase": "link",
                "why": "linked from Alan Turing",
                "snippet": "What a machine can compute.",
            },
        ],
        "mode": "hybrid",
        "degraded": None,
        "data_version": 12,
        "citations": [
            {
                "n": 1,
                "id": "6f1c7a52-3c1b-5d0e-9a55-0a6f8f6f3a11",
                "title": "Alan Turing",
                "path": "wiki/entities/alan-turing.md",
                "score": 1.0,
                "phase": "both",
                "why": "matched words: founded, computer; similar passage",
                "passages": [{"start": 0, "end": 37}],
            },
            {
                "n": 2,
                "id": "0d2f4c1e-77a9-5b1c-8f0e-5b8f6e0c9d22",
                "title": "Computability",
                "path": "wiki/concepts/computability.md",
                "score": 0.5,
                "phase": "link",
                "why": "linked from Alan Turing",
                "passages": [{"start": 0, "end": 27}],
            },
        ],
        "context": "[1] Alan Turing (wiki/entities/alan-turing.md)\nAlan Turing founded computer science.\n\n"
        "[2] Computability (wiki/concepts/computability.md)\nWhat a machine can compute.",
        "tokens": 41,
        "budget": 6553,
    },
)
STALE_EXAMPLE: Final = OpenApiExample(
    "somebody saved in between",
    response_only=True,
    status_codes=["412"],
    value={
        "error": "The page has changed since the version you started from. Nothing was written. Your text was kept "
        "as a draft. Read it again, and send its content_hash as base_hash.",
        "error_code": "stale_base",
        "content_hash": _HASH,
        "path": "wiki/entities/alan-turing.md",
        "draft": "0f3a9c1d22b47e60",
    },
)


def without_trailing_slashes(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of the generator: addresses are shown as they are meant, the slash at their end being optional."""
    result["paths"] = {path.rstrip("/"): operations for path, operations in result["paths"].items()}
    return result


def closed_bodies(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of the generator: the bodies that are taken hold the keys that are shown and no others."""
    for operations in result["paths"].values():
        for operation in operations.values():
            for form in operation.get("requestBody", {}).get("content", {}).values():
                name = form["schema"]["$ref"].rpartition("/")[2]
                result["components"]["schemas"][name]["additionalProperties"] = False
    return result


def whole_or_parts(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of the generator: a page is replaced by its whole text, or by its body, its properties or both."""
    parts = [{"required": ["content"]}, {"required": ["frontmatter"]}]
    result["paths"]["/pages/{id}"]["put"]["requestBody"]["required"] = True
    result["components"]["schemas"]["Put"]["oneOf"] = [{"required": ["text"]}, {"anyOf": parts}]
    return result


_HEADERS: Final = {
    "RetryAfter": {
        "schema": {"type": "integer", "minimum": 1},
        "description": "in how many seconds to try again",
    },
    "IdempotencyReplayed": {
        "schema": {"type": "string", "enum": ["true"]},
        "description": "there when this is a copy of the answer to an earlier request with the same Idempotency-Key",
    },
}
_IDEMPOTENCY_KEY: Final = {
    "in": "header",
    "name": "Idempotency-Key",
    "schema": {"type": "string", "pattern": "^[\\x21-\\x7e]{1,255}$"},
    "description": "a new UUID for each request, and the same one when it is sent again: then it is answered as it was "
    "the first time, and does nothing. Kept for 24 hours",
}


def retries(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of the generator: each POST, PUT and PATCH takes a key, and answers say when to try again."""
    result["components"]["headers"] = _HEADERS
    for operations in result["paths"].values():
        for method, operation in operations.items():
            if method in ("post", "put", "patch"):
                _take_key(operation)
            for status in {"409", "429"} & operation["responses"].keys():
                _say_header(operation["responses"][status], "Retry-After")
    return result


def _take_key(operation: dict[str, Any]) -> None:
    parameters = [*operation.get("parameters", []), _IDEMPOTENCY_KEY]
    operation["parameters"] = sorted(parameters, key=lambda parameter: str(parameter["name"]))
    refused = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    added = {str(status): {"content": refused, "description": _codes(status)} for status in (400, 409, 422)}
    operation["responses"] = dict(sorted({**added, **operation["responses"]}.items()))
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            _say_header(answer, "Idempotency-Replayed")


def _say_header(answer: dict[str, Any], name: str) -> None:
    answer.setdefault("headers", {})[name] = {"$ref": f"#/components/headers/{name.replace('-', '')}"}
