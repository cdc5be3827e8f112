"""Shared fixtures: each test has a vault of its own in a temporary folder, never the user's."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


@dataclass
class VaultFolder:
    """A vault on disk that a test fills by hand, as a person with an editor would."""

    root: Path

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file below the root, making its folders."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def files(self) -> list[str]:
        """All files below the root but those of .synapse, sorted."""
        found = (file.relative_to(self.root) for file in self.root.rglob("*") if file.is_file())
        return sorted(str(path) for path in found if path.parts[0] != ".synapse")


@pytest.fixture
def vault_folder(tmp_path: Path, settings) -> Iterator[VaultFolder]:  # type: ignore[no-untyped-def]
    """An empty vault (raw/sources, wiki/) with an id, named by the settings for the length of the test."""
    from vault.current import current_vault, forget_vault

    root = tmp_path / "vault"
    (root / "raw" / "sources").mkdir(parents=True)
    (root / "wiki").mkdir()
    settings.SYNAPSE_VAULT = root
    settings.SYNAPSE_DATA = tmp_path / "data"
    settings.SYNAPSE_DATA.mkdir()
    forget_vault()
    current_vault().ensure_id()
    yield VaultFolder(root)
    forget_vault()


@pytest.fixture(autouse=True)
def no_words_of_others(request: pytest.FixtureRequest, django_db_blocker) -> Iterator[None]:  # type: ignore[no-untyped-def]
    """Empty the words index behind a test that commits: it is no model's table, so Django leaves it as it is."""
    yield
    marker = request.node.get_closest_marker("django_db")
    if "transactional_db" in request.fixturenames or (marker and marker.kwargs.get("transaction")):
        from django.db import connection

        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute("DELETE FROM wiki_words")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with cases and vaults that is not part of the project; tests on it skip where it is absent."""
    if not SHARED.is_dir():
        reason = "the shared cases are not on this machine"
        if os.environ.get("SYNAPSE_TEST_REQUIRE_SHARED"):
            pytest.fail(reason)
        pytest.skip(reason)
    return SHARED


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of this machine at which nobody answers."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets it, and it refuses
        yield holder.getsockname()[1]
