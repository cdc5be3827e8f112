"""P26: attacks whose tests lie nowhere else: devices, tags of YAML, addresses to be fetched, exports, other vaults."""

from __future__ import annotations

import ast
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from mcpapi.registry import BY_NAME
from mcpapi.validation import validated
from synapse.settings import BASE_DIR
from tests.conftest import VaultFolder
from tests.promises.figures import Measured
from tests.wiki.api.conftest import CLAUDE, Rest, frontmatter, page, rita, vault, wanda
from tests.wiki.test_write_page import refused
from vault.errors import ErrorCode
from vault.pages import parse_page
from wiki.models import Page
from wiki.services import page_by_title, page_content, read_source, write_page
from wiki.sync import scan

__all__ = ["rita", "vault", "wanda"]
pytestmark = pytest.mark.django_db


def test_a_device_is_no_file(vault_folder: VaultFolder) -> None:
    names = {"zero.md": (1, 5), "tty.md": (5, 0)}
    for name, device in names.items():
        try:
            os.mknod(vault_folder.root / "raw/sources" / name, stat.S_IFCHR | 0o666, os.makedev(*device))
        except PermissionError:
            pytest.skip("only root may make devices")
    for name in names:
        with refused(ErrorCode.NOT_A_FILE):
            read_source(name)
    scan()
    assert not Page.objects.exists()


def test_line_ends_that_are_none_are_kept_as_written(vault_folder: VaultFolder) -> None:
    text = "a\rb\u2028c\u2029d\x85e\x0cf\n"
    write_page(title="Ends", content=text, frontmatter=frontmatter("Ends"), author=CLAUDE)
    made = page_by_title("Ends")
    assert vault_folder.read(made.path).decode().endswith(text)
    assert page_content(made)["content"].rstrip("\n") == text.rstrip("\n")


# --- frontmatter -----------------------------------------------------------------------------------

BLOCKS = [
    'x: !!python/object/apply:os.system ["touch {marker}"]',
    "x: !!python/object/new:os.system [touch {marker}]",
    'x: !!python/object/apply:subprocess.check_output [["touch", "{marker}"]]',
    "x: !!python/name:os.system",
    "x: !!python/module:os",
    "x: !!python/tuple [a, b]",
    "!!python/object/apply:os.system [touch {marker}]",
    "x: !<tag:yaml.org,2002:python/object/apply:os.system> [touch {marker}]",
    "%TAG ! tag:yaml.org,2002:python/\n---\nx: !object/apply:os.system [touch {marker}]",
    "x: !!binary aGVsbG8=",
    "x: !!set {{a, b}}",
    "x: !!omap [a: 1]",
    "x: !!timestamp 2026-13-45",
    "x: !!int nonsense",
    "x: !!float .inf",
    "x: !include /etc/passwd",
    "x: !ENV ${{HOME}}",
    "a: &a {{b: 1}}\nc: {{<<: *a}}",
    "<<: {{title: x}}",
    "<<: [{{a: 1}}, {{b: 2}}]",
    "date: {{{{date}}}}",
    "? [a]\n: b",
    "? {{a: b}}\n: c",
    "{{[a]: b}}",
    "x: {nines}",
    "x: 0x{nines}",
    "x: 1e{nines}",
    "x: 1:59:59:59:59:59:59:59:59",
    "x: .NaN\ny: -.inf",
    "x: 0o17\ny: 0b11\nz: 1_000",
    "~: null\ntrue: yes\n1: x\n1.5: y",
    "x: |\n  a\n---\ny: 1",
    'x: "\\x00"',
    'x: "\\ud800"',
    'x: "\\U0010FFFF\\uFFFE"',
    "a: &a [*a]",
    "a: &a\n  b: *a",
    "x: *nobody",
]


@pytest.mark.parametrize("block", BLOCKS)
def test_no_tag_of_yaml_runs_or_makes_anything(block: str, vault_folder: VaultFolder, tmp_path: Path) -> None:
    marker = tmp_path / "it-ran"
    text = f"---\n{block.format(marker=marker, nines='9' * 6_000)}\n---\nBody.\n"
    parsed = parse_page("wiki/concepts/a.md", text.encode())
    assert json.loads(json.dumps(parsed.frontmatter, allow_nan=False)) == parsed.frontmatter
    assert all(isinstance(key, str) for key in parsed.frontmatter)
    vault_folder.write("wiki/concepts/a.md", text)
    vault_folder.write("wiki/concepts/b.md", "Beside it.\n")
    scan()
    assert Page.objects.count() == 2
    assert not marker.exists()
    assert vault_folder.read("wiki/concepts/a.md") == text.encode()


# --- addresses -------------------------------------------------------------------------------------

ADDRESSES = [
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]:6333/collections",
    "http://127.0.0.1:1/",
    "https://localtest.me/",
    "//evil.example/x",
    "file:///etc/passwd",
    "ftp://evil.example/x",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "\\\\evil.example\\share\\x",
]
_connections: list[list[str]] = []


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if _connections and event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        _connections[-1].append(f"{event} {arguments[-1]!r}")


@contextmanager
def no_connection() -> Iterator[None]:
    """AssertionError where Python looks up a name or connects to anything inside."""
    if not getattr(_listen, "on", False):
        sys.addaudithook(_listen)
        _listen.on = True  # type: ignore[attr-defined]
    found: list[str] = []
    _connections.append(found)
    try:
        yield
    finally:
        _connections.pop()
    assert found == []


def test_nothing_that_a_page_names_is_fetched(
    vault_folder: VaultFolder, rita: Rest, admin_client: Client, measured: Measured
) -> None:
    body = "\n\n".join(
        f'![p]({address}) [l]({address}) <{address}> {address} <img src="{address}"> ![[{address}]]\n[r]: {address}'
        for address in ADDRESSES
    )
    given = {**frontmatter("Fetched"), "sources": ADDRESSES, "cover": ADDRESSES[0], "up": f"[[{ADDRESSES[0]}]]"}
    vault_folder.write("raw/sources/a.md", body)
    with no_connection():
        written = write_page(
            title="Fetched", content=body, frontmatter=given, origin_source=ADDRESSES[0], author=CLAUDE
        )
        scan(full=True)
        for address in (
            "/pages/by-title?title=Fetched",
            "/sources/a.md",
            "/search?q=meta&context=true",
            "/review/queue",
        ):
            assert rita.get(address).status_code == 200
        for shown in ("/admin/wiki/page/", f"/admin/wiki/page/{written.page.pk}/change/", "/admin/wiki/link/"):
            assert admin_client.get(shown).status_code == 200
        call_command("page", "show", "Fetched", stdout=StringIO())
        for text in ADDRESSES:
            assert rita.post("/prime/resolve", {"brief": f"read {text}"}).status_code < 500
            assert rita.post("/prime/compile", {"source": text, "deep": True}).status_code < 500
            assert rita.post("/prime/validate", {"artifact": text, "atom_set": [text]}).status_code < 500
    assert any("evil.example" in warning or "169.254" in warning for warning in written.warnings)
    measured("P26", f"{len(ADDRESSES)} addresses in a page, a source and questions: 0 connections, 0 names looked up")


def test_that_sees_a_connection() -> None:
    import socket

    with pytest.raises(AssertionError), no_connection(), socket.socket() as line:
        line.settimeout(0.01)
        line.connect_ex(("127.0.0.1", 1))


def test_no_door_sets_an_address(measured: Measured) -> None:
    """What Synapse connects to is named by its environment alone: no request and no tool has a field for it."""
    document = json.loads((BASE_DIR / "docs/openapi.json").read_text(encoding="utf-8"))
    taken: set[str] = set()
    for address, operations in document["paths"].items():
        for operation in operations.values():
            taken |= {given["name"] for given in operation.get("parameters", [])}
            for form in operation.get("requestBody", {}).get("content", {}).values():
                taken |= _properties(form["schema"], document)
        assert "setting" not in address
    tools = {name for tool in BY_NAME.values() for name in tool.input_schema["properties"]}
    assert {"title", "path"} <= taken & tools
    words = ("url", "uri", "host", "endpoint", "address", "vault", "root", "setting", "server")
    assert not [name for name in taken | tools if any(word in name.lower() for word in words)]
    measured("P26", f"{len(taken)} fields over REST and {len(tools)} of tools: 0 name an address, a vault or a setting")


def _properties(schema: dict[str, Any], document: dict[str, Any]) -> set[str]:
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return set(schema.get("properties", {}))


@pytest.mark.parametrize("name", ["vault", "vault_id", "root", "SYNAPSE_VAULT", "database", "as_user"])
def test_no_argument_chooses_a_vault(name: str, vault_folder: VaultFolder, wanda: Rest, tmp_path: Path) -> None:
    other = str(tmp_path)
    for tool in BY_NAME.values():
        assert name not in tool.input_schema["properties"]
        with refused(ErrorCode.INVALID_PARAM_VALUE):
            validated(tool.input_schema, {**dict.fromkeys(tool.input_schema.get("required", []), "x"), name: other})
    for address in ("/pages", "/search?q=x", "/sources", "/status", "/review/queue", "/pages/by-title?title=x"):
        plain = wanda.get(address)
        asked = wanda.get(f"{address}{'&' if '?' in address else '?'}{name}={other}")
        assert (asked.status_code, asked.json().get("error_code")) == (400, "invalid_param_value"), address
        headed = wanda.get(address, **{f"X-{name.replace('_', '-')}": other})
        assert headed.status_code == plain.status_code
    assert wanda.post("/pages", {"title": "A", "content": "x", "frontmatter": {}, name: other}).status_code == 400


def test_headers_of_proxies_change_no_method_address_or_caller(
    vault_folder: VaultFolder, rita: Rest, wanda: Rest
) -> None:
    made = page("Alan Turing")
    address = f"/pages/{made.uid}"
    tag = f'"{made.content_hash}"'
    for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        for caller in (rita, wanda):
            answer = caller.get(address, **{header: "DELETE", "If-Match": tag})
            assert answer.status_code == 200
        assert wanda.post("/pages", {"_method": "DELETE"}, **{header: "DELETE"}).status_code == 400
    for header in ("X-Forwarded-User", "Remote-User", "X-Remote-User", "X-Forwarded-Email", "X-Original-User"):
        assert Rest().get("/pages", **{header: "root"}).status_code == 401
    for header in ("X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Path", "X-Forwarded-Prefix"):
        assert rita.get("/status", **{header: "/admin/"}).json().keys() == rita.get("/status").json().keys()
    for header in ("X-Forwarded-Host", "Forwarded", "X-Host"):
        answer = Client().get("/admin/", headers={header: "evil.example", "X-Forwarded-Proto": "https"})
        assert "evil.example" not in f"{answer.headers} {answer.content!r}"
    assert Page.objects.filter(deleted_at__isnull=True).count() == 1


def test_nothing_is_exported_that_a_spreadsheet_opens(vault_folder: VaultFolder) -> None:
    """Exports are lines of JSON: a cell that begins with `=` can not come of them. No room writes tables for others."""
    title = '=HYPERLINK("http://evil.example")'
    vault_folder.write("wiki/concepts/a.md", f"---\ntitle: '{title}'\n---\n[[Gone]] [[{title}]]\n")
    scan()
    for command in (["export_links"], ["dump_index"], ["reviews", "export"]):
        out = StringIO()
        call_command(*command, stdout=out)
        lines = out.getvalue().splitlines()
        assert lines and all(isinstance(json.loads(line), dict) for line in lines), command
    for room in ("vault", "wiki", "reviews", "mcpapi", "synapse"):
        for file in sorted((BASE_DIR / room).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            assert "text/csv" not in text, file
            imported = {
                name.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import) for name in node.names
            }
            assert not imported & {"csv", "openpyxl", "xlsxwriter"}, file
