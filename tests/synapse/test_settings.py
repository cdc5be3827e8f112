"""What the environment means, read in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def read(name: str, cwd: Path, **environment: str) -> str:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("SYNAPSE_", "MCP_", "DATABASE"))}
    done = subprocess.run(
        [sys.executable, "-c", f"from synapse import settings; print(settings.{name})"],
        cwd=cwd,
        env={**clean, "PYTHONPATH": str(ROOT), "SYNAPSE_SECRET_KEY": "x" * 40, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_vault_is_none_and_not_the_folder_one_stands_in(empty: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert read("SYNAPSE_VAULT", tmp_path, SYNAPSE_DATA=str(data), SYNAPSE_VAULT=empty) == str(data / "vault")
    assert read("SYNAPSE_DATA", tmp_path, SYNAPSE_DATA=empty) == str(ROOT / "var")


def test_a_named_vault_is_taken(tmp_path: Path) -> None:
    assert read("SYNAPSE_VAULT", tmp_path, SYNAPSE_VAULT=str(tmp_path / "notes")) == str(tmp_path / "notes")


@pytest.mark.parametrize(
    ("given", "hidden"),
    [("", "[]"), (" ", "[]"), ("get_page", "['get_page']"), (" get_page , ,list_pages,", "['get_page', 'list_pages']")],
)
def test_no_hidden_tools_are_others_than_those_of_an_unset_variable(given: str, hidden: str, tmp_path: Path) -> None:
    assert read("SYNAPSE_HIDDEN_TOOLS", tmp_path, SYNAPSE_DATA=str(tmp_path)) == "None"
    assert read("SYNAPSE_HIDDEN_TOOLS", tmp_path, SYNAPSE_DATA=str(tmp_path), SYNAPSE_HIDDEN_TOOLS=given) == hidden


@pytest.mark.parametrize("given", ["0", "-1", "nan", "inf", "-inf", "five", "1_0s", "1e999"])
def test_a_time_limit_that_is_none_is_named_and_not_taken(given: str, tmp_path: Path) -> None:
    variables = {"SYNAPSE_DATA": str(tmp_path), "SYNAPSE_TIMEOUT_GET_PAGE": given, "SYNAPSE_TIMEOUT_LIST_PAGES": "0.5"}
    assert read("SYNAPSE_TIMEOUTS", tmp_path, **variables) == "{'list_pages': 0.5}"
    wrong = read("UNREADABLE_SETTINGS", tmp_path, **variables)
    assert wrong == "{'SYNAPSE_TIMEOUT_GET_PAGE': 'a number of seconds above 0'}"


SWITCHES = {
    "SYNAPSE_READ_ONLY": "True",
    "SYNAPSE_DEBUG": "False",
    "SYNAPSE_AGENT_MAY_DECIDE": "True",
    "SYNAPSE_TELEMETRY": "True",
    "SYNAPSE_TELEMETRY_IS_TEST": "False",
    "SYNAPSE_OAUTH_ENABLED": "True",
    "EMBEDDINGS_ENABLED": "True",
}


def test_a_mistyped_switch_is_named_and_lets_nobody_write(tmp_path: Path) -> None:
    """What holds until somebody mends it is the default, and for SYNAPSE_READ_ONLY that nothing is written."""
    names = ", ".join(f"settings.{name.removeprefix('SYNAPSE_DEBUG') or 'DEBUG'}" for name in SWITCHES)
    given = dict.fromkeys(SWITCHES, "ture")
    said = read(f"UNREADABLE_SETTINGS, {names}", tmp_path, SYNAPSE_DATA=str(tmp_path), **given)
    assert said == f"{dict.fromkeys(SWITCHES, 'true or false')} {' '.join(SWITCHES.values())}"


@pytest.mark.parametrize(
    ("given", "meant"), [("TRUE", "True"), (" on ", "True"), ("0", "False"), ("No", "False"), ("", "False")]
)
def test_words_for_yes_and_no(given: str, meant: str, tmp_path: Path) -> None:
    assert read("SYNAPSE_READ_ONLY", tmp_path, SYNAPSE_DATA=str(tmp_path), SYNAPSE_READ_ONLY=given) == meant


@pytest.mark.parametrize("given", ["Wiki", "a b", "@wiki", "a/b", "-a", "a--b", "知识"])
def test_a_scope_that_no_id_can_have_is_named_and_not_taken(given: str, tmp_path: Path) -> None:
    variables = {"SYNAPSE_DATA": str(tmp_path), "SYNAPSE_PRIME_SCOPE": given}
    assert read("SYNAPSE_PRIME_SCOPE, list(settings.UNREADABLE_SETTINGS)", tmp_path, **variables) == (
        "wiki ['SYNAPSE_PRIME_SCOPE']"
    )


def test_a_scope_of_ids_may_be_named(tmp_path: Path) -> None:
    assert (
        read("SYNAPSE_PRIME_SCOPE", tmp_path, SYNAPSE_DATA=str(tmp_path), SYNAPSE_PRIME_SCOPE=" my-notes2 ")
        == "my-notes2"
    )
