"""The bakery, scanned."""

from __future__ import annotations

import pytest

from tests.conftest import VaultFolder
from tests.wiki.prime import bakery
from wiki.sync import scan


@pytest.fixture
def bread(db: None, vault_folder: VaultFolder) -> VaultFolder:
    """The small vault about bread, with its domain, in the index."""
    bakery.fill(vault_folder, domain=True)
    scan()
    return vault_folder
