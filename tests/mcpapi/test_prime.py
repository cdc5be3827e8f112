"""prime through the protocol: what a reader of its founding document would send, and what can't be answered."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from mcpapi import server
from mcpapi.callers import LOCAL, Caller
from mcpapi.calls import Calls
from mcpapi.profiles import Profile
from mcpapi.registry import BY_NAME
from tests.conftest import VaultFolder
from tests.wiki.prime import bakery
from wiki.prime.asking.intent import intent
from wiki.prime.asking.query import query
from wiki.prime.asking.resolve import resolve
from wiki.prime.checking.compile import compile_source
from wiki.prime.checking.validate import validate
from wiki.sync import scan

pytestmark = pytest.mark.django_db(transaction=True)

TOOLS = ("prime_query", "prime_resolve", "prime_intent", "prime_validate", "prime_compile")
HIT = {"id": str, "kind": str, "tokens": int, "path": str, "explanation": str}
FIVE_MEGABYTES = "word " * 1_048_576
BRIEF = "Explain how sourdough differs from bread with yeast, for a beginner"


@pytest.fixture
def empty(vault_folder: VaultFolder, transactional_db: None) -> VaultFolder:
    scan()
    return vault_folder


@pytest.fixture
def bread(vault_folder: VaultFolder, transactional_db: None) -> VaultFolder:
    """The small vault about bread, in rows that the tools' threads see."""
    bakery.fill(vault_folder, domain=True)
    scan()
    return vault_folder


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """The tool's object; it fits the tool's output schema, whichever way it went."""

    async def run() -> Any:
        async with Client(server.build(Profile.STDIO).server, mode="legacy") as client:
            return await client.session.call_tool(name, arguments)

    result = asyncio.run(run())
    if name in BY_NAME:
        Draft202012Validator(BY_NAME[name].output_schema).validate(result.structured_content)
    assert result.is_error is ("error_code" in result.structured_content)
    return result.structured_content


def has(row: dict[str, Any], fields: dict[str, type]) -> bool:
    return all(type(row[name]) is kind for name, kind in fields.items())


def test_prime_query_takes_the_example_of_its_document(bread):
    answer = call(
        "prime_query",
        scope="focus:starter",
        tags=["rye"],
        level="core",
        budget_tokens=1200,
        kinds=["concept"],
        exclude_ids=["@wiki/concept-old-oven"],
    )
    assert {hit["id"] for hit in answer["hits"]} == {"@wiki/concept-sourdough", "@wiki/concept-starter"}
    assert all(has(hit, HIT) for hit in answer["hits"])
    assert answer["total_tokens"] == sum(hit["tokens"] for hit in answer["hits"]) <= 1_200
    assert set(answer) == {"hits", "total_tokens", "omitted"}
    assert set(answer["hits"][0]) - set(HIT) == {"uri", "level", "page_tokens"}
    assert answer == query(
        scope="focus:starter", tags=["rye"], kinds=["concept"], exclude_ids=["@wiki/concept-old-oven"]
    )


def test_prime_query_needs_no_argument_and_sends_texts_if_they_are_wanted(bread):
    assert call("prime_query") == query()
    hits = call("prime_query", level="summary", include_text=True)["hits"]
    assert len(hits) == len(bakery.PAGES)
    assert all(hit["text"].startswith("# ") for hit in hits)


def test_prime_resolve_takes_the_example_of_its_document(bread):
    answer = call("prime_resolve", brief=BRIEF, max_tokens=1500, domain="baking")
    assert answer == resolve(brief=BRIEF, domain="baking")
    assert has(answer, {"intent": dict, "hits": list, "contract": dict, "total_tokens": int})
    assert all(has(hit, HIT) for hit in answer["hits"])
    assert has(answer["contract"], {"must_include": list, "must_avoid": list})
    assert "@wiki/entity-flour" in answer["contract"]["must_include"]
    assert answer["total_tokens"] == sum(hit["tokens"] for hit in answer["hits"]) <= 1_500
    assert call("prime_resolve", brief=BRIEF) == resolve(brief=BRIEF)


def test_prime_intent_takes_the_example_of_its_document(bread):
    answer = call("prime_intent", brief=BRIEF, domain="baking")
    assert answer == intent(brief=BRIEF, domain="baking") == resolve(brief=BRIEF, domain="baking")["intent"]
    assert (answer["domain"], answer["skill"]) == ("baking", "beginner")
    assert "@wiki/concept-sourdough" in answer["pages"]
    assert set(BY_NAME["prime_intent"].output_schema["oneOf"][0]["properties"]) <= set(answer)


def test_prime_validate_takes_the_example_of_its_document(bread):
    ids = ["@wiki/concept-starter", "@wiki/entity-flour"]
    text = "A [[Starter]] is a culture of yeast and bacteria, made with [[Flour]]."
    assert call("prime_validate", artifact=text, atom_set=ids, validators=["links-resolve"]) == {
        "ok": True,
        "fixes": [],
    }
    wrong = f"{text} It rises in 3 cups of 99 hours."
    answer = call("prime_validate", artifact=wrong, atom_set=ids)
    assert answer == validate(artifact=wrong, atom_set=ids)
    found = {(fix["validator"], fix["severity"]) for fix in answer["fixes"]}
    assert ("numbers-supported", "warning") in found
    assert ("no-cups", "error") in found
    assert answer["ok"] is False
    assert all(has(fix, {"validator": str, "severity": str, "message": str}) for fix in answer["fixes"])


ATOM = """\
rule KeepCool {
  id: "@baking/rule-keep-cool"
  version: "1.0.0"
  description: "Dough that rests overnight is kept cool"
  tags: [dough, rest]
  statement: "Keep it at 5 degrees."
  related: ["@wiki/concept-starter"]
}
"""


def test_prime_compile_takes_the_example_of_its_document(bread):
    answer = call("prime_compile", source=ATOM, deep=True)
    assert answer == compile_source(source=ATOM, deep=True)
    assert has(answer, {"ok": bool, "diagnostics": list, "compiled": dict})
    assert has(answer["compiled"], {"atom_yaml": dict, "graph_yaml": dict, "chunks": dict})
    assert has(answer["compiled"]["chunks"], {"summary": str, "core": str, "full": str})
    assert answer["compiled"]["graph_yaml"]["relations"] == [{"type": "related", "target": "@wiki/concept-starter"}]
    wrong = call("prime_compile", source=ATOM.replace("rule KeepCool", "ruel KeepCool"))
    assert (wrong["ok"], wrong["compiled"]) == (False, None)
    assert {"level", "layer", "atom", "message"} <= set(wrong["diagnostics"][0])
    assert wrong["diagnostics"][0]["source"] == {"file": "source", "line": 1}


def test_the_old_name_searches_by_words(bread):
    answer = call("prime_search", query="sourdough", level="summary")
    assert answer == {
        **query(scope="focus:sourdough", level="summary"),
        "deprecated": True,
        "use_instead": "prime_query",
        "original_tool": "prime_search",
    }
    assert call("prime_search", query=5)["error_code"] == "invalid_param_type"
    assert call("prime_search", query="x", scope="tag:rye")["error_code"] == "invalid_param_value"


@pytest.mark.parametrize(
    ("name", "arguments", "code", "repair"),
    [
        ("prime_query", {"scope": "mood:good"}, "invalid_scope", "valid_axes"),
        ("prime_query", {"scope": "sourdough"}, "invalid_scope", "valid_axes"),
        ("prime_query", {"scope": ""}, "invalid_scope", "valid_axes"),
        ("prime_query", {"scope": "type:recipe"}, "invalid_scope", "valid_values"),
        ("prime_query", {"scope": "tool:spoon"}, "invalid_scope", "valid_values"),
        ("prime_query", {"scope": "domain:cars"}, "unknown_domain", "domains"),
        ("prime_query", {"scope": "page:Sourdoh"}, "unknown_atom", "close"),
        ("prime_query", {"level": "all"}, "invalid_level", "allowed"),
        ("prime_query", {"level": "CORE"}, "invalid_level", "allowed"),
        ("prime_query", {"level": ["core"]}, "invalid_param_type", "expected"),
        ("prime_query", {"kinds": ["recipe"]}, "invalid_param_value", "allowed"),
        ("prime_query", {"tags": [5]}, "invalid_param_type", "expected"),
        ("prime_query", {"limit": 5}, "invalid_param_value", "parameters"),
        ("prime_resolve", {}, "missing_required_params", "missing"),
        ("prime_resolve", {"brief": "  \n "}, "invalid_param_value", "parameter"),
        ("prime_resolve", {"brief": "bread", "domain": "cars"}, "unknown_domain", "domains"),
        ("prime_resolve", {"brief": "bread", "max_tokens": "many"}, "invalid_param_type", "expected"),
        ("prime_resolve", {"brief": "bread", "k": 5}, "invalid_param_value", "parameters"),
        ("prime_intent", {"brief": ""}, "invalid_param_value", "parameter"),
        ("prime_intent", {"brief": "bread", "domain": ""}, "unknown_domain", "domains"),
        ("prime_intent", {"brief": "a\0b"}, "invalid_content", "parameter"),
        (
            "prime_validate",
            {"artifact": "x", "atom_set": ["Flour"], "validators": ["spelling"]},
            "unknown_validator",
            "validators",
        ),
        ("prime_validate", {"artifact": "x"}, "missing_required_params", "missing"),
        ("prime_validate", {"artifact": "x", "atom_set": "Flour"}, "invalid_param_type", "expected"),
        ("prime_compile", {"source": " "}, "invalid_param_value", "parameter"),
        ("prime_compile", {"source": "x", "deep": "no"}, "invalid_param_type", "expected"),
        ("prime_compile", {"source": "x", "layer": "L2"}, "invalid_param_value", "parameters"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value)[:60],
)
def test_what_can_not_be_answered_says_what_can(bread, name, arguments, code, repair):
    answer = call(name, **arguments)
    assert answer["error_code"] == code
    assert answer[repair]


def test_an_empty_set_and_an_unknown_atom_are_faults_of_the_text(bread):
    for atom_set, said in (([], "atom_set is empty."), (["@wiki/concept-rye"], "There is no atom @wiki/concept-rye.")):
        answer = call("prime_validate", artifact="Bread is good.", atom_set=atom_set)
        assert answer["ok"] is False
        assert ("atom-set-known", "error", said) in {
            (fix["validator"], fix["severity"], fix["message"]) for fix in answer["fixes"]
        }


@pytest.mark.parametrize("name", TOOLS)
def test_a_broken_domain_file_is_told_and_not_skipped(bread, name):
    bread.write(".synapse/domains/broken.yaml", "name: [\n")
    schema = BY_NAME[name].input_schema
    needed = {field: ["Flour"] if field == "atom_set" else "bread" for field in schema["required"]}
    answer = call(name, **needed)
    assert answer["error_code"] == "dependency_missing"
    assert "broken.yaml" in answer["error"] and "broken.yaml" in answer["faults"][0]
    assert str(bread.root) not in str(answer)


@pytest.mark.parametrize(
    ("name", "arguments", "limit"),
    [
        ("prime_validate", {"artifact": FIVE_MEGABYTES, "atom_set": ["Flour"]}, {"limit_bytes": 5_000_000}),
        ("prime_compile", {"source": FIVE_MEGABYTES}, {"limit_bytes": 5_000_000}),
        ("prime_intent", {"brief": FIVE_MEGABYTES}, {"limit_characters": 200_000}),
        ("prime_resolve", {"brief": FIVE_MEGABYTES}, {"limit_characters": 200_000}),
    ],
    ids=["validate", "compile", "intent", "resolve"],
)
def test_five_megabytes_are_refused_with_the_limit(bread, name, arguments, limit):
    answer = call(name, **arguments)
    assert answer["error_code"] == "payload_too_large"
    assert {key: answer[key] for key in limit} == limit


@pytest.mark.parametrize(
    "brief",
    ["bread", "Sauerteig 黑麦 " * 5_000, "请解释酸面团和酵母有什么不同？", "؟", "🍞", "[[Starter]]"],
    ids=["one word", "10,000 words", "Chinese", "a sign", "a picture", "a link"],
)
def test_any_brief_that_says_something_is_answered(bread, brief):
    assert call("prime_intent", brief=brief) == intent(brief=brief)
    answer = call("prime_resolve", brief=brief, max_tokens=100)
    assert answer["total_tokens"] == sum(hit["tokens"] for hit in answer["hits"]) <= 100
    assert 0 <= answer["intent"]["confidence"] <= 1


def test_an_empty_vault_has_nothing_and_says_so(empty):
    assert call("prime_query") == {"hits": [], "total_tokens": 0, "omitted": []}
    assert call("prime_query", scope="focus:bread", tags=["x"], kinds=["concept"])["hits"] == []
    answer = call("prime_resolve", brief=BRIEF)
    assert (answer["hits"], answer["total_tokens"]) == ([], 0)
    assert "no_known_page" in call("prime_intent", brief=BRIEF)["ambiguity_flags"]
    assert call("prime_validate", artifact="Bread.", atom_set=["Bread"])["ok"] is False
    assert call("prime_compile", source="---\ntitle: Bread\ntype: concept\n---\nBread is baked.\n")["ok"] is True


def test_a_budget_is_clamped_and_never_exceeded(bread):
    for budget in (-5, 0, 1, 29.9, 40, 10**12):
        assert call("prime_query", level="summary", budget_tokens=budget)["total_tokens"] <= max(1, budget)
        assert call("prime_resolve", brief=BRIEF, max_tokens=budget)["total_tokens"] <= min(max(1, budget), 25_000)


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("mode", ["false", "staged", "true"])
def test_a_token_that_may_read_may_ask_and_one_that_may_nothing_may_not(bread, name, mode):
    schema = BY_NAME[name].input_schema
    needed = {field: ["Flour"] if field == "atom_set" else "bread" for field in schema["required"]}

    async def run(caller: Caller) -> dict[str, Any]:
        calls = Calls(Profile.HTTP, mode)
        try:
            return (await calls.answer(name, needed, caller)).structured_content or {}
        finally:
            await calls.close()

    assert "error_code" not in asyncio.run(run(Caller(name="token:test", scope="read", door="mcp-http")))
    assert "error_code" not in asyncio.run(run(LOCAL))
    assert asyncio.run(run(Caller(name="token:test", scope="", door="mcp-http")))["error_code"] == "forbidden"


def test_asking_changes_no_file(bread):
    before = {path: path.read_bytes() for path in bread.root.rglob("*") if path.is_file()}
    call("prime_query", include_text=True)
    call("prime_resolve", brief=BRIEF)
    call("prime_validate", artifact="Bread.", atom_set=["Flour"])
    call("prime_compile", source=ATOM, deep=True)
    assert {path: path.read_bytes() for path in bread.root.rglob("*") if path.is_file()} == before
