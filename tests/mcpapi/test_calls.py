"""What a call answers: one object, as structure and as text, whatever happens in the tool."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import Implementation

from mcpapi import calls, server
from mcpapi.profiles import Profile
from mcpapi.registry import BY_NAME
from vault.errors import ErrorCode, SynapseError

MODES = ["legacy", "auto"]


@pytest.fixture
def tool_does(monkeypatch) -> Callable[..., None]:
    """Give a tool another handler, and another time limit."""

    def put(name: str, handler: Callable[..., Any], **changes: Any) -> None:
        changed = replace(BY_NAME[name], handler=handler, **changes)
        monkeypatch.setattr(calls, "tool_for", lambda *_: changed)

    return put


def call(name: str, arguments: Any, *, mode: str = "legacy") -> Any:
    async def run() -> Any:
        async with Client(server.build(Profile.STDIO).server, mode=mode) as client:
            return await client.call_tool(name, arguments)

    return asyncio.run(run())


def envelope(result: Any) -> dict[str, Any]:
    assert result.is_error
    (block,) = result.content
    assert json.loads(block.text) == result.structured_content
    assert set(result.structured_content) >= {"error", "error_code"}
    return result.structured_content


@pytest.mark.parametrize("mode", MODES)
def test_a_result_is_the_same_json_twice(tool_does, mode):
    answer = {
        "title": "Ünï 中",
        "content": "x",
        "frontmatter": {"a": None, "b": [1, 2.5]},
        "type": None,
        "id": None,
    }
    answer["id"] = "0d5b1a64-2f4f-4b5e-8f4e-0a2f6a3f3c11"
    tool_does("get_page", lambda caller, **_: answer)
    result = call("get_page", {"title": "t"}, mode=mode)
    assert not result.is_error
    assert result.structured_content == answer
    assert json.loads(result.content[0].text) == answer


@pytest.mark.parametrize("mode", MODES)
def test_a_refusal_of_a_service_is_the_envelope_with_its_repair_fields(tool_does, mode):
    def refuse(caller, **_):
        raise SynapseError(ErrorCode.AMBIGUOUS_TITLE, "Several.", paths=["a.md", "b.md"])

    tool_does("get_page", refuse)
    assert envelope(call("get_page", {"title": "t"}, mode=mode)) == {
        "error": "Several.",
        "error_code": "ambiguous_title",
        "paths": ["a.md", "b.md"],
    }


@pytest.mark.parametrize(
    "answer",
    [
        lambda: 1 / 0,
        lambda: {"content": object()},
        lambda: {"content": float("nan")},
        lambda: {"content": "\ud800"},
    ],
)
def test_what_escapes_a_handler_is_an_internal_error_without_its_text(tool_does, caplog, answer):
    secret = "the page said so"

    def fail(caller, **_):
        assert secret
        return answer()

    tool_does("get_page", fail)
    with caplog.at_level(logging.ERROR, logger="mcpapi"):
        body = envelope(call("get_page", {"title": secret}))
    assert body["error_code"] == "internal_error"
    assert set(body) == {"error", "error_code"}
    assert "division" not in body["error"]
    (record,) = caplog.records
    assert record.getMessage() == "the tool get_page failed"
    assert secret not in record.getMessage()


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_tool_is_an_envelope(mode):
    assert envelope(call("no_such_tool", {}, mode=mode))["error_code"] == "unknown_tool"


@pytest.mark.parametrize("mode", MODES)
def test_a_bad_argument_is_an_envelope_and_no_protocol_error(mode):
    assert envelope(call("search_wiki", {"query": 5}, mode=mode))["error_code"] == "invalid_param_type"


@pytest.mark.parametrize("arguments", ["text", 5, [1], True])
@pytest.mark.parametrize("mode", MODES)
def test_arguments_that_are_no_object_are_an_envelope(arguments, mode):
    async def run() -> Any:
        surface = server.build(Profile.STDIO)
        async with Client(surface.server, mode=mode) as client:
            request = client.session._dispatcher.send_raw_request
            meta = {}
            if mode == "auto":
                meta = {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
            return await request("tools/call", {"name": "search_wiki", "arguments": arguments, "_meta": meta})

    result = asyncio.run(run())
    assert result["isError"] is True
    assert result["structuredContent"]["error_code"] == "invalid_param_type"


def test_a_read_that_takes_too_long_is_a_timeout(tool_does):
    gone_on = threading.Event()

    def slow(caller, **_):
        gone_on.wait(5)
        return {}

    tool_does("get_page", slow, seconds=0.1)
    begun = time.monotonic()
    body = envelope(call("get_page", {"title": "t"}))
    assert body["error_code"] == "tool_timeout"
    assert body["seconds"] == 0.1
    assert time.monotonic() - begun < 3
    gone_on.set()


def test_a_write_is_finished_though_its_time_is_over_and_its_caller_gone(tool_does):
    begun, finished = threading.Event(), threading.Event()

    def write(caller, **_):
        begun.set()
        time.sleep(0.7)
        finished.set()
        return {}

    # Long enough to begin within it on a busy machine: a write whose time is over before that is not begun.
    tool_does("trigger_source_rescan", write, seconds=0.5)
    surface = server.build(Profile.STDIO)

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(surface.calls.answer, "trigger_source_rescan", {}, server.LOCAL)
            with anyio.fail_after(30):
                while not begun.is_set():
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        assert finished.is_set()

    asyncio.run(run())
    assert surface.calls.active == 0


def test_eight_callers_do_not_wait_for_each_other(tool_does):
    together = threading.Barrier(8, timeout=5)

    def meet(caller, **_):
        together.wait()
        return {"title": "", "content": "", "frontmatter": {}}

    tool_does("get_page", meet)
    surface = server.build(Profile.STDIO)

    async def run() -> list[Any]:
        answers: list[Any] = []

        async def one() -> None:
            answers.append(await surface.calls.answer("get_page", {"title": "t"}, server.LOCAL))

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(one)
        return answers

    assert [answer.is_error for answer in asyncio.run(run())] == [False] * 8


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("calls_itself", "name"),
    [
        ("claude-code", "agent:claude-code"),
        (" a\nb\x1b ", "agent:ab"),
        ("x" * 500, "agent:" + "x" * 60),
        ("\n", "agent"),
    ],
)
def test_history_hears_what_a_local_client_calls_itself(tool_does, mode, calls_itself, name):
    seen = []

    def note(caller, **_):
        seen.append(caller)
        return {"started": True, "job": None, "running": False}

    tool_does("trigger_source_rescan", note)

    async def run() -> None:
        info = Implementation(name=calls_itself, version="1")
        async with Client(server.build(Profile.STDIO).server, mode=mode, client_info=info) as client:
            await client.session.call_tool("trigger_source_rescan", {})

    asyncio.run(run())
    assert [(caller.name, caller.door, caller.scope) for caller in seen] == [(name, "mcp-stdio", "write")]


def test_the_server_says_who_it_is_and_how_it_wants_to_be_used(settings):
    async def run() -> Any:
        async with Client(server.build(Profile.STDIO).server, mode="legacy") as client:
            return client.server_info, client.instructions

    info, instructions = asyncio.run(run())
    assert (info.name, info.version) == ("synapse", settings.VERSION)
    for name in ("search_wiki", "get_page", "get_graph_neighborhood", "read_source_file"):
        assert name in instructions
