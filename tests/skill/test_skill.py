"""The agent skill is well formed, is found by installers, and names only what is there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import get_commands
from skills_ref import read_properties, validate

from mcpapi import schemas
from mcpapi.callers import LOCAL
from mcpapi.registry import BY_NAME, TOOLS
from mcpapi.validation import validated
from reviews.actions import ACTIONS
from reviews.services.bulk import MAX_IDS
from tests.conftest import VaultFolder
from vault.errors import ErrorCode
from wiki.graph.neighborhood import MAX_NODES
from wiki.prime.asking.budgeting import MAX_BUDGET
from wiki.services.sources import MAX_CHARACTERS
from wiki.sync import scan

ROOT = Path(__file__).resolve().parents[2]
SKILL = ROOT / "skill" / "synapse-wiki"
BODY = (SKILL / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)[2]
TEXTS = {file.name: file.read_text(encoding="utf-8") for file in sorted(SKILL.rglob("*.md"))}
PORTABLE = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}


def test_it_is_valid_by_the_published_rules() -> None:
    assert validate(SKILL) == []
    properties = read_properties(SKILL)
    assert properties.name == "synapse-wiki"
    assert properties.metadata == {"version": settings.VERSION}
    assert set(properties.to_dict()) <= PORTABLE


def test_what_is_loaded_at_once_is_short_and_the_rest_is_linked() -> None:
    assert len(TEXTS["SKILL.md"].splitlines()) < 500
    assert len(TEXTS["SKILL.md"]) / 4 < 5_000
    links = re.findall(r"\]\(([^)]+)\)", TEXTS["SKILL.md"])
    assert {Path(link).name for link in links} == set(TEXTS) - {"SKILL.md"}
    assert all((SKILL / link).is_file() for link in links)


def quoted(text: str) -> list[str]:
    """All that stands in backticks, one line each."""
    return re.findall(r"`([^`\n]+)`", text)


def property_names(schema: Any) -> set[str]:
    """The names of all properties in a schema, however deep."""
    if isinstance(schema, list):
        return {name for item in schema for name in property_names(item)}
    if not isinstance(schema, dict):
        return set()
    below = {name for value in schema.values() for name in property_names(value)}
    own = schema.get("properties")
    return below | set(own) if isinstance(own, dict) else below


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_name_with_an_underscore_is_a_tool_an_argument_a_field_or_a_code(name: str) -> None:
    fields = {field for tool in TOOLS for field in property_names([tool.input_schema, tool.output_schema])}
    known = set(BY_NAME) | fields | property_names(schemas.STAGED_WRITE_OUT) | {code.value for code in ErrorCode}
    said = {word for part in quoted(TEXTS[name]) for word in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", part)}
    said -= {"mcp__synapse__"}
    assert said - known == set()


def test_every_visible_tool_is_in_its_table_and_no_other() -> None:
    table = BODY.split("## Tools")[1].split("## ")[0]
    named = re.findall(r"^\| .* \| `([a-z_]+)` \|$", table, re.MULTILINE)
    assert len(named) == len(set(named))
    assert set(named) == {tool.name for tool in TOOLS if not tool.hidden}
    only_reading = named[: len([tool for tool in TOOLS if not tool.writes and not tool.hidden])]
    assert {BY_NAME[tool].writes for tool in only_reading} == {False}
    words = ["six", "seven", "eight", "nine", "ten", "eleven"]
    assert f"Over HTTP only the first {words[len(only_reading) - 6]} may be there" in table


def routes(text: str) -> set[tuple[str, str]]:
    return set(re.findall(r"\b(GET|POST|PUT|PATCH|DELETE) (/[\w{}/-]+)", text))


def test_every_route_is_in_the_description_of_the_api() -> None:
    paths = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))["paths"]
    there = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    said = {route for text in TEXTS.values() for route in routes(text)}
    assert len(said) > 15
    assert said - there == set()


def test_every_tool_has_its_route() -> None:
    rows = [line for line in TEXTS["rest.md"].splitlines() if line.startswith("| `")]
    assert {quoted(row)[0] for row in rows} == {tool.name for tool in TOOLS if not tool.hidden}
    assert all(routes(row) for row in rows)


def test_every_command_is_there() -> None:
    said = {name for text in TEXTS.values() for name in re.findall(r"manage\.py (\w+)", text)}
    assert said <= set(get_commands())


def test_every_action_and_kind_of_item_is_there() -> None:
    decided = TEXTS["reviews.md"].split("## Deciding")[1].split("## ")[0]
    actions = re.findall(r"^\| `([a-z-]+)` \|", decided, re.MULTILINE)
    assert actions == ["action", *(action.name for action in ACTIONS)]
    assert set(schemas.ITEM_TYPES) <= set(quoted(TEXTS["reviews.md"]))
    assert set(schemas.STATUS_FILTERS) <= set(quoted(TEXTS["reviews.md"]))
    assert set(schemas.PAGE_TYPES) <= set(quoted(TEXTS["writing.md"]))


def test_the_caps_are_those_of_the_schemas() -> None:
    table = BODY.split("## Caps")[1].split("## ")[0]
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE))
    said = {what: [int(number) for number in re.findall(r"\d+", cap.replace(",", ""))] for what, cap in rows.items()}
    k = schemas.SEARCH_WIKI_IN["properties"]["k"]
    assert said == {
        "what": [],  # the heading
        "results of one `search_wiki` (`k`)": [k["maximum"], k["default"]],
        "pages of one `list_pages` (`limit`)": [schemas.LIST_PAGES_IN["properties"]["limit"]["maximum"]],
        "steps in `get_graph_neighborhood` (`depth`)": [
            schemas.NEIGHBORHOOD_IN["properties"]["depth"]["maximum"],
            MAX_NODES,
        ],
        "characters of one `read_source_file`": [MAX_CHARACTERS],
        "items of one `list_reviews` (`limit`)": [schemas.LIST_REVIEWS_IN["properties"]["limit"]["maximum"]],
        "items of one `propose_review`": [schemas.MAX_PROPOSED],
        "tokens of one `prime_query` or `prime_resolve`": [MAX_BUDGET],
        "ids of one bulk decision over REST": [MAX_IDS],
    }


@pytest.mark.parametrize(
    "rule",
    [
        "Only Synapse.",
        "Read before you write.",
        "Ask before you write.",
        "Cite.",
        "Pages and sources are material.",
        "When unsure, propose.",
        "When writing is off",
    ],
)
def test_the_rules_an_agent_must_keep_are_said(rule: str) -> None:
    assert re.search(rf"^\d\. \*\*{re.escape(rule)}", BODY, re.MULTILINE)


@pytest.mark.parametrize(
    ("workflow", "tools"),
    [
        ("Ask the wiki", ["search_wiki", "get_page", "read_source_file"]),
        ("Work within a budget", ["prime_resolve", "prime_query", "prime_validate", "prime_compile"]),
        ("Ingest a source", ["read_source_file", "search_wiki", "get_page", "propose_review"]),
        ("File an answer back", ["search_wiki", "write_page"]),
        ("Triage reviews", ["list_reviews", "resolve_review"]),
        ("Tidy", ["list_pages", "list_reviews", "propose_review"]),
    ],
)
def test_each_workflow_goes_through_tools_and_reads_before_it_writes(workflow: str, tools: list[str]) -> None:
    text = BODY.split(f"## {workflow}\n")[1].split("\n## ")[0]
    used = [name for name in quoted(text) if name in BY_NAME]
    assert set(tools) <= set(used)
    assert not BY_NAME[used[0]].writes
    if any(BY_NAME[name].destructive for name in used):
        assert re.search(r"Wait for a yes|with their yes", text)


@pytest.mark.django_db
def test_the_house_rules_are_read_as_it_says(vault_folder: VaultFolder) -> None:
    for name in ("schema.md", "purpose.md"):
        vault_folder.write(name, f"The {name} of this house.\n")
    scan()
    told = re.findall(r'`path: "([^"]+)"`', BODY)
    assert told == ["schema.md", "purpose.md"]
    for path in told:
        arguments = validated(BY_NAME["get_page"].input_schema, {"title": "", "path": path})
        assert BY_NAME["get_page"].handler(LOCAL, **arguments)["content"] == f"The {path} of this house.\n"


def test_installers_find_the_skill_and_take_nothing_else_with_it() -> None:
    marketplace = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8"))
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    (entry,) = marketplace["plugins"]
    assert {"name", "owner", "plugins"} <= set(marketplace)
    # A plugin's whole folder is copied, so it must not be the one in which a vault may lie.
    assert (ROOT / entry["source"]).resolve() == SKILL.parent
    for base, manifest in ((ROOT / entry["source"], entry), (ROOT, plugin)):
        assert [(base / path).resolve() for path in manifest["skills"]] == [SKILL]
        assert all(path.startswith("./") for path in manifest["skills"])
    for key in ("name", "version", "description", "keywords"):
        assert entry[key] == plugin[key]
    assert (plugin["name"], plugin["version"]) == (SKILL.name, settings.VERSION)
    assert f"{plugin['name']}@{marketplace['name']}" in (ROOT / "skill" / "README.md").read_text(encoding="utf-8")
