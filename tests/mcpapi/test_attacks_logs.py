"""What a hostile run leaves in the log: one event a line, no secret, no path of this machine, no text of a page."""

from __future__ import annotations

import io
import json
import logging
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from mcpapi.tools import reading
from synapse.logs import JsonLineFormatter
from tests.mcpapi.hostile import BROKEN, HEAD, TOKEN, Door, Line, call, exchange, talk
from tests.mcpapi.processes import ROOT, World, make_world, web_server

STOLEN = "syn_" + "Z9y8X7w6_-" * 4 + "abc"
PASSWORD = "correct-horse-battery"
CANARY = "canary of a page"
PLACE = "/home/somebody/vault/secret.md"
FORGED = "ERROR forged"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
SECRETS = [TOKEN, STOLEN, PASSWORD, CANARY, PLACE]


def require_clean(log: str, *more: str) -> list[dict[str, Any]]:
    """A136 and A137; returns the events."""
    events = []
    for line in log.splitlines():
        event = json.loads(line)
        assert {"time", "level", "logger", "message"} <= set(event)
        events.append(event)
    for secret in [*SECRETS, *more]:
        assert secret not in log
    assert not [event for event in events if event["message"].startswith(FORGED)]
    return events


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """All that any logger says at any level, as a server writes it."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLineFormatter())
    root = logging.getLogger()
    level, root.level = root.level, logging.DEBUG
    root.addHandler(handler)
    yield written
    root.removeHandler(handler)
    root.level = level


HOSTILE: list[dict[str, Any]] = [
    {"query": f"token={STOLEN}".encode()},
    {"query": f"access_token={TOKEN}&x=postgres://u:{PASSWORD}@db/x".encode()},
    {"path": "/mcp/a%0aERROR forged"},
    {"path": "/mcp/%0d%0a%7b%22level%22:%22error%22%7d"},
    {"headers": [(b"authorization", f"Bearer {STOLEN}x".encode())]},
    {"headers": [(b"authorization", f"Basic {PASSWORD}".encode())]},
    {"headers": [(b"cookie", f"sessionid={STOLEN}".encode())]},
    {"headers": [(b"host", f"evil.example\nERROR forged {STOLEN}".encode())]},
    {"headers": [(b"origin", f"https://u:{PASSWORD}@evil.example".encode())]},
    {"headers": [(b"mcp-protocol-version", STOLEN.encode())]},
    {"headers": [(b"mcp-session-id", STOLEN.encode())]},
    {"headers": [(b"content-type", f"text/{STOLEN}".encode())]},
    {"body": f'{{"a": "{CANARY} {STOLEN}'.encode()},
    {"body": json.dumps({**LIST, "method": f"x\nERROR forged {STOLEN}"}).encode()},
    {"body": json.dumps({**LIST, "id": {"a": STOLEN}}).encode()},
    {"body": json.dumps(call(f"tool\nERROR forged {STOLEN}", x=CANARY)).encode()},
    {"body": json.dumps(call("read_source_file", path=f"{PLACE}\n{FORGED}")).encode()},
    {"body": json.dumps(call("write_page", title=CANARY, content=f"{CANARY} {STOLEN}", frontmatter={})).encode()},
    {"body": json.dumps({**LIST, "method": "resources/read", "params": {"uri": f"synapse://source/{PLACE}"}}).encode()},
    {"body": json.dumps({**LIST, "method": "resources/read", "params": {"uri": f"synapse://prime/{CANARY}"}}).encode()},
    {"body": json.dumps(call("prime_resolve", brief=f"{CANARY}\n{FORGED} {STOLEN}", domain=STOLEN)).encode()},
    {"body": json.dumps(call("prime_validate", artifact=f"{CANARY} {STOLEN}", atom_set=[PLACE])).encode()},
    {"body": json.dumps(call("prime_compile", source=f"{CANARY} {STOLEN} {PLACE}")).encode()},
    {"body": json.dumps({**LIST, "method": "notifications/progress", "params": {"progressToken": STOLEN}}).encode()},
    {"body": json.dumps({"jsonrpc": "2.0", "id": STOLEN, "result": {"text": CANARY}}).encode()},
    {"body": b"\xff" + CANARY.encode()},
    {"body": b"[" * 20_000},
]


def test_the_door_logs_nothing_of_what_is_thrown_at_it(
    log: io.StringIO, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where something fails inside, with all of it in the exception."""
    settings.MCP_AUTH_TOKEN = TOKEN
    settings.SYNAPSE_HOST, settings.SYNAPSE_PORT = "127.0.0.1", 8000

    def fail(*_: Any, **__: Any) -> None:
        try:
            raise OSError(13, f"{CANARY} {STOLEN}", PLACE)
        except OSError as error:
            raise ValueError(f"{CANARY}\n{FORGED} Bearer {STOLEN} postgres://u:{PASSWORD}@db") from error

    monkeypatch.setattr(reading.search, "search", fail)
    monkeypatch.setattr("mcpapi.auth.find_token", fail)
    door = Door()
    try:
        for request in HOSTILE:
            door.ask(**request)
        assert door.ask(call("search_wiki", query=f"{CANARY} {STOLEN}")).error_code() == "internal_error"
        door.run(exchange(Line([json.dumps(call("search_wiki", query=CANARY)).encode()], leaves=True)))
    finally:
        door.close()
    events = require_clean(log.getvalue(), str(ROOT))
    failures = [event for event in events if event.get("exception")]
    assert {"the tool search_wiki failed", "a request to /mcp failed"} <= {event["message"] for event in failures}
    # What reads the index without being made to fail finds no database here.
    assert {event["exception"] for event in failures} == {"ValueError", "RuntimeError"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    made = make_world(tmp_path_factory.mktemp("world"))
    (made.vault / "wiki" / "concepts").mkdir(parents=True)
    (made.vault / "wiki" / "concepts" / "canary.md").write_text(f"---\ntitle: Canary\n---\n{CANARY} {STOLEN}\n")
    made.manage("rescan")
    return made


@pytest.mark.slow
def test_a_server_logs_nothing_of_a_hostile_run(world: World, tmp_path: Path) -> None:
    """The real server at its most talkative, over real connections, and at last with its index destroyed under it."""
    out, err = tmp_path / "out", tmp_path / "err"
    settings = {
        "MCP_AUTH_TOKEN": TOKEN,
        "MCP_REMOTE_WRITE_ENABLED": "true",
        "SYNAPSE_LOG_LEVEL": "DEBUG",
        "SYNAPSE_STRANGERS_PER_MINUTE": "0",
        "SYNAPSE_BODY_SECONDS": "2",
    }
    usual = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
    front = {"type": "concept", "title": "Written", "sources": ["raw/sources/lives.txt"], "lang": "en"}
    with web_server(world, out=out, err=err, **settings) as base, httpx.Client(base_url=base, timeout=30) as client:
        for name, sent in BROKEN.items():
            got = talk(base, sent)
            assert got.count(b"HTTP/1.1 ") <= 1, f"{name}: one request was taken for two"
            assert not got or int(got.split()[1]) in range(400, 500), (name, got[:200])
            assert b"Traceback" not in got
        talk(base, HEAD + b"Content-Length: 500\r\n\r\n" + CANARY.encode(), seconds=0.2)

        def post(path: str = "/mcp", **request: Any) -> httpx.Response:
            return client.post(path, **{"headers": usual, **request})

        for path in (
            f"/mcp?token={STOLEN}",
            f"/pages?access_token={STOLEN}",
            "/mcp/%0aERROR%20forged",
            "/x%0aERROR%20forged",
        ):
            assert client.get(path, headers={"Authorization": f"Bearer {STOLEN}"}).status_code in (401, 404)
        login = client.post("/admin/login/", data={"username": "ada", "password": PASSWORD})
        assert login.status_code == 403
        assert post(json=call("get_page", title="Canary")).status_code == 200
        written = post(json=call("write_page", title="Written", content=f"{CANARY} {STOLEN}", frontmatter=front))
        assert '"created":true' in written.text.replace(" ", "")
        assert post(json=call("read_source_file", path=f"{PLACE}\n{FORGED}")).status_code == 200
        assert (
            post(
                content=f'{{"a": "{CANARY}'.encode(), headers={**usual, "Content-Type": "application/json"}
            ).status_code
            == 400
        )
        assert post("/sources/rescan", json={"x": CANARY}).status_code in (400, 401, 403)

        (found,) = Path(world.environment["SYNAPSE_DATA"]).rglob("*.sqlite3")
        with sqlite3.connect(found) as index:
            index.execute("UPDATE wiki_page SET uid = ? WHERE title = 'Canary'", [CANARY])
        broken = post(json=call("get_page", title="Canary"))
        with sqlite3.connect(found) as index:
            index.execute("ALTER TABLE wiki_page RENAME TO gone")
        absent = post(json=call("get_page", title=f"Canary {CANARY}"))
        with sqlite3.connect(found) as index:
            index.execute("ALTER TABLE gone RENAME TO wiki_page")
        assert "internal_error" in broken.text
        assert "dependency_missing" in absent.text
        assert not [word for word in ("wiki_page", CANARY) if word in broken.text + absent.text]

    events = require_clean(err.read_text(), str(world.vault), str(ROOT), str(found.parent), sys.prefix)
    assert [event for event in events if event.get("exception") == "ValueError"]
    for secret in (TOKEN, STOLEN, PASSWORD, CANARY):
        assert secret not in out.read_text()
