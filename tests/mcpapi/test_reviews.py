"""The tools of the review queue, and write_page where writes are staged, called through the protocol."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from mcpapi import server
from mcpapi.callers import Caller
from mcpapi.profiles import Profile, tool_for
from mcpapi.registry import BY_NAME
from reviews.models import ReviewItem
from reviews.services import Finding, file
from tests.conftest import VaultFolder
from vault.history import Author
from wiki.models import Page
from wiki.sync import scan

SCAN = Author("synapse", "scan")
CONCEPT = {"type": "concept", "title": "Tides", "sources": ["raw/sources/sea.txt"], "lang": "en"}


@pytest.fixture
def vault(vault_folder: VaultFolder, transactional_db: None) -> VaultFolder:
    """With an index, in rows that the tools' threads see."""
    vault_folder.write("wiki/entities/moon.md", "---\ntype: entity\ntitle: Moon\nlang: en\n---\nSee [[Tides]].\n")
    scan()
    return vault_folder


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """The tool's object over stdio's profile; it fits the tool's output schema, whichever way it went."""

    async def run() -> Any:
        async with Client(server.build(Profile.STDIO).server, mode="legacy") as client:
            return await client.session.call_tool(name, arguments)

    return fitting(BY_NAME[name].output_schema, asyncio.run(run()))


def over_http(mode: str, name: str, scope: str = "write", **arguments: Any) -> dict[str, Any]:
    """The tool's object as a token of this scope gets it over HTTP."""
    caller = Caller(name="token:test", scope=scope, door="mcp-http")

    async def run() -> Any:
        surface = server.build(Profile.HTTP, mode)
        try:
            return await surface.calls.answer(name, arguments, caller)
        finally:
            await surface.calls.close()

    result = asyncio.run(run())
    schema = BY_NAME[name].output_schema
    if not result.is_error:
        schema = tool_for(name, Profile.HTTP, mode, caller).output_schema
    return fitting(schema, result)


def fitting(schema: dict[str, Any], result: Any) -> dict[str, Any]:
    body: dict[str, Any] = result.structured_content
    Draft202012Validator(schema).validate(body)
    assert result.is_error is ("error_code" in body)
    return body


def filed(count: int = 1, **values: Any) -> list[ReviewItem]:
    found = [
        Finding(
            **{"item_type": "missing-page", "rule": "missing-page", "target": f"t{n:03}", "title": f"T{n}", **values}
        )
        for n in range(count)
    ]
    return file(findings=found, origin="rule", author=SCAN).filed


def missing_tides() -> ReviewItem:
    asker = Page.objects.get(title="Moon")
    (item,) = filed(target="tides", title="Tides", proposed_title="Tides", references=[asker], rests_on=[asker.pk])
    return item


# --- list_reviews ---------------------------------------------------------------------------------


def test_the_list_is_bounded_and_goes_on(vault):
    items = filed(103)
    first = call("list_reviews", limit=999)
    assert [item["id"] for item in first["result"]] == [str(item.pk) for item in items[:100]]
    assert first["total"] == 103
    rest = call("list_reviews", limit=999, cursor=first["next_cursor"])
    assert [item["id"] for item in rest["result"]] == [str(item.pk) for item in items[100:]]
    assert rest["next_cursor"] is None
    assert len(call("list_reviews")["result"]) == 50
    assert [len(call("list_reviews", limit=limit)["result"]) for limit in (0, -5, 1)] == [1, 1, 1]


def test_the_list_is_of_what_is_pending_unless_asked_otherwise(vault):
    waiting, dismissed, doubt = filed(1)[0], filed(1, target="d")[0], filed(1, target="c", item_type="confirm")[0]
    call("resolve_review", id=str(dismissed.pk), action="dismiss")

    def ids(**arguments: Any) -> list[str]:
        return [item["id"] for item in call("list_reviews", **arguments)["result"]]

    assert ids() == ids(status=None) == ids(status="pending") == [str(waiting.pk), str(doubt.pk)]
    assert ids(status="dismissed") == [str(dismissed.pk)]
    assert ids(status="resolved") == []
    assert ids(status="all") == [str(waiting.pk), str(dismissed.pk), str(doubt.pk)]
    assert ids(item_type="confirm") == [str(doubt.pk)]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"status": "open"}, "invalid_param_value"),
        ({"status": "created"}, "invalid_param_value"),
        ({"item_type": "page"}, "invalid_param_value"),
        ({"limit": "50"}, "invalid_param_type"),
        ({"limit": None}, "invalid_param_type"),
        ({"cursor": "made-up"}, "invalid_cursor"),
        ({"order": "rank"}, "invalid_param_value"),
    ],
)
def test_a_list_that_is_asked_for_wrongly_says_so(vault, arguments, code):
    assert call("list_reviews", **arguments)["error_code"] == code


# --- resolve_review -------------------------------------------------------------------------------


def test_an_item_is_decided_once(vault):
    item = filed()[0]
    first = call("resolve_review", id=str(item.pk), action="skip", note="not now")
    assert first["changed"] is True
    assert (first["item"]["status"], first["item"]["note"]) == ("skipped", "not now")
    assert (first["item"]["reviewed_by"], first["item"]["reviewed_via"]) == ("agent:mcp", "mcp-stdio")
    again = call("resolve_review", id=str(item.pk).upper(), action="skip", note="other words")
    assert again == {**first, "changed": False}
    other = call("resolve_review", id=str(item.pk), action="dismiss")
    assert (other["error_code"], other["status"]) == ("review_terminal", "skipped")


def test_create_writes_the_page_and_names_it(vault):
    item = missing_tides()
    answer = call("resolve_review", id=str(item.pk), action="approve")
    assert answer["item"]["status"] == "created"
    made = answer["item"]["created_page"]
    assert (made["title"], made["path"]) == ("Tides", "wiki/concepts/tides.md")
    page = call("get_page", title="Tides")
    assert page["id"] == made["id"]
    assert [link["title"] for link in page["backlinks"]] == ["Moon"]
    around = call("get_graph_neighborhood", title="Moon")
    assert {node["title"] for node in around["nodes"]} == {"Moon", "Tides"}
    assert call("search_wiki", query="tides stub")["result"][0]["title"] == "Tides"


def test_a_create_that_fails_leaves_the_item_pending_with_the_reason(vault):
    item = missing_tides()
    vault.write("wiki/concepts/other.md", "---\ntitle: Tides\n---\nHere first.\n")
    scan()
    refused = call("resolve_review", id=str(item.pk), action="create")
    assert refused["error_code"] == "conflict"
    (shown,) = call("list_reviews")["result"]
    assert (shown["status"], shown["failure"]) == ("pending", refused["error"])
    assert "wiki/concepts/tides.md" not in vault.files()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"action": "merge"}, "invalid_action"),
        ({"action": ""}, "invalid_action"),
        ({"action": "../skip"}, "invalid_action"),
        ({"action": "created"}, "invalid_action"),
        ({"action": ["skip"]}, "invalid_param_type"),
        ({"id": "7", "action": "skip"}, "review_not_found"),
        ({"id": "0d5b1a64-2f4f-4b5e-8f4e-0a2f6a3f3c11", "action": "skip"}, "review_not_found"),
        ({"id": 7, "action": "skip"}, "invalid_param_type"),
        ({"id": "7", "action": "merge"}, "invalid_action"),
        ({"note": "x" * 10_000, "action": "skip"}, "invalid_param_value"),
        ({}, "missing_required_params"),
    ],
)
def test_a_decision_that_is_none_says_why_and_changes_nothing(vault, arguments, code):
    item = filed()[0]
    answer = call("resolve_review", **{"id": str(item.pk), **arguments})
    assert answer["error_code"] == code
    if code == "invalid_action":
        assert "mark-resolved" in answer["error"]
        assert "create" in answer["actions"]
    item.refresh_from_db()
    assert item.status == "pending"


def test_an_action_that_does_not_fit_names_those_that_do(vault):
    item = filed(item_type="duplicate")[0]
    answer = call("resolve_review", id=str(item.pk), action="create")
    assert answer["error_code"] == "action_not_supported"
    assert "mark-resolved" in answer["supported"]


def test_decisions_can_be_kept_to_people_and_the_tool_stays_listed(vault, settings):
    settings.SYNAPSE_AGENT_MAY_DECIDE = False
    item = filed()[0]
    assert call("resolve_review", id=str(item.pk), action="skip")["error_code"] == "forbidden"
    assert over_http("true", "resolve_review", id=str(item.pk), action="skip")["error_code"] == "forbidden"
    assert call("propose_review", items=[{"item_type": "confirm", "title": "Is it so?"}])["filed"] == 1


def test_read_only_refuses_filing_and_decisions_and_lets_listing_be(vault, settings):
    item = filed()[0]
    settings.SYNAPSE_READ_ONLY = True
    assert call("resolve_review", id=str(item.pk), action="skip")["error_code"] == "read_only"
    assert call("propose_review", items=[{"item_type": "confirm", "title": "?"}])["error_code"] == "read_only"
    staged = over_http("staged", "write_page", title="Tides", content="c", frontmatter=CONCEPT)
    assert staged["error_code"] == "read_only"
    assert call("list_reviews")["total"] == 1


# --- propose_review -------------------------------------------------------------------------------


def test_what_is_proposed_is_filed_item_by_item(vault):
    items = [
        {"item_type": "contradiction", "title": "Two heights", "page": "Moon", "referenced_pages": ["Moon"]},
        {"item_type": "missing-page", "title": "No title"},
        {"item_type": "opinion", "title": "?"},
        "no object",
        {"item_type": "confirm", "title": "Is it so?", "colour": "red"},
        {"item_type": "missing-page", "title": "Tides are asked for", "proposed_title": "Tides"},
    ]
    answer = call("propose_review", items=items)
    assert (answer["filed"], answer["refreshed"], answer["refused"]) == (2, 0, 4)
    assert [entry["index"] for entry in answer["result"]] == [0, 1, 2, 3, 4, 5]
    codes = {entry["index"]: entry["error_code"] for entry in answer["result"] if entry["outcome"] == "refused"}
    assert codes == {
        1: "missing_required_params",
        2: "invalid_param_value",
        3: "invalid_param_type",
        4: "invalid_param_value",
    }
    waiting = {item["id"] for item in call("list_reviews")["result"]}
    assert waiting == {entry["id"] for entry in answer["result"] if "id" in entry}
    again = call("propose_review", items=[{**items[0], "rationale": "One page says 1 km, one 2 km."}])
    assert (again["filed"], again["refreshed"]) == (0, 1)
    assert again["result"][0]["id"] == answer["result"][0]["id"]


@pytest.mark.parametrize(
    ("items", "code"),
    [
        ([], "invalid_param_value"),
        ([{"item_type": "confirm", "title": f"T{n}"} for n in range(21)], "invalid_param_value"),
        ({"item_type": "confirm", "title": "T"}, "invalid_param_type"),
        ("confirm", "invalid_param_type"),
        ([{"item_type": "confirm", "title": "a\0b"}], "invalid_content"),
    ],
)
def test_too_many_items_or_none_are_refused_whole(vault, items, code):
    assert call("propose_review", items=items)["error_code"] == code
    assert ReviewItem.objects.count() == 0


# --- staged ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["propose", "write"])
def test_where_writes_are_staged_write_page_files_and_touches_nothing(vault, scope):
    before = {path: vault.read(path) for path in vault.files()}
    answer = over_http("staged", "write_page", scope, title="Tides", content="Twice a day.", frontmatter=CONCEPT)
    item = ReviewItem.objects.get()
    assert answer == {
        "staged": True,
        "review_id": str(item.pk),
        "title": "Tides",
        "type": "concept",
        "path": "wiki/concepts/tides.md",
        "base_hash": None,
    }
    assert (item.rule, item.filed_by, item.filed_via) == ("staged", "token:test", "mcp-http")
    assert {path: vault.read(path) for path in vault.files()} == before
    listed = over_http("staged", "list_reviews", scope)
    assert [shown["id"] for shown in listed["result"]] == [answer["review_id"]]

    for name, arguments in (
        ("resolve_review", {"id": str(item.pk), "action": "create"}),
        ("trigger_source_rescan", {}),
    ):
        assert over_http("staged", name, scope, **arguments)["error_code"] == "write_disabled"
    item.refresh_from_db()
    assert item.status == "pending"


def test_a_token_that_may_only_read_may_not_propose(vault):
    for mode in ("staged", "true"):
        answer = over_http(mode, "propose_review", "read", items=[{"item_type": "confirm", "title": "?"}])
        assert (answer["error_code"], answer["scope"]) == ("forbidden", "propose")
    assert over_http("staged", "write_page", "read", title="T", content="c", frontmatter=CONCEPT)["scope"] == "propose"
    assert over_http("true", "write_page", "propose", title="T", content="c", frontmatter=CONCEPT)["scope"] == "write"
    assert over_http("false", "propose_review", "write", items=[])["error_code"] == "write_disabled"
    assert ReviewItem.objects.count() == 0


def test_a_staged_change_of_a_page_somebody_else_wrote_needs_its_hash(vault):
    page = Page.objects.get(title="Moon")
    frontmatter = {**CONCEPT, "title": "Moon", "type": "entity"}
    change = {"title": "Moon", "content": "New.", "frontmatter": frontmatter}
    refused = over_http("staged", "write_page", "propose", **change)
    assert (refused["error_code"], refused["content_hash"]) == ("base_required", page.content_hash)
    staged = over_http("staged", "write_page", "propose", **change, base_hash=refused["content_hash"])
    assert staged["base_hash"] == page.content_hash
    assert call("resolve_review", id=staged["review_id"], action="create")["item"]["status"] == "created"
    assert call("get_page", title="Moon")["content"] == "New."


def test_over_stdio_write_page_writes_also_where_http_stages(vault, settings):
    settings.MCP_REMOTE_WRITE_ENABLED = "staged"
    made = call("write_page", title="Tides", content="Twice a day.", frontmatter=CONCEPT)
    assert made["created"] is True
    assert ReviewItem.objects.count() == 0
