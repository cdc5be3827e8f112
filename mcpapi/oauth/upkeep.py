"""What is done once an hour: expired codes and tokens go, and clients that nobody uses."""

from __future__ import annotations

from typing import Any

from oauth2_provider.models import clear_expired

from mcpapi.oauth.clients import forget_unused


def run_job(payload: dict[str, Any]) -> dict[str, Any]:
    """The job: how many clients were forgotten. Running it again changes nothing."""
    clear_expired()
    return {"clients_forgotten": forget_unused()}
