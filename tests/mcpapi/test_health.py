"""The hidden tool that says whether the surface works: on every profile, and when it does not."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

import pytest
from django.db import DatabaseError
from jsonschema import Draft202012Validator

from mcpapi.callers import LOCAL, Caller
from mcpapi.calls import Calls
from mcpapi.contract_files import contract_name
from mcpapi.profiles import EXPECTED, Profile, listed
from mcpapi.registry import BY_NAME
from wiki import jobs
from wiki.models import Page, VaultState
from wiki.sync import scan

READER = Caller(name="token:test", scope="read", door="mcp-http")


def health(profile: Profile = Profile.STDIO, mode: str = "false", caller: Caller = LOCAL) -> dict[str, Any]:
    async def run() -> Any:
        running = Calls(profile, mode)
        try:
            return await running.answer("surface_health", {}, caller)
        finally:
            await running.close()

    result = asyncio.run(run())
    assert not result.is_error
    Draft202012Validator(BY_NAME["surface_health"].output_schema).validate(result.structured_content)
    return result.structured_content


@pytest.fixture
def vault(vault_folder, transactional_db):
    vault_folder.write("wiki/entities/moon.md", "---\ntype: entity\ntitle: Moon\n---\nIt pulls the sea.\n")
    scan()
    jobs.drain()
    return vault_folder


def test_a_surface_that_works_says_so(vault):
    assert health() == {
        "ok": True,
        "tools": [tool.name for tool in listed(Profile.STDIO, "false", LOCAL)],
        "contract": contract_name(),
        "database": True,
        "vault": True,
        "search_mode": "lexical",
        "backlog": {"jobs": 0, "embedding": 0},
    }


@pytest.mark.parametrize(("profile", "mode"), [*EXPECTED], ids=str)
def test_it_is_called_on_every_profile_by_whoever_may_read(vault, settings, profile, mode):
    settings.MCP_REMOTE_WRITE_ENABLED = mode
    caller = READER if profile is Profile.HTTP else LOCAL
    assert health(profile, mode, caller)["tools"] == [tool.name for tool in listed(profile, mode, caller)]


def test_what_waits_is_counted(vault):
    jobs.enqueue("rescan")
    assert health()["backlog"]["jobs"] == 1


def test_meaning_counts_as_soon_as_a_page_has_its_vectors(vault, settings):
    settings.EMBEDDINGS_ENABLED = True
    body = health()
    assert (body["search_mode"], body["backlog"]["embedding"]) == ("lexical", 1)
    Page.objects.update(lead_hash="ab")
    assert health()["search_mode"] == "hybrid"


def test_a_vault_that_is_gone_is_named(vault):
    shutil.rmtree(vault.root)
    body = health()
    assert (body["ok"], body["database"], body["vault"]) == (False, True, False)


def test_a_database_that_fails_is_named_and_is_no_failure_of_the_tool(vault, monkeypatch):
    def refuse(**_: Any) -> Any:
        raise DatabaseError("secret")

    monkeypatch.setattr(VaultState.objects, "filter", refuse)
    body = health()
    assert (body["ok"], body["database"], body["search_mode"], body["backlog"]) == (False, False, None, None)
    assert "secret" not in str(body)
