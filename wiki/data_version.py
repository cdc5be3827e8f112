"""The version of the index: how often it has changed. It is in every search answer and in /status."""

from __future__ import annotations

from typing import Final

from wiki.models import VaultState

#: The key of the one row of :class:`wiki.models.VaultState`.
STATE_PK: Final = 1


def data_version() -> int:
    """How often the index has changed; 0 before the first scan."""
    return VaultState.objects.filter(pk=STATE_PK).values_list("data_version", flat=True).first() or 0
