"""What a call over HTTP costs beside an empty tool on the bare SDK server.

    python -m benchmarks.mcp [--rounds 7] [--calls 150] [--json] [--profile FILE]

Both are served by uvicorn in a process of their own, stateless, and called in turns by one client over one
connection, in the oldest and the newest form of the protocol. Ours is the whole application: host, origin, token (a
row of the database), pace, telemetry, and get_page of a page of 10 KB read from its file. What is compared is the CPU
time of the serving process a call, all threads; the median over the rounds. The wall's time says nothing on a machine
that does something else as well.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

BOUND: Final = 3.0
REVISIONS: Final = ("2025-11-25", "2026-07-28")
TITLE: Final = "The page"
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Served:
    """A server in a process of its own, and one connection to it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._process = process
        said = json.loads(process.stdout.readline())
        self._token = said["token"]
        self._connection = http.client.HTTPConnection("127.0.0.1", said["port"], timeout=30)

    def call(self, tool: str, arguments: dict[str, Any], revision: str) -> None:
        """One call; RuntimeError if it fails."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": revision,
        }
        if revision == REVISIONS[1]:
            params["_meta"] = _META
            headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        self._connection.request("POST", "/mcp", body, headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status != 200 or b'"isError":true' in text or b'"result"' not in text:
            raise RuntimeError(f"{answer.status}: {text[:300]!r}")

    def cpu(self) -> float:
        """Seconds of CPU that the process has used."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("cpu\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def cost(self, tool: str, arguments: dict[str, Any], revision: str, calls: int) -> float:
        """Milliseconds of CPU a call."""
        self._connection.close()  # an idle one has been closed by the server
        before = self.cpu()
        for _ in range(calls):
            self.call(tool, arguments, revision)
        return (self.cpu() - before) * 1_000 / calls


@contextmanager
def served(which: str, profile: str = "") -> Iterator[Served]:
    """A server started and ended."""
    command = [sys.executable, "-m", "benchmarks.mcp", "--serve", which, "--profile", profile]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Served(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(20)


def measure(rounds: int, calls: int, profile: str = "") -> list[dict[str, Any]]:
    """For each revision: milliseconds of CPU a call of the empty tool and of get_page, and their ratio."""
    rows = []
    with served("bare") as bare, served("ours", profile) as ours:
        for revision in REVISIONS:
            empty, page = [], []
            for number in range(rounds + 1):
                costs = (
                    bare.cost("empty", {}, revision, calls),
                    ours.cost("get_page", {"title": TITLE}, revision, calls),
                )
                if number:  # the first round warms up
                    empty.append(costs[0])
                    page.append(costs[1])
            ratio = statistics.median(mine / base for mine, base in zip(page, empty, strict=True))
            rows.append(
                {
                    "revision": revision,
                    "empty_ms": round(statistics.median(empty), 3),
                    "get_page_ms": round(statistics.median(page), 3),
                    "ratio": round(ratio, 2),
                }
            )
    return rows


def serve_bare() -> Any:
    """The SDK's low-level server with one tool that does nothing; no settings of ours."""
    from contextlib import asynccontextmanager

    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Route

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="empty", input_schema={"type": "object"})])

    async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[])

    manager = StreamableHTTPSessionManager(
        Server("bare", on_list_tools=list_tools, on_call_tool=call_tool), stateless=True
    )

    class Endpoint:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await manager.handle_request(scope, receive, send)

    @asynccontextmanager
    async def lifespan(app: Any) -> Any:
        async with manager.run():
            yield

    return Starlette(routes=[Route("/mcp", Endpoint())], lifespan=lifespan)


def _serve(application: Any, token: str, profile: str, **options: Any) -> None:
    import uvicorn

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    web = uvicorn.Server(uvicorn.Config(application, log_config=None, access_log=False, lifespan="on", **options))

    def answer() -> None:
        for _ in sys.stdin:
            print(time.process_time(), flush=True)
        web.should_exit = True

    threading.Thread(target=answer, daemon=True).start()
    print(json.dumps({"port": listening.getsockname()[1], "token": token}), flush=True)
    if not profile:
        web.run(sockets=[listening])
        return
    import cProfile

    profiler = cProfile.Profile()
    profiler.runcall(web.run, sockets=[listening])
    profiler.dump_stats(profile)


def _serve_ours(profile: str) -> None:
    from benchmarks.own_database import own_database

    os.environ["SYNAPSE_RATE_PER_MINUTE"] = "0"
    os.environ["EMBEDDINGS_ENABLED"] = "false"
    with own_database("bench_mcp"):
        from pathlib import Path

        from synapse.slow_headers import TimelyProtocol
        from wiki.sync import scan
        from wiki.tokens import create_token

        folder = Path(os.environ["SYNAPSE_VAULT"], "wiki")
        text = "A sentence that says something about [[Another page]] and the sea. " * 150
        (folder / "the-page.md").write_text(f"---\ntype: entity\ntitle: {TITLE}\nlang: en\n---\n{text}\n")
        (folder / "another.md").write_text("---\ntitle: Another page\n---\nSee [[The page]].\n")
        scan()
        _, token = create_token(name="bench")
        from synapse.asgi import application

        _serve(application, token, profile, http=TimelyProtocol, server_header=False)


def main() -> int:
    """Measure, print, and exit 1 when the bound is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.mcp", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=150)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--profile", default="", help="write what our server's loop does to this file (slower)")
    parser.add_argument("--notes", type=int, help="of no account here: one page is read")
    parser.add_argument("--serve", choices=("bare", "ours"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve == "bare":
        _serve(serve_bare(), "", "")
        return 0
    if options.serve == "ours":
        _serve_ours(options.profile)
        return 0
    rows = measure(options.rounds, options.calls, options.profile)
    if options.json:
        print(json.dumps(rows))
    else:
        print("| revision | empty tool, bare SDK (ms of CPU) | get_page, ours | ratio |\n|---|---|---|---|")
        for row in rows:
            print(f"| {row['revision']} | {row['empty_ms']} | {row['get_page_ms']} | {row['ratio']} |")
    return 0 if all(row["ratio"] <= BOUND for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
