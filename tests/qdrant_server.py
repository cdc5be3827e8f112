"""A Qdrant on a port of this process: its REST interface before the client's own model of the server in memory.

``mode`` is what it does next: ``ok``; ``fail`` (500); ``hang`` (answers when the test is over); ``drop`` (closes the
connection); ``rubbish`` (200 and no JSON); ``forget`` (answers 200 and does nothing); ``lose`` (does it and closes the
connection, so that the answer is lost).
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter
from qdrant_client import QdrantClient, models


class FakeQdrant:
    """The server; ``memory`` is what it holds, ``requests`` what it was asked, as (method, path)."""

    def __init__(self) -> None:
        self.memory = QdrantClient(":memory:")
        self.mode = "ok"
        self.modes: Callable[[str, str], str] = lambda method, path: self.mode
        self.requests: list[tuple[str, str]] = []
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.url = ""

    def answer(self, method: str, path: str, body: Any) -> Any:
        """Do what a request asks for; its result."""
        with self.lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._answer(method, [part for part in path.split("/") if part], body)

    def _answer(self, method: str, parts: list[str], body: Any) -> Any:
        memory = self.memory
        match method, parts:
            case "GET", ["healthz"]:
                return "healthz check passed"
            case "GET", ["aliases"]:
                return memory.get_aliases()
            case "POST", ["collections", "aliases"]:
                asked = models.ChangeAliasesOperation.model_validate(body)
                return memory.update_collection_aliases(asked.actions)
            case "GET", ["collections", name, "exists"]:
                return models.CollectionExistence(exists=memory.collection_exists(name))
            case "PUT", ["collections", name]:
                made = models.CreateCollection.model_validate(body)
                return memory.create_collection(
                    name, vectors_config=made.vectors, sparse_vectors_config=made.sparse_vectors
                )
            case "DELETE", ["collections", name]:
                return memory.delete_collection(name)
            case "PUT", ["collections", name, "index"]:
                return memory.create_payload_index(name, body["field_name"], body["field_schema"])
            case "POST", ["collections", name, "points", "batch"]:
                return memory.batch_update_points(name, models.UpdateOperations.model_validate(body).operations)
            case "POST", ["collections", name, "points", "delete"]:
                return memory.delete(name, models.FilterSelector.model_validate(body))
            case "POST", ["collections", name, "points", "count"]:
                counted = models.CountRequest.model_validate(body or {})
                return memory.count(name, counted.filter, exact=True)
            case "POST", ["collections", name, "points", "scroll"]:
                scroll = models.ScrollRequest.model_validate(body)
                records, offset = memory.scroll(
                    name, scroll.filter, limit=scroll.limit or 10, offset=scroll.offset, with_payload=True
                )
                return models.ScrollResult(points=records, next_page_offset=offset)
            case "POST", ["collections", name, "points", "query"]:
                query = models.QueryRequest.model_validate(body)
                return memory.query_points(
                    name,
                    query=query.query.nearest if isinstance(query.query, models.NearestQuery) else query.query,
                    using=query.using,
                    query_filter=query.filter,
                    limit=query.limit or 10,
                    with_payload=True,
                    with_vectors=query.with_vector or False,
                )
        raise LookupError(f"{method} {parts}")


@contextmanager
def running() -> Iterator[FakeQdrant]:
    """The server for the length of the block."""
    fake = FakeQdrant()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            path = urlsplit(self.path).path
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fake.requests.append((self.command, path))
            mode = fake.modes(self.command, path)
            if mode == "hang":
                fake.over.wait(60)
            if mode in ("hang", "drop"):
                self.close_connection = True
                return
            if mode == "fail":
                self._send(500, b'{"status": {"error": "out of disk"}}')
            elif mode == "rubbish":
                self._send(200, b"<html>a proxy's page</html>")
            elif mode == "forget":
                done = {"operation_id": 1, "status": "completed"}
                shown = [done] if path.endswith("/batch") else done
                self._send(200, json.dumps({"result": shown, "status": "ok", "time": 0.0}).encode())
            else:
                result = fake.answer(self.command, path, json.loads(data or b"null"))
                if mode == "lose":
                    self.close_connection = True
                    return
                shown = json.loads(TypeAdapter(Any).dump_json(result))
                self._send(200, json.dumps({"result": shown, "status": "ok", "time": 0.0}).encode())

        do_GET = do_PUT = do_POST = do_DELETE = _serve

        def _send(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Be quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
