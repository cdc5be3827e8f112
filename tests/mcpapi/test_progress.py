"""A call that takes its time tells a client that asked for it that it is still at work."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx2 as httpx
import pytest
import uvicorn
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from mcpapi import calls, progress, server
from mcpapi.http import McpApp
from mcpapi.profiles import Profile
from mcpapi.registry import BY_NAME
from tests.mcpapi.processes import ROOT, World, make_world

STATIC = "a-static-token-of-sufficient-length"


@pytest.fixture
def heard(monkeypatch, settings):
    """A get_page that is answered when the client has heard of it, or never."""
    settings.MCP_AUTH_TOKEN = STATIC
    settings.SYNAPSE_HOST, settings.SYNAPSE_PORT = "127.0.0.1", 8000
    heard = threading.Event()

    def wait(caller, **_):
        return {"title": str(heard.wait(10)), "content": "", "frontmatter": {}}

    changed = replace(BY_NAME["get_page"], handler=wait, seconds=20)
    monkeypatch.setattr(calls, "tool_for", lambda *_: changed)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    return heard


async def call(client: Client, when_heard: Callable[[], object]) -> tuple[Any, list[Any]]:
    told: list[Any] = []

    async def note(amount: float, total: float | None, message: str | None) -> None:
        told.append((amount, total, message))
        if len(told) == 3:
            when_heard()

    return await client.call_tool("get_page", {"title": "t"}, progress_callback=note), told


def check(result: Any, told: list[Any]) -> None:
    assert result.structured_content["title"] == "True"
    amounts = [amount for amount, _, _ in told]
    assert amounts == sorted(amounts)
    assert {total for _, total, _ in told} == {None}
    assert all(message.startswith("At work for") for _, _, message in told)


def test_within_the_process(heard):
    async def run() -> None:
        async with Client(server.build(Profile.STDIO).server, mode="legacy") as client:
            check(*await call(client, heard.set))

    asyncio.run(run())


@pytest.fixture
def address() -> Iterator[str]:
    """Our application under uvicorn, in a thread of this process."""
    app = McpApp()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        await receive()
        async with app.lifespan():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        web = uvicorn.Server(uvicorn.Config(application, log_config=None, lifespan="on"))
        thread = threading.Thread(target=web.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        web.should_exit = True
        thread.join(10)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_over_http(heard, address, mode):
    async def run() -> None:
        async with (
            httpx.AsyncClient(headers={"Authorization": f"Bearer {STATIC}"}) as http,
            Client(streamable_http_client(address, http_client=http), mode=mode) as client,
        ):
            check(*await call(client, heard.set))

    asyncio.run(run())


#: A process as `manage.py mcp` starts it, whose get_page is answered when the flag is there.
PROCESS = """
import os, sys, time
from dataclasses import replace
import django
django.setup()
from mcpapi import calls, progress, stdio
from mcpapi.registry import BY_NAME

class Heard:
    def __call__(self, caller, **given):
        until = time.monotonic() + 20
        while not os.path.exists(sys.argv[1]) and time.monotonic() < until:
            time.sleep(0.01)
        return {"title": str(os.path.exists(sys.argv[1])), "content": "", "frontmatter": {}}

calls.tool_for = lambda *_: replace(BY_NAME["get_page"], handler=Heard(), seconds=30)
progress.EVERY = 0.01
stdio.serve()
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_over_stdio(world, tmp_path, mode):
    flag = tmp_path / "heard"
    environment = {**world.environment, "DJANGO_SETTINGS_MODULE": "synapse.settings"}
    started = StdioServerParameters(
        command=sys.executable, args=["-c", PROCESS, str(flag)], env=environment, cwd=str(ROOT)
    )

    async def run() -> None:
        async with Client(stdio_client(started), mode=mode) as client:
            check(*await call(client, flag.touch))

    asyncio.run(run())


@pytest.mark.parametrize("name", ["get_page", "no_such_tool"])
def test_a_client_that_did_not_ask_is_not_told_and_loses_nothing(heard, name):
    heard.set()

    async def run() -> Any:
        async with Client(server.build(Profile.STDIO).server, mode="legacy") as client:
            return await client.call_tool(name, {"title": "t"})

    assert asyncio.run(run()).structured_content


def test_signs_that_can_not_be_given_do_not_end_the_call(heard):
    class Session:
        async def report_progress(self, *_: Any, **__: Any) -> None:
            heard.set()
            raise RuntimeError("gone")

    class Context:
        session = Session()
        meta = {"progress_token": 1}

    async def work() -> bool:
        return await asyncio.to_thread(heard.wait, 10)

    assert progress.is_wanted(Context())
    assert asyncio.run(progress.told(Context(), work()))
