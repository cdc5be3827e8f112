"""The index is a function of the vault: kept up to date through many changes it equals one made anew."""

from __future__ import annotations

import os

import pytest

from tests.conftest import VaultFolder
from tests.wiki.index import rebuilt_index, whole_index
from tests.wiki.person import Person
from wiki.models import Page
from wiki.sync import scan, sync_paths

pytestmark = pytest.mark.django_db

OPERATIONS = int(os.environ.get("SYNAPSE_TEST_OPERATIONS", "500"))
SEEDS = int(os.environ.get("SYNAPSE_TEST_SEEDS", "5"))
LONGEST_PAUSE = 40


@pytest.mark.parametrize("seed", range(SEEDS))
def test_after_many_changes_the_index_equals_one_made_anew(vault_folder: VaultFolder, seed: int) -> None:
    """P9. Half of the changes are told by path, as the watcher does, half are found by scans."""
    person = Person(vault_folder, seed)
    told: set[str] = set()
    pause = 1
    for _ in range(OPERATIONS):
        told |= person.act()
        pause -= 1
        if not pause:
            by_path = person.chance.random() < 0.5
            report = sync_paths(told, allow_deletions=True) if by_path else scan(allow_deletions=True)
            assert report.stopped is None
            told, pause = set(), person.chance.randint(1, LONGEST_PAUSE)
    scan(allow_deletions=True)
    assert Page.objects.live().count() > 10
    kept = whole_index()
    assert rebuilt_index() == kept
