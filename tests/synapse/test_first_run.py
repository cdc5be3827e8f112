"""What is handed on to an agent's own process, so that it works as the server does."""

from __future__ import annotations

import pytest

from synapse.first_run import stdio_environment


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SYNAPSE_AGENT_MAY_DECIDE", "false"),
        ("SYNAPSE_DECISIONS_PER_MINUTE", "5"),
        ("SYNAPSE_READ_ONLY", "true"),
        ("SYNAPSE_RESEARCH_BACKEND", "agent"),
        ("SYNAPSE_REVIEW_CAP", "7"),
        ("SYNAPSE_TELEMETRY", "false"),
        ("SYNAPSE_WRITE_DIRS", "wiki,notes"),
    ],
)
def test_what_it_may_do_there_holds_for_its_process_too(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line that is printed at the start is pasted as it is: what it leaves out falls back to its default."""
    monkeypatch.delenv(name, raising=False)
    assert name not in stdio_environment()
    monkeypatch.setenv(name, value)
    assert stdio_environment()[name] == value


def test_passwords_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://me:hushhush@localhost/wiki")
    monkeypatch.setenv("SYNAPSE_SECRET_KEY", "hushhush")
    monkeypatch.setenv("MCP_AUTH_TOKEN", "hushhush")
    assert "hushhush" not in str(stdio_environment())
