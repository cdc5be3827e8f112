"""An endpoint that makes embeddings, on this machine and in this process, which answers as a test wants it to."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIM = 8


def vector(text: str, dim: int = DIM) -> list[float]:
    """Not of length 1, and another for each text."""
    return [float(zlib.crc32(f"{text}{place}".encode()) % 1000 - 400) for place in range(dim)]


class Endpoint:
    """``answer`` is called with the handler and the request's JSON; by default it answers as it should."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.answer: Callable[[Any, dict[str, Any]], None] = right
        self.url = ""
        self.open = threading.Event()
        """Set at the end, for answers that wait."""


def right(handler: Any, body: dict[str, Any]) -> None:
    """What OpenAI or Ollama says, by the path."""
    send(handler, said(handler.path, [vector(text) for text in body["input"]]))


def said(path: str, vectors: list[Any]) -> dict[str, Any]:
    if path.endswith("/api/embed"):
        return {"model": "m", "embeddings": vectors}
    return {"object": "list", "data": [{"index": at, "embedding": each} for at, each in enumerate(vectors)]}


def send(handler: Any, content: Any, status: int = 200, **headers: str) -> None:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.wfile.write(raw)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    endpoint: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.endpoint.requests.append((self.path, headers, body))
        try:
            self.endpoint.answer(self, body)
        except OSError:
            self.close_connection = True  # the client has gone

    def log_message(self, *args: Any) -> None:
        """Tests read their own output."""


@contextmanager
def running() -> Iterator[Endpoint]:
    """An endpoint on a port of its own."""
    endpoint = Endpoint()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"endpoint": endpoint}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield endpoint
    finally:
        endpoint.open.set()
        server.shutdown()
        server.server_close()
        thread.join()
