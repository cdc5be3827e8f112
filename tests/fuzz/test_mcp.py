"""Messages to /mcp and to stdio that began as good ones: cut, doubled, nested, mistyped, in the wrong envelope.

Whatever comes is answered, by an envelope or in the protocol's way; nothing of the inside is shown or logged; and a
good message is answered as before. In both revisions of the protocol.
"""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp.types import jsonrpc_message_adapter

from mcpapi import messages as complaints
from tests.fuzz.profiles import examples
from tests.mcpapi.hostile import TOKEN, Answer, Door, Line, call, hello, require_sane
from tests.mcpapi.processes import HELLO, lines, make_world, start_stdio

OLDER, NEWER = "2025-11-25", "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": NEWER, "io.modelcontextprotocol/clientCapabilities": {}}
TEXTS = [
    "",
    "a",
    "2.0",
    "1.0",
    "tools/call",
    "tools/list",
    "initialize",
    "get_page",
    "\x00",
    "\ud800",
    "é",
    "a" * 5_000,
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**80), 2**80),
    st.floats(),
    st.sampled_from(TEXTS),
    st.sampled_from([[], {}, [[]], [{}], {"a": {"b": []}}, [None], [1, "a"], {"": ""}]),
)


def _params(method: str, /, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


#: Good messages that need no rows: those of tools are refused for their arguments, or asked of what is not there.
GOOD = [
    json.loads(hello()),
    _params("tools/list"),
    _params("prompts/list"),
    _params("resources/templates/list"),
    _params("ping"),
    _params("server/discover"),
    _params("prompts/get", name="ingest", arguments={}),
    _params("logging/setLevel", level="debug"),
    _params("completion/complete", ref={"type": "ref/prompt", "name": "x"}, argument={"name": "a", "value": "b"}),
    _params("resources/read", uri="synapse://source/..%2Fx"),
    _params("notifications/cancelled", requestId=1),
    call("read_source_file", path="../x"),
    call("get_page"),
    call("no_such_tool", a=1),
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
]


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        found += _places(inner, (*path, key))
    return found


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    """A good message of one of the revisions with one to three faults, as bytes."""
    message: Any = copy.deepcopy(draw(st.sampled_from(GOOD)))
    if draw(st.booleans()) and "params" in message:
        message["params"]["_meta"] = dict(META)
    for _ in range(draw(st.integers(1, 3))):
        message = _spoiled(draw, message)
    text = json.dumps(message)
    fault = draw(st.sampled_from(["none", "cut", "twice", "doubled key", "tail", "batch", "deep", "byte"]))
    if fault == "cut":
        text = text[: draw(st.integers(0, len(text)))]
    elif fault == "twice":
        text += text
    elif fault == "doubled key":
        text = text.replace("{", '{"method": "ping", "id": 2, ', 1)
    elif fault == "tail":
        text += draw(st.sampled_from([" ", "\n", "\x00", "]", "}", ",", "//x", "\ufeff"]))
    elif fault == "batch":
        text = f"[{text}, {text}]"
    elif fault == "deep":
        depth = draw(st.sampled_from([10, 200, 2_000, 30_000]))
        text = text.replace("1", "[" * depth + "]" * depth, 1)
    data = text.encode("utf-8", "surrogatepass")
    if fault == "byte" and data:
        at = draw(st.integers(0, len(data) - 1))
        data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
    return data


def _spoiled(draw: st.DrawFn, message: Any) -> Any:
    path = draw(st.sampled_from(_places(message)))
    if not path:
        return copy.deepcopy(draw(st.one_of(st.just(message), VALUES)))
    holder = message
    for key in path[:-1]:
        holder = holder[key]
    what = draw(st.sampled_from(["value", "gone", "renamed", "added"]))
    if what == "value" or isinstance(holder, list):
        holder[path[-1]] = copy.deepcopy(draw(VALUES))
    elif what == "gone":
        del holder[path[-1]]
    elif what == "renamed":
        holder[draw(st.sampled_from(TEXTS))] = holder.pop(path[-1])
    else:
        holder[draw(st.sampled_from(["x", "_meta", "id", "method", "name", "\ud800"]))] = copy.deepcopy(draw(VALUES))
    return message


HEADERS = st.lists(
    st.one_of(
        st.tuples(
            st.just(b"mcp-protocol-version"), st.sampled_from([b"", b"1900-01-01", b"\xff", b"2025-11-25, 2026-07-28"])
        ),
        st.tuples(st.just(b"mcp-method"), st.sampled_from([b"tools/list", b"ping", b"\xff", b"=?base64?eA==?="])),
        st.tuples(st.just(b"mcp-name"), st.sampled_from([b"get_page", b"", b"=?base64?!?="])),
        st.tuples(
            st.just(b"content-type"),
            st.sampled_from([b"text/plain", b"application/json; charset=utf-16", b"", b"a/b/c"]),
        ),
        st.tuples(st.just(b"accept"), st.sampled_from([b"", b"*/*", b"text/html", b"application/json;q=x"])),
        st.tuples(st.just(b"content-length"), st.sampled_from([b"0", b"-1", b"5", b"99999"])),
    ),
    max_size=2,
)


#: A message may get as far as a thread that has a connection to the database from an earlier test.
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def one_token(settings: Any) -> None:
    settings.MCP_AUTH_TOKEN = TOKEN
    settings.SYNAPSE_HOST, settings.SYNAPSE_PORT = "127.0.0.1", 8000
    settings.SYNAPSE_BODY_SECONDS = 5.0


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    opened = Door()
    yield opened
    opened.close()


def goes_on(door: Door) -> None:
    """A good message is answered as ever."""
    answer: Answer = door.ask({"jsonrpc": "2.0", "id": 7, "method": "tools/list"})
    assert answer.status == 200
    assert answer.message()["id"] == 7


@pytest.mark.parametrize("revision", [OLDER, NEWER])
def test_a_spoiled_message_is_answered(revision: str, door: Door, caplog: pytest.LogCaptureFixture) -> None:
    usual = [(b"mcp-protocol-version", revision.encode())]

    @given(body=messages(), headers=HEADERS, pieces=st.integers(1, 3))
    @example(body=b"", headers=[], pieces=1)
    @example(body=b"[]", headers=[], pieces=1)
    @example(body=b"null", headers=[], pieces=2)
    @example(body=b"\xef\xbb\xbf{}", headers=[], pieces=1)
    @example(body=b"[" * 100_000, headers=[], pieces=1)
    @example(body=b'{"jsonrpc":"2.0","method":"prompts/get","params":{"arguments":7}}', headers=[], pieces=1)
    @example(body=b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":7,"arguments":[]}}', headers=[], pieces=1)
    @example(body=b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}', headers=[], pieces=1)
    @examples(120, 20_000)
    def answered(body: bytes, headers: list[tuple[bytes, bytes]], pieces: int) -> None:
        step = max(1, -(-len(body) // pieces))
        line = Line([body[at : at + step] for at in range(0, len(body), step)])
        answer = door.ask(
            line, headers=[*([] if any(name == b"mcp-protocol-version" for name, _ in headers) else usual), *headers]
        )
        require_sane(answer)
        assert answer.status

    with caplog.at_level(logging.WARNING):
        answered()
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR]
    goes_on(door)


@given(messages() | st.binary(max_size=40))
@example(b"")
@example(b"\xff\xfe")
@example(b"[" * 100_000)
@example(b'{"jsonrpc":"2.0","id":1,"method":"ping"' + b" " * 100_000 + b"}")
@examples(150, 20_000)
def test_a_line_of_stdio_is_one_that_the_protocol_reads_or_is_answered(line: bytes) -> None:
    line = line.replace(b"\n", b" ")
    fault = complaints.complaint(line)
    if fault is None:
        read = jsonrpc_message_adapter.validate_json(line, by_name=False)
        assert getattr(read, "id", None) == json.loads(line).get("id")
    else:
        assert fault["error"]["data"]["error_code"] in ("malformed_body", "payload_too_large")
        json.dumps(fault).encode()


@pytest.mark.slow
def test_a_process_of_stdio_answers_what_it_can_and_ends_well(tmp_path: Path) -> None:
    """Garbage, giants and bytes that are no text between good lines: all of the good ones are answered."""
    process = start_stdio(make_world(tmp_path))
    garbage: list[bytes] = []

    @given(messages())
    @examples(60, 500)
    def collect(line: bytes) -> None:
        garbage.append(line.replace(b"\n", b" ") + b"\n")

    collect()
    sent = lines(HELLO, {"method": "notifications/initialized"})
    for number, line in enumerate([*garbage, b"x" * 3_000_000 + b"\n", b"\xff\xfe\n", b"\n", b"\x00\n"]):
        sent += line + lines({"id": f"good {number}", "method": "ping"})
    said, logged = process.communicate(sent, timeout=300)
    answered = {found.get("id") for found in map(json.loads, said.splitlines())}
    good = {f"good {number}" for number in range(len(garbage) + 4)}
    assert good <= {id for id in answered if isinstance(id, str)}
    assert b"Traceback" not in logged
    assert process.returncode == 0
