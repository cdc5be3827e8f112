"""Resources and completions: what the tools show, by address, refused for the same reasons."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from mcpapi import lookups, resources, server
from mcpapi.profiles import Profile
from wiki.models import Page
from wiki.prime.asking.query import query
from wiki.prime.atoms.levels import Level, tokens
from wiki.prime.atoms.reading import level_texts
from wiki.services import sources
from wiki.sync import scan

MODES = ["legacy", "auto"]
PAGE = ResourceTemplateReference(uri="synapse://page/{id}")
SOURCE = ResourceTemplateReference(uri="synapse://source/{+path}")
PRIME = ResourceTemplateReference(uri="synapse://prime/{+id}{?level}")
UMLAUT = "raw/sources/Über uns/100% Fläche #1?.md"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def vault(vault_folder, transactional_db):
    vault_folder.write("raw/sources/sea.txt", "The moon pulls the sea.\n")
    vault_folder.write(UMLAUT, "# Grüße\n")
    vault_folder.write("raw/sources/picture.png", b"\x89PNG\0\xff")
    vault_folder.write("raw/sources/long.txt", "x" * (sources.MAX_CHARACTERS + 1))
    vault_folder.write("raw/assets/secret.txt", "not a source\n")
    vault_folder.write("wiki/moon.md", "---\ntype: entity\ntitle: Moon\n---\nIt pulls the sea.\n")
    vault_folder.write("wiki/gone.md", "---\ntitle: Gone\n---\n")
    vault_folder.write("wiki/moor.md", "---\ntitle: Moor\n---\n")
    vault_folder.write("schema.md", "Write plainly.\n")
    vault_folder.write("purpose.md", "Know the sea.\n")
    scan()
    return vault_folder


def ask(work: Callable[[Client], Awaitable[Any]], mode: str = "legacy") -> Any:
    async def run() -> Any:
        async with Client(server.build(Profile.STDIO).server, mode=mode) as client:
            return await work(client)

    return asyncio.run(run())


def read(uri: str, mode: str = "legacy") -> Any:
    (content,) = ask(lambda client: client.read_resource(uri), mode).contents
    return content


def refused(work: Callable[[Client], Awaitable[Any]], mode: str = "legacy") -> tuple[int, dict[str, Any]]:
    async def run() -> MCPError:
        async with Client(server.build(Profile.STDIO).server, mode=mode) as client:
            with pytest.raises(MCPError) as caught:
                await work(client)
            return caught.value

    error = asyncio.run(run())
    assert set(error.data) >= {"error", "error_code"}
    assert error.message == error.data["error"]
    return error.code, error.data


def page_uri(title: str) -> str:
    return f"synapse://page/{Page.objects.get(title=title).uid}"


@pytest.mark.parametrize("mode", MODES)
def test_a_page_is_its_file_as_it_is(vault, mode):
    content = read(page_uri("Moon"), mode)
    assert content.text.encode() == vault.read("wiki/moon.md")
    assert content.mime_type == "text/markdown"
    assert content.meta["synapse/path"] == "wiki/moon.md"
    assert content.meta["synapse/content_hash"] == Page.objects.get(title="Moon").content_hash


@pytest.mark.parametrize(
    ("path", "text", "mime"),
    [
        ("raw/sources/sea.txt", "The moon pulls the sea.\n", "text/plain"),
        ("sea.txt", "The moon pulls the sea.\n", "text/plain"),
        (quote(UMLAUT), "# Grüße\n", "text/markdown"),
        (quote(UMLAUT, safe=""), "# Grüße\n", "text/markdown"),
    ],
    ids=["whole", "relative", "encoded", "slashes encoded"],
)
def test_a_source_is_found_by_its_encoded_path(vault, path, text, mime):
    content = read(f"synapse://source/{path}")
    assert (content.text, content.mime_type) == (text, mime)


@pytest.mark.parametrize(
    ("address", "level"),
    [
        ("@wiki/entity-moon", "core"),
        ("@wiki/entity-moon?level=core", "core"),
        ("@wiki/entity-moon?level=", "core"),
        ("@wiki/entity-moon?level=summary", "summary"),
        ("%40wiki%2Fentity-moon?level=full", "full"),
        ("@wiki%2fentity-moon?level=f%75ll", "full"),
        ("Moon?level=full", "full"),
        ("wiki/moon.md?level=full", "full"),
    ],
)
@pytest.mark.parametrize("mode", MODES)
def test_a_level_is_found_by_the_id_or_another_name_of_its_page(vault, address, level, mode):
    content = read(f"synapse://prime/{address}", mode)
    page = Page.objects.get(title="Moon")
    assert content.text == level_texts([page.pk], Level(level))[page.pk]
    assert content.text.startswith("# Moon [entity]") and "It pulls the sea." in content.text
    assert content.mime_type == "text/markdown"
    assert content.meta == {
        "synapse/path": "wiki/moon.md",
        "synapse/content_hash": page.content_hash,
        "synapse/level": level,
        "synapse/tokens": tokens(content.text),
    }


@pytest.mark.parametrize(
    ("address", "error_code"),
    [
        ("@wiki/entity-moon?level=Core", "invalid_level"),
        ("@wiki/entity-moon?level=core#x", "invalid_level"),
        ("@wiki/entity-mars?level=none", "invalid_level"),
        ("@wiki/entity-moon?depth=1", "invalid_param_value"),
        ("@wiki/entity-moon?level=core&level=full", "invalid_param_value"),
        ("@wiki/entity-moon#core", "invalid_param_value"),
        ("100%", "invalid_param_value"),
        ("Twin", "ambiguous_title"),
    ],
)
def test_a_level_that_there_is_not_is_refused(vault, address, error_code):
    vault.write("a/twin.md", "---\ntitle: Twin\n---\n")
    vault.write("b/twin.md", "---\ntitle: Twin\n---\n")
    scan()
    code, data = refused(lambda client: client.read_resource(f"synapse://prime/{address}"))
    assert (code, data["error_code"]) == (-32602, error_code)


def test_an_id_that_there_is_not_comes_with_those_that_are_like_it(vault):
    _, data = refused(lambda client: client.read_resource("synapse://prime/@wiki/entity-mooon"))
    assert data["error_code"] == "unknown_atom"
    assert "@wiki/entity-moon" in data["close"]


def test_what_a_hit_gives_as_its_address_can_be_read(vault):
    vault.write("wiki/月 & meer.md", "---\ntitle: Sea\n---\nSalt.\n")
    scan()
    for hit in query(level="summary", include_text=True)["hits"]:
        assert read(hit["uri"]).text == hit["text"]


def test_the_templates_name_the_three_addresses(vault):
    templates = ask(lambda client: client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [PAGE.uri, SOURCE.uri, PRIME.uri]


def test_the_list_begins_with_the_house_rules_and_each_address_in_it_can_be_read(vault):
    listed = ask(lambda client: client.list_resources())
    assert [resource.name for resource in listed.resources] == ["purpose.md", "schema.md", "Gone", "Moon", "Moor"]
    rest = ask(lambda client: client.list_resources(cursor=listed.next_cursor))
    assert {resource.name for resource in rest.resources} == {
        UMLAUT,
        "raw/sources/sea.txt",
        "raw/sources/picture.png",
        "raw/sources/long.txt",
    }
    assert rest.next_cursor is None
    by_name = {resource.name: str(resource.uri) for resource in rest.resources}
    assert read(by_name[UMLAUT]).text == "# Grüße\n"
    assert read(str(listed.resources[1].uri)).text == "Write plainly.\n"


def test_the_list_comes_in_parts_without_gaps(vault, monkeypatch):
    monkeypatch.setattr(resources, "_PER_ANSWER", 2)
    names, cursor = [], None
    for _ in range(10):
        page = ask(lambda client, cursor=cursor: client.list_resources(cursor=cursor))
        names += [resource.name for resource in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(names) == len(set(names)) == 9


@pytest.mark.parametrize("cursor", ["", "p.", "p.made-up", "s.made-up", "x", "\0"])
def test_a_cursor_that_is_not_ours_is_refused(vault, cursor):
    code, data = refused(lambda client: client.list_resources(cursor=cursor))
    assert (code, data["error_code"]) == (-32602, "invalid_cursor")


@pytest.mark.parametrize("listing", ["list_tools", "list_prompts", "list_resource_templates"])
def test_lists_that_are_given_whole_take_no_cursor(listing):
    code, data = refused(lambda client: getattr(client, listing)(cursor="2"))
    assert (code, data["error_code"]) == (-32602, "invalid_cursor")


@pytest.mark.parametrize(("mode", "code"), [("legacy", -32002), ("auto", -32602)])
@pytest.mark.parametrize(
    ("uri", "error_code"),
    [
        ("synapse://page/0d5b1a64-2f4f-4b5e-8f4e-0a2f6a3f3c11", "page_not_found"),
        ("synapse://page/Moon", "page_not_found"),
        ("synapse://page/..%2F..%2Fetc", "page_not_found"),
        ("synapse://page/", "page_not_found"),
        ("synapse://source/nowhere.txt", "source_not_found"),
        ("file:///etc/passwd", "not_found"),
        ("synapse://prime/x", "unknown_atom"),
        ("synapse://prime/", "unknown_atom"),
        ("synapse://prime/@wiki/entity-mars?level=full", "unknown_atom"),
        ("synapse://primes/x", "not_found"),
        ("SYNAPSE://page/x", "not_found"),
        ("raw/sources/sea.txt", "not_found"),
    ],
)
def test_what_is_not_there_has_the_code_of_the_revision(vault, uri, error_code, mode, code):
    given, data = refused(lambda client: client.read_resource(uri), mode)
    assert (given, data["error_code"], data["uri"]) == (code, error_code, uri)


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "..%2f..%2fetc/passwd",
        "%2e%2e/x",
        "%2Fetc%2Fpasswd",
        "/etc/passwd",
        "raw/assets/secret.txt",
        "wiki/moon.md",
        ".synapse/vault-id",
        "a%00b",
        "a%0ab",
        "%ff%fe",
        "a%5cb",
        "",
        "c:%2fx",
    ],
)
def test_a_path_out_of_the_sources_is_refused_alike(vault, path):
    code, data = refused(lambda client: client.read_resource(f"synapse://source/{path}"))
    assert (code, data["error_code"]) == (-32602, "path_not_allowed")
    assert data["error"] == refused(lambda client: client.read_resource("synapse://source/wiki/none"))[1]["error"]


@pytest.mark.parametrize("path", ["sea.txt?x=1", "sea.txt#part", "100%", "a%zz"])
def test_an_address_that_is_not_encoded_is_refused(vault, path):
    assert refused(lambda client: client.read_resource(f"synapse://source/{path}"))[1]["error_code"] == (
        "invalid_param_value"
    )


def test_an_escape_is_undone_once(vault):
    vault.write("raw/sources/a%20b.txt", "escaped\n")
    assert read("synapse://source/a%2520b.txt").text == "escaped\n"
    assert refused(lambda client: client.read_resource("synapse://source/a%20b.txt"))[1]["error_code"] == (
        "source_not_found"
    )


@pytest.mark.parametrize(
    ("path", "error_code"), [("long.txt", "payload_too_large"), ("picture.png", "not_a_text_file")]
)
def test_what_can_not_be_shown_whole_is_refused(vault, path, error_code):
    code, data = refused(lambda client: client.read_resource(f"synapse://source/{path}"))
    assert (code, data["error_code"]) == (-32602, error_code)


def test_a_page_over_the_limit_and_a_deleted_one_are_refused(vault, settings):
    gone = page_uri("Gone")
    (vault.root / "wiki/gone.md").unlink()
    assert refused(lambda client: client.read_resource(gone))[1]["error_code"] == "page_not_found"
    scan(allow_deletions=True)
    assert refused(lambda client: client.read_resource(gone))[1]["error_code"] == "page_not_found"
    settings.SYNAPSE_MAX_PAGE_BYTES = 10
    moon = page_uri("Moon")
    assert refused(lambda client: client.read_resource(moon))[1]["error_code"] == "payload_too_large"


def test_a_link_out_of_the_vault_is_not_followed(vault, tmp_path):
    (tmp_path / "outside.txt").write_text("secret")
    (vault.root / "raw/sources/link.txt").symlink_to(tmp_path / "outside.txt")
    _, data = refused(lambda client: client.read_resource("synapse://source/link.txt"))
    assert data["error_code"] in ("path_not_allowed", "not_a_file")


def test_what_nobody_foresaw_is_an_internal_error_without_its_text(vault, monkeypatch):
    def fail(uri: str) -> None:
        raise RuntimeError("/home/me/secret")

    monkeypatch.setattr(lookups.resources, "read_resource", fail)
    code, data = refused(lambda client: client.read_resource("synapse://page/x"))
    assert (code, data["error_code"]) == (-32603, "internal_error")
    assert "secret" not in str(data)


def test_nothing_may_be_kept_for_others(vault):
    moon = page_uri("Moon")
    for work in (
        lambda client: client.list_resources(),
        lambda client: client.list_resource_templates(),
        lambda client: client.list_prompts(),
        lambda client: client.read_resource(moon),
    ):
        assert ask(work, "auto").cache_scope == "private"
    assert ask(lambda client: client.read_resource(moon), "auto").ttl_ms == 0


def complete(ref: Any, name: str, value: str) -> list[str]:
    found = ask(lambda client: client.complete(ref, {"name": name, "value": value})).completion
    assert (found.total or 0) >= len(found.values)
    return found.values


def test_arguments_are_completed_from_titles_paths_and_kinds(vault):
    assert complete(PromptReference(name="file_answer"), "title", "moo") == ["Moon", "Moor"]
    assert complete(PAGE, "id", "Moon") == [str(Page.objects.get(title="Moon").uid)]
    assert complete(SOURCE, "path", "raw/sources/s") == ["raw/sources/sea.txt"]
    assert complete(PromptReference(name="ingest_source"), "path", "Über") == [UMLAUT]
    assert complete(PromptReference(name="triage_reviews"), "item_type", "con") == ["contradiction", "confirm"]
    assert complete(PromptReference(name="ask"), "question", "w") == []
    assert complete(PAGE, "id", "\0") == []
    assert complete(PAGE, "id", "%") == []
    assert complete(PRIME, "id", "@wiki/entity-") == ["@wiki/entity-moon"]
    assert complete(PRIME, "id", "moo") == ["@wiki/entity-moon", "@wiki/page-moor"]
    assert complete(PRIME, "id", "\0") == []
    assert complete(PRIME, "level", "") == ["summary", "core", "full"]
    assert complete(PRIME, "level", "s") == ["summary"]


def test_more_values_than_the_protocol_allows_are_counted(vault):
    for number in range(120):
        vault.write(f"wiki/many/{number}.md", f"---\ntitle: Many {number:03}\n---\n")
    scan()
    found = ask(lambda client: client.complete(PAGE, {"name": "id", "value": "many"})).completion
    assert (len(found.values), found.total, found.has_more) == (100, 120, True)


@pytest.mark.parametrize(
    ("ref", "name", "error_code"),
    [
        (PromptReference(name="no"), "x", "not_found"),
        (ResourceTemplateReference(uri="file:///{x}"), "x", "not_found"),
        (PAGE, "path", "invalid_param_value"),
        (PAGE, "level", "invalid_param_value"),
        (PRIME, "path", "invalid_param_value"),
        (PromptReference(name="ask"), "title", "invalid_param_value"),
    ],
    ids=["prompt", "template", "variable", "of another", "of a source", "argument"],
)
def test_what_can_not_be_completed_is_refused(ref, name, error_code):
    code, data = refused(lambda client: client.complete(ref, {"name": name, "value": ""}))
    assert (code, data["error_code"]) == (-32602, error_code)
