"""No door answers a failure otherwise than by the envelope: read out of the source of all rooms.

Found are a dict with ``error`` and no ``error_code``, a response whose status may be a failure's and whose body is no
envelope, and Django's classes that are a failure by themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

BASE = Path(settings.BASE_DIR)
ROOMS = ("vault", "wiki", "reviews", "mcpapi", "synapse")
RESPONSES = {
    "Response",
    "HttpResponse",
    "JsonResponse",
    "JSONResponse",
    "PlainTextResponse",
    "TemplateResponse",
    "StreamingHttpResponse",
    "HTMLResponse",
    "render",
}
FAILURES = {
    "HttpResponseBadRequest",
    "HttpResponseForbidden",
    "HttpResponseNotFound",
    "HttpResponseNotAllowed",
    "HttpResponseGone",
    "HttpResponseServerError",
    "HTTPException",
}
#: What has the look of a bare failure, by file and function, and why it may.
ALLOWED = {
    ("wiki/api/views.py", "ReadyView.get"): "a probe goes by the status, and wants the checks by name",
    ("wiki/api/exceptions.py", "_page"): "a page for people in the admin",
    ("wiki/api/base.py", "_replayed"): "an answer that was given before, envelope included",
    ("wiki/api/pages.py", "_written"): "a page that was written: 200 or 201",
    ("wiki/embedding/progress.py", "progress"): "the state of embedding, which may have failed; no answer to a failure",
    ("reviews/admin/decisions.py", "Decisions.decide_view"): "a page for people in the admin",
    ("reviews/admin/bulk.py", "BulkDecisions.bulk_view"): "a page for people in the admin",
    ("synapse/slow_headers.py", "TimelyProtocol.send_400_response"): "what is no HTTP: there is no request to answer",
    ("mcpapi/messages.py", "protocol_error"): "JSON-RPC 2.0's own form, with the envelope inside",
}
#: OAuth has a form of its own, which its clients read: error, error_description (RFC 6749, 5.2; RFC 7591, 3.2.2).
OAUTH = "mcpapi/oauth/"


def name_of(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def may_fail(status: ast.expr | None) -> bool:
    """Could this expression be a status of a failure? What is worked out elsewhere could."""
    if status is None:
        return False
    numbers = [
        node.value for node in ast.walk(status) if isinstance(node, ast.Constant) and isinstance(node.value, int)
    ]
    known = isinstance(status, ast.Constant | ast.IfExp)
    return any(number >= 400 for number in numbers) or not known


def is_envelope(body: ast.expr | None) -> bool:
    """``error.envelope()``, or what a function of that name or ``protocol_error`` makes of one."""
    return isinstance(body, ast.Call) and name_of(body) in ("envelope", "protocol_error")


def is_raw_failure(node: ast.Dict) -> bool:
    """The begin of an answer as ASGI has it, with a status of a failure that is written out."""
    pairs = zip(node.keys, node.values, strict=True)
    return any(
        isinstance(key, ast.Constant) and key.value == "status" and constant_failure(value) for key, value in pairs
    )


def constant_failure(status: ast.expr) -> bool:
    return isinstance(status, ast.Constant) and isinstance(status.value, int) and status.value >= 400


def is_bare(node: ast.AST) -> bool:
    if isinstance(node, ast.Dict):
        keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
        return ("error" in keys and "error_code" not in keys) or is_raw_failure(node)
    if not isinstance(node, ast.Call):
        return False
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if name_of(node) == "dict":
        return "error" in given and "error_code" not in given
    if name_of(node) in RESPONSES:
        body = node.args[0] if node.args else given.get("data", given.get("content"))
        return may_fail(given.get("status", given.get("status_code"))) and not is_envelope(body)
    return name_of(node) in FAILURES


def bare_errors(source: str) -> Iterator[tuple[str, str]]:
    """The places in a file that answer a failure without the envelope: the function, and the code."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, str]]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}".lstrip(".")
        if is_bare(node):
            yield function, ast.unparse(node)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, function)

    return walk(ast.parse(source), "")


def sources() -> list[Path]:
    return [path for room in ROOMS for path in sorted((BASE / room).rglob("*.py")) if "migrations" not in path.parts]


def places() -> dict[tuple[str, str], str]:
    return {
        (str(path.relative_to(BASE)), function): code
        for path in sources()
        for function, code in bare_errors(path.read_text(encoding="utf-8"))
    }


def test_no_failure_is_answered_without_its_code() -> None:
    found = {place: code for place, code in places().items() if place not in ALLOWED and OAUTH not in place[0]}
    assert not found


def test_what_oauth_answers_a_failure_has_its_own_form() -> None:
    dicts = [
        {key.value for key in node.keys if isinstance(key, ast.Constant)} | {"**" for key in node.keys if key is None}
        for path in sources()
        if OAUTH in str(path.relative_to(BASE))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Dict)
    ]
    failures = [keys for keys in dicts if "error" in keys]
    assert failures
    assert all(keys & {"error_description", "**"} for keys in failures)


def test_each_exception_is_still_needed() -> None:
    assert not set(ALLOWED) - set(places())


@pytest.mark.parametrize(
    "source",
    [
        'def tool():\n    return {"error": "no"}',
        'x = {"error": "no", "path": "a"}',
        'x = dict(error="no")',
        'Response({"detail": "no"}, status=400)',
        "Response(status=404)",
        'Response("no", status=status.HTTP_400_BAD_REQUEST)',
        "JsonResponse({}, status=500)",
        'JSONResponse({"detail": "no"}, status_code=413)',
        "JsonResponse(body, status=error.status)",
        'HttpResponse("no", status=503 if broken else 200)',
        'HttpResponseBadRequest("no")',
        'django.http.HttpResponseNotAllowed(["GET"])',
        'render(request, "no.html", status=403)',
        'send({"type": "http.response.start", "status": 400, "headers": []})',
    ],
)
def test_the_scan_finds_what_is_planted(source: str) -> None:
    assert list(bare_errors(source))


@pytest.mark.parametrize(
    "source",
    [
        'x = {"error": "no", "error_code": "conflict"}',
        'dict(error="no", error_code="conflict")',
        "JsonResponse(error.envelope(), status=error.status)",
        "JSONResponse(protocol_error(code, error, 1), status_code=error.status)",
        "Response(body, status=201)",
        "Response(body, status=201 if made else 200)",
        "Response(body)",
        'send({"type": "http.response.start", "status": error.status})',
    ],
)
def test_and_nothing_else(source: str) -> None:
    assert not list(bare_errors(source))
