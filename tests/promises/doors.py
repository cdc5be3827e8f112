"""A writer in a process of its own, which comes through one of the doors: http, stdio, rest, or a service itself.

    python -m tests.promises.doors http 3 200

prints ``ready``, waits for a line, writes 200 times over the pages of the vault in an order of its own, each time from
the version that stands, and prints one JSON document: what it was told. Whoever is refused because somebody was faster
tries again from the version that the refusal names, as often as it takes. The environment names the vault, and as
``DOORS_SERVER`` and ``DOORS_TOKEN`` the server and a token.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from typing import Any, Protocol

TITLES = [f"Shared {number}" for number in range(10)]
SOURCES = ["raw/sources/lives.txt"]
#: What says: somebody was faster, or: not now.
AGAIN = ("conflict", "stale_base", "base_required", "rate_limited")
MANAGE = [sys.executable, "manage.py"]


def front(title: str) -> dict[str, Any]:
    return {"type": "concept", "title": title, "sources": SOURCES, "lang": "en"}


class Door(Protocol):
    def base(self, title: str) -> str:
        """The sha256 of the version that stands."""

    def write(self, title: str, text: str, base: str) -> dict[str, Any]:
        """The answer, or the envelope of the refusal."""


class Rest:
    """GET and PUT with If-Match, over one connection."""

    def __init__(self) -> None:
        import httpx2 as httpx

        headers = {"Authorization": f"Bearer {os.environ['DOORS_TOKEN']}"}
        self._client = httpx.Client(base_url=os.environ["DOORS_SERVER"], headers=headers, timeout=120)
        self._pages: dict[str, str] = {}

    def base(self, title: str) -> str:
        page = self._client.get("/pages/by-title", params={"title": title}).json()
        self._pages[title] = page["id"]
        return str(page["content_hash"])

    def write(self, title: str, text: str, base: str) -> dict[str, Any]:
        answer = self._client.put(
            f"/pages/{self._pages[title]}", json={"content": text}, headers={"If-Match": f'"{base}"'}
        )
        found: dict[str, Any] = answer.json()
        if answer.status_code >= 500:
            found["error_code"] = f"{answer.status_code} {found.get('error_code')}"
        return found


class Tools(ABC):
    """get_page and write_page, whatever carries the calls."""

    @abstractmethod
    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What the tool answered: its object, or the envelope of its error."""

    def base(self, title: str) -> str:
        return str(self.call("get_page", title=title)["content_hash"])

    def write(self, title: str, text: str, base: str) -> dict[str, Any]:
        return self.call("write_page", title=title, content=text, frontmatter=front(title), base_hash=base)


class Http(Tools):
    """Tool calls by POST to /mcp."""

    def __init__(self) -> None:
        import httpx2 as httpx

        headers = {
            "Authorization": f"Bearer {os.environ['DOORS_TOKEN']}",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        }
        self._client = httpx.Client(base_url=os.environ["DOORS_SERVER"], headers=headers, timeout=120)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        answer = self._client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        return content_of(answer)


class Stdio(Tools):
    """Tool calls by lines to a ``manage.py mcp`` of its own."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([*MANAGE, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        client = {"name": "doors", "version": "1"}
        self._ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return _content(self._ask("tools/call", name=tool, arguments=arguments))

    def end(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        assert self._process.wait(60) == 0

    def _ask(self, method: str, **params: Any) -> Any:
        self._send({"id": 1, "method": method, "params": params})
        assert self._process.stdout
        while True:
            message = json.loads(self._process.stdout.readline())
            if message.get("id") == 1:
                return message

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()


class Service:
    """What a task calls, with a database connection of its own."""

    def __init__(self) -> None:
        import django

        django.setup()

    def base(self, title: str) -> str:
        from vault.current import current_vault
        from wiki.models import Page

        return current_vault().read(Page.objects.live().get(title=title).path).content_hash

    def write(self, title: str, text: str, base: str) -> dict[str, Any]:
        from vault.errors import SynapseError
        from vault.history import Author
        from wiki.services import write_page

        author = Author("task", "command")
        try:
            written = write_page(title=title, content=text, frontmatter=front(title), base_hash=base, author=author)
        except SynapseError as error:
            return error.envelope()
        return {"id": str(written.page.uid), "content_hash": written.content_hash, "warnings": written.warnings}


DOORS: dict[str, type[Any]] = {"http": Http, "stdio": Stdio, "rest": Rest, "service": Service}


def content_of(answer: Any) -> dict[str, Any]:
    """What a tool said, of the answer to a POST to /mcp."""
    if answer.headers["content-type"].startswith("text/event-stream"):
        data = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
        return _content(json.loads(data[-1]))
    found: dict[str, Any] = answer.json()
    return found if "error_code" in found else _content(found)


def _content(message: dict[str, Any]) -> dict[str, Any]:
    if "result" not in message:
        return {"error_code": f"no result: {message}"}
    found: dict[str, Any] = message["result"]["structuredContent"]
    return found


def keep_writing(door: Door, name: str, writes: int) -> dict[str, Any]:
    """Write so often, and give what was acknowledged and what was said instead."""
    chance, told = random.Random(name), []
    refusals: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    warnings: Counter[str] = Counter()
    for turn in range(writes):
        title, line = chance.choice(TITLES), f"{name} {turn}"
        base = door.base(title)
        while True:
            answer = door.write(title, f"By {line}.\n", base)
            code = answer.get("error_code")
            if code is None:
                known = {"id": answer["id"], "content_hash": answer["content_hash"]}
                told.append({"title": title, "line": line, "base": base, **known})
                warnings.update(answer.get("warnings", []))
                break
            if code not in AGAIN:
                errors[code] += 1
                break
            refusals[code] += 1
            if code == "rate_limited":
                time.sleep(0.5)
            base = answer.get("content_hash") or door.base(title)
    return {"told": told, "refusals": refusals, "errors": errors, "warnings": warnings}


if __name__ == "__main__":
    kind, number, writes = sys.argv[1:]
    door = DOORS[kind]()
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(keep_writing(door, f"{kind} {number}", int(writes))))
    if isinstance(door, Stdio):
        door.end()
