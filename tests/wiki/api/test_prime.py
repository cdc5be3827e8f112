"""prime over REST: what it answers, who may ask, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import VaultFolder
from tests.wiki.api.conftest import Rest, refused
from tests.wiki.prime import bakery
from wiki.prime.asking.intent import intent
from wiki.prime.asking.query import query
from wiki.prime.asking.resolve import resolve
from wiki.prime.checking.compile import compile_source
from wiki.prime.checking.validate import validate
from wiki.sync import scan

BRIEF = "Write a page on sourdough without baking powder"
ASKED: dict[str, dict[str, Any]] = {
    "query": {"scope": "focus:sourdough", "tags": ["rye"], "level": "summary", "budget_tokens": 100},
    "resolve": {"brief": BRIEF, "max_tokens": 300, "include_text": True},
    "intent": {"brief": BRIEF, "domain": "baking"},
    "validate": {"artifact": "[[Sourdough]] in 25 hours", "atom_set": ["Sourdough"]},
    "compile": {"source": bakery.PAGES["wiki/concepts/starter.md"], "deep": True},
}
SERVICES: dict[str, Any] = {
    "query": query,
    "resolve": resolve,
    "intent": intent,
    "validate": validate,
    "compile": compile_source,
}


@pytest.fixture
def bread(vault: VaultFolder) -> VaultFolder:
    bakery.fill(vault, domain=True)
    scan()
    return vault


@pytest.mark.parametrize("question", ASKED)
def test_a_reader_is_answered_what_the_service_says(rita: Rest, bread: VaultFolder, question: str) -> None:
    response = rita.post(f"/prime/{question}", ASKED[question])
    assert response.status_code == 200, response.content
    assert response.json() == SERVICES[question](**ASKED[question])
    assert rita.post(f"/prime/{question}/", ASKED[question]).json() == response.json()


@pytest.mark.parametrize("question", ASKED)
def test_nobody_is_answered_without_a_token(nobody: Rest, bread: VaultFolder, question: str) -> None:
    refused(nobody.post(f"/prime/{question}", ASKED[question]), 401, "unauthenticated")


def test_questions_are_not_counted_as_changes(rita: Rest, bread: VaultFolder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_WRITES_PER_MINUTE, settings.SYNAPSE_RATE_PER_MINUTE = 1, 3
    for _ in range(3):
        assert rita.post("/prime/query", {}).status_code == 200
    refused(rita.post("/prime/query", {}), 429, "rate_limited")


@pytest.mark.parametrize(
    ("question", "body", "status", "code"),
    [
        ("query", {"scope": "colour:red"}, 400, "invalid_scope"),
        ("query", {"scope": ""}, 400, "invalid_scope"),
        ("query", {"scope": "page:Nothing"}, 404, "unknown_atom"),
        ("query", {"scope": "domain:cheese"}, 404, "unknown_domain"),
        ("query", {"level": "whole"}, 400, "invalid_level"),
        ("query", {"kinds": ["recipe"]}, 400, "invalid_param_value"),
        ("query", {"budget_tokens": "many"}, 400, "invalid_param_type"),
        ("query", {"tags": "rye"}, 400, "invalid_param_type"),
        ("query", {"colour": "red"}, 400, "invalid_param_value"),
        ("resolve", {}, 400, "missing_required_params"),
        ("resolve", {"brief": " "}, 400, "invalid_param_value"),
        ("intent", {"brief": "bread", "domain": "cheese"}, 404, "unknown_domain"),
        ("validate", {"artifact": "x", "atom_set": [], "validators": ["sense"]}, 404, "unknown_validator"),
        ("validate", {"artifact": "x"}, 400, "missing_required_params"),
        ("compile", {"source": ""}, 400, "invalid_param_value"),
        ("compile", {"source": "a\x00b"}, 422, "invalid_content"),
    ],
)
def test_what_is_refused(
    rita: Rest, bread: VaultFolder, question: str, body: dict[str, Any], status: int, code: str
) -> None:
    refused(rita.post(f"/prime/{question}", body), status, code)


def test_a_broken_domain_file_is_told(rita: Rest, bread: VaultFolder) -> None:
    bread.write(".synapse/domains/bad.yaml", "name: Bad One\n")
    envelope = refused(rita.post("/prime/query", {}), 503, "dependency_missing")
    assert envelope["faults"][0].startswith("bad.yaml, name: ")


def test_budgets_are_clamped(rita: Rest, bread: VaultFolder) -> None:
    for budget in (-5, 0, 10**9):
        assert rita.post("/prime/query", {"budget_tokens": budget}).json()["total_tokens"] <= 25_000
        assert rita.post("/prime/resolve", {"brief": BRIEF, "max_tokens": budget}).status_code == 200


def test_an_empty_vault(rita: Rest) -> None:
    assert rita.post("/prime/query", {}).json() == {"hits": [], "total_tokens": 0, "omitted": []}
    assert rita.post("/prime/resolve", {"brief": BRIEF}).json()["hits"] == []


@pytest.mark.parametrize(
    ("address", "body", "code"),
    [
        ("/prime/validate", {"artifact": "a", "atom_set": ["a", "\x00"]}, "invalid_content"),
        ("/prime/validate", {"artifact": "\ud800", "atom_set": ["\x00"]}, "invalid_content"),
        ("/prime/validate", {"artifact": "a", "atom_set": ["a", 7]}, "invalid_param_type"),
        ("/prime/validate", {"artifact": "a", "atom_set": [["a"]]}, "invalid_param_type"),
        ("/prime/validate", {"artifact": 7, "atom_set": []}, "invalid_param_type"),
        ("/prime/compile", {"source": -4.9e42}, "invalid_param_type"),
        ("/prime/compile", {"source": "a", "deep": "yes"}, "invalid_param_type"),
        ("/prime/resolve", {"brief": "a", "max_tokens": "900"}, "invalid_param_type"),
        ("/prime/query", {"scope": True}, "invalid_param_type"),
    ],
)
def test_a_value_is_taken_for_nothing_else_and_what_is_wrong_inside_a_list_is_told(
    rita: Rest, address: str, body: dict[str, Any], code: str
) -> None:
    assert refused(rita.post(address, body), 422 if code == "invalid_content" else 400, code)["fields"]
