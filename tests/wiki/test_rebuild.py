"""The index is a function of the vault: kept up to date through many changes it equals one made anew."""

from __future__ import annotations

import os

import pytest

from tests.conftest import VaultFolder
from tests.wiki.index import rebuilt_index, whole_index
from tests.wiki.person import Person, keep_up_with
from wiki.models import Page

pytestmark = pytest.mark.django_db

OPERATIONS = int(os.environ.get("SYNAPSE_TEST_OPERATIONS", "500"))
SEEDS = int(os.environ.get("SYNAPSE_TEST_SEEDS", "5"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_after_many_changes_the_index_equals_one_made_anew(vault_folder: VaultFolder, seed: int) -> None:
    """P9, by what happens outside alone; tests/promises has it with services beside."""
    person = Person(vault_folder, seed)
    keep_up_with(person, OPERATIONS)
    assert Page.objects.live().count() > 10
    kept = whole_index()
    assert rebuilt_index() == kept
