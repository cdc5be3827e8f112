"""The schemas of prime's tools, field by field as their founding document has them."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcpapi import prime_schemas
from mcpapi.registry import BY_NAME
from tests.mcpapi.test_registry import bare, success, takes
from wiki.prime.asking.budgeting import MAX_BUDGET
from wiki.prime.asking.query import DEFAULT_BUDGET, query
from wiki.prime.asking.resolve import DEFAULT_TOKENS
from wiki.prime.atoms.levels import Level

TEXT = {"type": "string"}
NAMES = {"type": "array", "items": {"type": "string"}}
LEVEL = {"type": "string", "enum": ["summary", "core", "full"]}
LIST = {"type": "array"}
HIT = {
    "id": TEXT,
    "kind": TEXT,
    "tokens": {"type": "integer"},
    "path": TEXT,
    "explanation": TEXT,
}


def budget(default: int) -> dict[str, Any]:
    return {"type": "number", "default": default, "minimum": 1, "maximum": 25_000}


def yes(default: bool) -> dict[str, Any]:
    return {"type": "boolean", "default": default}


@pytest.mark.parametrize(
    ("name", "properties", "required"),
    [
        (
            "prime_query",
            {
                "scope": TEXT,
                "tags": NAMES,
                "level": {**LEVEL, "default": "core"},
                "budget_tokens": budget(1_200),
                "kinds": NAMES,
                "exclude_ids": NAMES,
                "include_text": yes(False),
            },
            [],
        ),
        (
            "prime_resolve",
            {"brief": TEXT, "max_tokens": budget(1_500), "domain": TEXT, "include_text": yes(False)},
            ["brief"],
        ),
        ("prime_intent", {"brief": TEXT, "domain": TEXT}, ["brief"]),
        ("prime_validate", {"artifact": TEXT, "atom_set": NAMES, "validators": NAMES}, ["artifact", "atom_set"]),
        ("prime_compile", {"source": TEXT, "deep": yes(False)}, ["source"]),
    ],
)
def test_what_a_tool_takes(name, properties, required):
    assert takes(name) == {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def test_prime_query_gives_hits_and_their_sum():
    fine = success("prime_query")
    assert fine["required"] == ["hits", "total_tokens"]
    more = {"uri": TEXT, "level": LEVEL, "page_tokens": {"type": "integer"}, "text": TEXT}
    assert fine["properties"] == {
        "hits": {
            "type": "array",
            "items": {"type": "object", "properties": {**HIT, **more}, "required": list(HIT)},
        },
        "total_tokens": {"type": "integer"},
        "omitted": LIST,
    }


def test_prime_resolve_gives_intent_hits_and_contract():
    fine = success("prime_resolve")
    assert fine["required"] == ["intent", "hits", "contract", "total_tokens"]
    assert fine["properties"] == {
        "intent": {"type": "object"},
        "hits": {"type": "array", "items": {"type": "object", "properties": HIT, "required": list(HIT)}},
        "contract": {
            "type": "object",
            "properties": {"must_include": NAMES, "must_avoid": NAMES, "unmet": LIST},
            "required": ["must_include", "must_avoid"],
        },
        "total_tokens": {"type": "integer"},
        "omitted": LIST,
        "conflicts": LIST,
    }


def test_prime_intent_gives_what_it_is_of_every_domain():
    fine = success("prime_intent")
    assert list(fine["properties"]) == [
        *("domain", "task_type", "terms", "tags", "pages", "kinds", "axes", "must", "avoid", "lang"),
        *("required_axes", "ambiguity_flags", "confidence"),
    ]
    assert fine["properties"]["confidence"] == {"type": "number", "minimum": 0, "maximum": 1}
    assert fine["required"] == ["domain", "task_type", "confidence"]


def test_prime_validate_gives_a_verdict_and_fixes():
    assert success("prime_validate") == {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "fixes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "validator": TEXT,
                        "severity": {"type": "string", "enum": ["warning", "error"]},
                        "message": TEXT,
                        "suggestion": TEXT,
                    },
                    "required": ["validator", "severity", "message"],
                },
            },
        },
        "required": ["ok", "fixes"],
    }


def test_prime_compile_gives_diagnostics_and_what_was_compiled_or_null():
    place = {"type": "object", "properties": {"file": TEXT, "line": {"type": "integer"}}}
    assert success("prime_compile") == {
        "type": "object",
        "properties": {
            "ok": {"type": "boolean"},
            "diagnostics": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "level": {"type": "string", "enum": ["error", "warning", "info"]},
                        "layer": {"type": "string", "enum": ["L1", "L2", "L3"]},
                        "atom": TEXT,
                        "message": TEXT,
                        "hint": TEXT,
                        "source": place,
                    },
                    "required": ["level", "layer", "atom", "message"],
                },
            },
            "compiled": {
                "type": ["object", "null"],
                "properties": {
                    "atom_yaml": {"type": "object"},
                    "graph_yaml": {"type": "object"},
                    "chunks": {"type": "object", "properties": {"summary": TEXT, "core": TEXT, "full": TEXT}},
                },
                "required": ["atom_yaml", "graph_yaml", "chunks"],
            },
        },
        "required": ["ok", "diagnostics", "compiled"],
    }


def test_what_is_written_out_is_what_is_there():
    assert [str(level) for level in Level] == prime_schemas.LEVELS
    assert inspect.signature(query).parameters["level"].default == prime_schemas.DEFAULT_LEVEL
    assert prime_schemas.MAX_BUDGET == MAX_BUDGET
    assert takes("prime_query")["properties"]["budget_tokens"]["default"] == DEFAULT_BUDGET
    assert takes("prime_resolve")["properties"]["max_tokens"]["default"] == DEFAULT_TOKENS


FIELD = re.compile(r'^(?P<indent> +)"?(?P<name>\w+)"?(?P<optional>\?)?: +(?P<type>.+?),? *(?://(?P<note>.*))?$')
SIMPLE = {"string": "string", "number": "number", "boolean": "boolean", "object": "object"}


def fields_of(block: str) -> dict[str, tuple[str, str]]:
    """The fields that stand first in a block of the document: their types, and what is noted beside them."""
    found, depth = {}, 0
    for line in block.splitlines():
        matched = FIELD.match(line)
        if matched and depth == 0:
            note = (matched["note"] or "").strip() + (" optional" if matched["optional"] else "")
            found[matched["name"]] = (matched["type"].strip(), note.strip())
        depth += line.partition("//")[0].count("{") - line.partition("//")[0].count("}")
    return found


def fits(said: str, schema: dict[str, Any]) -> bool:
    """Does a schema say what the document says of a field? A whole number is a number."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if said.startswith("{") or said in ("IntentObject", "Diagnostic"):
        return "object" in kinds
    if said.endswith("[]") or said == "[":
        return kinds == ["array"] and (said != "string[]" or schema["items"] == TEXT)
    if '"' in said:
        return kinds == ["string"] and schema["enum"] == re.findall(r'"(\w+)"', said)
    return SIMPLE[said] in ["number" if kind == "integer" else kind for kind in kinds]


@pytest.fixture
def document(shared) -> str:
    (file,) = (shared / "seeds").glob("003_*.txt")
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["prime_query", "prime_resolve", "prime_intent", "prime_validate", "prime_compile"])
def test_each_field_of_the_founding_document_is_there_as_it_says(document, name):
    part = document.split(f"\n{name}\n")[1]
    asked, _, promised = part.partition("\nOutput:")
    given = fields_of(asked.partition("Input:\n{\n")[2].partition("\n}")[0])
    own = BY_NAME[name].input_schema
    assert given
    for field, (said, note) in given.items():
        assert fits(said, bare(own["properties"][field])), field
        default = re.search(r"default (\w+)", note)
        if default:
            assert str(own["properties"][field]["default"]).casefold() == default[1]
        if "optional" in note:
            assert field not in own["required"]
    # What is required is asked for there, too: what was sent by its document is enough.
    assert set(own["required"]) <= set(given)
    answer = fields_of(promised.partition("{\n")[2].partition("\n}")[0]) if promised.startswith("\n{") else {}
    fine = success(name)
    for field, (said, _) in answer.items():
        assert fits(said, fine["properties"][field]), field
        assert field in fine["required"]
    assert bool(answer) is (name != "prime_intent")
    if name == "prime_compile":
        assert "} | null" in promised


def test_a_hit_and_a_diagnostic_have_the_fields_of_the_founding_document(document):
    common = document.split("\nCommon types\n")[1]
    hit = fields_of(common.split("type Hit = {\n")[1].partition("\n};")[0].replace(";", ","))
    for name in ("prime_query", "prime_resolve"):
        items = success(name)["properties"]["hits"]["items"]
        assert items["required"] == list(hit)
        assert all(fits(said, items["properties"][field]) for field, (said, _) in hit.items())
    block = common.split("type Diagnostic = {\n")[1].partition("\n};")[0].replace(";", ",")
    diagnostic = fields_of(block)
    items = success("prime_compile")["properties"]["diagnostics"]["items"]
    assert list(items["properties"]) == list(diagnostic)
    for field, (said, note) in diagnostic.items():
        assert fits(said, items["properties"][field]), field
        assert (field in items["required"]) is ("optional" not in note)


def test_the_envelope_and_an_answer_of_each_kind_fit():
    for name in ("prime_query", "prime_resolve", "prime_intent", "prime_validate", "prime_compile"):
        schema = BY_NAME[name].output_schema
        Draft202012Validator(schema).validate({"error": "x", "error_code": "invalid_scope", "valid_axes": ["type"]})
        assert not Draft202012Validator(schema).is_valid({})
