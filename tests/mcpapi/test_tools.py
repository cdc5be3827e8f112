"""The tools on a real vault, called through the protocol within this process."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from mcpapi import server
from mcpapi.profiles import Profile
from mcpapi.registry import BY_NAME
from wiki.models import Page
from wiki.sync import scan

CONCEPT = {"type": "concept", "title": "Tides", "sources": ["raw/sources/sea.txt"], "lang": "en"}


@pytest.fixture
def sources(vault_folder):
    vault_folder.write("raw/sources/sea.txt", "The moon pulls the sea.\n" * 3)
    return vault_folder


@pytest.fixture
def vault(sources, transactional_db):
    """With an index, in rows that the tools' threads see: a test's own transaction would hide them."""
    vault_folder = sources
    vault_folder.write("wiki/entities/moon.md", "---\ntype: entity\ntitle: Moon\n---\nIt pulls the sea. [[Earth]]\n")
    vault_folder.write("wiki/entities/earth.md", "---\ntype: entity\ntitle: Earth\n---\nHas one [[moon]].\n")
    vault_folder.write("Notes/twin.md", "---\ntitle: Twin\n---\nFirst.\n")
    vault_folder.write("Other/twin.md", "---\ntitle: Twin\n---\nSecond.\n")
    vault_folder.write("schema.md", "Write plainly.\n")
    scan()
    return vault_folder


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """The tool's object; it fits the tool's output schema, whichever way it went."""

    async def run() -> Any:
        async with Client(server.build(Profile.STDIO).server, mode="legacy") as client:
            return await client.session.call_tool(name, arguments)

    result = asyncio.run(run())
    Draft202012Validator(BY_NAME[name].output_schema).validate(result.structured_content)
    assert result.is_error is ("error_code" in result.structured_content)
    return result.structured_content


def test_pages_are_listed_by_title_and_in_parts(vault):
    everything = call("list_pages")
    assert [page["title"] for page in everything["result"]] == ["Earth", "Moon", "Twin", "Twin"]
    assert (everything["total"], everything["next_cursor"]) == (4, None)
    assert {page["relevance_score"] for page in everything["result"]} == {0.0}
    assert [page["title"] for page in call("list_pages", type="entity")["result"]] == ["Earth", "Moon"]
    first = call("list_pages", limit=3)
    rest = call("list_pages", limit=3, cursor=first["next_cursor"])
    assert first["result"] + rest["result"] == everything["result"]
    assert call("list_pages", cursor="made-up")["error_code"] == "invalid_cursor"


def test_search_says_how_it_searched(vault):
    answer = call("search_wiki", query="what pulls the sea", k=3)
    assert answer["result"][0]["title"] == "Moon"
    assert 0 < answer["result"][0]["relevance_score"] <= 1
    assert (answer["mode"], answer["degraded"]) == ("lexical", None)
    assert call("search_wiki", query="xylophone")["result"] == []
    assert len(call("search_wiki", query="the", k=0)["result"]) <= 1


def test_a_page_is_shown_whole_with_what_is_needed_to_write_it(vault):
    page = call("get_page", title="Moon")
    assert page["content"] == "It pulls the sea. [[Earth]]\n"
    assert page["frontmatter"] == {"type": "entity", "title": "Moon"}
    assert page["path"] == "wiki/entities/moon.md"
    assert page["content_hash"] == hashlib.sha256(vault.read(page["path"])).hexdigest()
    assert [link["title"] for link in page["backlinks"]] == ["Earth"]
    assert call("get_page", title="moon")["error_code"] == "page_not_found"
    assert call("get_page", title="")["error_code"] == "page_not_found"


def test_a_path_decides_between_pages_of_one_title(vault):
    refused = call("get_page", title="Twin")
    assert (refused["error_code"], refused["paths"]) == ("ambiguous_title", ["Notes/twin.md", "Other/twin.md"])
    assert call("get_page", title="Twin", path="Other/twin.md")["content"] == "Second.\n"
    assert call("get_page", title="", path="Notes/twin.md")["content"] == "First.\n"
    assert call("get_page", title="Moon", path="Notes/twin.md")["error_code"] == "page_not_found"


def test_a_path_decides_whose_neighbourhood_is_meant(vault):
    refused = call("get_graph_neighborhood", title="Twin")
    assert (refused["error_code"], "`path`" in refused["error"]) == ("ambiguous_title", True)
    for path in refused["paths"]:
        around = call("get_graph_neighborhood", title="Twin", path=path)
        assert around["center"] == str(Page.objects.get(path=path).uid)


def test_a_deleted_page_is_not_found(vault):
    (vault.root / "wiki/entities/moon.md").unlink()
    scan(allow_deletions=True)
    assert call("get_page", title="Moon")["error_code"] == "page_not_found"


def test_the_neighbourhood_is_clamped_to_two_steps(vault):
    around = call("get_graph_neighborhood", title="Moon", depth=5)
    moon = str(Page.objects.get(title="Moon").uid)
    assert around["center"] == moon
    assert {node["title"]: node["depth"] for node in around["nodes"]} == {"Moon": 0, "Earth": 1}
    (edge,) = around["edges"]
    assert edge["links"] == 2
    assert around["truncated"] is False


@pytest.mark.parametrize("path", ["raw/sources/sea.txt", "sea.txt"])
def test_a_source_is_read_by_either_path_and_from_any_character(sources, path):
    source = call("read_source_file", path=path, offset=4)
    assert source["content"].startswith("moon pulls")
    assert (source["path"], source["size_bytes"], source["truncated"]) == ("raw/sources/sea.txt", 72, False)


@pytest.mark.parametrize(
    "path",
    [
        "../wiki/entities/moon.md",
        "raw/sources/../../wiki/entities/moon.md",
        "/etc/passwd",
        "..\\moon.md",
        "raw/sources/a\0b",
        "raw/sources/\ud800.md",
        "x" * 300,
        "",
        ".",
    ],
)
def test_a_path_outside_is_refused_alike(sources, path):
    # the newest revision: its transport lets half a surrogate pair through
    async def run() -> Any:
        surface = server.build(Profile.STDIO)
        return await surface.calls.answer("read_source_file", {"path": path}, server.LOCAL)

    assert asyncio.run(run()).structured_content["error_code"] == "path_not_allowed"


def test_a_source_that_is_not_there_is_not_found(sources):
    missing = call("read_source_file", path="land.txt")
    assert (missing["error_code"], "`resources/list`" in missing["error"]) == ("source_not_found", True)


def test_a_page_is_made_changed_and_protected(vault):
    made = call("write_page", title="Tides", content="Pulled by [[Moon]].", frontmatter=CONCEPT)
    assert made["created"] is True
    assert made["path"] == "wiki/concepts/tides.md"
    assert (made["title"], made["type"], made["relevance_score"]) == ("Tides", "concept", 0.0)
    assert made["content_hash"] == hashlib.sha256(vault.read(made["path"])).hexdigest()

    changed = call("write_page", title="Tides", content="Twice a day.", frontmatter=CONCEPT, origin_source="log")
    assert (changed["created"], changed["id"]) == (False, made["id"])
    assert call("get_page", title="Tides")["frontmatter"]["sources"] == ["raw/sources/sea.txt", "log"]

    vault.write(made["path"], vault.read(made["path"]) + b"A person adds this.\n")
    refused = call("write_page", title="Tides", content="Gone?", frontmatter=CONCEPT)
    assert refused["error_code"] == "base_required"
    stale = call("write_page", title="Tides", content="Gone?", frontmatter=CONCEPT, base_hash=made["content_hash"])
    assert stale["error_code"] == "conflict"
    now = hashlib.sha256(vault.read(made["path"])).hexdigest()
    assert refused["content_hash"] == stale["content_hash"] == now
    assert b"A person adds this." in vault.read(made["path"])
    fresh = call("write_page", title="Tides", content="Merged.", frontmatter=CONCEPT, base_hash=now)
    assert fresh["created"] is False


BAD_WRITES: list[tuple[dict[str, Any], str]] = [
    ({"frontmatter": {"type": "concept", "title": "Tides", "lang": "en"}}, "invalid_frontmatter"),
    ({"frontmatter": {**CONCEPT, "title": "Other"}}, "invalid_frontmatter"),
    ({"frontmatter": {**CONCEPT, "type": "schema"}}, "invalid_frontmatter"),
    ({"frontmatter": {**CONCEPT, "sources": []}, "origin_source": "log"}, "invalid_frontmatter"),
    ({"title": "schema", "frontmatter": {**CONCEPT, "title": "schema"}}, "path_not_allowed"),
    ({"title": "Twin", "frontmatter": {**CONCEPT, "title": "Twin"}}, "ambiguous_title"),
    ({"title": "Twin", "frontmatter": {**CONCEPT, "title": "Twin"}, "path": "Notes/twin.md"}, "path_not_allowed"),
    ({"content": "a\0b"}, "invalid_content"),
]


def test_a_write_that_breaks_a_rule_changes_nothing(vault):
    before = {path: vault.read(path) for path in vault.files()}
    good = {"title": "Tides", "content": "c", "frontmatter": CONCEPT}
    answers = [call("write_page", **{**good, **arguments})["error_code"] for arguments, _ in BAD_WRITES]
    assert answers == [code for _, code in BAD_WRITES]
    assert {path: vault.read(path) for path in vault.files()} == before


def test_read_only_refuses_writing_and_lets_reading_be(vault, settings):
    settings.SYNAPSE_READ_ONLY = True
    assert call("write_page", title="Tides", content="c", frontmatter=CONCEPT)["error_code"] == "read_only"
    assert call("get_page", title="Moon")["title"] == "Moon"


def test_a_rescan_is_asked_for_once_and_found_waiting_after_that(vault):
    first, second = call("trigger_source_rescan"), call("trigger_source_rescan")
    assert (first["started"], second["started"]) == (True, False)
    assert first["job"] == second["job"]
    assert first["running"] is False
