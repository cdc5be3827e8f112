"""Which tools each way in has, lists and refuses."""

from __future__ import annotations

import asyncio

import pytest

from mcpapi import server
from mcpapi.callers import LOCAL, Caller
from mcpapi.profiles import EXPECTED, Profile, listed, remote_write_mode, tool_for
from mcpapi.registry import BY_NAME
from mcpapi.tools import reviewing, writing
from vault.errors import ErrorCode, SynapseError

READS = {"search_wiki", "get_page", "list_pages", "get_graph_neighborhood", "list_reviews", "read_source_file"}
WRITES = {"write_page", "trigger_source_rescan", "resolve_review", "propose_review"}
PROPOSES = {"write_page", "propose_review"}


def caller(scope: str) -> Caller:
    return Caller(name="token:test", scope=scope, door="mcp-http")


@pytest.mark.parametrize(
    ("profile", "mode", "scope", "names"),
    [
        (Profile.STDIO, "false", "write", READS | WRITES),
        (Profile.STDIO, "true", "write", READS | WRITES),
        (Profile.HTTP, "false", "read", READS),
        (Profile.HTTP, "false", "write", READS),
        (Profile.STDIO, "staged", "write", READS | WRITES),
        (Profile.HTTP, "staged", "read", READS),
        (Profile.HTTP, "staged", "propose", READS | PROPOSES),
        (Profile.HTTP, "staged", "write", READS | PROPOSES),
        (Profile.HTTP, "true", "read", READS),
        (Profile.HTTP, "true", "propose", READS | {"propose_review"}),
        (Profile.HTTP, "true", "write", READS | WRITES),
    ],
)
def test_each_way_in_lists_its_tools(profile, mode, scope, names):
    tools = [tool.name for tool in listed(profile, mode, caller(scope))]
    assert sorted(tools) == sorted(names)


def test_the_table_has_the_numbers_it_should():
    counts = {key: len(names) for key, names in EXPECTED.items()}
    assert counts == {
        (Profile.STDIO, "false"): 10,
        (Profile.STDIO, "true"): 10,
        (Profile.STDIO, "staged"): 10,
        (Profile.HTTP, "false"): 6,
        (Profile.HTTP, "staged"): 8,
        (Profile.HTTP, "true"): 10,
    }


DISABLED, FORBIDDEN = ErrorCode.WRITE_DISABLED, ErrorCode.FORBIDDEN


@pytest.mark.parametrize(
    ("name", "mode", "scope", "code"),
    [
        *((name, "false", scope, DISABLED) for name in sorted(WRITES) for scope in ("read", "propose", "write")),
        *((name, "staged", scope, DISABLED) for name in sorted(WRITES - PROPOSES) for scope in ("read", "write")),
        *((name, "staged", "read", FORBIDDEN) for name in sorted(PROPOSES)),
        *((name, "true", "read", FORBIDDEN) for name in sorted(WRITES)),
        *((name, "true", "propose", FORBIDDEN) for name in sorted(WRITES - {"propose_review"})),
    ],
)
def test_a_tool_that_is_not_listed_says_why_it_is_not_there(name, mode, scope, code):
    with pytest.raises(SynapseError) as caught:
        tool_for(name, Profile.HTTP, mode, caller(scope))
    assert caught.value.code is code


@pytest.mark.parametrize("scope", ["propose", "write"])
def test_staged_write_page_files_whatever_the_token_and_says_so(scope):
    staged = tool_for("write_page", Profile.HTTP, "staged", caller(scope))
    assert staged.handler is reviewing.stage_page
    assert staged.input_schema == BY_NAME["write_page"].input_schema
    assert staged.description.startswith("Propose") and "Nothing is written" in staged.description
    assert tool_for("write_page", Profile.HTTP, "true", caller("write")).handler is writing.write_page
    assert tool_for("write_page", Profile.STDIO, "staged", LOCAL).handler is writing.write_page


@pytest.mark.parametrize("name", ["", "write_pages", "SEARCH_WIKI", "search_wiki ", "\ud800"])
def test_an_unknown_tool_is_answered_with_the_known_ones(name):
    with pytest.raises(SynapseError) as caught:
        tool_for(name, Profile.HTTP, "false", caller("read"))
    assert caught.value.code is ErrorCode.UNKNOWN_TOOL
    assert set(caught.value.repair["tools"]) == READS


@pytest.mark.parametrize("value", ["", "yes", "1", "TRUE ", "true,staged"])
def test_a_setting_that_means_nothing_counts_as_off(settings, value):
    settings.MCP_REMOTE_WRITE_ENABLED = value
    assert remote_write_mode() == "false"


@pytest.mark.parametrize(("profile", "mode"), list(EXPECTED))
def test_the_self_test_passes_for_every_profile(profile, mode):
    asyncio.run(server.self_test(server.build(profile, mode)))


def test_the_self_test_names_a_tool_that_should_not_be_there(monkeypatch):
    surface = server.build(Profile.HTTP, "false")
    monkeypatch.setattr(server, "listed", lambda *_: [BY_NAME["get_page"], BY_NAME["get_page"], BY_NAME["write_page"]])
    with pytest.raises(RuntimeError) as caught:
        asyncio.run(server.self_test(surface))
    for fault in ("not expected: write_page", "twice: get_page", "missing: get_graph_neighborhood"):
        assert fault in str(caught.value)
