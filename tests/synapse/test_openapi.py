"""docs/openapi.json is what the code serves, and says enough to be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator, FormatChecker

from tests.wiki.api import contract
from vault.errors import ErrorCode

KEPT = Path(settings.BASE_DIR) / "docs" / "openapi.json"
METHODS = {"get", "post", "put", "delete", "patch"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    ]


def test_the_document_is_up_to_date(tmp_path: Path) -> None:
    fresh = tmp_path / "openapi.json"
    call_command("spectacular", file=str(fresh), format="openapi-json", validate=True, fail_on_warn=True)
    assert json.loads(fresh.read_text()) == json.loads(KEPT.read_text()), "run `make openapi` and commit the result"


def test_the_document_that_is_served_is_the_same(document: dict[str, Any]) -> None:
    served = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True), default=str))
    assert served["paths"].keys() == document["paths"].keys()


def test_every_operation_has_a_name_a_sentence_and_a_tag(operations: list[tuple[str, str, dict[str, Any]]]) -> None:
    names = [operation["operationId"] for _, _, operation in operations]
    assert len(names) == len(set(names)) == 41
    for path, method, operation in operations:
        assert operation["operationId"].isidentifier(), path
        assert operation["description"].endswith("."), (path, method)
        assert operation["tags"], path


def test_addresses_are_shown_without_a_slash_at_the_end(document: dict[str, Any]) -> None:
    assert not [path for path in document["paths"] if path.endswith("/")]


def test_everything_but_health_wants_a_token_or_a_session(operations: list[tuple[str, str, dict[str, Any]]]) -> None:
    for path, _, operation in operations:
        wanted = [] if path.startswith("/health/") else [{"bearer": []}, {"session": []}]
        assert operation.get("security", []) == wanted, path


def test_every_failure_is_the_envelope(document: dict[str, Any], operations: list[Any]) -> None:
    for path, _, operation in operations:
        failures = {status: answer for status, answer in operation["responses"].items() if int(status) >= 400}
        assert "500" in failures, path
        for status, answer in failures.items():
            if (path, status) == ("/health/ready", "503"):
                continue
            assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}
            assert answer["description"], (path, status)
    assert document["components"]["schemas"]["ErrorCode"]["enum"] == [code.value for code in ErrorCode]


def test_changes_of_a_version_name_if_match(operations: list[tuple[str, str, dict[str, Any]]]) -> None:
    wanting = {
        operation["operationId"]
        for _, _, operation in operations
        for parameter in operation.get("parameters", [])
        if parameter["name"] == "If-Match" and parameter.get("required")
    }
    assert wanting == {"replacePage", "deletePage"}


def test_bodies_hold_no_other_keys_than_those_shown(
    document: dict[str, Any], operations: list[tuple[str, str, dict[str, Any]]]
) -> None:
    bodies = [operation["requestBody"] for _, _, operation in operations if "requestBody" in operation]
    names = {body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2] for body in bodies}
    assert len(names) == 17
    assert not [name for name in names if document["components"]["schemas"][name]["additionalProperties"] is not False]
    assert "additionalProperties" not in document["components"]["schemas"]["Page"]


def _schema(document: dict[str, Any], operation: dict[str, Any], status: str = "") -> dict[str, Any]:
    """The form of an operation's body, or of its answer with this status."""
    holder = operation["responses"][status] if status else operation["requestBody"]
    name = holder["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    found: dict[str, Any] = document["components"]["schemas"][name]
    return found


def test_bulk_resolve_and_the_patch_of_an_item_are_in_it(document: dict[str, Any]) -> None:
    bulk = document["paths"]["/review/queue/bulk-resolve"]["post"]
    asked = _schema(document, bulk)
    assert asked["required"] == ["action", "ids"]
    assert (asked["properties"]["ids"]["minItems"], asked["properties"]["ids"]["maxItems"]) == (1, 200)
    assert set(_schema(document, bulk, "200")["properties"]) == {
        "resolved",
        "not_found",
        "already",
        "failed",
        "count",
        "warnings",
    }
    assert "too_many_ids" in bulk["responses"]["422"]["description"]
    patch = document["paths"]["/review/queue/{id}"]["patch"]
    asked = _schema(document, patch)
    assert set(asked["properties"]) == {"action", "status", "note"}
    assert asked["oneOf"] == [{"required": ["action"]}, {"required": ["status"]}]
    for part in ("action", "status"):
        name = asked["properties"][part]["$ref"].rpartition("/")[2]
        assert document["components"]["schemas"][name]["enum"]
    for status, code in [("404", "review_not_found"), ("409", "review_terminal"), ("422", "invalid_action")]:
        assert code in patch["responses"][status]["description"]


def test_the_queue_and_research_have_the_addresses_of_their_table(document: dict[str, Any]) -> None:
    verbs = ("skip", "dismiss", "create", "approve", "deep-research", "mark-resolved", "reopen")
    expected = {
        "/review/queue": {"get", "post"},
        "/review/queue/{id}": {"get", "patch"},
        **{f"/review/queue/{{id}}/{verb}": {"post"} for verb in verbs},
        **{f"/review/queue/{name}": {"post"} for name in ("bulk", "bulk-resolve", "sweep")},
        "/research/runs": {"get"},
        **{f"/research/runs/{{id}}/{name}": {"post"} for name in ("claim", "complete", "fail")},
    }
    found = {
        path: set(item) & METHODS
        for path, item in document["paths"].items()
        if path.startswith(("/review", "/research"))
    }
    assert found == expected


def test_examples_are_what_their_forms_allow(document: dict[str, Any], operations: list[Any]) -> None:
    seen = 0
    for path, _, operation in operations:
        answers = [answer for answer in operation["responses"].values() if "content" in answer]
        for holder in [operation.get("requestBody", {}), *answers]:
            for form in holder.get("content", {}).values():
                schema = {**contract.plain(form["schema"]), "components": contract.document()["components"]}
                for example in form.get("examples", {}).values():
                    validator = Draft202012Validator(schema, format_checker=FormatChecker())
                    assert not list(validator.iter_errors(example["value"])), (path, example["value"])
                    seen += 1
    assert seen > 15
