"""The official client against the real processes: stdio, and HTTP on a port of this machine."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client, ClientSession
from mcp.client.streamable_http import streamable_http_client

from mcpapi.profiles import PROPOSING_TOOLS, READ_TOOLS, WRITE_TOOLS
from tests.mcpapi.processes import HELLO, ROOT, World, lines, make_world, over_http, over_stdio, start_stdio, web_server
from vault import frontmatter

STATIC = "a-static-token-of-sufficient-length"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def http_server(world: World) -> Iterator[Callable[..., str]]:
    """Start a server with the settings given; returns its address once it answers."""
    with ExitStack() as servers:
        yield lambda **settings: servers.enter_context(web_server(world, **settings))


async def ask(session: ClientSession | Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await session.call_tool(tool, arguments)
    assert json.loads(result.content[0].text) == result.structured_content
    assert not result.is_error, result.structured_content
    return result.structured_content


async def main_job(session: ClientSession, world: World, title: str, slug: str) -> None:
    """Initialize, list, search, read, write; what was written is found, on disk, and linked."""
    hello = await session.initialize()
    assert hello.server_info.name == "synapse"
    assert {tool.name for tool in (await session.list_tools()).tools} == READ_TOOLS | WRITE_TOOLS

    pages = await ask(session, "list_pages")
    assert "Alan Turing" in [page["title"] for page in pages["result"]]
    found = await ask(session, "search_wiki", query="universal machine")
    assert found["result"][0]["title"] == "Alan Turing"
    page = await ask(session, "get_page", title="Alan Turing")
    assert page["content"].startswith("Alan Turing described")
    assert page["frontmatter"]["lang"] == "en"
    source = await ask(session, "read_source_file", path="lives.txt")
    assert source["content"] == "Alan Turing was born in 1912.\n"

    written = await ask(
        session,
        "write_page",
        title=title,
        content="Every effective procedure is *Turing-computable*, as [[Alan Turing]] argued.",
        frontmatter={
            "type": "concept",
            "title": title,
            "sources": ["raw/sources/lives.txt"],
            "lang": "en",
            "mood": "calm",
        },
    )
    assert written["created"] is True
    assert written["relevance_score"] == 0.0
    assert written["path"] == f"wiki/concepts/{slug}.md"
    hits = await ask(session, "search_wiki", query="effective procedure", k=50)
    assert written["id"] in [hit["id"] for hit in hits["result"]]

    text = (world.vault / written["path"]).read_text(encoding="utf-8")
    split = frontmatter.split(text)
    loaded = frontmatter.load(split.raw)
    assert not loaded.flags
    assert loaded.data["mood"] == "calm"
    assert "[[alan-turing|Alan Turing]]" in split.body
    around = await ask(session, "get_graph_neighborhood", title=title)
    titles = {node["id"]: node["title"] for node in around["nodes"]}
    assert set(titles.values()) >= {title, "Alan Turing"}
    ties = [{titles[edge["source"]], titles[edge["target"]]} for edge in around["edges"]]
    assert {title, "Alan Turing"} in ties
    await work_within_a_budget(session, title)
    assert set(await ask(session, "trigger_source_rescan")) == {"started", "job", "running"}


async def work_within_a_budget(session: ClientSession, title: str) -> None:
    """What was written is context, can be read at its level, and a text that is made of it is checked."""
    answer = await ask(session, "prime_resolve", brief=f"Explain “{title}”", max_tokens=300, include_text=True)
    (hit,) = [hit for hit in answer["hits"] if title in hit["text"].splitlines()[0]]
    assert answer["total_tokens"] <= 300
    read = await session.read_resource(hit["uri"])
    assert read.contents[0].text == hit["text"]
    verdict = await ask(session, "prime_validate", artifact=hit["text"], atom_set=[hit["id"]])
    assert verdict["ok"] is True
    verdict = await ask(session, "prime_validate", artifact="“He never said such a thing.”", atom_set=[hit["id"]])
    assert [fix["validator"] for fix in verdict["fixes"] if fix["severity"] == "error"] == ["quotes-verbatim"]


def run(session: Any, work: Callable[[ClientSession], Awaitable[None]]) -> None:
    async def go() -> None:
        async with session as opened:
            await work(opened)

    asyncio.run(go())


def test_the_main_job_over_stdio(world):
    run(over_stdio(world), lambda session: main_job(session, world, "Church–Turing thesis", "church-turing-thesis"))
    # what the writing left to be done was done before the process ended
    assert "Church–Turing thesis" in (world.vault / "wiki" / "index.md").read_text(encoding="utf-8")


def test_the_main_job_over_http(world, http_server):
    base = http_server(MCP_REMOTE_WRITE_ENABLED="true", MCP_AUTH_TOKEN=STATIC)
    url = f"{base}/mcp"
    run(over_http(url, STATIC), lambda session: main_job(session, world, "Lambda definability", "lambda-definability"))

    async def newest_revision(client: httpx.AsyncClient) -> None:
        async with Client(streamable_http_client(f"{base}/mcp/server/", http_client=client)) as modern:
            assert modern.protocol_version == "2026-07-28"
            assert (await ask(modern, "get_page", title="Lambda definability"))["path"].endswith(
                "lambda-definability.md"
            )

    run(httpx.AsyncClient(headers={"Authorization": f"Bearer {STATIC}"}), newest_revision)


def test_http_without_the_setting_only_reads(world, http_server):
    token = json.loads(world.manage("token", "create", "agent", "--scope", "write", "--json"))["token"]
    base = http_server()

    async def only_reads(session: ClientSession) -> None:
        await session.initialize()
        assert {tool.name for tool in (await session.list_tools()).tools} == READ_TOOLS
        assert (await ask(session, "get_page", title="Alan Turing"))["title"] == "Alan Turing"
        for name in WRITE_TOOLS:
            result = await session.call_tool(name, {})
            assert result.is_error
            assert result.structured_content["error_code"] == "write_disabled"

    run(over_http(f"{base}/mcp", token), only_reads)
    response = httpx.post(f"{base}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert response.status_code == 401
    assert "www-authenticate" in response.headers


def test_where_writes_are_staged_an_agent_proposes_and_a_person_decides(world, http_server):
    token = json.loads(world.manage("token", "create", "proposer", "--scope", "propose", "--json"))["token"]
    url = f"{http_server(MCP_REMOTE_WRITE_ENABLED='staged', MCP_AUTH_TOKEN=STATIC)}/mcp"
    turing = world.vault / "wiki" / "entities" / "alan-turing.md"
    before = turing.read_bytes()
    frontmatter = {"type": "entity", "title": "Alan Turing", "sources": ["raw/sources/lives.txt"], "lang": "en"}
    review: dict[str, Any] = {}

    async def refused(session: ClientSession, tool: str, **arguments: Any) -> str:
        result = await session.call_tool(tool, arguments)
        assert result.is_error
        code: str = result.structured_content["error_code"]
        return code

    async def propose(session: ClientSession) -> None:
        await session.initialize()
        assert {tool.name for tool in (await session.list_tools()).tools} == READ_TOOLS | PROPOSING_TOOLS
        page = await ask(session, "get_page", title="Alan Turing")
        change = {
            "title": "Alan Turing",
            "content": "Alan Turing described a machine that can be every machine.\n",
            "frontmatter": frontmatter,
            "base_hash": page["content_hash"],
        }
        review.update(await ask(session, "write_page", **change))
        assert (review["staged"], review["base_hash"]) == (True, page["content_hash"])
        assert (await ask(session, "write_page", **change))["review_id"] == review["review_id"]
        doubt = {"item_type": "confirm", "title": "Was it 1912?", "page": "Alan Turing"}
        assert (await ask(session, "propose_review", items=[doubt]))["filed"] == 1
        decision = {"id": review["review_id"], "action": "create"}
        assert await refused(session, "resolve_review", **decision) == "write_disabled"
        assert await refused(session, "trigger_source_rescan") == "write_disabled"
        assert (await ask(session, "get_page", title="Alan Turing"))["content"] == page["content"]

    async def decide(session: ClientSession) -> None:
        await session.initialize()
        waiting = await ask(session, "list_reviews", item_type="suggestion")
        assert review["review_id"] in [item["id"] for item in waiting["result"]]
        decided = await ask(session, "resolve_review", id=review["review_id"], action="create", note="yes")
        assert (decided["changed"], decided["item"]["status"]) == (True, "created")

    async def look(session: ClientSession) -> None:
        await session.initialize()
        done = await ask(session, "list_reviews", status="resolved")
        (mine,) = [item for item in done["result"] if item["id"] == review["review_id"]]
        assert (mine["status"], mine["note"]) == ("created", "yes")
        assert mine["created_page"]["title"] == "Alan Turing"
        assert (await ask(session, "get_page", title="Alan Turing"))["content"].startswith("Alan Turing described a")

    run(over_http(url, token), propose)
    assert turing.read_bytes() == before
    assert not list(world.vault.rglob("*.synapse-*"))
    run(over_stdio(world), decide)
    after = turing.read_bytes()
    assert b"a machine that can be every machine" in after
    run(over_http(url, token), look)
    run(over_http(url, STATIC), look)  # the static token may propose there, and not more
    world.manage("rescan")
    assert turing.read_bytes() == after


def test_requests_piped_in_are_answered_before_the_process_ends(world):
    process = start_stdio(world)
    asked = lines(
        HELLO,
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "get_page", "arguments": {"title": "Alan Turing"}}},
    )
    out, err = process.communicate(asked, timeout=30)
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2], err
    assert answers[1]["result"]["structuredContent"]["title"] == "Alan Turing"
    assert process.returncode == 0


def test_half_a_character_does_not_leave_the_client_without_an_answer(world):
    arguments = {"path": "raw/sources/\ud800.md"}
    asked = {"id": 2, "method": "tools/call", "params": {"name": "read_source_file", "arguments": arguments}}
    out, err = start_stdio(world).communicate(lines(HELLO, {"method": "notifications/initialized"}, asked), timeout=30)
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2], err
    assert answers[1]["result"]["structuredContent"]["error_code"] == "path_not_allowed"


def test_a_line_that_is_no_message_is_answered_and_does_no_harm(world):
    broken = [
        (b"no json", None, -32700),
        (b'[{"jsonrpc": "2.0", "id": 3, "method": "ping"}]', None, -32700),
        (b"[" * 50_000, None, -32700),
        (b"\xff\xfe", None, -32700),
        (b'{"jsonrpc": "2.0", "id": 4, "method": "ping", "method": "tools/list"}', 4, -32700),
        (b'{"jsonrpc": "2.0", "id": "five", "method": "ping", "params": {"a": NaN}}', "five", -32700),
        (
            b'{"jsonrpc": "2.0", "id": 6, "method": "x", "params": {"a": ' + b"[" * 500 + b"]" * 500 + b"}}",
            6,
            -32600,
        ),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32600),
        (b'{"id": 7, "method": "ping"}', 7, -32600),
    ]
    started = lines(HELLO, {"method": "notifications/initialized"})
    asked = started + b"".join(line + b"\n" for line, _, _ in broken) + b"\r\n\n" + lines({"id": 2, "method": "ping"})
    process = start_stdio(world)
    out, err = process.communicate(asked, timeout=30)
    answers = [json.loads(line) for line in out.splitlines()]
    faults = [(answer["id"], answer["error"]["code"]) for answer in answers if "error" in answer]
    assert faults == [(number, code) for _, number, code in broken], err
    assert {answer["id"] for answer in answers if "result" in answer} == {1, 2}
    assert all(answer["error"]["data"]["error_code"] == "malformed_body" for answer in answers if "error" in answer)
    assert process.returncode == 0


def test_the_stdio_process_loads_nothing_that_only_the_web_needs(world):
    code = "import django; django.setup(); import sys, mcpapi.stdio; print(*sys.modules, sep='\\n')"
    environment = {**world.environment, "DJANGO_SETTINGS_MODULE": "synapse.settings"}
    loaded = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, check=True)
    unwanted = {
        "oauth2_provider.views",
        "oauth2_provider.oauth2_validators",
        "requests",
        "urllib3",
        "cryptography.x509",
    }
    unwanted |= {
        "rest_framework.views",
        "drf_spectacular.openapi",
        "wiki.api.views",
        "wiki.urls",
        "rich",
        "ruamel.yaml",
    }
    assert not unwanted & set(loaded.stdout.decode().split())


def test_a_signal_ends_the_process_though_the_client_keeps_its_end_open(world):
    process = start_stdio(world)
    process.stdin.write(lines(HELLO))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=5) == 0
    assert time.monotonic() - begun < 5
    assert process.stdout.read() == b""
