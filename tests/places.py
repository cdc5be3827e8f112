"""A vault with a secret outside of it, for tests of what stays inside."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vault.disk.confined import Mechanism, best_mechanism
from vault.errors import ErrorCode, SynapseError
from vault.root import Vault

CANARY = b"the canary must never be seen"
MECHANISMS = [Mechanism.WALK] if best_mechanism() is Mechanism.WALK else list(Mechanism)


class Place:
    """A vault in a folder, with a secret outside of it."""

    def __init__(self, folder: Path, mechanism: Mechanism) -> None:
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "canary.md").write_bytes(CANARY)
        self.root = folder / "vault"
        (self.root / "raw" / "sources").mkdir(parents=True)
        self.write("raw/a.md", b"inside")
        self.vault = Vault(self.root, folder / "data", mechanism=mechanism)

    def write(self, path: str, data: bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def outside_files(self) -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in self.outside.rglob("*") if file.is_file()}


def answer(vault: Vault, path: str) -> tuple[ErrorCode, str]:
    with pytest.raises(SynapseError) as caught:
        vault.read(path)
    return caught.value.code, caught.value.message


def raising(error: Exception) -> Callable[..., Any]:
    """A stand-in for a call that fails."""

    def call(*arguments: object, **named: object) -> None:
        raise error

    return call


def open_descriptors() -> int:
    """How many this process holds; 0 where the system does not tell."""
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
