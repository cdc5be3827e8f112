"""Which tools each way in has, lists and refuses."""

from __future__ import annotations

import pytest

from mcpapi.callers import LOCAL, Caller
from mcpapi.profiles import EXPECTED, HIDDEN_TOOLS, Profile, listed, tool_for
from mcpapi.registry import BY_NAME
from mcpapi.tools import reviewing, writing
from mcpapi.write_mode import remote_write_mode
from vault.errors import ErrorCode, SynapseError

READS = {"search_wiki", "get_page", "list_pages", "get_graph_neighborhood", "list_reviews", "read_source_file"}
READS |= {"prime_query", "prime_resolve", "prime_intent", "prime_validate", "prime_compile"}
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
    counts = {key: len(names - HIDDEN_TOOLS) for key, names in EXPECTED.items()}
    assert counts == {
        (Profile.STDIO, "false"): 15,
        (Profile.STDIO, "true"): 15,
        (Profile.STDIO, "staged"): 15,
        (Profile.HTTP, "false"): 11,
        (Profile.HTTP, "staged"): 13,
        (Profile.HTTP, "true"): 15,
    }


def test_a_tool_that_is_hidden_is_called_on_every_profile():
    for profile, mode in EXPECTED:
        assert "surface_health" not in {tool.name for tool in listed(profile, mode, LOCAL)}
        assert tool_for("surface_health", profile, mode, caller("read")).name == "surface_health"


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        (None, READS | WRITES),
        ([], READS | WRITES | {"surface_health"}),
        (["get_page"], (READS | WRITES | {"surface_health"}) - {"get_page"}),
    ],
    ids=["unset", "empty", "named"],
)
def test_the_setting_says_what_is_hidden(settings, hidden, shown):
    settings.SYNAPSE_HIDDEN_TOOLS = hidden
    assert {tool.name for tool in listed(Profile.STDIO, "true", LOCAL)} == shown
    assert tool_for("get_page", Profile.STDIO, "true", LOCAL).name == "get_page"


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


def test_where_writing_is_off_both_ways_to_turn_it_on_are_named():
    with pytest.raises(SynapseError) as raised:
        tool_for("propose_review", Profile.HTTP, "false", LOCAL)
    said = raised.value.message
    assert all(part in said for part in ("MCP_REMOTE_WRITE_ENABLED=true", "=staged", "`manage.py mcp`")), said


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
