"""The vault that the settings name."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from django.conf import settings

from vault.root import Vault


def current_vault() -> Vault:
    """The vault of SYNAPSE_VAULT; one object a process for each combination of root, data folder and exclusions."""
    return _vault(settings.SYNAPSE_VAULT, settings.SYNAPSE_DATA, tuple(settings.SYNAPSE_EXCLUDE))


def forget_vault() -> None:
    """Begin anew at the next call, as after a change of settings."""
    _vault.cache_clear()


@lru_cache(maxsize=8)
def _vault(root: str | Path, data: str | Path, exclude: tuple[str, ...]) -> Vault:
    return Vault(Path(root), Path(data), exclude=exclude)
