"""P26: nothing outside the root is read, written, listed or probed, whichever door a path comes through.

A tree lies beside the vault. Every door that takes a path, or what could be taken for one, is given every way out that
we know of (in the short form a sixth of them), once to what is there and once to what is not. The kernel tells
whether anything of the tree was opened or listed; names, sizes, times and contents are compared as well; and the two
answers are the same.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from tests.conftest import VaultFolder
from tests.mcpapi.hostile import Answer, call, exchange, serving
from tests.promises.figures import Measured, figure
from tests.promises.outside import SECRET, make_outside, set_traps, untouched, ways_out, writes_out
from tests.wiki.api.conftest import CLAUDE, frontmatter
from vault.errors import SynapseError
from wiki import jobs
from wiki.models import Page, Scope
from wiki.services import write_page
from wiki.sync import scan
from wiki.tokens import create_token

pytestmark = pytest.mark.django_db(transaction=True)
Ask = Callable[[str], str]


class World:
    """A vault full of traps, the tree beside it, and the page that attacks work on."""

    def __init__(self, folder: VaultFolder) -> None:
        self.root = folder.root
        self.outside = make_outside(folder.root.parent)
        folder.write("raw/sources/a.md", "A source.\n")
        set_traps(folder.root, self.outside)
        scan()
        self.page = write_page(
            title="Alan Turing", content="Text.\n", frontmatter=frontmatter("Alan Turing"), author=CLAUDE
        ).page
        jobs.drain()  # index.md is made, whose lines would else come and go under the answers
        self.ways = dict(list(ways_out(folder.root, self.outside).items())[:: figure(6, 1)])
        self.token = create_token(name="attacker", scope=Scope.WRITE)[1]

    def inside(self) -> list[str]:
        """All names in the vault but those of .synapse and of what is made by code."""
        found = (
            str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_symlink() or path.is_file()
        )
        return sorted(path for path in found if not path.startswith((".synapse/", "wiki/log.md", "wiki/index.md")))


@pytest.fixture
def world(vault_folder: VaultFolder, settings: Any) -> World:
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    settings.SYNAPSE_HOST, settings.SYNAPSE_PORT = "127.0.0.1", 8000
    return World(vault_folder)


def require_the_same(name: str, there: str, missing: str, answers: tuple[str, str]) -> None:
    """An answer tells nothing of the tree, and the same whether a file is there or not."""
    for answer in answers:
        assert SECRET not in answer, name
        assert "root:x:" not in answer, name
    assert _plain(answers[0], there) == _plain(answers[1], missing), (name, answers)


def try_all(world: World, doors: dict[str, Ask]) -> int:
    """Each way through each of the doors; gives how many were tried."""
    tried = 0
    for door, ask in doors.items():
        for name, (there, missing) in world.ways.items():
            answers = ask(there), ask(missing)
            require_the_same(f"{door}: {name}", there, missing, answers)
            tried += 2
    return tried


def _plain(answer: str, path: str) -> str:
    """An answer without the path itself, in whichever spelling it gives it back."""
    quoted = json.dumps(path)[1:-1]
    for spelled in (path, quoted, json.dumps(path, ensure_ascii=False)[1:-1], quote(path, "", "utf-8", "replace")):
        answer = answer.replace(spelled, "…")
    last = (path.rpartition("/")[2].split() or [""])[-1]
    answer = answer.replace(last, "…") if last.endswith(".md") else answer  # of a path with lines, taken apart
    answer = answer.replace(f"[[{path.rpartition('/')[2].removesuffix('.md')}|", "[[…|")  # a link by the name alone
    # What is left of it where it was escaped, cut, taken apart, or hashed as the text that it is.
    return re.sub("secr[ea]t?|missing|[0-9a-f]{64}", "…", answer)


def rest(world: World) -> dict[str, Ask]:
    """Each address that takes a path, in its address, its query, its headers or its body."""
    client = Client(headers={"Authorization": f"Bearer {world.token}"})

    def send(method: str, address: str, body: Any = None, **headers: str) -> str:
        data = b"" if body is None else json.dumps(body).encode()
        answer = client.generic(method, address, data, content_type="application/json", headers=headers)
        assert answer.status_code < 500, (address, answer.content)
        return f"{answer.status_code} {answer.content.decode()}"

    def sendable(path: str) -> str:
        return path.encode("utf-8", "surrogatepass").decode("utf-8", "replace")

    def query(address: str, name: str) -> Ask:
        return lambda path: send("GET", f"{address}{'&' if '?' in address else '?'}{urlencode({name: sendable(path)})}")

    page = f"/pages/{world.page.uid}"
    match = f'"{world.page.content_hash}"'
    return {
        "GET /sources/{path}": lambda path: send("GET", f"/sources/{quote(sendable(path), safe='')}"),
        "GET /sources/{path} as it is": lambda path: send("GET", f"/sources/{quote(sendable(path))}"),
        "GET /sources?prefix": query("/sources", "prefix"),
        "GET /pages/by-title?title": query("/pages/by-title", "title"),
        "GET /pages/by-title?path": query("/pages/by-title?title=Alan+Turing", "path"),
        "GET /graph/neighborhood?path": query("/graph/neighborhood?title=Alan+Turing", "path"),
        "GET /search?q": query("/search", "q"),
        "GET /search?prefix": query("/search?q=secret", "prefix"),
        "GET /review/queue?page": query("/review/queue", "page"),
        "GET /pages/{id}": lambda path: send("GET", f"/pages/{quote(sendable(path), safe='')}"),
        "POST /pages/{id}/move": lambda path: "".join(
            send("POST", f"{page}/move", {"path": to}, **{"If-Match": match})[:3] for to in writes_out(path)
        ),
        "POST /pages/{id}/move, only shown": lambda path: send("POST", f"{page}/move", {"path": path, "preview": True}),
        "POST /pages": lambda path: send(
            "POST", "/pages", {"title": path, "content": "x", "frontmatter": {**frontmatter("Other"), "path": path}}
        ),
        "POST /prime/query": lambda path: send("POST", "/prime/query", {"scope": f"path:{path}", "include_text": True}),
        "POST /prime/resolve": lambda path: send("POST", "/prime/resolve", {"brief": path, "domain": path}),
        "POST /prime/validate": lambda path: send("POST", "/prime/validate", {"artifact": path, "atom_set": [path]}),
        "POST /prime/compile": lambda path: send("POST", "/prime/compile", {"source": path, "deep": True}),
        "POST /review/queue": lambda path: send(
            "POST", "/review/queue", {"items": [{"item_type": "suggestion", "title": "Read it", "page": path}]}
        ),
        "a rewritten address": lambda path: send(
            "GET", "/sources/a.md", **{"X-Original-URL": sendable(path).encode("ascii", "replace").decode()}
        ),
        "a static file": lambda path: send("GET", f"/static/{quote(sendable(path))}"),
    }


async def tools(world: World) -> int:
    """Each tool and each resource, over HTTP with a token that may write."""
    headers = [(b"authorization", b"Bearer " + world.token.encode())]
    given = {"title": "Other", "content": "x", "frontmatter": frontmatter("Other")}
    messages: dict[str, Callable[[str], dict[str, Any]]] = {
        "read_source_file": lambda path: call("read_source_file", path=path),
        "get_page path": lambda path: call("get_page", title="Alan Turing", path=path),
        "get_page title": lambda path: call("get_page", title=path),
        "graph": lambda path: call("get_graph_neighborhood", title="Alan Turing", path=path),
        "search_wiki": lambda path: call("search_wiki", query=path),
        "write_page path": lambda path: call("write_page", **given, path=path),
        "write_page title": lambda path: call("write_page", **{**given, "title": path}),
        "propose_review": lambda path: call(
            "propose_review", items=[{"item_type": "suggestion", "title": "Read it", "page": path}]
        ),
        "resolve_review": lambda path: call("resolve_review", id=path, action="skip"),
        "prime_query": lambda path: call("prime_query", scope=f"path:{path}", include_text=True),
        "prime_resolve": lambda path: call("prime_resolve", brief=path, domain=path),
        "prime_validate": lambda path: call("prime_validate", artifact=path, atom_set=[path]),
        "prime_compile": lambda path: call("prime_compile", source=path, deep=True),
        "resource of a source": lambda path: resource(f"synapse://source/{quote(path, '', errors='replace')}"),
        "resource as it is": lambda path: resource(f"synapse://source/{path}"),
        "resource of a page": lambda path: resource(f"synapse://page/{quote(path, '', errors='replace')}"),
        "another resource": resource,
        "completion": lambda path: {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "completion/complete",
            "params": {
                "ref": {"type": "ref/resource", "uri": "synapse://source/{path}"},
                "argument": {"name": "path", "value": path},
            },
        },
    }
    tried = 0
    async with serving():
        for door, message in messages.items():
            for name, (there, missing) in world.ways.items():
                answers: list[Answer] = [
                    await exchange(json.dumps(message(path)).encode(), headers=headers) for path in (there, missing)
                ]
                assert {answer.status < 500 for answer in answers} == {True}, (door, name)
                texts = answers[0].body.decode(), answers[1].body.decode()
                require_the_same(f"{door}: {name}", there, missing, texts)
                tried += 2
    return tried


def resource(uri: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}


def commands(monkeypatch: pytest.MonkeyPatch) -> dict[str, Ask]:
    """Each command that takes a path of the vault. Files that somebody at a terminal names are theirs to read."""

    def run(*arguments: str) -> str:
        out = StringIO()
        monkeypatch.setattr("sys.stdin", type("Given", (), {"buffer": BytesIO(b"x")})())
        try:
            call_command(*arguments, stdout=out, stderr=out)
        except (CommandError, SynapseError, SystemExit) as error:
            return f"{out.getvalue()} {error}"
        return out.getvalue()

    return {
        "page show": lambda path: run("page", "show", "Alan Turing", f"--path={path}"),
        "page history": lambda path: run("page", "history", "Alan Turing", f"--path={path}"),
        "page move": lambda path: run("page", "move", "--preview", "--", "Alan Turing", path),
        "page write": lambda path: run(
            "page", "write", "Other", "--type=concept", "--lang=en", "--source=a", f"--path={path}"
        ),
        "search": lambda path: run("search", "secret", f"--prefix={path}"),
        "reviews list": lambda path: run("reviews", "list", f"--page={path}"),
        "reviews show": lambda path: run("reviews", "show", "--", path),
        "drafts show": lambda path: run("drafts", "show", "--", path),
        "drafts drop": lambda path: run("drafts", "drop", "--", path),
        "prime query": lambda path: run("prime", "query", f"--scope=path:{path}", "--text"),
    }


def admin(world: World) -> dict[str, Ask]:
    """The pages that take a name in their address or a filter."""
    User.objects.create_superuser("ada", password="secret-of-ada")
    client = Client()
    assert client.login(username="ada", password="secret-of-ada")

    def get(address: str) -> str:
        answer = client.get(address)
        assert answer.status_code < 500, address
        # What the page says of itself differs by the name in it, in spellings of HTML; only what it lists counts here.
        return f"{answer.status_code} {SECRET in answer.content.decode()}"

    def named(path: str) -> str:
        return quote(path, safe="", errors="replace")

    return {
        "pages q": lambda path: get(f"/admin/wiki/page/?q={named(path)}"),
        "files q": lambda path: get(f"/admin/wiki/file/?q={named(path)}"),
        "page": lambda path: get(f"/admin/wiki/page/{named(path)}/change/"),
        "file": lambda path: get(f"/admin/wiki/file/{named(path)}/change/"),
        "reviews": lambda path: get(f"/admin/reviews/reviewitem/?page={named(path)}"),
        "review": lambda path: get(f"/admin/reviews/reviewitem/{named(path)}/change/"),
    }


DOORS: dict[str, Callable[[World, pytest.MonkeyPatch], int]] = {
    "rest": lambda world, _: try_all(world, rest(world)),
    "tools and resources": lambda world, _: asyncio.run(tools(world)),
    "commands": lambda world, monkeypatch: try_all(world, commands(monkeypatch)),
    "admin": lambda world, _: try_all(world, admin(world)),
}


@pytest.mark.parametrize("door", DOORS)
def test_no_path_leads_out(door: str, world: World, monkeypatch: pytest.MonkeyPatch, measured: Measured) -> None:
    before = world.inside()
    with untouched(world.outside) as witness:
        tried = DOORS[door](world, monkeypatch)
    grown = set(world.inside()) - set(before)
    assert not [path for path in grown if {"..", "outdir", "updir", "rootdir", "self"} & set(path.split("/"))]
    assert Page.objects.filter(path__contains="..").count() == 0
    watched = "0 of the tree opened or listed" if witness.watching else "the tree unchanged"
    measured(
        "P26",
        f"{tried} requests for {len(world.ways)} ways out through {door}: {watched}, 0 answers told what is there",
    )


def test_a_scan_goes_past_what_leads_out(world: World, measured: Measured) -> None:
    with untouched(world.outside):
        scan(full=True)
        scan()
    assert not Page.objects.filter(path__contains="secret").exists()
    measured("P26", "2 full scans past 30 links that lead out: 0 followed")


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    yield make_outside(tmp_path)


@pytest.mark.parametrize(
    "touch",
    [
        lambda outside: (outside / "secret.md").read_bytes(),
        lambda outside: list(outside.iterdir()),
        lambda outside: list((outside / "deep/er").iterdir()),
        lambda outside: (outside / "made.md").touch(),
        lambda outside: (outside / "secret.md").write_text("x"),
        lambda outside: (outside / "empty").rmdir(),
        lambda outside: (outside / "secret.md").rename(outside / "other.md"),
        lambda outside: (outside / "secret.md").chmod(0o600),
    ],
)
def test_the_witness_sees_what_is_touched(canary: Path, touch: Callable[[Path], object]) -> None:
    with pytest.raises(AssertionError), untouched(canary) as witness:
        if not witness.watching:
            pytest.skip("only the kernel of Linux tells what was read or listed")
        touch(canary)
