"""The ways to a vault: MCP over HTTP, MCP over the pipes of a process, and REST. Each says when nobody answered."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
import time
from typing import Any

import httpx2 as httpx

from tests.services.place import ROOT
from tests.soak.ledger import Ledger
from tests.soak.world import Service, World

REVISION = "2025-11-25"
#: Longer than any tool may take.
SECONDS = 90.0
_HELLO = {
    "protocolVersion": REVISION,
    "capabilities": {},
    "clientInfo": {"name": "soak", "version": "1"},
}


class NobodyAnswered(Exception):
    """The process that was asked was being killed or started: nobody knows whether it did what it was asked for."""


class _Timed:
    """What the doors share: every call is timed, and a call without an answer is excused by a kill alone."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self._name, self._ledger = name, ledger

    def _excuse(self, what: str, service: Service, begun: float, error: Exception) -> NobodyAnswered:
        self._ledger.unanswered(what)
        # A kill that is under way has begun to be noted before the signal was sent.
        if not service.was_away(begun, time.monotonic()):
            self._ledger.failed(f"{what} was not answered, and nobody had killed {service.name}: {error!r}")
        return NobodyAnswered()


class Http(_Timed):
    """REST and MCP at one server."""

    def __init__(self, name: str, ledger: Ledger, world: World, server: str, token: str) -> None:
        super().__init__(name, ledger)
        self._service = world.services[server]
        self._client = httpx.Client(
            base_url=world.addresses[server],
            headers={"Authorization": f"Bearer {token}"},
            timeout=SECONDS,
        )

    def ask(self, method: str, path: str, what: str, **given: Any) -> tuple[int, dict[str, Any], Any]:
        """A REST request: status, answer and headers. Raises NobodyAnswered."""
        response, seconds = self._send(what, method, path, **given)
        answer = _object(response.text) if response.status_code != 304 else {}
        self._ledger.answered(what, seconds, answer, response.status_code)
        return response.status_code, answer, response.headers

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool of /mcp. Raises NobodyAnswered."""
        what = f"mcp http {tool}"
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": REVISION}
        response, seconds = self._send(what, "POST", "/mcp", json=body, headers=headers)
        answer = _result(_message(response.text))
        self._ledger.answered(what, seconds, answer, response.status_code)
        return answer

    def _send(self, what: str, method: str, path: str, **given: Any) -> tuple[httpx.Response, float]:
        begun = time.monotonic()
        try:
            response = self._client.request(method, path, **given)
        except httpx.TransportError as error:
            raise self._excuse(what, self._service, begun, error) from None
        return response, time.monotonic() - begun


class Stdio(_Timed):
    """``manage.py mcp`` as a child: it is killed by :meth:`kill`, and starts again with the next call."""

    def __init__(self, name: str, ledger: Ledger, world: World) -> None:
        super().__init__(name, ledger)
        command = [sys.executable, "manage.py", "mcp"]
        self.service = Service(name, command, world.environment, world.folder)
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._number = 0
        self._guard = threading.Lock()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool. Raises NobodyAnswered."""
        what = f"mcp stdio {tool}"
        begun = time.monotonic()
        try:
            if self._process is None:
                self._start()
                begun = time.monotonic()
            answer = _result(self._ask("tools/call", {"name": tool, "arguments": arguments}))
        except (OSError, EOFError, TimeoutError) as error:
            self.end()
            raise self._excuse(what, self.service, begun, error) from None
        self._ledger.answered(what, time.monotonic() - begun, answer)
        return answer

    def kill(self) -> None:
        """As the kernel does. It is started again by the next call, so it is never away for longer."""
        with self._guard:
            if self._process is not None:
                self.service.was_killed()
                self._process.kill()

    def end(self) -> None:
        with self._guard:
            process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin and process.stdout
        try:
            process.stdin.close()  # how a client ends it
        except OSError:
            process.kill()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            self._ledger.failed(f"{self._name} did not end when its pipe was closed")
            process.kill()
            process.wait()
        process.stdout.close()

    def _start(self) -> None:
        begun = time.monotonic()
        with open(self.service.log, "ab") as log, self._guard:
            self._process = subprocess.Popen(
                self.service.command,
                cwd=ROOT,
                env=self.service.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._rest = b""
        self._ask("initialize", _HELLO)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.service.started(time.monotonic() - begun)

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        until = time.monotonic() + SECONDS
        while (message := json.loads(self._line(until))).get("id") != self._number:
            continue  # a notification
        found: dict[str, Any] = message
        return found

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process and self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _line(self, until: float) -> bytes:
        assert self._process and self._process.stdout
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not ready.select(max(0.0, until - time.monotonic())):
                    raise TimeoutError("no answer")
                more = os.read(self._process.stdout.fileno(), 1 << 16)
                if not more:
                    raise EOFError("the process is gone")
                self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {"error_code": "no_json", "error": text[:200]}
    return found if isinstance(found, dict) else {"error_code": "no_object", "error": text[:200]}


def _message(text: str) -> dict[str, Any]:
    """The JSON-RPC message of an answer, which is JSON or a stream of events."""
    data = [line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:")]
    return _object(next((line for line in reversed(data) if line), text))


def _result(message: dict[str, Any]) -> dict[str, Any]:
    """What a tool gave: its object, or the envelope of its error."""
    result = message.get("result")
    if result is None:
        error = message.get("error")
        shown = error.get("message") if isinstance(error, dict) else error
        return {"error_code": message.get("error_code", "protocol"), "error": shown}
    if result.get("isError"):
        return _object(result["content"][0]["text"])
    found: dict[str, Any] = result["structuredContent"]
    return found
