"""Arguments are judged by us, with an envelope that says how to repair them."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpapi.registry import BY_NAME, TOOLS
from mcpapi.validation import validated
from vault.errors import ErrorCode, SynapseError

PAGE = {"type": "concept", "title": "T", "sources": ["s"], "lang": "en"}


def check(tool: str, arguments: object) -> dict:
    return validated(BY_NAME[tool].input_schema, arguments)


def refusal(tool: str, arguments: object) -> SynapseError:
    with pytest.raises(SynapseError) as caught:
        check(tool, arguments)
    return caught.value


def test_defaults_are_filled_in():
    assert check("search_wiki", {"query": "q"}) == {"query": "q", "k": 5}
    assert check("list_pages", None) == {"type": None, "limit": 100, "cursor": None}
    assert check("list_reviews", {}) == {"status": None, "limit": 50, "item_type": None, "cursor": None}
    assert check("resolve_review", {"id": "i", "action": "a"}) == {"id": "i", "action": "a", "note": ""}
    assert check("write_page", {"title": "T", "content": "c", "frontmatter": PAGE}) == {
        "title": "T",
        "content": "c",
        "frontmatter": PAGE,
        "origin_source": "",
        "base_hash": None,
        "path": None,
    }


@pytest.mark.parametrize(
    ("tool", "arguments", "parameter", "becomes"),
    [
        ("search_wiki", {"query": "q", "k": 0}, "k", 1),
        ("search_wiki", {"query": "q", "k": -(10**30)}, "k", 1),
        ("search_wiki", {"query": "q", "k": 51}, "k", 50),
        ("search_wiki", {"query": "q", "k": 7.0}, "k", 7),
        ("get_graph_neighborhood", {"title": "t", "depth": 5}, "depth", 2),
        ("get_graph_neighborhood", {"title": "t", "depth": 0}, "depth", 1),
        ("list_pages", {"limit": 10**9}, "limit", 500),
        ("list_pages", {"limit": -1}, "limit", 1),
        ("list_reviews", {"limit": 999}, "limit", 100),
        ("list_reviews", {"limit": 0}, "limit", 1),
        ("prime_query", {"budget_tokens": 0}, "budget_tokens", 1),
        ("prime_query", {"budget_tokens": -(10**30)}, "budget_tokens", 1),
        ("prime_query", {"budget_tokens": 10**30}, "budget_tokens", 25_000),
        ("prime_query", {"budget_tokens": 1e300}, "budget_tokens", 25_000),
        ("prime_query", {"budget_tokens": 300.9}, "budget_tokens", 300),
        ("prime_query", {"budget_tokens": 0.5}, "budget_tokens", 1),
        ("prime_resolve", {"brief": "b", "max_tokens": 25_001}, "max_tokens", 25_000),
        ("prime_resolve", {"brief": "b", "max_tokens": 1_000.0}, "max_tokens", 1_000),
    ],
)
def test_bounds_are_applied_and_not_refused(tool, arguments, parameter, becomes):
    value = check(tool, arguments)[parameter]
    assert value == becomes
    assert type(value) is int


@pytest.mark.parametrize(
    ("tool", "arguments", "parameter"),
    [
        ("search_wiki", {"query": 5}, "query"),
        ("search_wiki", {"query": None}, "query"),
        ("search_wiki", {"query": "q", "k": "5"}, "k"),
        ("search_wiki", {"query": "q", "k": True}, "k"),
        ("search_wiki", {"query": "q", "k": 1.5}, "k"),
        ("search_wiki", {"query": "q", "k": None}, "k"),
        ("search_wiki", {"query": ["q"]}, "query"),
        ("list_pages", {"type": 3}, "type"),
        ("write_page", {"title": "T", "content": "c", "frontmatter": "type: concept"}, "frontmatter"),
        ("write_page", {"title": "T", "content": {"a": 1}, "frontmatter": PAGE}, "content"),
        ("read_source_file", {"path": "a", "offset": "0"}, "offset"),
        ("prime_query", {"scope": ["tag:x"]}, "scope"),
        ("prime_query", {"tags": "x"}, "tags"),
        ("prime_query", {"tags": ["x", 5]}, "tags"),
        ("prime_query", {"tags": [None]}, "tags"),
        ("prime_query", {"tags": [""], "kinds": [["concept"]]}, "kinds"),
        ("prime_query", {"level": None}, "level"),
        ("prime_query", {"level": 5}, "level"),
        ("prime_query", {"budget_tokens": "1200"}, "budget_tokens"),
        ("prime_query", {"budget_tokens": True}, "budget_tokens"),
        ("prime_query", {"include_text": 1}, "include_text"),
        ("prime_resolve", {"brief": None}, "brief"),
        ("prime_validate", {"artifact": "a", "atom_set": None}, "atom_set"),
        ("prime_validate", {"artifact": "a", "atom_set": "x"}, "atom_set"),
        ("prime_validate", {"artifact": "a", "atom_set": [{"id": "x"}]}, "atom_set"),
        ("prime_compile", {"source": {"id": "x"}}, "source"),
        ("prime_compile", {"source": "s", "deep": "yes"}, "deep"),
    ],
)
def test_a_wrong_type_is_refused_by_name(tool, arguments, parameter):
    error = refusal(tool, arguments)
    assert error.code is ErrorCode.INVALID_PARAM_TYPE
    assert error.repair["parameter"] == parameter
    assert error.repair["expected"] in error.message


@pytest.mark.parametrize("arguments", ["query", 5, ["query"], True])
def test_arguments_that_are_no_object_are_refused(arguments):
    assert refusal("search_wiki", arguments).code is ErrorCode.INVALID_PARAM_TYPE


def test_all_that_is_missing_is_named_at_once():
    error = refusal("write_page", {"content": "c"})
    assert error.code is ErrorCode.MISSING_REQUIRED_PARAMS
    assert error.repair["missing"] == ["title", "frontmatter"]


def test_an_unknown_argument_is_refused_with_the_known_ones():
    error = refusal("search_wiki", {"query": "q", "limit": 3})
    assert error.code is ErrorCode.INVALID_PARAM_VALUE
    assert error.repair == {"unknown": ["limit"], "parameters": ["query", "k"]}
    assert "query, k" in error.message


def test_names_of_unknown_arguments_come_back_short_and_printable():
    error = refusal("search_wiki", {"query": "q", "\ud800\x1b" + "x" * 10_000: 1})
    (name,) = error.repair["unknown"]
    assert len(name) <= 40
    assert json.dumps(error.envelope(), ensure_ascii=False).encode()


def test_a_value_outside_its_list_is_refused_with_the_list():
    error = refusal("list_pages", {"type": "Entity"})
    assert error.code is ErrorCode.INVALID_PARAM_VALUE
    assert error.repair["allowed"] == ["entity", "concept", "source", "synthesis", "comparison", None]


def test_a_level_that_there_is_not_has_a_code_of_its_own():
    error = refusal("prime_query", {"level": "Core"})
    assert error.code is ErrorCode.INVALID_LEVEL
    assert error.repair == {"parameter": "level", "allowed": ["summary", "core", "full"]}


def test_null_is_nothing_given_where_nothing_need_be_given():
    optional = ["scope", "tags", "kinds", "exclude_ids"]
    assert check("prime_query", dict.fromkeys(optional)) == check("prime_query", {})
    assert check("prime_query", {}) == {
        **dict.fromkeys(optional),
        "level": "core",
        "budget_tokens": 1_200,
        "include_text": False,
    }
    assert check("prime_resolve", {"brief": "b", "domain": None}) == {
        "brief": "b",
        "max_tokens": 1_500,
        "domain": None,
        "include_text": False,
    }
    assert check("prime_validate", {"artifact": "", "atom_set": [], "validators": None})["validators"] is None


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
def test_names_that_nothing_can_bear_are_refused_in_a_list_too(bad):
    error = refusal("prime_query", {"tags": ["x", bad]})
    assert (error.code, error.repair["parameter"]) == (ErrorCode.INVALID_CONTENT, "tags")


def test_an_offset_below_zero_is_refused_and_not_clamped():
    assert refusal("read_source_file", {"path": "a", "offset": -1}).code is ErrorCode.INVALID_PARAM_VALUE


@pytest.mark.parametrize("parameter", ["title", "content"])
def test_an_empty_title_or_content_is_refused(parameter):
    arguments = {"title": "T", "content": "c", "frontmatter": PAGE, parameter: ""}
    error = refusal("write_page", arguments)
    assert (error.code, error.repair["parameter"]) == (ErrorCode.INVALID_PARAM_VALUE, parameter)


def test_the_keys_of_frontmatter_are_free():
    frontmatter = {**PAGE, "mood": "good", "nested": {"deep": [1, None, {"x": "y"}]}}
    assert check("write_page", {"title": "T", "content": "c", "frontmatter": frontmatter})["frontmatter"] == frontmatter


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
@pytest.mark.parametrize("shape", [lambda bad: {"x": bad}, lambda bad: {bad: 1}, lambda bad: {"x": [[{"y": bad}]]}])
def test_text_that_no_file_can_hold_is_refused_wherever_it_hides(bad, shape):
    arguments = {"title": "T", "content": "c", "frontmatter": {**PAGE, **shape(bad)}}
    error = refusal("write_page", arguments)
    assert (error.code, error.repair["parameter"]) == (ErrorCode.INVALID_CONTENT, "frontmatter")
    assert refusal("get_page", {"title": bad}).code is ErrorCode.INVALID_CONTENT


def test_paths_are_left_to_the_rules_of_the_vault():
    assert check("read_source_file", {"path": "raw/\ud800\0.md"})["path"] == "raw/\ud800\0.md"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_NAMES = sorted({name for tool in TOOLS for name in tool.input_schema["properties"]})


@given(tool=st.sampled_from(TOOLS), arguments=st.dictionaries(st.sampled_from([*_NAMES, "other"]), _JSON) | _JSON)
def test_whatever_comes_either_fits_the_schema_or_answers_the_catalog(tool, arguments):
    before = copy.deepcopy(arguments)
    try:
        values = validated(tool.input_schema, arguments)
    except SynapseError as error:
        assert error.status in (400, 422)
    else:
        assert set(values) == set(tool.input_schema["properties"])
    assert arguments == before
