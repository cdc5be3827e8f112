"""The limits of a minute at the MCP doors: the same counts as over REST, by the name that history shows."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2 as httpx
import pytest

from mcpapi import gate
from mcpapi.callers import LOCAL, Caller
from mcpapi.http import McpApp
from mcpapi.registry import BY_NAME
from vault.errors import ErrorCode, SynapseError
from wiki import throttling
from wiki.models import Scope
from wiki.throttling import Kind, Known, Limits

STATIC = "a-static-token-of-sufficient-length"
CALLER = Caller(name="token:laptop", scope=Scope.WRITE, door="mcp-http")
HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
    "authorization": f"Bearer {STATIC}",
}


@pytest.fixture(autouse=True)
def a_minute_that_stands_still(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(throttling, "limits", Limits(clock=lambda: 0.0))
    monkeypatch.setattr(throttling, "known", Known())
    settings.MCP_AUTH_TOKEN = STATIC


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def test_requests_beyond_the_limit_are_told_when_to_come_again(settings: Any) -> None:
    settings.SYNAPSE_RATE_PER_MINUTE = 3
    throttling.check("token:MCP_AUTH_TOKEN", Kind.REQUESTS)  # over another door

    async def three() -> list[httpx.Response]:
        app = McpApp()
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8000")
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        async with app.lifespan(), client:
            return [await client.post("/mcp", headers=HEADERS, json=listing) for _ in range(3)]

    answers = asyncio.run(three())
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].json()["error_code"] == "rate_limited"
    assert answers[2].headers["retry-after"] == str(answers[2].json()["retry_after"])
    assert HEADERS["authorization"].encode() in throttling.known


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_calls_that_change_something_are_counted_and_others_are_not(name: str, settings: Any) -> None:
    settings.SYNAPSE_WRITES_PER_MINUTE = 1
    gate.require_pace_of_writes(call(name), CALLER)
    if not BY_NAME[name].writes:
        gate.require_pace_of_writes(call(name), CALLER)
        return
    with pytest.raises(SynapseError) as waits:
        gate.require_pace_of_writes(call(name), CALLER)
    assert waits.value.code is ErrorCode.RATE_LIMITED
    gate.require_pace_of_writes(call(name), LOCAL)


@pytest.mark.parametrize(
    "message",
    [
        {"method": "tools/list", "params": {"name": "write_page"}},
        {"method": "tools/call"},
        {"method": "tools/call", "params": ["write_page"]},
        {"method": "tools/call", "params": {"name": ["write_page"]}},
        {"method": "tools/call", "params": {"name": "no_such_tool"}},
    ],
)
def test_messages_that_call_no_tool_are_not_changes(message: dict[str, Any], settings: Any) -> None:
    settings.SYNAPSE_WRITES_PER_MINUTE = 1
    for _ in range(3):
        gate.require_pace_of_writes(json.loads(json.dumps(message)), CALLER)


@pytest.mark.parametrize("caller", [CALLER, LOCAL])
def test_an_agent_that_decides_hundreds_is_slowed_through_every_door(
    caller: Caller, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcpapi.tools import reviewing

    settings.SYNAPSE_DECISIONS_PER_MINUTE = 400
    decided: list[str] = []

    def resolve(*, item_id: str, **_: Any) -> Any:
        decided.append(item_id)
        raise SynapseError(ErrorCode.REVIEW_NOT_FOUND, "There is no such item.")

    monkeypatch.setattr(reviewing.services, "resolve", resolve)
    codes = []
    for number in range(500):
        with pytest.raises(SynapseError) as refused:
            reviewing.resolve_review(caller, id=str(number), action="skip", note="")
        codes.append(refused.value.code)
    assert codes == [ErrorCode.REVIEW_NOT_FOUND] * 400 + [ErrorCode.RATE_LIMITED] * 100
    assert len(decided) == 400
