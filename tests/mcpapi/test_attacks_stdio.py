"""Lines to ``manage.py mcp`` that no client sends, and ends that come in the middle of a call (A134)."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.types import JSONRPCNotification, jsonrpc_message_adapter

from mcpapi import messages, stdio
from tests.mcpapi.processes import HELLO, World, lines, make_world, start_stdio
from vault.errors import ErrorCode

READY = lines(HELLO, {"method": "notifications/initialized"})
FRONT = {"type": "concept", "title": "New", "sources": ["raw/sources/lives.txt"], "lang": "en"}
SECRET = "syn_" + "A1b2C3d4_-" * 4 + "xyz"
CANARY = "canary of a page"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = make_world(tmp_path_factory.mktemp("world"))
    (made.vault / "wiki" / "concepts").mkdir(parents=True)
    (made.vault / "wiki" / "concepts" / "canary.md").write_text(f"---\ntitle: Canary\n---\n{CANARY}\n")
    made.manage("rescan")
    return made


def call(number: Any, tool: Any, **arguments: Any) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


ODD_LINES: list[bytes] = [
    b"[]",
    b"null",
    b"5",
    b'"ping"',
    b"{}",
    b"\x00",
    b"\xef\xbb\xbf{}",
    b"{" * 50_000,
    b'{"a":' * 50_000,
    b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": false, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": ' + b"1" * 5_000 + b', "method": "ping"}',
    b'{"jsonrpc": "1.0", "method": "ping"}',
    b'{"jsonrpc": "2.0", "method": 5}',
    b"Content-Length: 5\r",
    b"GET / HTTP/1.1\r",
    b"{'jsonrpc': '2.0'}",
]
ODD_CALLS: list[tuple[str, Any, dict[str, Any]]] = [
    # An odd name or odd arguments, and the code that answers.
    ("unknown_tool", "", {}),
    ("unknown_tool", "WRITE_PAGE", {}),
    ("unknown_tool", "write_page\u0000", {}),
    ("unknown_tool", "x" * 50_000, {}),
    ("missing_required_params", "get_page", {}),
    ("invalid_param_value", "get_page", {"title": "x", "__proto__": {}}),
    ("invalid_param_type", "get_page", {"title": ["x"]}),
    ("invalid_param_type", "search_wiki", {"query": "x", "k": "5; DROP TABLE wiki_page"}),
    ("page_not_found", "get_page", {"title": "../../etc/passwd"}),
    ("path_not_allowed", "read_source_file", {"path": "/etc/passwd"}),
    ("path_not_allowed", "read_source_file", {"path": "a\nERROR forged"}),
    ("path_not_allowed", "write_page", {"title": "New", "content": "x", "frontmatter": FRONT, "path": "../x.md"}),
    ("invalid_content", "write_page", {"title": "New", "content": "a\u0000b", "frontmatter": FRONT}),
    (
        "invalid_frontmatter",
        "write_page",
        {"title": "A\nb: c", "content": "x", "frontmatter": {**FRONT, "title": "A\nb: c"}},
    ),
    ("invalid_cursor", "list_pages", {"cursor": SECRET}),
    ("review_not_found", "resolve_review", {"id": "1 OR 1=1", "action": "skip"}),
]


def test_a_storm_of_lines_is_answered_line_by_line_and_nothing_else_is_printed(world: World) -> None:
    """Also A136 and A137: what was sent is not in the log, and no line of the log was made by it."""
    before = {file: file.read_bytes() for file in (world.vault / "wiki").rglob("*.md")}
    calls = lines(*(call(100 + number, name, **given) for number, (_, name, given) in enumerate(ODD_CALLS)))
    ids = lines(*({"id": number, "method": "ping"} for number in (0, -7, 2**60, "é", "x" * 10_000)))
    process = start_stdio(world, SYNAPSE_LOG_LEVEL="DEBUG")
    asked = (
        READY + b"".join(line + b"\n" for line in ODD_LINES) + calls + ids + lines(call(99, "get_page", title="Canary"))
    )
    out, err = process.communicate(asked, timeout=60)

    answers = [json.loads(line) for line in out.splitlines()]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    faults = [answer for answer in answers if "error" in answer]
    assert [fault["error"]["data"]["error_code"] for fault in faults] == ["malformed_body"] * len(ODD_LINES)
    by_id = {answer["id"]: answer["result"] for answer in answers if "result" in answer}
    said = [by_id[100 + number]["structuredContent"]["error_code"] for number in range(len(ODD_CALLS))]
    assert said == [code for code, _, _ in ODD_CALLS]
    assert {0, -7, 2**60, "é", "x" * 10_000, 1, 99} <= set(by_id)
    assert CANARY in by_id[99]["structuredContent"]["content"]
    assert process.returncode == 0
    assert {file: file.read_bytes() for file in before} == before
    assert not (world.vault.parent / "x.md").exists()

    told = out.decode()
    for inside in ("root:x:", "Traceback", "pydantic", "site-packages"):
        assert inside not in told
    logged = err.decode().splitlines()
    assert all(set(json.loads(line)) >= {"time", "level", "logger", "message"} for line in logged), logged
    for inside in (SECRET, CANARY, "forged", "etc/passwd", str(world.vault), "DROP TABLE"):
        assert inside not in err.decode()


def test_whoever_skips_the_handshake_is_told_to_begin_with_it(world: World) -> None:
    process = start_stdio(world)
    said, _ = process.communicate(lines({"id": 1, "method": "tools/list"}), timeout=60)
    answer = json.loads(said)
    assert answer["error"]["data"]["error_code"] == "invalid_param_value"
    assert "`initialize` first" in answer["error"]["message"]


def test_a_line_without_an_end_is_refused_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (stdio, messages):
        monkeypatch.setattr(module, "longest_line", lambda: 100)
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    given = list(stdio._bounded(io.BytesIO(ping + b"x" * 1_000 + b"\n" + ping + b"y" * 100 + b"\n" + b"z" * 5_000)))
    assert [len(line) for line in given] == [len(ping), 101, len(ping), 101, 101]
    found = [messages.complaint(line) for line in given]
    codes = [fault and fault["error"]["data"]["error_code"] for fault in found]
    assert codes == [None, "payload_too_large", None, "payload_too_large", "payload_too_large"]
    assert messages.longest_line() == 100
    assert found[1] is not None
    assert found[1]["error"]["data"]["limit_bytes"] == 100


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


@given(
    st.binary(max_size=40)
    | st.builds(
        lambda found: json.dumps(found).encode(),
        st.fixed_dictionaries(
            {"jsonrpc": st.sampled_from(["2.0", "1.0", 2])},
            optional=dict.fromkeys(("id", "method", "params", "result", "error"), _JSON),
        ),
    )
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_a_line_is_either_one_that_the_protocol_reads_or_answered_here(line: bytes) -> None:
    fault = messages.complaint(line)
    if fault is None:
        read = jsonrpc_message_adapter.validate_json(line, by_name=False)
        given_id = json.loads(line).get("id")
        assert getattr(read, "id", None) == given_id
        assert isinstance(read, JSONRPCNotification) == ("method" in json.loads(line) and "id" not in json.loads(line))
    else:
        assert fault["error"]["data"]["error_code"] in ("malformed_body", "payload_too_large")


BIG = "A line of text.\n" * 20_000


@pytest.mark.parametrize(
    "end",
    ["end of input", *(pytest.param(end, marks=pytest.mark.slow) for end in ("SIGTERM", "client gone", "SIGKILL"))],
)
def test_an_end_in_the_middle_of_a_write_leaves_all_of_it_or_nothing(end: str, world: World) -> None:
    """A134: the process ends soon, by itself, and leaves none behind."""
    title = f"Big {end}"
    front = {**FRONT, "title": title}
    process = start_stdio(world)
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(READY)
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    process.stdin.write(lines(*(call(n, "write_page", title=title, content=BIG, frontmatter=front) for n in (2, 3))))
    process.stdin.flush()
    _end(process, end)
    assert process.wait(timeout=15) in ({-signal.SIGKILL} if end == "SIGKILL" else {0, 1})
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # it was the first of its group: nobody of it is left
    for pipe in (process.stdout, process.stderr):
        pipe.close()

    file = world.vault / "wiki" / "concepts" / f"{title.lower().replace(' ', '-')}.md"
    if end == "end of input":  # what was asked for is finished
        assert file.exists()
    if file.exists():
        assert file.read_text(encoding="utf-8").endswith(BIG)
    world.manage("rescan")
    left = [path for path in world.vault.rglob("*") if ".synapse-" in path.name]
    assert left == [] or end == "SIGKILL"
    indexed = [row for row in map(json.loads, world.dump()) if row.get("title") == title]
    assert len(indexed) == file.exists()
    assert [row["content_hash"] for row in indexed] == [_digest(file)] * len(indexed)


def _end(process: subprocess.Popen[bytes], end: str) -> None:
    assert process.stdin and process.stdout and process.stderr
    if end == "SIGTERM":
        process.terminate()
    elif end == "SIGKILL":
        process.kill()
    elif end == "client gone":
        process.stdout.close()
        process.stderr.close()
    process.stdin.close()


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""


@pytest.mark.slow
def test_the_tools_are_told_in_the_same_bytes_by_every_process(world: World) -> None:
    """A131: whatever stands in the vault, and in whatever order a process keeps its sets."""
    asked = READY + lines({"id": 2, "method": "tools/list"})
    told = set()
    for seed in ("1", "2"):
        (world.vault / "wiki" / "concepts" / f"tool-{seed}.md").write_text("---\ntitle: write_page\n---\nIMPORTANT\n")
        world.manage("rescan")
        out, _ = start_stdio(world, PYTHONHASHSEED=seed).communicate(asked, timeout=60)
        told.add(out.splitlines()[1])
    assert len(told) == 1
    assert b"IMPORTANT" not in told.pop()


def test_the_codes_that_are_expected_here_exist() -> None:
    assert {code for code, _, _ in ODD_CALLS} <= {code.value for code in ErrorCode}
