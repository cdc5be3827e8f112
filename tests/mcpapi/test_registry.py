"""The tools' schemas, field by field as the founding contract has them, and the bounds of the surface."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mcpapi import prompts, registry
from mcpapi.aliases import BY_OLD_NAME, REMOVED
from mcpapi.callers import LOCAL
from mcpapi.profiles import EXPECTED, listed
from mcpapi.registry import BY_NAME, STAGED_WRITE_PAGE, TOOLS, VISIBLE_TOOL_CAP, require_bounded
from mcpapi.server import INSTRUCTIONS, shown
from reviews.models import ItemType
from reviews.services import proposals

# Old names that are also a word of the language.
WORDS = {"search"}

TYPES = ["entity", "concept", "source", "synthesis", "comparison"]
ITEM_TYPES = ["missing-page", "suggestion", "contradiction", "duplicate", "confirm"]


def bare(schema: object) -> object:
    """The schema without descriptions: what a program relies on."""
    if isinstance(schema, dict):
        return {key: bare(value) for key, value in schema.items() if key != "description" or isinstance(value, dict)}
    if isinstance(schema, list):
        return [bare(item) for item in schema]
    return schema


def takes(name: str) -> dict:
    return bare(BY_NAME[name].input_schema)


def success(name: str) -> dict:
    root = bare(BY_NAME[name].output_schema)
    assert root["type"] == "object"
    fine, error = root["oneOf"]
    assert error == {
        "type": "object",
        "properties": {"error": {"type": "string"}, "error_code": {"type": "string"}},
        "required": ["error", "error_code"],
    }
    return fine


def subset(whole: dict, names: list[str]) -> dict:
    return {name: whole[name] for name in names}


def test_search_wiki_takes_what_the_contract_says():
    assert takes("search_wiki") == {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "k": {"type": "integer", "default": 5, "minimum": 1, "maximum": 50},
        },
        "required": ["query"],
        "additionalProperties": False,
    }


def test_search_wiki_gives_page_references_with_a_score():
    fine = success("search_wiki")
    assert fine["required"] == ["result"]
    items = fine["properties"]["result"]["items"]
    assert subset(items["properties"], ["id", "title", "type", "relevance_score"]) == {
        "id": {"type": "string", "format": "uuid"},
        "title": {"type": ["string", "null"]},
        "type": {"type": ["string", "null"], "enum": [*TYPES, None]},
        "relevance_score": {"type": "number", "minimum": 0.0, "maximum": 1.0},
    }
    assert items["required"] == ["id", "relevance_score"]


def test_write_page_takes_what_the_contract_says_and_two_additions():
    assert takes("write_page") == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1},
            "content": {"type": "string", "minLength": 1},
            "frontmatter": {
                "type": "object",
                "properties": {
                    "type": {"type": "string", "enum": TYPES},
                    "title": {"type": "string", "minLength": 1},
                    "sources": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                    "lang": {"type": "string", "minLength": 2},
                },
                "required": ["type", "title", "sources", "lang"],
                "additionalProperties": True,
            },
            "origin_source": {"type": "string", "default": ""},
            "base_hash": {"type": ["string", "null"], "default": None},
            "path": {"type": ["string", "null"], "default": None},
        },
        "required": ["title", "content", "frontmatter"],
        "additionalProperties": False,
    }


def test_write_page_gives_a_page_reference():
    fine = success("write_page")
    assert fine["required"] == ["id"]
    assert subset(fine["properties"], ["id", "title", "type", "relevance_score"]) == {
        "id": {"type": "string", "format": "uuid"},
        "title": {"type": ["string", "null"]},
        "type": {"type": ["string", "null"]},
        "relevance_score": {"type": "number", "const": 0.0},
    }
    assert {"path", "content_hash", "created", "warnings"} <= set(fine["properties"])


def test_get_page_takes_a_title_and_gives_the_page():
    assert takes("get_page") == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "path": {"type": ["string", "null"], "default": None}},
        "required": ["title"],
        "additionalProperties": False,
    }
    fine = success("get_page")
    assert fine["required"] == ["title", "content", "frontmatter"]
    assert subset(fine["properties"], ["title", "type", "content", "frontmatter"]) == {
        "title": {"type": "string"},
        "type": {"type": ["string", "null"]},
        "content": {"type": "string"},
        "frontmatter": {"type": "object"},
    }


def test_list_pages_takes_a_type_and_gives_references_without_score():
    assert takes("list_pages") == {
        "type": "object",
        "properties": {
            "type": {"type": ["string", "null"], "default": None, "enum": [*TYPES, None]},
            "limit": {"type": "integer", "default": 100, "minimum": 1, "maximum": 500},
            "cursor": {"type": ["string", "null"], "default": None},
        },
        "required": [],
        "additionalProperties": False,
    }
    items = success("list_pages")["properties"]["result"]["items"]
    assert items == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "title": {"type": ["string", "null"]},
            "type": {"type": ["string", "null"], "enum": [*TYPES, None]},
            "relevance_score": {"type": "number", "const": 0.0},
        },
        "required": ["id", "relevance_score"],
    }


def test_the_tools_of_adr_0061_have_its_signatures():
    assert takes("get_graph_neighborhood")["properties"] == {
        "title": {"type": "string"},
        "depth": {"type": "integer", "default": 1, "minimum": 1, "maximum": 2},
        "path": {"type": ["string", "null"], "default": None},
    }
    assert takes("get_graph_neighborhood")["required"] == ["title"]
    assert takes("read_source_file")["properties"] == {
        "path": {"type": "string"},
        "offset": {"type": "integer", "default": 0, "minimum": 0},
    }
    assert takes("read_source_file")["required"] == ["path"]
    assert takes("trigger_source_rescan")["properties"] == {}


def test_list_reviews_takes_a_status_and_a_bounded_number():
    assert takes("list_reviews") == {
        "type": "object",
        "properties": {
            "status": {
                "type": ["string", "null"],
                "enum": ["pending", "resolved", "dismissed", "all", None],
                "default": None,
            },
            "limit": {"type": "integer", "default": 50, "minimum": 1, "maximum": 100},
            "item_type": {"type": ["string", "null"], "enum": [*ITEM_TYPES, None], "default": None},
            "cursor": {"type": ["string", "null"], "default": None},
        },
        "required": [],
        "additionalProperties": False,
    }
    assert success("list_reviews")["required"] == ["result"]


def test_resolve_review_takes_an_id_and_an_action_that_the_queue_judges():
    assert takes("resolve_review") == {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "action": {"type": "string"},
            "note": {"type": "string", "default": ""},
        },
        "required": ["id", "action"],
        "additionalProperties": False,
    }
    assert success("resolve_review")["required"] == ["item", "changed", "warnings"]


def test_propose_review_takes_as_many_items_and_the_same_keys_as_the_queue():
    items = takes("propose_review")["properties"]["items"]
    assert takes("propose_review")["required"] == ["items"]
    assert (items["minItems"], items["maxItems"]) == (1, proposals.MAX_ITEMS)
    assert list(items["items"]["properties"]) == list(proposals.FIELDS)
    assert items["items"]["required"] == ["item_type", "title"]
    assert items["items"]["properties"]["item_type"]["enum"] == ITEM_TYPES == ItemType.values
    assert success("propose_review")["required"] == ["filed", "refreshed", "refused"]


def test_a_staged_write_takes_what_a_write_takes_and_answers_the_item():
    assert STAGED_WRITE_PAGE.input_schema == BY_NAME["write_page"].input_schema
    fine, error = bare(STAGED_WRITE_PAGE.output_schema)["oneOf"]
    assert fine["required"] == ["staged", "review_id"]
    assert fine["properties"]["staged"] == {"type": "boolean", "const": True}
    assert error["required"] == ["error", "error_code"]
    hints = shown(STAGED_WRITE_PAGE).model_dump(by_alias=True, mode="json")["annotations"]
    assert (hints["readOnlyHint"], hints["destructiveHint"]) == (False, False)


def test_the_founding_contract_holds_field_by_field(shared):
    """Nothing of it is changed; what stands beside it is an addition. Its arrays are the field ``result``."""
    (file,) = (shared / "seeds").glob("000_*.txt")
    founding = json.loads(file.read_text(encoding="utf-8"))["tools"]
    assert {tool["name"] for tool in founding} == {"search_wiki", "write_page", "get_page", "list_pages"}
    for tool in founding:
        name, asked, promised = tool["name"], bare(tool["inputSchema"]), bare(tool["outputSchema"])
        own = takes(name)
        assert own["type"] == asked["type"] and own["required"] == asked["required"], name
        assert subset(own["properties"], list(asked["properties"])) == asked["properties"], name
        gives = success(name)
        if promised.get("type") == "array":
            promised, gives = promised["items"], gives["properties"]["result"]["items"]
        else:
            promised = promised["oneOf"][0]
        assert gives["required"] == promised["required"], name
        for field, rule in promised["properties"].items():
            # An enum where there was none says more of a result, and changes nothing.
            assert {key: gives["properties"][field].get(key) for key in rule} == rule, (name, field)
        assert promised["type"] == gives["type"]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schemas_are_valid_and_every_parameter_is_described(tool):
    Draft202012Validator.check_schema(tool.input_schema)
    Draft202012Validator.check_schema(tool.output_schema)
    nested = tool.input_schema["properties"].get("frontmatter", {}).get("properties", {})
    for name, parameter in {**tool.input_schema["properties"], **nested}.items():
        assert len(parameter.get("description", "")) > 10, name


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_annotations_say_what_the_tool_may_do(tool):
    shown_tool = shown(tool).model_dump(by_alias=True, mode="json")
    hints = shown_tool["annotations"]
    assert len(shown_tool["title"]) > 5
    assert hints["readOnlyHint"] is not tool.writes
    assert hints["destructiveHint"] is (tool.name in ("write_page", "resolve_review"))
    assert hints["idempotentHint"] is (tool.name != "write_page")
    assert hints["openWorldHint"] is False


@pytest.mark.parametrize(("profile", "mode"), [*EXPECTED], ids=str)
def test_the_whole_list_stays_small_enough_to_be_read_by_a_model(profile, mode):
    tools = listed(profile, mode, LOCAL)
    shown_tools = [shown(tool).model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tools]
    tokens = len(json.dumps(shown_tools, ensure_ascii=False, separators=(",", ":"))) / 4
    assert tokens <= 6_000, f"tools/list is {tokens:.0f} tokens for {len(tools)} tools"


def test_no_description_names_a_tool_that_is_not_there_any_more():
    """An agent does what a description says, and would call an old name."""
    retired = {*BY_OLD_NAME, *REMOVED} - WORDS
    prompts_of_ours = Path(prompts.__file__).read_text(encoding="utf-8")
    assert not {name for name in retired if re.search(rf"\b{re.escape(name)}\b", INSTRUCTIONS + prompts_of_ours)}
    for tool in (*TOOLS, STAGED_WRITE_PAGE):
        texts = json.dumps([shown(tool).model_dump(by_alias=True, mode="json"), tool.output_schema])
        assert not {name for name in retired if re.search(rf"\b{re.escape(name)}\b", texts)}, tool.name
        for name in WORDS:
            assert not re.search(rf"`{name}`|\b{name}\(", texts), tool.name


def test_no_description_names_a_tool_that_never_was():
    names = re.compile(r"\b(?:get|list|read|search|write|trigger|resolve|propose|prime|delete|create)_[a-z_]+\b")
    for tool in (*TOOLS, STAGED_WRITE_PAGE):
        assert set(names.findall(tool.description)) <= set(BY_NAME), tool.name


def test_a_sixteenth_visible_tool_is_refused_and_a_hidden_one_is_not():
    tool = TOOLS[0]
    fifteen = [replace(tool, name=f"tool_{number}") for number in range(VISIBLE_TOOL_CAP)]
    require_bounded([*fifteen, replace(tool, name="hidden_tool", hidden=True)])
    with pytest.raises(RuntimeError, match="tool_16"):
        require_bounded([*fifteen, replace(tool, name="tool_16")])


def test_a_surface_above_the_cap_cannot_even_be_imported():
    source = Path(registry.__file__).read_text(encoding="utf-8")
    small = source.replace("VISIBLE_TOOL_CAP: Final = 15", "VISIBLE_TOOL_CAP: Final = 3")
    assert small != source
    with pytest.raises(RuntimeError, match="3 is the cap"):
        exec(compile(small, registry.__file__, "exec"), {"__name__": registry.__name__})


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(RuntimeError, match="search_wiki"):
        require_bounded([*TOOLS, BY_NAME["search_wiki"]])
