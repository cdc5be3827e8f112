"""What ends a start: tools that are not those of the table, and names that lead nowhere."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from mcpapi import aliases, http, profiles, registry, self_test, server, stdio
from mcpapi.aliases import Alias
from mcpapi.profiles import EXPECTED, Profile
from mcpapi.registry import BY_NAME, TOOLS, VISIBLE_TOOL_CAP
from mcpapi.self_test import unresolved


def run(profile: Profile = Profile.HTTP, mode: str = "false") -> None:
    asyncio.run(self_test.self_test(server.build(profile, mode)))


def fault() -> str:
    with pytest.raises(RuntimeError) as caught:
        run()
    return str(caught.value)


@pytest.mark.parametrize("hidden", [None, [], ["get_page", "surface_health"]], ids=["unset", "empty", "named"])
@pytest.mark.parametrize(("profile", "mode"), [*EXPECTED], ids=str)
def test_it_passes_for_every_profile_whatever_is_hidden(settings, profile, mode, hidden):
    settings.SYNAPSE_HIDDEN_TOOLS = hidden
    run(profile, mode)


def shows(monkeypatch: pytest.MonkeyPatch, *tools: registry.ToolSpec) -> None:
    monkeypatch.setattr(server, "listed", lambda *_: list(tools))


def test_it_names_what_is_missing_not_expected_and_twice(monkeypatch):
    shows(monkeypatch, BY_NAME["get_page"], BY_NAME["get_page"], BY_NAME["write_page"])
    said = fault()
    for part in ("not expected: write_page", "twice: get_page", "missing: get_graph_neighborhood"):
        assert part in said


def test_a_hidden_tool_that_is_listed_is_not_expected(monkeypatch, settings):
    shown = [tool for tool in TOOLS if tool.name in EXPECTED[Profile.HTTP, "false"]]
    shows(monkeypatch, *shown)
    assert "not expected: surface_health" in fault()
    settings.SYNAPSE_HIDDEN_TOOLS = []
    run()


def test_an_unknown_name_among_the_hidden_ends_the_start(settings):
    settings.SYNAPSE_HIDDEN_TOOLS = ["surface_health", "get_pages"]
    assert "hidden by SYNAPSE_HIDDEN_TOOLS and unknown: get_pages" in fault()


@pytest.mark.parametrize(
    "changes",
    [
        {"input_schema": {"type": "object", "properties": {"title": {"type": "strange"}}}},
        {"input_schema": {"type": "string"}},
        {"output_schema": {"type": "object", "oneOf": {}}},
    ],
    ids=["type", "no object", "output"],
)
def test_a_schema_that_is_none_ends_the_start(monkeypatch, changes):
    broken = replace(BY_NAME["get_page"], **changes)
    rest = [BY_NAME[name] for name in profiles.READ_TOOLS if name != "get_page"]
    shows(monkeypatch, broken, *rest)
    assert "with a schema that is none: get_page" in fault()


@pytest.mark.parametrize(
    ("alias", "removed"),
    [
        (Alias(name="old", target="nowhere"), {}),
        (Alias(name="old", target="get_page", use_instead="nowhere"), {}),
        (Alias(name="old", target="get_page", renamed={"name": "titel"}), {}),
        (Alias(name="old", target="get_page", forced={"titel": "x"}), {}),
        (Alias(name="old", target="get_page", prefixed={"title": "x"}), {}),
        (Alias(name="get_page", target="search_wiki"), {}),
        (Alias(name="old", target="get_page"), {"old": "Use get_page."}),
    ],
    ids=["target", "use_instead", "renamed", "forced", "prefixed", "a tool's name", "removed"],
)
def test_an_alias_that_leads_nowhere_is_named(monkeypatch, alias, removed):
    assert unresolved([alias], BY_NAME, removed) == {alias.name}
    monkeypatch.setattr(aliases, "ALIASES", (*aliases.ALIASES, alias))
    monkeypatch.setattr(aliases, "REMOVED", removed)
    assert f"aliases that lead nowhere: {alias.name}" in fault()


def test_an_old_name_has_one_meaning_and_a_removed_one_is_no_tool():
    twice = [Alias(name="old", target="get_page"), Alias(name="old", target="search_wiki")]
    assert unresolved(twice, BY_NAME, {}) == {"old"}
    assert unresolved([], BY_NAME, {"get_page": "Use it."}) == {"get_page"}
    assert unresolved([Alias(name="old", target="get_page", renamed={"name": "title"})], BY_NAME, {}) == set()


def test_more_visible_tools_than_the_cap_end_the_start(monkeypatch):
    many = tuple(replace(TOOLS[0], name=f"tool_{number}") for number in range(VISIBLE_TOOL_CAP + 1))
    monkeypatch.setattr(self_test, "TOOLS", many)
    assert f"{VISIBLE_TOOL_CAP} is the cap" in fault()


def test_no_door_opens_with_a_fault(settings):
    settings.SYNAPSE_HIDDEN_TOOLS = ["get_pages"]

    async def over_http() -> None:
        async with http.McpApp().lifespan():
            pytest.fail("it serves")

    with pytest.raises(RuntimeError, match="get_pages"):
        asyncio.run(over_http())
    with pytest.raises(RuntimeError, match="get_pages"):
        asyncio.run(stdio._serve(server.build(Profile.STDIO)))
