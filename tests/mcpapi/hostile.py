"""A client that keeps to no rule: any bytes as path, headers and body, and a connection that ends when it likes."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from mcpapi.http import lifespan, mcp_app
from synapse.asgi import application
from vault.errors import ErrorCode

TOKEN = "a-static-token-of-sufficient-length"
HOST = b"127.0.0.1:8000"
USUAL = (
    (b"host", HOST),
    (b"accept", b"application/json, text/event-stream"),
    (b"content-type", b"application/json"),
    (b"mcp-protocol-version", b"2025-11-25"),
    (b"authorization", b"Bearer " + TOKEN.encode()),
)
Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Answer:
    """What came back: 0 and nothing if the connection was left without an answer."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    def header(self, name: bytes) -> bytes | None:
        return next((value for key, value in self.headers if key.lower() == name), None)

    def message(self) -> dict[str, Any]:
        """The JSON that was answered, plain or as the one event of a stream."""
        text = self.body.decode()
        if (self.header(b"content-type") or b"").startswith(b"text/event-stream"):
            text = [line[len("data: ") :] for line in text.splitlines() if line.startswith("data: {")][-1]
        found: dict[str, Any] = json.loads(text)
        return found

    def error_code(self) -> str:
        """Our code, wherever in the answer it stands; "" if it is no failure."""
        said = self.message()
        failure = said.get("error")
        if isinstance(failure, dict):
            return str(failure.get("data", {}).get("error_code", failure["code"]))
        result = said.get("result")
        inner = result.get("structuredContent", {}) if isinstance(result, dict) else said
        return str(inner.get("error_code", ""))


class Line:
    """One connection's request: its pieces, with a pause before each, and whether the client then goes away."""

    def __init__(self, pieces: Iterable[bytes], *, pause: float = 0, leaves: bool = False, whole: bool = True) -> None:
        self._pieces = list(pieces) or [b""]
        self._pause = pause
        self._leaves = leaves
        self._whole = whole
        self.given = 0
        self.gone = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        if self._pause:
            await asyncio.sleep(self._pause)
        if self.given < len(self._pieces):
            self.given += 1
            more = self.given < len(self._pieces) or not self._whole
            return {"type": "http.request", "body": self._pieces[self.given - 1], "more_body": more}
        if not self._leaves:
            await self.gone.wait()
        return {"type": "http.disconnect"}


def headers_with(changes: Headers = (), without: Iterable[bytes] = ()) -> list[tuple[bytes, bytes]]:
    """The usual headers, those of ``changes`` in place of theirs, and as often as they are given."""
    named = {name for name, _ in changes} | set(without)
    return [pair for pair in USUAL if pair[0] not in named] + list(changes)


async def exchange(
    body: bytes | Line = b"",
    *,
    method: str = "POST",
    path: str = "/mcp",
    query: bytes = b"",
    headers: Headers = (),
    without: Iterable[bytes] = (),
) -> Answer:
    """One request to the whole application, whose lifespan must be entered. Servers decode the path like this."""
    line = body if isinstance(body, Line) else Line([body])
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query,
        "root_path": "",
        "headers": headers_with(headers, without),
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
    await application(scope, line.receive, send)
    starts = [message for message in sent if message["type"] == "http.response.start"]
    assert len(starts) <= 1, "a request is answered once"
    whole = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return Answer(starts[0]["status"] if starts else 0, tuple(starts[0]["headers"]) if starts else (), whole)


@asynccontextmanager
async def serving() -> AsyncIterator[None]:
    """The application as a server has it, with the tools there."""
    # Whoever asked without a lifespan left threads with connections, which a test without rows may not use.
    await mcp_app._workers.close()
    async with lifespan():
        yield
    # Work that nobody waits for any more goes on to its end; the rows it reads must outlive it.
    for thread in threading.enumerate():
        if thread.name.startswith("mcp"):
            await asyncio.to_thread(thread.join, 30)


def hello() -> bytes:
    """An initialize message."""
    client = {"name": "a", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()


def ask(body: bytes | dict[str, Any] = b"", **request: Any) -> Answer:
    """One request to an application of its own."""

    async def go() -> Answer:
        async with serving():
            return await exchange(body if isinstance(body, bytes) else json.dumps(body).encode(), **request)

    return asyncio.run(go())


class Door:
    """One application for many requests: a loop in a thread of its own, in which it lives. Not for tests with rows."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._end = asyncio.Event()
        self._thread.start()
        started: asyncio.Event = asyncio.Event()
        self._life = asyncio.run_coroutine_threadsafe(self._live(started), self._loop)
        self.run(started.wait())

    async def _live(self, started: asyncio.Event) -> None:
        async with serving():
            started.set()
            await self._end.wait()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def ask(self, body: bytes | Line | dict[str, Any] = b"", **request: Any) -> Answer:
        """One request to this application."""
        sent = json.dumps(body).encode() if isinstance(body, dict) else body
        answer: Answer = self.run(exchange(sent, **request))
        return answer

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._life.result(60)
        self.run(_end_the_rest())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()


async def _end_the_rest() -> None:
    """A library's watcher outlives the application by some milliseconds."""
    rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


def call(tool: str, number: Any = 1, **arguments: Any) -> dict[str, Any]:
    """A tools/call message."""
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def require_sane(answer: Answer, *secrets: str) -> None:
    """No failure of the server's own; an envelope of the catalog if a failure; nothing that should stay inside."""
    text = answer.body.decode()
    assert 200 <= answer.status < 500, text
    assert not 300 <= answer.status < 400, "there is never a redirect"
    assert answer.header(b"access-control-allow-origin") is None
    for inside in (TOKEN, "Traceback", "pydantic", "site-packages", 'File "', "SELECT", *secrets):
        assert inside not in text
    if answer.status >= 400 and text:
        code = answer.error_code()
        assert code in {known.value for known in ErrorCode} or code.lstrip("-").isdigit(), text


def talk(base: str, *pieces: bytes, seconds: float = 5) -> bytes:
    """Send bytes on a connection of its own; what comes back until the server closes it, or ``seconds`` pass."""
    address = urlsplit(base)
    with socket.create_connection((address.hostname, address.port), timeout=seconds) as line:
        for piece in pieces:
            line.sendall(piece)
        got = b""
        try:
            while part := line.recv(65_536):
                got += part
        except OSError:
            pass
        return got


INSIDE = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n"
HEAD = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n"
BROKEN: dict[str, bytes] = {
    "two lengths": HEAD + b"Content-Length: 2\r\nContent-Length: %d\r\n\r\n" % (len(INSIDE) + 2) + b"{}" + INSIDE,
    "length and chunks": HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + INSIDE,
    "two codings": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + INSIDE,
    "bad chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "negative length": HEAD + b"Content-Length: -1\r\n\r\n",
    "length of letters": HEAD + b"Content-Length: ten\r\n\r\n",
    "long length": HEAD + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n",
    "folded": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "space before colon": b"POST /mcp HTTP/1.1\r\nHost : 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
    "no host": b"POST /mcp HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "absolute address": b"POST http://evil.example/mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n"
    b"Connection: close\r\n\r\n",
    "long header": HEAD + b"X: " + b"a" * 200_000 + b"\r\n\r\n",
    "many headers": HEAD + b"X: a\r\n" * 20_000 + b"\r\n",
    "no http": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 600 + b"\r\n\r\n",
    "json only": hello() + b"\r\n\r\n",
    "websocket": b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
}
