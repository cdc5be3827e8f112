"""manage.py check explains what is wrong with the vault's folder or with a knob."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.core.checks import registry

from vault.checks import check_knobs, check_root
from vault.current import current_vault


def ids(found) -> list[str]:  # type: ignore[no-untyped-def]
    """The ids of the messages, each of which says what to do and names no absolute path."""
    for message in found:
        assert message.hint
        assert "/tmp" not in message.msg + message.hint
    return sorted(message.id.removeprefix("synapse.") for message in found)


def test_a_good_vault_has_nothing_to_say(vault_folder) -> None:  # type: ignore[no-untyped-def]
    assert ids(check_root()) == []
    assert ids(check_knobs()) == []


def test_checks_are_registered_and_only_knobs_stop_our_commands() -> None:
    tags = {check: set(check.tags) for check in registry.registry.get_checks()}  # type: ignore[attr-defined]
    assert "vault" in tags[check_root]
    assert "synapse" not in tags[check_root]
    assert "synapse" in tags[check_knobs]


def test_a_missing_root(tmp_path: Path, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_DATA = tmp_path
    settings.SYNAPSE_VAULT = tmp_path / "vault"
    assert ids(check_root()) == ["W001"]
    settings.SYNAPSE_VAULT = tmp_path / "mine"
    assert ids(check_root()) == ["E001"]
    settings.SYNAPSE_VAULT.write_text("")
    assert ids(check_root()) == ["E002"]


def test_the_root_of_the_file_system_is_no_vault(tmp_path: Path, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_DATA = tmp_path
    settings.SYNAPSE_VAULT = Path("/")
    assert ids(check_root()) == ["E006"]
    (tmp_path / "link").symlink_to("/")
    settings.SYNAPSE_VAULT = tmp_path / "link"
    assert ids(check_root()) == ["E006"]


def test_a_secret_that_can_be_guessed(vault_folder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SECRET_KEY = "x" * 31
    assert ids(check_knobs()) == ["E021"]


def test_a_variable_that_could_not_be_read(vault_folder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.UNREADABLE_SETTINGS = {"SYNAPSE_PORT": "a whole number"}
    (found,) = check_knobs()
    assert ids([found]) == ["E020"]
    assert "SYNAPSE_PORT" in found.msg


@pytest.mark.parametrize(("forbidden", "expected"), [(os.R_OK, "E003"), (os.W_OK, "W002")])
def test_a_root_without_access(
    vault_folder,
    monkeypatch: pytest.MonkeyPatch,
    forbidden: int,
    expected: str,  # type: ignore[no-untyped-def]
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode, **named: not mode & forbidden)
    assert ids(check_root()) == [expected]


def test_a_damaged_state_folder(vault_folder, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    state = current_vault().state
    (state / "vault-id").write_text("garbage")
    assert ids(check_root()) == ["E005"]
    state.rename(tmp_path / "state")
    assert ids(check_root()) == []
    state.symlink_to(tmp_path / "state")
    assert ids(check_root()) == ["E004"]


def test_data_inside_the_vault(vault_folder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_DATA = vault_folder.root / "var"
    assert ids(check_root()) == ["W003"]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("MCP_REMOTE_WRITE_ENABLED", "yes", "E010"),
        ("MCP_REMOTE_WRITE_ENABLED", "staged", None),
        ("SYNAPSE_RESEARCH_BACKEND", "claude", "E022"),
        ("SYNAPSE_RESEARCH_BACKEND", "agent", None),
        ("SYNAPSE_PORT", 0, "E011"),
        ("SYNAPSE_PORT", 65536, "E011"),
        ("SYNAPSE_SETTLE_SECONDS", -1.0, "E012"),
        ("SYNAPSE_SETTLE_SECONDS", float("nan"), "E012"),
        ("SYNAPSE_MAX_PAGE_BYTES", 0, "E013"),
        ("SYNAPSE_HISTORY_DAYS", 29, "E014"),
        ("SYNAPSE_DRAFTS_DAYS", 29, "E031"),
        ("SYNAPSE_HISTORY_MAX_MB", -1, "E032"),
        ("SYNAPSE_HISTORY_MAX_MB", 0, None),
        ("SYNAPSE_BODY_SECONDS", -1.0, "E023"),
        ("SYNAPSE_BODY_SECONDS", float("inf"), "E023"),
        ("SYNAPSE_RATE_PER_MINUTE", -1, "E024"),
        ("SYNAPSE_STRANGERS_PER_MINUTE", -60, "E024"),
        ("EMBEDDER", "nanoe6", "W004"),
        ("EMBEDDER", "/etc/passwd", "W004"),
        ("EMBEDDER", "openai", "W005"),
        ("EMBEDDER", "bge-m3", "W005"),
        ("SYNAPSE_EMBED_THREADS", 0, "E027"),
        ("SYNAPSE_WRITE_DIRS", ["wiki", "../x"], "E015"),
        ("SYNAPSE_WRITE_DIRS", ["/wiki"], "E015"),
        ("SYNAPSE_WRITE_DIRS", ["wiki/", "notes/agents"], None),
        ("SYNAPSE_EXCLUDE", ["/"], "E016"),
        ("SYNAPSE_EXCLUDE", ["", "Archive", "**/x.md"], None),
        ("SYNAPSE_PUBLIC_URL", "wiki.example.org", "E017"),
        ("SYNAPSE_PUBLIC_URL", "https://wiki.example.org:x", "E017"),
        ("SYNAPSE_PUBLIC_URL", "https://wiki.example.org/", None),
        ("SYNAPSE_ALLOWED_ORIGINS", ["https://a.example.org", "a.example.org"], "E018"),
        ("SYNAPSE_ALLOWED_ORIGINS", ["https://a.example.org/"], "E018"),
        ("SYNAPSE_ALLOWED_ORIGINS", ["http://a.example.org:8080"], None),
    ],
)
def test_wrong_knobs(settings, name: str, value: object, expected: str | None) -> None:  # type: ignore[no-untyped-def]
    settings.EMBEDDINGS_ENABLED = True
    setattr(settings, name, value)
    assert ids(check_knobs()) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://127.0.0.1:11434/v1", []),
        ("https://h/api?x=1", []),
        ("127.0.0.1:11434", ["W005"]),
        ("ftp://h", ["W005"]),
    ],
)
def test_the_endpoint_of_an_embedder(settings, address: str, expected: list[str]) -> None:  # type: ignore[no-untyped-def]
    settings.EMBEDDINGS_ENABLED, settings.EMBEDDER = True, "openai"
    settings.EMBEDDER_URL, settings.EMBEDDER_MODEL = address, "m"
    assert ids(check_knobs()) == expected
