"""What a person gets once, on the first start: a starter vault, an account and a token."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User

from synapse.logs import redact
from vault.errors import ErrorCode, SynapseError
from vault.starter_vault import create_starter
from wiki.models import Scope, Token
from wiki.tokens import create_token

#: What decides which index an agent's own process opens and what it may do there, beside vault and data folder.
_PASSED_ON: Final = (
    "SYNAPSE_EXCLUDE",
    "SYNAPSE_WRITE_DIRS",
    "SYNAPSE_READ_ONLY",
    "SYNAPSE_MAX_PAGE_BYTES",
    "SYNAPSE_HISTORY_DAYS",
    "SYNAPSE_HISTORY_MAX_MB",
    "SYNAPSE_DRAFTS_DAYS",
    "SYNAPSE_AGENT_MAY_DECIDE",
    "SYNAPSE_DECISIONS_PER_MINUTE",
    "SYNAPSE_RESEARCH_BACKEND",
    "SYNAPSE_REVIEW_CAP",
    "SYNAPSE_TELEMETRY",
    "DATABASE_URL",
    "EMBEDDINGS_ENABLED",
    "EMBEDDER",
    "EMBEDDER_URL",
    "EMBEDDER_MODEL",
    "EMBEDDER_PATH",
    "QDRANT_URL",
    "QDRANT_COLLECTION",
)


@dataclass(frozen=True)
class Credentials:
    """Shown once on the terminal and never again."""

    username: str
    password: str
    token: str


def ensure_root() -> bool:
    """Make the starter vault when no vault is named and none is there; True if it was made.

    Raises ``not_found`` when SYNAPSE_VAULT names a folder that does not exist: a mistyped or unmounted path
    must not silently become an empty vault.
    """
    root: Path = settings.SYNAPSE_VAULT
    if root.is_dir():
        return False
    if os.environ.get("SYNAPSE_VAULT", "").strip():
        raise SynapseError(
            ErrorCode.NOT_FOUND,
            f"SYNAPSE_VAULT names {root}, which is not a folder. Mount or correct it, "
            "or make a new vault there with `manage.py init_vault`.",
        )
    create_starter(root)
    return True


def first_credentials() -> Credentials | None:
    """A superuser and a read token, if the database has no user yet; else None."""
    if User.objects.exists():
        return None
    password = secrets.token_urlsafe(12)
    User.objects.create_superuser("admin", password=password)
    token = "" if Token.objects.exists() else create_token(name="first start", scope=Scope.READ)[1]
    return Credentials("admin", password, token)


def stdio_environment() -> dict[str, str]:
    """The variables with which ``manage.py mcp``, started by an agent, works on the same vault and index as this one.

    The password of a database is left out: this is printed at each start.
    """
    given = {name: redact(os.environ[name]) for name in _PASSED_ON if os.environ.get(name)}
    return {"SYNAPSE_VAULT": str(settings.SYNAPSE_VAULT), "SYNAPSE_DATA": str(settings.SYNAPSE_DATA), **given}
