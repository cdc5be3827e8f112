"""Requests to /mcp made to get in, to get out what is not theirs, to write what was not meant, or to wear it down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpapi import http
from mcpapi.registry import BY_NAME
from tests.mcpapi.hostile import HOST, TOKEN, Answer, Door, Line, call, exchange, hello, require_sane
from vault.errors import ErrorCode, SynapseError

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
OURS = b"Bearer " + TOKEN.encode()
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
NEWEST = (b"mcp-protocol-version", b"2026-07-28")


#: A message may get as far as a thread that has a connection to the database from an earlier test.
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def one_token(settings: Any) -> None:
    settings.MCP_AUTH_TOKEN = TOKEN
    settings.SYNAPSE_HOST, settings.SYNAPSE_PORT = "127.0.0.1", 8000


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    opened = Door()
    yield opened
    opened.close()


def refused(answer: Answer, status: int, code: str) -> None:
    require_sane(answer)
    assert (answer.status, answer.error_code()) == (status, code)


@pytest.mark.parametrize(
    "origins",
    [
        [b"https://evil.example"],
        [b"null"],
        [b""],
        [b"http://localhost.evil.com"],
        [b"http://127.0.0.1:9999"],
        [b"http://127.0.0.1:8000.evil.example"],
        [b"http://127.0.0.1:8000/"],
        [b"http://user@127.0.0.1:8000"],
        [b"http://127.0.0.1:8000", b"https://evil.example"],
        [b"http://127.0.0.1:8000, https://evil.example"],
        [b"http://127.0.0.1:8000\x00"],
        [b"\xff\xfe"],
        [b"http://" + b"a" * 60_000],
    ],
    ids=lambda origins: "A120-" + repr(b"|".join(origins)[:40]),
)
def test_no_page_of_another_origin_is_heard(origins: list[bytes], monkeypatch: pytest.MonkeyPatch, door: Door) -> None:
    def asked(_: object) -> None:
        raise AssertionError("its token was looked at")

    monkeypatch.setattr(http, "authenticate", asked)
    refused(door.ask(LIST, headers=[(b"origin", origin) for origin in origins]), 403, "forbidden")


@pytest.mark.parametrize("method", ["OPTIONS", "GET", "POST"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/server/", "/mcp/info"])
def test_no_preflight_is_granted(path: str, method: str, door: Door) -> None:
    asking = [(b"origin", b"https://evil.example"), (b"access-control-request-method", b"POST")]
    answer = door.ask(method=method, path=path, headers=asking)
    assert answer.status == 403
    assert not [name for name, _ in answer.headers if name.startswith(b"access-control")]


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        [b""],
        [b"evil.example"],
        [b"127.0.0.1.evil.example:8000"],
        [b"evil.example:8000"],
        [b"evil.example@127.0.0.1:8000"],
        [b"127.0.0.1:8000@evil.example"],
        [b"127.0.0.1:8000/x"],
        [b"127.0.0.1:8000 evil.example"],
        [HOST, b"evil.example"],
        [HOST, HOST],
        [b"0x7f000001:8000"],
        [b"2130706433"],
        [b"[::ffff:127.0.0.1]:8000"],
        [b"\xff"],
        [b"a" * 60_000],
    ],
    ids=lambda hosts: "A121-" + repr(b"|".join(hosts)[:40]),
)
def test_a_name_that_was_rebound_to_this_machine_is_not_served(hosts: list[bytes], door: Door) -> None:
    answer = door.ask(LIST, headers=[(b"host", host) for host in hosts], without=[b"host"])
    refused(answer, 421, "forbidden")


def test_it_listens_to_this_machine_only_unless_told_otherwise() -> None:
    from synapse import settings as given

    assert given.SYNAPSE_HOST == "127.0.0.1"


MESSAGES = [
    LIST,
    {**LIST, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}},
    {**LIST, "method": "server/discover"},
    {**LIST, "method": "resources/list"},
    {**LIST, "method": "prompts/list"},
    call("search_wiki", query="x"),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: f"A122-{message['method']}")
def test_without_a_token_nothing_is_told(message: dict[str, Any], door: Door) -> None:
    answer = door.ask(message, without=[b"authorization"])
    refused(answer, 401, "unauthenticated")
    assert (answer.header(b"www-authenticate") or b"").startswith(b"Bearer")
    assert not [name for name in BY_NAME if name in answer.body.decode()]


@pytest.mark.parametrize(
    "request_",
    [
        {"query": b"token=" + TOKEN.encode()},
        {"query": b"access_token=" + TOKEN.encode()},
        {"query": b"Authorization=Bearer%20" + TOKEN.encode()},
        {"path": f"/mcp/{TOKEN}"},
        {"headers": [(b"cookie", b"token=" + TOKEN.encode() + b"; sessionid=x")]},
        {"headers": [(b"x-api-key", TOKEN.encode())]},
        {"headers": [(b"proxy-authorization", OURS)]},
        {"headers": [(b"x-forwarded-authorization", OURS), (b"x-forwarded-for", b"127.0.0.1")]},
        {"body": {**LIST, "params": {"_meta": {"token": TOKEN, "authorization": f"Bearer {TOKEN}"}}}},
    ],
    ids=["query", "query-oauth", "query-header", "path", "cookie", "x-api-key", "proxy", "forwarded", "meta"],
)
def test_a_token_anywhere_but_in_its_header_is_no_token(request_: dict[str, Any], door: Door) -> None:
    body = request_.pop("body", LIST)
    refused(door.ask(body, without=[b"authorization"], **request_), 401, "unauthenticated")


def test_a_flood_of_beginnings_leaves_nothing_behind(door: Door) -> None:
    """A125."""

    async def go() -> tuple[int, int, list[Any]]:
        await exchange(hello())
        before = len(asyncio.all_tasks())
        answers = await asyncio.gather(*(exchange(hello()) for _ in range(100)))
        assert all(answer.status == 200 for answer in answers)
        await asyncio.sleep(0.05)
        held = [kept for kept in vars(http.mcp_app._manager).values() if isinstance(kept, dict | list | set) and kept]
        return before, len(asyncio.all_tasks()), held

    before, after, held = door.run(go())
    assert after <= before + 1
    assert held == []


@pytest.mark.parametrize(
    ("message", "headers", "code"),
    [
        (call("get_page", title="x"), [(b"mcp-method", b"tools/list")], -32020),
        (call("write_page"), [(b"mcp-name", b"read_source_file")], -32020),
        (call("write_page"), [(b"mcp-name", b"=?base64?cmVhZF9zb3VyY2VfZmlsZQ==?=")], -32020),
        (call("write_page"), [(b"mcp-name", b"write_page"), (b"mcp-name", b"get_page")], -32020),
        (LIST, [(b"mcp-method", b"tools/list"), (b"mcp-method", b"tools/list")], -32020),
        (LIST, [(b"mcp-method", b"TOOLS/LIST")], -32020),
        (LIST, [(b"mcp-method", b"\xff")], -32020),
        (LIST, [(b"mcp-protocol-version", b"1900-01-01")], -32022),
        (LIST, [(b"mcp-protocol-version", b"")], -32022),
        (LIST, [(b"mcp-protocol-version", b"2025-11-25, 2026-07-28")], -32022),
        (LIST, [(b"mcp-protocol-version", b"2025-11-25"), NEWEST], -32020),
        ({**LIST, "params": {"_meta": META}}, [(b"mcp-protocol-version", b"2025-11-25")], -32020),
        ({**LIST, "params": {"_meta": META}}, [NEWEST, (b"mcp-method", b"tools/call")], -32020),
        ({**LIST, "params": {"_meta": META}}, [NEWEST], -32020),
    ],
    ids=[
        "A126-method",
        "A126-name",
        "A126-name-encoded",
        "A126-name-twice",
        "A126-method-twice",
        "A126-case",
        "A126-bytes",
        "A127-unknown",
        "A127-empty",
        "A127-list",
        "A127-twice",
        "A127-meta",
        "A126-newest",
        "A126-missing",
    ],
)
def test_headers_and_message_say_one_thing(message: dict[str, Any], headers: Any, code: int, door: Door) -> None:
    answer = door.ask(message, headers=headers)
    require_sane(answer)
    assert (answer.status, answer.message()["error"]["code"]) == (400, code)


DEEP = b"[" * 20_000
BODIES = {
    "empty": b"",
    "blank": b" \n" * 1_000,
    "batch": json.dumps([LIST, LIST]).encode(),
    "batch-empty": b"[]",
    "batch-of-writes": json.dumps([call("write_page")] * 50).encode(),
    "two-messages": json.dumps(LIST).encode() * 2,
    "trailing": json.dumps(LIST).encode() + b"}",
    "comment": b"/* x */" + json.dumps(LIST).encode(),
    "bom": b"\xef\xbb\xbf" + json.dumps(LIST).encode(),
    "utf-16": json.dumps(LIST).encode("utf-16"),
    "not-utf-8": b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}',
    "string": b'"tools/list"',
    "number": b"1",
    "null": b"null",
    "duplicate": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "method": "tools/call"}',
    "duplicate-inside": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_page", '
    b'"arguments": {"title": "a", "title": "b"}}}',
    "duplicate-escaped": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "\\u006dethod": "tools/call"}',
    "nan": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"a": NaN}}',
    "infinity": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"a": -Infinity}}',
    "overflow": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"a": 1e999}}',
    "digits": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"a": ' + b"1" * 5_000 + b"}}",
    "deep": DEEP,
    "deep-objects": b'{"a":' * 20_000,
    "deep-inside": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_page", "arguments": '
    b'{"title": ' + DEEP + b"]" * 20_000 + b"}}}",
    "half": json.dumps(LIST).encode()[:-3],
    "nul": json.dumps(LIST).encode() + b"\x00",
    "python": b"{'jsonrpc': '2.0'}",
    "version": json.dumps({**LIST, "jsonrpc": "1.0"}).encode(),
    "no-version": json.dumps({"id": 1, "method": "tools/list"}).encode(),
    "method-number": json.dumps({**LIST, "method": 5}).encode(),
    "method-list": json.dumps({**LIST, "method": ["tools/list"]}).encode(),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_not_one_message_is_malformed(name: str, door: Door) -> None:
    answer = door.ask(BODIES[name])
    refused(answer, 400, "malformed_body")
    assert answer.message()["error"]["code"] in (-32700, -32600)


@pytest.mark.parametrize(
    "number",
    [True, False, None, 1.5, 1e300, [], [1], {}, {"id": 1}],
    ids=repr,
)
def test_an_id_of_another_type_is_refused_and_not_taken_for_a_notification(number: Any, door: Door) -> None:
    answer = door.ask({**LIST, "id": number})
    refused(answer, 400, "malformed_body")
    assert answer.message()["id"] is None


@pytest.mark.parametrize(
    "number", [0, -1, 2**53, 2**70, "", "é\U0001f600", "x" * 100_000, "__proto__"], ids=lambda n: repr(n)[:20]
)
def test_an_odd_id_comes_back_as_it_was(number: Any, door: Door) -> None:
    answer = door.ask({**LIST, "id": number})
    require_sane(answer)
    assert answer.status == 200
    assert answer.message()["id"] == number


@pytest.mark.parametrize("form", ["announced", "not announced", "announced too small"])
def test_a_giant_is_turned_away_before_it_is_read(form: str, settings: Any, door: Door) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10_000
    piece = b" " * 1_000

    async def go() -> tuple[Answer, int]:
        line = Line([piece] * 1_000)
        told = {"announced": b"1000000", "announced too small": b"10"}.get(form)
        headers = [(b"content-length", told)] if told else [(b"transfer-encoding", b"chunked")]
        return await exchange(line, headers=headers), line.given

    answer, read = door.run(go())
    refused(answer, 413, "payload_too_large")
    # What is left over is read out afterwards, within a bound, so that the client can hear its answer.
    assert read <= 1_000


@pytest.mark.parametrize("length", [b"-1", b"abc", b"1e3", b"", b"\xff", b"9" * 5_000, b"0x10"], ids=repr)
def test_a_length_that_is_no_number_does_no_harm(length: bytes, door: Door) -> None:
    answer = door.ask(LIST, headers=[(b"content-length", length)])
    require_sane(answer)


def test_very_many_keys_are_read_in_time_that_grows_with_them(door: Door) -> None:
    arguments = {f"k{number}": number for number in range(50_000)}
    answer = door.ask(call("search_wiki", **arguments))
    require_sane(answer)
    assert answer.error_code() in ("invalid_param_value", "missing_required_params")
    assert len(answer.body) < 10_000


@pytest.mark.parametrize(
    "kind",
    [
        b"text/plain",
        b"text/json",
        b"application/x-www-form-urlencoded",
        b"multipart/form-data; boundary=x",
        b"application/json-rpc",
        b"application/json, text/plain",
        b"application/json; charset=utf-16",
        b"application/json; charset=utf-7",
        b"application/json; charset*=none'en'x",
        b"\xff",
        b"",
    ],
    ids=lambda kind: repr(kind[:40]),
)
def test_another_kind_of_body_is_refused(kind: bytes, door: Door) -> None:
    refused(door.ask(LIST, headers=[(b"content-type", kind)]), 415, "unsupported_media_type")


def test_two_kinds_at_once_are_refused(door: Door) -> None:
    both = [(b"content-type", b"application/json"), (b"content-type", b"text/plain")]
    refused(door.ask(LIST, headers=both), 415, "unsupported_media_type")
    refused(door.ask(LIST, without=[b"content-type"]), 415, "unsupported_media_type")


@pytest.mark.parametrize("coding", [b"gzip", b"br", b"identity, gzip", b"deflate", b"x" * 1_000])
def test_nothing_is_unpacked(coding: bytes, door: Door) -> None:
    refused(door.ask(LIST, headers=[(b"content-encoding", coding)]), 415, "unsupported_media_type")


@pytest.mark.parametrize("pieces", [[b""], [b'{"jsonrpc": '], [b"{", b" ", b" ", b" "]], ids=len)
def test_a_body_that_trickles_in_is_not_waited_for(pieces: list[bytes], settings: Any, door: Door) -> None:
    settings.SYNAPSE_BODY_SECONDS = 0.05

    async def go() -> Answer:
        return await asyncio.wait_for(exchange(Line(pieces, pause=0.04, whole=False)), 10)

    refused(door.run(go()), 400, "malformed_body")


@pytest.mark.parametrize(
    "method", ["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "post", "FOO", ""]
)
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/server", "/mcp/server/"])
def test_only_post_is_a_way_in(method: str, path: str, door: Door) -> None:
    answer = door.ask(LIST, method=method, path=path)
    refused(answer, 405, "method_not_allowed")
    assert answer.header(b"allow") == b"POST"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_what_is_open_to_all_can_only_be_read(method: str, door: Door) -> None:
    answer = door.ask(LIST, method=method, path="/mcp/info", without=[b"authorization"])
    refused(answer, 405, "method_not_allowed")


@pytest.mark.parametrize("path", ["/mcp", "/%6dcp", "/mcp%2fserver"])
def test_a_spelling_of_our_own_address_asks_for_the_token_too(path: str, door: Door) -> None:
    refused(door.ask(LIST, path=path, without=[b"authorization"]), 401, "unauthenticated")
    assert door.ask(LIST, path=path).status == 200


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "notifications/x" * 1_000},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "trigger_source_rescan", "arguments": {}}},
        {**LIST, "method": "__class__"},
        {**LIST, "method": "tools/call\n"},
        {**LIST, "method": "x" * 100_000},
        {**LIST, "method": "shutdown"},
        {**LIST, "method": "logging/setLevel", "params": {"level": "debug"}},
        {**LIST, "method": "sampling/createMessage", "params": {}},
        {**LIST, "params": []},
        {**LIST, "params": {"cursor": "x" * 10_000}},
        {**LIST, "params": {"cursor": {"a": 1}}},
        {**LIST, "method": "tools/call"},
        {**LIST, "method": "tools/call", "params": {"name": "get_page", "arguments": "title=x"}},
        {**LIST, "method": "tools/call", "params": {"name": ["get_page"], "arguments": {}}},
        {**LIST, "method": "tools/call", "params": {"name": None, "arguments": None}},
        {**LIST, "method": "tools/call", "params": {"name": "WRITE_PAGE", "arguments": {}}},
        {**LIST, "method": "tools/call", "params": {"name": "write_page\u0000", "arguments": {}}},
        {**LIST, "method": "tools/call", "params": {"name": "../write_page", "arguments": {}}},
        {**LIST, "method": "tools/call", "params": {"name": "x" * 100_000, "arguments": {}}},
        {**LIST, "method": "tools/call", "params": {"name": "__init__", "arguments": {}}},
    ],
    ids=lambda message: f"{message.get('method', 'answer')[:20].strip()}-{str(message.get('params', ''))[:30]}",
)
def test_a_message_that_makes_no_sense_is_answered_and_does_nothing(
    message: dict[str, Any], monkeypatch: pytest.MonkeyPatch, door: Door
) -> None:
    from mcpapi.tools import writing

    def done(*_: Any, **__: Any) -> None:
        raise AssertionError("something was done")

    monkeypatch.setattr(writing.writing, "write_page", done)
    monkeypatch.setattr(writing.rescan, "request_rescan", done)
    answer = door.ask(message)
    require_sane(answer)
    assert len(answer.body) < 5_000 + len(json.dumps(message))


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", None),
        ("tools/call", {"name": "list_pages", "_meta": "x"}),
        ("tools/call", {"name": "list_pages", "_meta": {"progressToken": {}}}),
        ("tools/list", {"cursor": {}}),
        ("resources/read", {}),
        ("resources/read", {"uri": 3}),
        ("prompts/get", {"arguments": {}}),
        ("completion/complete", {"ref": {"type": "ref/tool"}}),
    ],
    ids=lambda part: json.dumps(part)[:40],
)
def test_params_that_the_protocol_does_not_know_are_told_what_is_wrong(
    method: str, params: dict[str, Any] | None, door: Door
) -> None:
    answer = door.ask({"jsonrpc": "2.0", "id": 1, "method": method, **({} if params is None else {"params": params})})
    require_sane(answer)
    failure = answer.message()["error"]
    assert (failure["code"], failure["data"]["error_code"]) == (-32602, "invalid_param_type")
    assert failure["message"] == failure["data"]["error"]
    assert failure["data"]["method"] == method


def test_no_program_is_ever_started_by_what_serves() -> None:
    """A132: where there is no shell, nothing can be slipped into one."""
    import re

    root = Path(__file__).resolve().parents[2]
    rooms = [file for room in ("vault", "wiki", "reviews", "mcpapi") for file in sorted((root / room).rglob("*.py"))]
    starting = re.compile(
        r"\bsubprocess\b|os\.system|os\.popen|os\.exec|os\.spawn|\bpty\b|shell=True|(?<![.\w])(?:eval|exec)\("
    )
    found = {str(file.relative_to(root)) for file in rooms if starting.search(file.read_text(encoding="utf-8"))}
    assert found == {"wiki/startup.py"}  # begins itself anew, with the arguments it was begun with


def test_an_answer_that_fails_inside_tells_nothing(monkeypatch: pytest.MonkeyPatch, door: Door) -> None:
    from mcpapi.tools import reading

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(13, "Permission denied", "/home/somebody/vault/secret.md")

    monkeypatch.setattr(reading.sources, "read_source", fail)
    answer = door.ask(call("read_source_file", path="a.md"))
    require_sane(answer, "somebody", "Permission")
    assert answer.error_code() == "internal_error"

    def refuse(*_: Any, **__: Any) -> None:
        raise SynapseError(ErrorCode.STORAGE_ERROR, "The disk is full. Nothing was changed.")

    monkeypatch.setattr(reading.sources, "read_source", refuse)
    assert door.ask(call("read_source_file", path="a.md")).error_code() == "storage_error"


_WORDS = st.sampled_from(
    [
        "2.0",
        "tools/call",
        "tools/list",
        "initialize",
        "ping",
        "resources/read",
        "prompts/get",
        "completion/complete",
        "notifications/cancelled",
        "get_page",
        "write_page",
        "search_wiki",
        "synapse://page/x",
        "",
        "\x00",
        "\ud800",
        "é",
    ]
)
_KEYS = st.sampled_from(
    [
        "jsonrpc",
        "id",
        "method",
        "params",
        "name",
        "arguments",
        "_meta",
        "uri",
        "cursor",
        "title",
        "query",
        "k",
        "progressToken",
    ]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | _WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=12,
)
_MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": _WORDS},
    optional={"id": _JSON, "params": st.dictionaries(_KEYS, _JSON, max_size=5)},
)
_HEADERS = st.lists(
    st.tuples(
        st.sampled_from(
            [b"mcp-method", b"mcp-name", b"mcp-protocol-version", b"mcp-session-id", b"last-event-id", b"accept"]
        ),
        st.sampled_from([b"tools/call", b"get_page", b"2026-07-28", b"2025-06-18", b"*/*"]) | st.binary(max_size=6),
    ),
    max_size=3,
)


@given(
    body=st.binary(max_size=60) | st.builds(lambda found: json.dumps(found).encode(), _JSON | _MESSAGES),
    headers=_HEADERS,
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_whatever_comes_is_answered_and_breaks_nothing(
    body: bytes, headers: list[tuple[bytes, bytes]], door: Door
) -> None:
    require_sane(door.ask(body, headers=headers))


def test_that_tells_a_failure_from_an_answer(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("x")

    monkeypatch.setattr(http.gate, "require_agreement", fail)
    with pytest.raises(AssertionError):
        require_sane(door.ask(LIST))
