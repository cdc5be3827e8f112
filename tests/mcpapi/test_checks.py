"""A static token that could be guessed, or never be sent, is named by `manage.py check`."""

from __future__ import annotations

import pytest

from mcpapi.checks import check_static_token


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
