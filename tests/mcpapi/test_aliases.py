"""Old names of tools: each does all that its target does, and says what to call instead."""

from __future__ import annotations

import asyncio
import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from mcpapi import aliases, calls, gate, server
from mcpapi.aliases import ALIASES, BY_OLD_NAME, Alias, alias_of, target_of
from mcpapi.callers import LOCAL, Caller
from mcpapi.calls import Calls
from mcpapi.profiles import EXPECTED, Profile, listed
from mcpapi.registry import BY_NAME, TOOLS
from mcpapi.telemetry import CallRecord
from vault.errors import ErrorCode, SynapseError
from wiki import throttling

MARKS = {"deprecated", "use_instead", "original_tool"}
READER = Caller(name="token:test", scope="read", door="mcp-http")


def test_the_table_is_what_was_promised():
    """Written out by hand: an old name is never just deleted, and never comes to mean something else."""
    table = {
        alias.name: (alias.target, dict(alias.renamed), dict(alias.prefixed), dict(alias.forced), alias.use_instead)
        for alias in ALIASES
    }
    assert table == {
        "read_page": ("get_page", {}, {}, {}, ""),
        "search": ("search_wiki", {}, {}, {}, ""),
        "list_review_items": ("list_reviews", {}, {}, {}, ""),
        "graph_neighbors": ("get_graph_neighborhood", {}, {}, {}, ""),
        "rescan_sources": ("trigger_source_rescan", {}, {}, {}, ""),
        "prime_search": ("prime_query", {"query": "scope"}, {"scope": "focus:"}, {}, ""),
    }
    assert aliases.REMOVED == {}
    assert len(BY_OLD_NAME) == len(ALIASES)


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[CallRecord]:
    records: list[CallRecord] = []
    monkeypatch.setattr(calls.telemetry, "note", records.append)
    return records


def answer(name: str, arguments: Any, *, profile: Profile = Profile.STDIO, mode: str = "true", caller=LOCAL) -> Any:
    async def run() -> Any:
        running = Calls(profile, mode)
        try:
            return await running.answer(name, arguments, caller)
        finally:
            await running.close()

    return asyncio.run(run())


def handled(monkeypatch: pytest.MonkeyPatch, name: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Have a tool answer ``body``; the list fills with the arguments it was called with."""
    seen: list[dict[str, Any]] = []

    def handler(caller: Caller, **arguments: Any) -> dict[str, Any]:
        seen.append(arguments)
        return body

    tool = replace(BY_NAME[name], handler=handler)
    monkeypatch.setattr(calls, "tool_for", lambda asked, *_: tool if asked == name else None)
    return seen


def minimal(schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a tool can't do without."""
    given = {"string": "x", "array": [{"item_type": "confirm", "title": "t"}], "object": {}, "integer": 1}
    return {name: given[schema["properties"][name]["type"]] for name in schema["required"]}


@pytest.mark.parametrize("alias", ALIASES, ids=lambda alias: alias.name)
def test_an_alias_equals_its_target_but_for_what_it_says_of_itself(alias: Alias, monkeypatch, noted):
    target = BY_NAME[alias.target]
    back = {new: old for old, new in alias.renamed.items()}
    arguments = {back.get(name, name): value for name, value in minimal(target.input_schema).items()}
    before = copy.deepcopy(arguments)
    seen = handled(monkeypatch, alias.target, {"result": [], "total": 0})
    by_name = answer(alias.target, {**minimal(target.input_schema), **alias.forced})
    by_alias = answer(alias.name, arguments)
    assert arguments == before
    assert seen[0] == seen[1]
    body = by_alias.structured_content
    assert set(body) - set(by_name.structured_content) == MARKS
    assert {key: value for key, value in body.items() if key not in MARKS} == by_name.structured_content
    assert body["deprecated"] is True and body["original_tool"] == alias.name
    assert body["use_instead"] in BY_NAME and body["use_instead"] == (alias.use_instead or alias.target)
    assert json.loads(by_alias.content[0].text) == body
    assert [(record.tool, record.resolved) for record in noted] == [
        (alias.target, alias.target),
        (alias.name, alias.target),
    ]


@pytest.mark.parametrize("alias", ALIASES, ids=lambda alias: alias.name)
def test_an_alias_fails_as_its_target_does(alias: Alias):
    wrong = {"no such parameter": 1}
    by_name, by_alias = answer(alias.target, wrong), answer(alias.name, wrong)
    assert by_alias.is_error
    assert by_alias.structured_content["error_code"] == "invalid_param_value"
    rest = {key: value for key, value in by_alias.structured_content.items() if key not in MARKS}
    assert rest == by_name.structured_content
    assert by_alias.structured_content["use_instead"] == (alias.use_instead or alias.target)


@pytest.mark.parametrize("alias", ALIASES, ids=lambda alias: alias.name)
def test_an_alias_is_not_listed_and_does_not_hide_a_tool(alias: Alias):
    assert alias.name not in BY_NAME
    for profile, mode in EXPECTED:
        assert alias.name not in {tool.name for tool in listed(profile, mode, LOCAL)}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_what_an_alias_adds_is_allowed_in_every_result(tool):
    """No output schema is closed, so that a client which checks results takes those of an old name."""

    def closed(schema: Any) -> bool:
        if isinstance(schema, dict):
            return schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False
        return False

    assert not closed(tool.output_schema)
    assert not any(closed(part) for part in tool.output_schema["oneOf"])
    marks = Alias(name="old", target=tool.name).marks()
    error = {"error": "x", "error_code": "conflict", **marks}
    Draft202012Validator(tool.output_schema).validate(error)


def test_an_alias_of_a_writing_tool_is_gated_as_its_target():
    writing = [alias for alias in ALIASES if BY_NAME[alias.target].writes]
    assert writing
    for alias in writing:
        off = answer(alias.name, {}, profile=Profile.HTTP, mode="false").structured_content
        assert (off["error_code"], off["original_tool"]) == ("write_disabled", alias.name)
        narrow = answer(alias.name, {}, profile=Profile.HTTP, mode="true", caller=READER).structured_content
        assert (narrow["error_code"], narrow["scope"]) == ("forbidden", BY_NAME[alias.target].scope)


def test_an_alias_of_a_writing_tool_counts_as_a_write(monkeypatch):
    counted: list[str] = []
    monkeypatch.setattr(throttling, "check", lambda name, kind: counted.append(kind))
    for name in ("rescan_sources", "trigger_source_rescan", "read_page", "get_page"):
        gate.require_pace_of_writes({"method": "tools/call", "params": {"name": name}}, READER)
    assert counted == [throttling.Kind.WRITES] * 2


def test_the_time_limit_of_the_target_holds(monkeypatch, settings):
    settings.SYNAPSE_TIMEOUTS = {"get_page": 0.05, "read_page": 60.0}

    def slow(caller: Caller, **_: Any) -> dict[str, Any]:
        import time

        time.sleep(0.5)
        return {}

    monkeypatch.setattr(calls, "tool_for", lambda *_: replace(BY_NAME["get_page"], handler=slow))
    body = answer("read_page", {"title": "t"}).structured_content
    assert (body["error_code"], body["seconds"], body["use_instead"]) == ("tool_timeout", 0.05, "get_page")


OLD = Alias(name="find_page", target="search_wiki", renamed={"text": "query"}, forced={"k": 3}, use_instead="get_page")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"text": "moon"}, {"query": "moon", "k": 3}),
        ({"text": "moon", "k": 9}, {"query": "moon", "k": 3}),
        ({"query": "moon"}, {"query": "moon", "k": 3}),
        # Given under both names nothing is dropped in silence: the target refuses the old one.
        ({"text": "sun", "query": "moon"}, {"text": "sun", "query": "moon", "k": 3}),
        ({}, {"k": 3}),
        (None, {"k": 3}),
        ([1], [1]),
        ("moon", "moon"),
    ],
    ids=repr,
)
def test_arguments_are_renamed_and_forced_and_the_callers_are_left_alone(given, meant):
    before = copy.deepcopy(given)
    assert OLD.arguments(given) == meant
    assert given == before


SEARCH = BY_OLD_NAME["prime_search"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"query": "rye bread"}, {"scope": "focus:rye bread"}),
        ({"query": "tag:rye", "level": "full"}, {"scope": "focus:tag:rye", "level": "full"}),
        ({"scope": "tag:rye"}, {"scope": "tag:rye"}),
        ({"query": 5}, {"scope": 5}),
        ({"query": "rye", "scope": "tag:rye"}, {"query": "rye", "scope": "tag:rye"}),
        ({}, {}),
        (None, None),
    ],
    ids=repr,
)
def test_the_words_of_prime_search_are_a_focus(given, meant):
    before = copy.deepcopy(given)
    assert SEARCH.arguments(given) == meant
    assert given == before


def test_an_alias_with_everything_goes_the_same_way(monkeypatch):
    monkeypatch.setitem(aliases.BY_OLD_NAME, OLD.name, OLD)
    seen = handled(monkeypatch, "search_wiki", {"result": []})
    body = answer("find_page", {"text": "moon", "k": 50}).structured_content
    assert seen == [{"query": "moon", "k": 3}]
    assert body == {"result": [], "deprecated": True, "use_instead": "get_page", "original_tool": "find_page"}


def test_a_name_that_was_retired_says_what_to_do(monkeypatch):
    monkeypatch.setitem(aliases.REMOVED, "merge_pages", "Use write_page on the page that stays.")
    with pytest.raises(SynapseError) as caught:
        alias_of("merge_pages")
    assert (caught.value.code, caught.value.status) == (ErrorCode.TOOL_REMOVED, 410)
    body = answer("merge_pages", {}).structured_content
    assert body["error_code"] == "tool_removed"
    assert body["error"] == "merge_pages was removed. Use write_page on the page that stays."


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_may_call_an_old_name_through_the_protocol(monkeypatch, mode):
    handled(monkeypatch, "list_reviews", {"result": [], "next_cursor": None, "total": 0})

    async def run() -> Any:
        async with Client(server.build(Profile.STDIO).server, mode=mode) as client:
            return await client.session.call_tool("list_review_items", {})

    assert asyncio.run(run()).structured_content["use_instead"] == "list_reviews"


def test_a_name_that_is_no_alias_means_itself():
    assert target_of("get_page") == "get_page" and target_of("read_page") == "get_page"
    assert target_of("nothing") == "nothing"
    assert alias_of("get_page") is None
