"""Several agents' processes and the web server write one vault at once (A135): nothing is lost, torn or forgotten."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession

from benchmarks.scan import own_place
from tests.mcpapi.processes import World, over_http, over_stdio, web_server
from vault import frontmatter as blocks

SHARED = [f"Shared {number}" for number in range(3)]
SOURCES = ["raw/sources/lives.txt"]
END = "The end.\n"
UNLIMITED = {
    "MCP_REMOTE_WRITE_ENABLED": "true",
    "SYNAPSE_RATE_PER_MINUTE": "0",
    "SYNAPSE_WRITES_PER_MINUTE": "0",
}


@dataclass
class Acknowledged:
    """What the writers were told is written."""

    pages: dict[str, str] = field(default_factory=dict)  # path: content hash
    lines: Counter[str] = field(default_factory=Counter)  # "title: line"
    refusals: Counter[str] = field(default_factory=Counter)


@pytest.fixture
def world() -> Iterator[World]:
    """A vault with three pages that everybody writes; its database is on PostgreSQL where tests run there."""
    with own_place() as environment:
        vault = Path(environment["SYNAPSE_VAULT"])
        (vault / "raw" / "sources").mkdir(parents=True)
        (vault / "raw" / "sources" / "lives.txt").write_text("Alan Turing was born in 1912.\n")
        (vault / "wiki" / "concepts").mkdir(parents=True)
        for title in SHARED:
            front = f"---\ntype: concept\ntitle: {title}\nsources: {json.dumps(SOURCES)}\nlang: en\n---\n"
            slug = title.lower().replace(" ", "-")
            (vault / "wiki" / "concepts" / f"{slug}.md").write_text(f"{front}Begin.\n{END}")
        made = World(vault, environment | {"EMBEDDINGS_ENABLED": "false"})
        made.manage("rescan")
        yield made


async def ask(session: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await session.call_tool(tool, arguments)
    found: dict[str, Any] = result.structured_content
    return found


async def write(session: ClientSession, title: str, content: str, base: str | None = None) -> dict[str, Any]:
    front = {"type": "concept", "title": title, "sources": SOURCES, "lang": "en"}
    more = {"base_hash": base} if base else {}
    return await ask(session, "write_page", title=title, content=content, frontmatter=front, **more)


async def keep_writing(session: ClientSession, name: str, turns: int, told: Acknowledged) -> None:
    """A page of its own each turn, and a line in a page of all, added to what stands there, until that is taken."""
    for turn in range(turns):
        title = f"Page {name} {turn}"
        written = await write(session, title, f"By {name}, about [[{SHARED[turn % 3]}]] and [[Ghost {turn}]].\n{END}")
        assert "error_code" not in written, written
        told.pages[written["path"]] = written["content_hash"]
        shared, line = SHARED[(turn + len(name)) % 3], f"{name} {turn}"
        for _ in range(200):
            page = await ask(session, "get_page", title=shared)
            content = page["content"].removesuffix(END) + f"{line}\n{END}"
            answer = await write(session, shared, content, page["content_hash"])
            if "error_code" not in answer:  # a conflict names a content_hash too, of the version that stands
                told.lines[f"{shared}: {line}"] += 1
                break
            told.refusals[answer["error_code"]] += 1
            assert answer["error_code"] in ("conflict", "base_required"), answer
        else:
            raise AssertionError(f"{name} never got a turn")


async def writer(door: AbstractAsyncContextManager[ClientSession], name: str, turns: int, told: Acknowledged) -> None:
    """A client with two calls in hand at any time."""
    async with door as session:
        await session.initialize()
        await asyncio.gather(*(keep_writing(session, f"{name}{hand}", turns, told) for hand in "ab"))


@contextmanager
def watching(vault: Path) -> Iterator[list[str]]:
    """Read the shared files all the while, as an editor may; gives what was torn."""
    torn: list[str] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.01):
            for title in SHARED:
                text = (vault / "wiki" / "concepts" / f"{title.lower().replace(' ', '-')}.md").read_text(
                    encoding="utf-8"
                )
                if not (text.startswith("---\n") and text.endswith(END)):
                    torn.append(text)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield torn
    finally:
        stop.set()
        thread.join()


def rows(world: World) -> list[str]:
    """The index without the two pages that are made from it, which are indexed when they are next seen."""
    return [row for row in world.dump() if "wiki/log.md" not in row and "wiki/index.md" not in row]


@pytest.mark.parametrize(
    ("processes", "turns"),
    [pytest.param(2, 2, id="A135-short"), pytest.param(3, 25, id="A135", marks=pytest.mark.slow)],
)
def test_processes_that_write_one_vault_lose_nothing(world: World, processes: int, turns: int, tmp_path: Path) -> None:
    told = Acknowledged()
    token = world.token("agent", "write")

    async def everybody(base: str) -> None:
        doors = {f"stdio{number}": over_stdio(world) for number in range(processes)}
        doors["web"] = over_http(f"{base}/mcp", token)
        await asyncio.gather(*(writer(door, name, turns, told) for name, door in doors.items()))

    with watching(world.vault) as torn, web_server(world, **UNLIMITED) as base:
        asyncio.run(everybody(base))

    writes = (processes + 1) * 2 * turns
    assert torn == []
    assert len(told.pages) == sum(told.lines.values()) == writes
    for path, content_hash in told.pages.items():
        assert hashlib.sha256((world.vault / path).read_bytes()).hexdigest() == content_hash
    stand: Counter[str] = Counter()
    for title in SHARED:
        text = (world.vault / "wiki" / "concepts" / f"{title.lower().replace(' ', '-')}.md").read_text(encoding="utf-8")
        split = blocks.split(text)
        assert not blocks.load(split.raw).flags
        begin, *lines, end = split.body.strip().splitlines()
        assert (begin, f"{end}\n") == ("Begin.", END)
        assert all(re.fullmatch(r"(?:stdio\d|web)[ab] \d+", line) for line in lines)
        stand.update(f"{title}: {line}" for line in lines)
    assert stand == told.lines
    assert not list(world.vault.rglob("*.synapse-*"))

    as_written = rows(world)
    rebuilt = World(world.vault, world.environment | {"DATABASE_URL": "", "SYNAPSE_DATA": str(tmp_path / "new")})
    rebuilt.manage("rescan")
    assert rows(rebuilt) == as_written
    assert len([row for row in as_written if row.startswith('{"aliases"')]) == len(told.pages) + len(SHARED)
