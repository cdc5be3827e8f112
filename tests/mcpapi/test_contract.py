"""The published contract and docs/mcp.md are what the code makes, on every machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from jsonschema import Draft202012Validator

from mcpapi import contract, drift
from mcpapi.contract import as_text, build_contract
from mcpapi.contract_files import CONTRACT_VERSION, contract_path, read_contract
from mcpapi.document import document, document_path
from mcpapi.profiles import EXPECTED, HIDDEN_TOOLS, Profile
from mcpapi.registry import BY_NAME
from vault.errors import ErrorCode

PUBLISHED = Path(settings.BASE_DIR) / "contract" / "synapse_mcp_v1.json"


def test_the_contract_check():
    """Nothing changes unnoticed: after a change that is meant, `manage.py mcp_contract` and `--docs` write both."""
    found = drift.drift()
    assert found.ok, "\n".join([*map(str, found.changes), *found.problems, found.advice])


def test_the_file_is_of_its_version_with_keys_in_order():
    assert contract_path() == PUBLISHED
    text = PUBLISHED.read_text(encoding="utf-8")
    read = json.loads(text)
    assert read["contract"] == PUBLISHED.stem
    assert text == json.dumps(read, indent=2, sort_keys=True, ensure_ascii=False) + "\n" == as_text(build_contract())


def test_it_pins_what_callers_rely_on():
    read = read_contract()
    assert read is not None
    assert set(read["tools"]) == set(BY_NAME)
    for name, tool in read["tools"].items():
        spec = BY_NAME[name]
        assert (tool["title"], tool["description"], tool["hidden"]) == (spec.title, spec.description, spec.hidden)
        assert (tool["inputSchema"], tool["outputSchema"]) == (spec.input_schema, spec.output_schema)
        assert tool["annotations"]["readOnlyHint"] is not spec.writes
        Draft202012Validator.check_schema(tool["inputSchema"])
    assert read["error_codes"] == sorted(ErrorCode)
    assert set(read["error_statuses"]) == set(ErrorCode)
    assert read["error_envelope"]["required"] == ["error", "error_code"]
    assert read["variants"]["http_staged"]["write_page"]["title"] == "Propose a page"
    assert read["aliases"]["read_page"]["use_instead"] == "get_page"
    assert read["aliases"]["prime_search"] == {
        "target": "prime_query",
        "renamed": {"query": "scope"},
        "prefixed": {"scope": "focus:"},
        "forced": {},
        "use_instead": "prime_query",
    }
    ways = {"stdio": (Profile.STDIO, "false"), "http": (Profile.HTTP, "false")}
    ways |= {"http_staged": (Profile.HTTP, "staged"), "http_write": (Profile.HTTP, "true")}
    assert set(read["profiles"]) == set(ways)
    for name, way in ways.items():
        listed = read["profiles"][name]
        assert set(listed["visible"]) == EXPECTED[way] - HIDDEN_TOOLS
        assert set(listed["hidden"]) == EXPECTED[way] & HIDDEN_TOOLS


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [sys.executable, "manage.py", "mcp_contract", *arguments],
        cwd=settings.BASE_DIR,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_neither_a_database_nor_a_setting_has_a_say_in_it(tmp_path):
    hostile = {
        "DATABASE_URL": "postgres://nobody:wrong@127.0.0.1:1/nothing",
        "SYNAPSE_VAULT": str(tmp_path / "no" / "vault"),
        "SYNAPSE_DATA": str(tmp_path / "no" / "data"),
        "SYNAPSE_HIDDEN_TOOLS": "get_page,no_such_tool",
        "SYNAPSE_TIMEOUT_GET_PAGE": "never",
        "SYNAPSE_READ_ONLY": "true",
        "MCP_REMOTE_WRITE_ENABLED": "perhaps",
        "EMBEDDER": "bge-m3",
        "EMBEDDER_PATH": str(tmp_path / "no" / "model"),
        "QDRANT_URL": "http://127.0.0.1:1",
        "SYNAPSE_PORT": "none",
    }
    printed = command("--json", **hostile)
    assert printed.returncode == 0, printed.stderr
    assert json.loads(printed.stdout) == json.loads(PUBLISHED.read_text(encoding="utf-8"))
    checked = command("--check", **hostile)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert not (tmp_path / "no" / "data" / "index.sqlite3").exists()


@pytest.fixture
def elsewhere(tmp_path, monkeypatch, settings) -> Path:
    """The contract and the page in a folder of the test's own, as they are published."""
    (tmp_path / "contract").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "contract" / PUBLISHED.name).write_text(PUBLISHED.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "docs" / "mcp.md").write_text(document(), encoding="utf-8")
    settings.BASE_DIR = tmp_path
    return tmp_path


def changed(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Have the code differ from what was published, in one tool."""
    tools = tuple(replace(tool, **changes) if tool.name == "get_page" else tool for tool in contract.TOOLS)
    monkeypatch.setattr(contract, "TOOLS", tools)


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = 0
    try:
        call_command("mcp_contract", *arguments)
    except CommandError as error:
        code, advice = error.returncode, str(error)
        return code, capsys.readouterr().out + advice
    except SystemExit as error:
        code = int(error.code or 0)
    return code, capsys.readouterr().out


def test_a_difference_is_told_and_fails_the_check(elsewhere, monkeypatch, capsys):
    assert run("--check", capsys=capsys) == (
        0,
        "The tools are those of the contract, and docs/mcp.md tells of them.\n",
    )
    changed(monkeypatch, description="Read.")
    code, said = run("--check", capsys=capsys)
    assert code == 1
    assert "additive: tools.get_page.description: worded anew" in said
    assert '+      "description": "Read.",' in said
    assert "manage.py mcp_contract" in said and "CONTRACT_VERSION" not in said
    code, said = run("--check", "--json", capsys=capsys)
    assert (code, json.loads(said)["changes"][0]["kind"]) == (1, "additive")


def test_an_addition_is_written_and_a_breaking_change_is_not(elsewhere, monkeypatch, capsys):
    file = elsewhere / "contract" / PUBLISHED.name
    before = file.read_text(encoding="utf-8")
    changed(monkeypatch, input_schema={**BY_NAME["get_page"].input_schema, "required": ["title", "path"]})
    code, said = run(capsys=capsys)
    assert code == 1 and "breaking: tools.get_page.input.path: required now" in said and "CONTRACT_VERSION" in said
    assert file.read_text(encoding="utf-8") == before
    assert run("--check", capsys=capsys)[0] == 1
    monkeypatch.setattr(contract, "TOOLS", tuple(BY_NAME.values()))
    changed(monkeypatch, title="Read one page")
    assert run(capsys=capsys)[0] == 0
    assert json.loads(file.read_text(encoding="utf-8"))["tools"]["get_page"]["title"] == "Read one page"
    assert run("--check", capsys=capsys)[0] == 0


def test_a_new_version_lies_beside_the_old_one(elsewhere, monkeypatch):
    old, new = contract_path(1), contract_path(2)
    assert (old.name, new.name) == ("synapse_mcp_v1.json", "synapse_mcp_v2.json")
    assert CONTRACT_VERSION == 1
    monkeypatch.setattr(drift, "CONTRACT_VERSION", 2)
    old.unlink()
    assert "contract/synapse_mcp_v1.json is gone: a version that was published stays." in drift.drift().problems


@pytest.mark.parametrize(
    "text",
    ["{", "", "null\n", "{}", "[1]", '{"tools": 5}'],
    ids=["no JSON", "empty", "nothing", "no keys", "a list", "no tools"],
)
def test_a_file_that_is_no_contract_is_said_to_be_none(elsewhere, capsys, text):
    contract_path().write_text(text, encoding="utf-8")
    assert run("--check", capsys=capsys)[0] == 1


def test_a_file_that_is_missing_or_edited_is_named(elsewhere, capsys):
    contract_path().unlink()
    code, said = run("--check", capsys=capsys)
    assert code == 1 and "synapse_mcp_v1.json is not there" in said
    assert run(capsys=capsys)[0] == 0
    contract_path().write_text(json.dumps(build_contract()), encoding="utf-8")
    code, said = run("--check", capsys=capsys)
    assert code == 1 and "somebody edited it" in said


def test_the_page_tells_of_each_tool_and_each_of_its_parameters(elsewhere, capsys):
    assert document_path().read_text(encoding="utf-8") == document()
    text = document()
    for tool in BY_NAME.values():
        assert f"### {tool.name}: {tool.title}" in text and tool.description in text
        for parameter in tool.input_schema["properties"]:
            assert f"| `{parameter}` |" in text
    document_path().write_text("nothing", encoding="utf-8")
    code, said = run("--check", capsys=capsys)
    assert code == 1 and "docs/mcp.md tells of other tools" in said
    assert run("--docs", capsys=capsys)[0] == 0
    assert run("--check", capsys=capsys)[0] == 0
