"""Clients do not wait for each other: as many calls as there are clients are inside the tool at one time."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from typing import Any

import httpx2 as httpx
import pytest

from mcpapi import calls
from mcpapi.http import McpApp
from mcpapi.registry import BY_NAME

CLIENTS = 8
STATIC = "a-static-token-of-sufficient-length"


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_eight_clients_are_served_at_one_time_over_http(monkeypatch, settings, revision):
    settings.MCP_AUTH_TOKEN = STATIC
    settings.SYNAPSE_HOST, settings.SYNAPSE_PORT = "127.0.0.1", 8000
    together = threading.Barrier(CLIENTS, timeout=20)  # is broken, and the calls fail, unless all eight are in it

    def meet(caller: Any, **_: Any) -> dict[str, Any]:
        together.wait()
        return {"title": "met", "content": "", "frontmatter": {}}

    changed = replace(BY_NAME["get_page"], handler=meet, seconds=30)
    monkeypatch.setattr(calls, "tool_for", lambda *_: changed)
    headers = {
        "accept": "application/json, text/event-stream",
        "authorization": f"Bearer {STATIC}",
        "mcp-protocol-version": revision,
    }
    params: dict[str, Any] = {"name": "get_page", "arguments": {"title": "t"}}
    if revision == "2026-07-28":
        headers |= {"mcp-method": "tools/call", "mcp-name": "get_page"}
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    async def run() -> list[httpx.Response]:
        app = McpApp()
        transport = httpx.ASGITransport(app=app)
        async with (
            app.lifespan(),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers) as client,
        ):
            return await asyncio.gather(*(client.post("/mcp", json=body) for _ in range(CLIENTS)))

    answers = asyncio.run(run())
    assert [answer.status_code for answer in answers] == [200] * CLIENTS
    assert all(json.dumps("met") in answer.text for answer in answers)
    assert not together.broken
