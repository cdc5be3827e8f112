"""What `manage.py check` says of a static token that could be guessed or never be sent, and of names of tools."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcpapi import checks
from mcpapi.checks import check_static_token, check_tools
from mcpapi.registry import TOOLS, VISIBLE_TOOL_CAP


@pytest.mark.parametrize("token", ["", "a-static-token-of-sufficient-length"])
def test_no_token_or_a_long_one_is_fine(settings, token):
    settings.MCP_AUTH_TOKEN = token
    assert check_static_token(None) == []


@pytest.mark.parametrize("token", ["secret", "x" * 19, "schlüssel" * 5, "a b" * 10, "x" * 30 + "\n"])
def test_a_weak_or_unsendable_token_is_named_without_showing_it(settings, token):
    settings.MCP_AUTH_TOKEN = token
    (found,) = check_static_token(None)
    assert found.id == "synapse.W101"
    assert token not in f"{found.msg} {found.hint}"


def test_settings_that_name_tools_name_some_that_exist(settings):
    settings.SYNAPSE_HIDDEN_TOOLS = ["get_page", "surface_health"]
    settings.SYNAPSE_TIMEOUTS = {"search_wiki": 30.0}
    assert check_tools(None) == []
    settings.SYNAPSE_HIDDEN_TOOLS = ["get_page", "get_pages"]
    settings.SYNAPSE_TIMEOUTS = {"search": 30.0}
    found = {message.id: message.msg for message in check_tools(None)}
    assert "get_pages" in found["synapse.E102"] and "get_page," not in found["synapse.E102"]
    assert "search" in found["synapse.E103"]


def test_more_visible_tools_than_the_cap_are_named(monkeypatch):
    many = tuple(replace(TOOLS[0], name=f"tool_{number}") for number in range(VISIBLE_TOOL_CAP + 1))
    monkeypatch.setattr(checks, "TOOLS", many)
    (found,) = check_tools(None)
    assert found.id == "synapse.E101" and "tool_15" in found.msg
