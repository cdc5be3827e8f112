"""How settings are read from the environment: folders, numbers, switches, and the key that is made where none is given.

What each variable is called, and its default, stands in :mod:`synapse.settings` alone.
"""

from __future__ import annotations

import math
import os
import secrets
from pathlib import Path
from typing import Any

import environ

env = environ.Env()

#: Variables whose value can't be read, with what is expected; their defaults hold until `check` has said so.
UNREADABLE_SETTINGS: dict[str, str] = {}


def folder(name: str, default: Path) -> Path:
    """A folder from the environment. Empty is unset: it must never mean the folder that a command was started in."""
    return Path(env.str(name, default="").strip() or default).expanduser().absolute()


def number(name: str, default: float) -> Any:
    """A number of the default's type from the environment."""
    try:
        return type(default)(env.str(name, default=str(default)))
    except ValueError:
        UNREADABLE_SETTINGS[name] = "a whole number" if isinstance(default, int) else "a number"
        return default


def switch(name: str, *, default: bool) -> bool:
    """True or false from the environment. Another word is named by `check`, and counts as what is safe: for a mistyped
    SYNAPSE_READ_ONLY=ture that is true, for anything else its default."""
    word = env.str(name, default="").strip().lower()
    if word in ("true", "on", "ok", "y", "yes", "1"):
        return True
    if word in ("false", "off", "n", "no", "0"):
        return False
    if word:
        UNREADABLE_SETTINGS[name] = "true or false"
        return name == "SYNAPSE_READ_ONLY" or default
    return default


def timeouts() -> dict[str, float]:
    """What follows SYNAPSE_TIMEOUT_, in lower case, and the seconds that it is set to."""
    prefix, found = "SYNAPSE_TIMEOUT_", {}
    for name in sorted(os.environ):
        if not name.startswith(prefix) or not os.environ[name].strip():
            continue
        try:
            seconds = float(os.environ[name])
        except ValueError:
            seconds = math.nan
        if 0 < seconds < math.inf:
            found[name.removeprefix(prefix).lower()] = seconds
        else:
            UNREADABLE_SETTINGS[name] = "a number of seconds above 0"
    return found


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def own_secret_key(place: Path) -> str:
    """A key made once and kept in a folder, readable by its owner only."""
    kept = place / "secret-key"
    if key := _kept_key(kept):
        return key
    made = secrets.token_urlsafe(50)
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept.unlink(missing_ok=True)  # an empty one is what a full disk leaves
        with open(kept, "x", encoding="ascii", opener=_owner_only) as file:
            file.write(made)
    except OSError:
        pass  # a disk that can't be written: the key lasts as long as this process. Or another start was first
    return _kept_key(kept) or made


def _kept_key(kept: Path) -> str:
    try:
        return kept.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
