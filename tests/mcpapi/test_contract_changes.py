"""What breaks callers is told from what does not: one change of each kind, at the real contract."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mcpapi.contract import build_contract
from mcpapi.contract_changes import Change, Kind, Side, changes, schema_changes

Contract = dict[str, Any]


def properties(contract: Contract, tool: str, side: str = "inputSchema") -> dict[str, Any]:
    schema = contract["tools"][tool][side]
    return schema["oneOf"][0]["properties"] if side == "outputSchema" else schema["properties"]


def tool(contract: Contract, name: str) -> dict[str, Any]:
    return contract["tools"][name]


BREAKING: dict[str, Callable[[Contract], Any]] = {
    "a tool removed": lambda c: c["tools"].pop("list_pages"),
    "a tool hidden": lambda c: tool(c, "list_pages").update(hidden=True),
    "a tool taken from a profile": lambda c: c["profiles"]["http"]["visible"].remove("list_pages"),
    "a profile removed": lambda c: c["profiles"].pop("http_staged"),
    "a hidden tool taken from a profile": lambda c: c["profiles"]["http"]["hidden"].remove("surface_health"),
    "a wider scope asked for": lambda c: tool(c, "list_pages").update(scope="propose"),
    "a parameter removed": lambda c: properties(c, "search_wiki").pop("k"),
    "a parameter renamed": lambda c: properties(c, "search_wiki").update(top=properties(c, "search_wiki").pop("k")),
    "a new parameter that is required": lambda c: (
        properties(c, "search_wiki").update(lang={"type": "string"}),
        tool(c, "search_wiki")["inputSchema"]["required"].append("lang"),
    ),
    "a parameter required from now on": lambda c: tool(c, "search_wiki")["inputSchema"]["required"].append("k"),
    "a narrower enum": lambda c: properties(c, "list_pages")["type"]["enum"].remove("comparison"),
    "an enum where there was none": lambda c: properties(c, "resolve_review")["action"].update(enum=["skip"]),
    "a narrower type": lambda c: properties(c, "list_pages")["type"].update(type="string"),
    "another type": lambda c: properties(c, "search_wiki")["k"].update(type="string"),
    "a lower maximum": lambda c: properties(c, "search_wiki")["k"].update(maximum=20),
    "a higher minimum": lambda c: properties(c, "search_wiki")["k"].update(minimum=2),
    "a maximum where there was none": lambda c: properties(c, "read_source_file")["offset"].update(maximum=10),
    "a shorter text": lambda c: properties(c, "get_page")["title"].update(maxLength=100),
    "more items asked for": lambda c: properties(c, "propose_review")["items"].update(minItems=2),
    "fewer items taken": lambda c: properties(c, "propose_review")["items"].update(maxItems=10),
    "another default": lambda c: properties(c, "search_wiki")["k"].update(default=8),
    "no default any more": lambda c: properties(c, "search_wiki")["k"].pop("default"),
    "a default that was null gone": lambda c: properties(c, "get_page")["path"].pop("default"),
    "a pattern": lambda c: properties(c, "get_page")["title"].update(pattern="^[A-Z]"),
    "free keys closed": lambda c: properties(c, "write_page")["frontmatter"].update(additionalProperties=False),
    "a rule for a key that was free": lambda c: properties(c, "write_page")["frontmatter"]["properties"].update(
        tags={"type": "array"}
    ),
    "a key asked for inside": lambda c: properties(c, "write_page")["frontmatter"]["required"].append("tags"),
    "a key of an item removed": lambda c: properties(c, "propose_review")["items"]["items"]["properties"].pop("page"),
    "a field of a result removed": lambda c: properties(c, "get_page", "outputSchema").pop("backlinks"),
    "a field of an item removed": lambda c: properties(c, "search_wiki", "outputSchema")["result"]["items"][
        "properties"
    ].pop("snippet"),
    "a field not promised any more": lambda c: tool(c, "get_page")["outputSchema"]["oneOf"][0]["required"].remove(
        "content"
    ),
    "a field that may be null": lambda c: properties(c, "get_page", "outputSchema")["content"].update(
        type=["string", "null"]
    ),
    "a value of a result nobody knew": lambda c: properties(c, "search_wiki", "outputSchema")["result"]["items"][
        "properties"
    ]["type"]["enum"].append("map"),
    "a bound of a result gone": lambda c: properties(c, "search_wiki", "outputSchema")["result"]["items"]["properties"][
        "relevance_score"
    ].pop("maximum"),
    "a keyword nobody has thought about": lambda c: properties(c, "get_page")["title"].update(contentEncoding="base64"),
    "it writes now": lambda c: tool(c, "list_pages")["annotations"].update(readOnlyHint=False),
    "it destroys now": lambda c: tool(c, "propose_review")["annotations"].update(destructiveHint=True),
    "it can't be repeated": lambda c: tool(c, "list_pages")["annotations"].update(idempotentHint=False),
    "it reaches out": lambda c: tool(c, "search_wiki")["annotations"].update(openWorldHint=True),
    "a code removed": lambda c: c["error_statuses"].pop("conflict"),
    "another status": lambda c: c["error_statuses"].update(conflict=400),
    "an envelope without its code": lambda c: c["error_envelope"]["required"].remove("error_code"),
    "an old name deleted": lambda c: c["aliases"].pop("read_page"),
    "an old name that means something else": lambda c: c["aliases"]["read_page"].update(target="list_pages"),
    "an old name that forces an argument": lambda c: c["aliases"]["read_page"].update(forced={"path": "x"}),
    "a parameter's old name gone": lambda c: c["aliases"]["read_page"].update(renamed={"name": "title"}),
    "a removed name that is forgotten": lambda c: c["removed"].pop("merge_pages"),
    "a staged tool removed": lambda c: c["variants"]["http_staged"].pop("write_page"),
    "another server": lambda c: c.update(server="another"),
}
ADDITIVE: dict[str, Callable[[Contract], Any]] = {
    "a tool added": lambda c: c["tools"].update(new=copy.deepcopy(tool(c, "list_pages"))),
    "a hidden tool shown": lambda c: tool(c, "surface_health").update(hidden=False),
    "a tool added to a profile": lambda c: c["profiles"]["http"]["visible"].append("write_page"),
    "a hidden tool listed in a profile": lambda c: (
        c["profiles"]["http"]["hidden"].remove("surface_health"),
        c["profiles"]["http"]["visible"].append("surface_health"),
    ),
    "a narrower scope enough": lambda c: tool(c, "write_page").update(scope="propose"),
    "a new parameter": lambda c: properties(c, "search_wiki").update(lang={"type": "string", "default": ""}),
    "a parameter not required any more": lambda c: tool(c, "search_wiki")["inputSchema"]["required"].remove("query"),
    "a wider enum": lambda c: properties(c, "list_pages")["type"]["enum"].append("map"),
    "an enum dropped": lambda c: properties(c, "list_pages")["type"].pop("enum"),
    "a wider type": lambda c: properties(c, "get_page")["title"].update(type=["string", "null"]),
    "a higher maximum": lambda c: properties(c, "search_wiki")["k"].update(maximum=100),
    "a lower minimum": lambda c: properties(c, "search_wiki")["k"].update(minimum=0),
    "no maximum any more": lambda c: properties(c, "search_wiki")["k"].pop("maximum"),
    "more items taken": lambda c: properties(c, "propose_review")["items"].update(maxItems=50),
    "a default where there was none": lambda c: properties(c, "search_wiki")["query"].update(default=""),
    "free keys allowed": lambda c: tool(c, "search_wiki")["inputSchema"].update(additionalProperties=True),
    "another description": lambda c: tool(c, "get_page").update(description="Read."),
    "another title": lambda c: tool(c, "get_page").update(title="Read one page"),
    "a parameter described anew": lambda c: properties(c, "get_page")["title"].update(description="Its title."),
    "a field of a result added": lambda c: properties(c, "get_page", "outputSchema").update(tags={"type": "array"}),
    "a field promised now": lambda c: tool(c, "get_page")["outputSchema"]["oneOf"][0]["required"].append("path"),
    "a field never null any more": lambda c: properties(c, "get_page", "outputSchema")["type"].update(type="string"),
    "it only reads now": lambda c: tool(c, "write_page")["annotations"].update(readOnlyHint=True),
    "it can be repeated": lambda c: tool(c, "write_page")["annotations"].update(idempotentHint=True),
    "a code added": lambda c: c["error_statuses"].update(too_cold=418),
    "an old name added": lambda c: c["aliases"].update(look_up={"target": "search_wiki"}),
    "an old name that recommends another": lambda c: c["aliases"]["read_page"].update(use_instead="search_wiki"),
    "a removed name explained anew": lambda c: c["removed"].update(merge_pages="Use write_page on both."),
    "a removed name added": lambda c: c["removed"].update(split_page="Use write_page."),
}


@pytest.fixture
def contract() -> Contract:
    made = copy.deepcopy(build_contract())
    made["removed"] = {"merge_pages": "Use write_page."}
    return made


def kinds(old: Contract, change: Callable[[Contract], Any]) -> set[Kind]:
    new = copy.deepcopy(old)
    change(new)
    assert new != old
    return {found.kind for found in changes(old, new)}


@pytest.mark.parametrize("name", BREAKING)
def test_what_breaks_callers_is_breaking(contract, name):
    assert Kind.BREAKING in kinds(contract, BREAKING[name])


@pytest.mark.parametrize("name", ADDITIVE)
def test_what_breaks_nobody_is_additive(contract, name):
    assert kinds(contract, ADDITIVE[name]) == {Kind.ADDITIVE}


def test_nothing_changed_is_no_change(contract):
    assert changes(contract, copy.deepcopy(contract)) == []


def test_every_key_of_a_contract_is_looked_at(contract):
    """A difference that no rule sees would be no difference."""
    for key, value in contract.items():
        if key == "error_codes":  # the keys of error_statuses
            continue
        new = copy.deepcopy(contract)
        new[key] = {**value, "new": {}} if key == "profiles" else value
        if isinstance(value, dict) and value:
            new[key] = dict(list(value.items())[1:])
        elif isinstance(value, dict):
            new[key] = {"new": "x"}
        else:
            new[key] = f"{value}, but another"
        assert changes(contract, new), key


def test_breaking_changes_come_first_and_say_where(contract):
    new = copy.deepcopy(contract)
    tool(new, "get_page")["title"] = "Another"
    properties(new, "search_wiki")["k"]["maximum"] = 20
    first, second = changes(contract, new)
    assert str(first) == "breaking: tools.search_wiki.input.k.maximum: 50 is 20 now"
    assert second == Change(Kind.ADDITIVE, "tools.get_page.title", "worded anew")


@pytest.mark.parametrize("keyword", ["type", "enum", "minimum", "maximum", "const", "pattern", "required"])
def test_what_narrows_an_input_narrows_an_output_to_the_other_effect(keyword):
    wide: dict[str, Any] = {"type": ["string", "null"], "enum": ["a", "b"], "minimum": 1, "maximum": 9}
    narrow = {
        "type": {**wide, "type": "string"},
        "enum": {**wide, "enum": ["a"]},
        "minimum": {**wide, "minimum": 2},
        "maximum": {**wide, "maximum": 8},
        "const": {**wide, "const": "a"},
        "pattern": {**wide, "pattern": "a"},
        "required": {**wide, "required": ["x"]},
    }[keyword]

    def kind(old: dict[str, Any], new: dict[str, Any], side: Side) -> Kind:
        (found,) = schema_changes("here", old, new, side)
        return found.kind

    assert kind(wide, narrow, Side.INPUT) is kind(narrow, wide, Side.OUTPUT) is Kind.BREAKING
    assert kind(narrow, wide, Side.INPUT) is kind(wide, narrow, Side.OUTPUT) is Kind.ADDITIVE


KINDS = st.sampled_from(["string", "integer", "null"])
VALUES = st.sampled_from(["a", "abc", 0, 2, 4, 8, None])
LEAVES = st.fixed_dictionaries(
    {"type": st.lists(KINDS, min_size=1, max_size=3, unique=True)},
    optional={
        "enum": st.lists(VALUES, min_size=1, max_size=4, unique=True),
        "minimum": st.sampled_from([1, 3, 5, 7]),
        "maximum": st.sampled_from([1, 3, 5, 7]),
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(0, 3),
        "const": VALUES,
    },
)
NAMES = ["x", "y"]


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=2))
    made: dict[str, Any] = {"type": "object", "properties": {name: draw(LEAVES) for name in names}}
    made["required"] = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    if draw(st.booleans()):
        made["additionalProperties"] = draw(st.booleans())
    return made


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two schemas that have nothing to do with each other, or that differ in one keyword of one property."""
    old, new = draw(objects()), draw(objects())
    names = list(old["properties"])
    if names and draw(st.booleans()):
        name, other = draw(st.sampled_from(names)), draw(LEAVES)
        keyword = draw(st.sampled_from(sorted(other)))
        leaf = {**old["properties"][name], keyword: other[keyword]}
        new = {**old, "properties": {**old["properties"], name: leaf}}
    return old, new


def everything() -> list[dict[str, Any]]:
    values = [None, 0, 2, 4, 6, 8, "", "a", "abc"]
    ones = [{name: value} for name in NAMES for value in values]
    return [{}, *ones, *({"x": one, "y": other} for one in values for other in values)]


INSTANCES = everything()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(pairs())
def test_a_value_that_fits_no_more_is_a_breaking_change(pair):
    """Against a validator: whatever callers could send and can't now, or receive and could not before, is breaking."""
    old, new = pair
    before, after = Draft202012Validator(old), Draft202012Validator(new)
    fits_before = [before.is_valid(instance) for instance in INSTANCES]
    fits_after = [after.is_valid(instance) for instance in INSTANCES]
    refused = any(was and not now for was, now in zip(fits_before, fits_after, strict=True))
    unforeseen = any(now and not was for was, now in zip(fits_before, fits_after, strict=True))
    if refused:
        assert Kind.BREAKING in {change.kind for change in schema_changes("", old, new, Side.INPUT)}
    if unforeseen:
        assert Kind.BREAKING in {change.kind for change in schema_changes("", old, new, Side.OUTPUT)}
