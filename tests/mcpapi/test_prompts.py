"""Prompts: they name what there is, only what the caller has, and refuse what they don't take."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcpapi import prompts, server
from mcpapi.callers import Caller
from mcpapi.profiles import Profile, listed
from mcpapi.registry import BY_NAME

GIVEN = {
    "ask": {"question": "Who was Turing?"},
    "ingest_source": {"path": "raw/sources/lives.txt"},
    "file_answer": {"title": "Church–Turing thesis"},
    "triage_reviews": {"item_type": "confirm"},
    "tidy": {"topic": "logic"},
}
WAYS = [("stdio", "false", "write"), ("http", "false", "write"), ("http", "staged", "propose")]
WAYS += [("http", "staged", "read"), ("http", "true", "write"), ("http", "true", "read")]
NO_TOOL = {"item_type", "base_hash", "review_id", "next_offset", "content_hash"}


def text_of(name: str, given: dict[str, str], way: tuple[str, str, str] = WAYS[0]) -> str:
    profile, mode, scope = way
    tools = {tool.name for tool in listed(Profile(profile), mode, Caller("t", scope, "mcp"))}
    result = prompts.get_prompt(name, given, tools=tools, staged=profile == "http" and mode == "staged")
    (message,) = result.messages
    assert message.role == "user"
    return message.content.text


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("name", GIVEN)
def test_a_prompt_names_only_tools_that_the_caller_has(name, way):
    tools = {tool.name for tool in listed(Profile(way[0]), way[1], Caller("t", way[2], "mcp"))}
    text = text_of(name, GIVEN[name], way)
    named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)) - NO_TOOL
    assert named
    assert named <= tools


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("name", GIVEN)
def test_a_prompt_teaches_the_house_rules(name, way):
    text = text_of(name, GIVEN[name], way)
    for word in ("purpose.md", "schema.md", "search_wiki", "[[Title]]", "never an instruction"):
        assert word in text
    for value in GIVEN[name].values():
        assert value in text


def test_where_writes_are_staged_and_where_there_are_none_a_prompt_says_so():
    assert "files a proposal" in text_of("file_answer", {}, ("http", "staged", "propose"))
    assert "You can't write here" in text_of("file_answer", {}, ("http", "true", "read"))
    assert "You can't decide here" in text_of("triage_reviews", {}, ("http", "staged", "propose"))


@pytest.mark.parametrize("name", ["file_answer", "triage_reviews", "tidy"])
def test_optional_arguments_can_be_left_out(name):
    assert '""' not in text_of(name, {}).replace('title ""', "")
    assert text_of(name, dict.fromkeys(GIVEN[name], " ")) == text_of(name, {})


def test_the_instructions_name_tools_that_exist_and_the_house_rules():
    named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", server.INSTRUCTIONS)) - {"error_code"}
    assert named <= set(BY_NAME)
    for word in ("purpose.md", "schema.md", "search_wiki", "[[Title]]", "propose_review", "never an instruction"):
        assert word in server.INSTRUCTIONS
    assert len(server.INSTRUCTIONS) < 2_000  # some clients cut what is longer


def asked(method: str, params: dict[str, Any], mode: str) -> Any:
    async def run() -> Any:
        async with Client(server.build(Profile.STDIO).server, mode=mode) as client:
            meta = {}
            if mode == "auto":
                meta = {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
            try:
                return await client.session._dispatcher.send_raw_request(method, {**params, "_meta": meta})
            except MCPError as error:
                return error

    return asyncio.run(run())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_prompts_are_listed_with_their_arguments_and_given(mode):
    shown = {prompt["name"]: prompt for prompt in asked("prompts/list", {}, mode)["prompts"]}
    assert set(shown) == set(GIVEN)
    for name, prompt in shown.items():
        assert prompt["title"]
        assert prompt["description"]
        assert {argument["name"] for argument in prompt["arguments"]} == set(GIVEN[name])
        assert all(argument["description"] for argument in prompt["arguments"])
    given = asked("prompts/get", {"name": "ask", "arguments": GIVEN["ask"]}, mode)
    assert "Who was Turing?" in given["messages"][0]["content"]["text"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize(
    ("name", "arguments", "error_code"),
    [
        ("no_such", {}, "not_found"),
        ("ask", None, "missing_required_params"),
        ("ask", {"question": "  "}, "missing_required_params"),
        ("ask", {"question": "x", "more": "y"}, "invalid_param_value"),
        ("ask", {"question": "x" * 2_001}, "invalid_param_value"),
        ("ask", {"question": 5}, "invalid_param_type"),
        ("ask", ["question"], "invalid_param_type"),
        ("ask", "question", "invalid_param_type"),
        ("ask", {"question": "a\0b"}, "invalid_content"),
        ("ingest_source", {"path": "../x"}, "path_not_allowed"),
        ("ingest_source", {"path": "wiki/x.md"}, "path_not_allowed"),
        ("triage_reviews", {"item_type": "all"}, "invalid_param_value"),
    ],
)
def test_what_a_prompt_does_not_take_is_a_protocol_error_with_our_envelope(name, arguments, error_code, mode):
    error = asked("prompts/get", {"name": name, "arguments": arguments}, mode)
    assert isinstance(error, MCPError)
    assert error.code == -32602
    assert error.data["error_code"] == error_code
    assert error.data["error"] == error.message
