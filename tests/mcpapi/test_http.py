"""The HTTP door: who is let in, and what every refusal looks like."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2 as httpx
import pytest
from django.contrib.auth.models import User

from mcpapi.callers import Caller
from mcpapi.http import McpApp
from mcpapi.profiles import PROPOSING_TOOLS, READ_TOOLS, WRITE_TOOLS
from vault.errors import HTTP_STATUS, ErrorCode
from wiki.models import Token
from wiki.tokens import create_token, last_used, revoke_token

STATIC = "a-static-token-of-sufficient-length"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
STRANGE_HOSTS = ["evil.example", "127.0.0.1.evil.example", "", "127.0.0.1:80@evil.example", "10.0.0.1"]
OUR_HOSTS = ["127.0.0.1:8000", "localhost", "LOCALHOST:1", "[::1]:8000", "wiki.example", "10.1.2.3:8000"]
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
    "authorization": f"Bearer {STATIC}",
}


@pytest.fixture(autouse=True)
def static_token(settings):
    settings.MCP_AUTH_TOKEN = STATIC
    settings.SYNAPSE_HOST, settings.SYNAPSE_PORT = "127.0.0.1", 8000


def request(
    method: str = "POST",
    path: str = "/mcp",
    *,
    without: str = "",
    content: bytes | None = None,
    served: McpApp | None = None,
    **headers: str,
) -> httpx.Response:
    """One request to an application of its own; ``_`` in a header's name stands for ``-``."""
    given = {**HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
    given.pop(without, None)

    async def run() -> httpx.Response:
        app = served or McpApp()
        transport = httpx.ASGITransport(app=app)
        base = "http://127.0.0.1:8000"
        async with app.lifespan(), httpx.AsyncClient(transport=transport, base_url=base) as client:
            body = content if content is not None else json.dumps(LIST).encode() if method == "POST" else None
            return await client.request(method, path, headers=given, content=body)

    return asyncio.run(run())


def message(response: httpx.Response) -> dict[str, Any]:
    """The JSON-RPC message of an answer, from a stream of one event or from plain JSON."""
    if response.headers["content-type"].startswith("text/event-stream"):
        data = [line[len("data: ") :] for line in response.text.splitlines() if line.startswith("data: {")]
        return json.loads(data[-1])
    return response.json()


def refused(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert response.status_code == status
    body = response.json()
    assert body["error_code"] == code
    assert response.headers["content-type"] == "application/json"
    if status != 421:
        assert HTTP_STATUS[ErrorCode(code)] == status
    return body


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/server", "/mcp/server/"])
def test_every_address_answers_at_once_without_a_redirect(path):
    response = request(path=path)
    assert response.status_code == 200
    assert {tool["name"] for tool in message(response)["result"]["tools"]} == READ_TOOLS


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/server", "/mcp/other"])
@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer wrong", "Basic YTpi", f"Bearer {STATIC}x", f"Token {STATIC}", f"{STATIC}"],
)
def test_without_a_valid_token_nothing_is_listed(path, header):
    response = request(path=path, authorization=header) if header else request(path=path, without="authorization")
    refused(response, 401, "unauthenticated")
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert not any(tool in response.text for tool in READ_TOOLS)


@pytest.mark.django_db(transaction=True)
def test_a_token_of_the_right_form_that_was_never_made_is_no_token():
    refused(request(authorization=f"Bearer syn_{'x' * 43}"), 401, "unauthenticated")


def test_a_token_in_the_address_is_not_looked_at():
    refused(request(path=f"/mcp?token={STATIC}", without="authorization"), 401, "unauthenticated")


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://localhost.evil.com",
        "http://127.0.0.1:9999",
        "https://127.0.0.1:8000",
        "http://127.0.0.1:8000.evil.example",
        "http://127.0.0.1",
    ],
)
def test_a_page_of_another_origin_is_refused_before_its_token_is_read(origin):
    refused(request(origin=origin), 403, "forbidden")
    refused(request(origin=origin, without="authorization"), 403, "forbidden")


def test_this_servers_own_pages_and_the_origins_named_in_the_settings_may_call(settings):
    settings.CSRF_TRUSTED_ORIGINS = ["https://wiki.example", "https://friend.example"]
    for origin in ("http://127.0.0.1:8000", "https://wiki.example", "https://friend.example"):
        assert request(origin=origin).status_code == 200


@pytest.mark.parametrize("host", STRANGE_HOSTS)
def test_a_host_that_is_not_ours_is_refused(host):
    refused(request(host=host), 421, "forbidden")


@pytest.mark.parametrize("host", OUR_HOSTS)
def test_this_machines_hosts_and_those_of_the_settings_are_served(host, settings):
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "wiki.example"]
    settings.SYNAPSE_HOST = "10.1.2.3"
    assert request(host=host).status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"])
def test_only_post_is_taken(method):
    response = request(method)
    refused(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "POST"


def test_an_address_that_is_not_there_is_an_envelope():
    refused(request(path="/mcp/elsewhere"), 404, "not_found")


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application/json; charset=latin-1", ""],
)
def test_a_body_that_is_not_declared_json_is_refused(kind):
    refused(request(content_type=kind), 415, "unsupported_media_type")


def test_a_compressed_body_is_refused():
    refused(request(content_encoding="gzip"), 415, "unsupported_media_type")


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_over_the_limit_is_refused(settings, declared):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    big = json.dumps({**LIST, "params": {"x": "y" * 1_000}}).encode()
    extra = {} if declared else {"transfer_encoding": "chunked"}
    body = refused(request(content=big, **extra), 413, "payload_too_large")
    assert body["limit_bytes"] == 1_000


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "tools/list"}', -32700),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "tools/list"}', -32700),
        (b"\xff\xfe", -32700),
        (b'{"id": 1, "method": "tools/list"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}', -32600),
        (b"{}", -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": ' + b"[" * 500 + b"]" * 500 + b"}}", -32600),
    ],
)
def test_a_body_that_is_no_message_is_answered_in_the_protocols_way(content, code):
    response = request(content=content)
    assert response.status_code == 400
    body = response.json()
    assert body["error"]["code"] == code
    assert body["error"]["data"]["error_code"] == "malformed_body"
    assert "pydantic" not in response.text


META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
READ_IT = {**LIST, "method": "tools/call", "params": {"name": "get_page", "arguments": {}}}
NEW_LIST = {**LIST, "params": {"_meta": META}}


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        (LIST, {"mcp_protocol_version": "1900-01-01"}, -32022),
        (LIST, {"mcp_protocol_version": "x" * 5_000}, -32022),
        (LIST, {"mcp_method": "tools/call"}, -32020),
        (READ_IT, {"mcp_method": "tools/list"}, -32020),
        (READ_IT, {"mcp_method": "tools/call", "mcp_name": "write_page"}, -32020),
        (READ_IT, {"mcp_name": "=?base64?!?="}, -32020),
        (NEW_LIST, {"mcp_protocol_version": "2025-11-25", "mcp_method": "tools/list"}, -32020),
        (NEW_LIST, {"without": "mcp-protocol-version", "mcp_method": "tools/list"}, -32020),
        (NEW_LIST, {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call"}, -32020),
        (NEW_LIST, {"mcp_protocol_version": "2026-07-28"}, -32020),
    ],
)
def test_headers_that_disagree_with_the_message_are_refused_in_every_revision(body, headers, code):
    response = request(content=json.dumps(body).encode(), **headers)
    assert response.status_code == 400
    answer = response.json()
    assert (answer["id"], answer["error"]["code"]) == (1, code)
    if code == -32022:
        assert answer["error"]["data"]["supported"] == ["2026-07-28", "2025-11-25", "2025-06-18"]
        assert len(response.text) < 1_000


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (LIST, {"mcp_method": "tools/list"}),
        (LIST, {"without": "mcp-protocol-version"}),
        (LIST, {"content_type": "Application/JSON; charset=UTF-8"}),
        (READ_IT, {"mcp_method": "tools/call", "mcp_name": "get_page"}),
        (READ_IT, {"mcp_name": "=?base64?Z2V0X3BhZ2U=?="}),
        (NEW_LIST, {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/list", "accept": "*/*"}),
    ],
)
def test_headers_that_say_what_the_message_says_are_taken(body, headers):
    response = request(content=json.dumps(body).encode(), **headers)
    assert response.status_code == 200
    assert "result" in message(response)


def test_a_client_that_asks_first_hears_of_every_revision():
    body = json.dumps({**NEW_LIST, "method": "server/discover"}).encode()
    answer = message(request(content=body, mcp_protocol_version="2026-07-28", mcp_method="server/discover"))["result"]
    assert answer["supportedVersions"] == request("GET", "/mcp/info").json()["revisions"]
    assert answer["capabilities"]["tools"] and answer["instructions"]


@pytest.mark.parametrize("accept", ["text/html", "application/json", "text/event-stream", ""])
def test_a_client_that_takes_no_stream_is_told_what_to_accept(accept):
    body = refused(request(accept=accept), 406, "not_acceptable")
    assert "text/event-stream" in body["error"]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    body = {**LIST, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    result = message(request(content=json.dumps(body).encode()))["result"]
    assert result["isError"] is True
    return result["structuredContent"]


def test_half_a_character_is_a_wrong_value_and_not_a_broken_message(settings):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    assert call("read_source_file", path="raw/\ud800.md")["error_code"] == "path_not_allowed"
    page = {"title": "Ada", "content": "é\udfff", "frontmatter": {}}
    assert call("write_page", **page)["error_code"] == "invalid_content"


@pytest.mark.parametrize("mode", ["false", "yes"])
@pytest.mark.parametrize("tool", sorted(WRITE_TOOLS))
def test_where_remote_writing_is_off_no_writing_tool_is_there(settings, mode, tool):
    settings.MCP_REMOTE_WRITE_ENABLED = mode
    assert {found["name"] for found in message(request())["result"]["tools"]} == READ_TOOLS
    assert call(tool)["error_code"] == "write_disabled"


def test_where_writes_are_staged_the_static_token_may_propose_and_nothing_else(settings):
    settings.MCP_REMOTE_WRITE_ENABLED = "staged"
    shown = {tool["name"]: tool for tool in message(request())["result"]["tools"]}
    assert set(shown) == READ_TOOLS | PROPOSING_TOOLS
    assert "Nothing is written" in shown["write_page"]["description"]
    for name in PROPOSING_TOOLS:
        assert call(name)["error_code"] == "missing_required_params"
    for name in WRITE_TOOLS - PROPOSING_TOOLS:
        assert call(name)["error_code"] == "write_disabled"


def test_where_it_is_on_the_static_token_may_write(settings):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    assert {tool["name"] for tool in message(request())["result"]["tools"]} == READ_TOOLS | WRITE_TOOLS
    assert call("write_page")["error_code"] == "missing_required_params"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("scope", "more"), [("read", set()), ("propose", {"propose_review"}), ("write", set(WRITE_TOOLS))]
)
def test_a_token_sees_the_tools_of_its_scope(settings, monkeypatch, scope, more):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    _, raw = create_token(name="agent", scope=scope)
    monkeypatch.setitem(HEADERS, "authorization", f"Bearer {raw}")
    names = {tool["name"] for tool in message(request())["result"]["tools"]}
    assert names == READ_TOOLS | more
    for name in WRITE_TOOLS - {"trigger_source_rescan"}:
        assert call(name)["error_code"] == ("missing_required_params" if name in more else "forbidden")
    # the application has been left, and with it the last use was written
    assert Token.objects.get().last_used_at is not None
    assert last_used.flush() == 0
    revoke_token(name="agent")
    refused(request(), 401, "unauthenticated")


@pytest.mark.django_db(transaction=True)
def test_a_token_whose_person_may_no_longer_write_does_not_either(settings, monkeypatch):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    _, raw = create_token(name="agent", scope="write", user=User.objects.create_user("ada", is_staff=True))
    monkeypatch.setitem(HEADERS, "authorization", f"Bearer {raw}")
    assert {tool["name"] for tool in message(request())["result"]["tools"]} == READ_TOOLS
    assert call("write_page")["error_code"] == "forbidden"


@pytest.mark.django_db(transaction=True)
def test_info_is_open_and_holds_no_secret(settings):
    _, raw = create_token(name="agent")
    response = request("GET", "/mcp/info", without="authorization")
    assert response.status_code == 200
    info = response.json()
    assert info == {
        "server_name": "synapse",
        "version": settings.VERSION,
        "revisions": ["2026-07-28", "2025-11-25", "2025-06-18"],
        "transport": "streamable-http",
        "http_enabled": True,
        "remote_write_enabled": False,
        "remote_write_mode": "false",
        "token_configured": True,
        "mount_path": "/mcp",
        "entry_point_command": "python manage.py mcp",
        "tool_count": len(READ_TOOLS),
        "tools": info["tools"],
    }
    assert set(info["tools"]) == READ_TOOLS
    assert STATIC not in response.text
    assert raw not in response.text
    settings.MCP_AUTH_TOKEN = ""
    assert request("GET", "/mcp/info/", without="authorization").json()["token_configured"] is True
    revoke_token(name="agent")
    assert request("GET", "/mcp/info", without="authorization").json()["token_configured"] is False


def test_info_takes_get_only_and_from_our_hosts_only():
    refused(request("POST", "/mcp/info"), 405, "method_not_allowed")
    refused(request("GET", "/mcp/info", host="evil.example"), 421, "forbidden")


def test_what_fails_inside_is_an_envelope_without_its_text():
    def fail(raw: str | None, own: str | None) -> Caller:
        raise ValueError("/etc/secret said no")

    body = refused(request(served=McpApp(let_in=fail)), 500, "internal_error")
    assert "secret" not in body["error"]


def test_tools_list_is_the_same_bytes_every_time():
    first, second = request(), request()
    assert message(first) == message(second)
    assert first.content == second.content
