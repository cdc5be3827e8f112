"""The levels of a page are kept with its row, whoever writes it: the scan, the write path, or a newer Synapse."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.conftest import VaultFolder
from tests.wiki.index import rebuilt_index, whole_index
from tests.wiki.test_rebuild import Person
from vault.pages import parse_page
from wiki.models import AtomRelation, AtomRow, Page, VaultState
from wiki.prime.atoms.levels import Level, PageText, levels_of
from wiki.prime.atoms.reading import Atom, atoms, forget_atoms, level_texts
from wiki.prime.atoms.rows import RULES, fill_levels, levels_wait
from wiki.services import page_delete, page_move, page_restore, page_retitle
from wiki.sync import scan, sync_paths

pytestmark = pytest.mark.django_db

KEYS = ["requires", "related", "notes", "contract", "description", "version", "nested", "lifecycle"]
VALUES: list[Any] = [
    '"[[Ada]]"',
    "[one, 机器]",
    "{must_include: [Ada]}",
    "A sentence.",
    "1.10",
    "{b: {z: 1}, a: [2]}",
    "e\u0301",
]


class Author(Person):
    """A person whose pages have properties, sections and tags."""

    def _text(self) -> str:
        chance = self.chance
        lines = super()._text().split("\n")
        properties = [f"{chance.choice(KEYS)}{chance.choice(['', '', 2])}: {chance.choice(VALUES)}" for _ in range(2)]
        if lines[0] == "---":
            lines[1:1] = properties if properties[0].partition(":")[0] != properties[1].partition(":")[0] else []
        for heading in chance.sample(
            ["# Ada", "## One", "## Sources", "```", "requires:: [[Engine]]", "e\u0301t\u00e9"], 3
        ):
            lines += [heading, "", f"word{chance.randrange(9)} of a sentence.", ""]
        return "\n".join(lines)


@pytest.mark.parametrize("seed", range(3))
def test_after_many_changes_levels_equal_those_made_anew(vault_folder: VaultFolder, seed: int) -> None:
    """Kept up to date by scans and by single paths, made from the index, and read anew: all the same."""
    author = Author(vault_folder, seed)
    for _ in range(12):
        told: set[str] = set()
        for _ in range(author.chance.randint(1, 12)):
            told |= author.act()
        if author.chance.random() < 0.5:
            sync_paths(told, allow_deletions=True)
        else:
            scan(allow_deletions=True)
        atoms()
    scan(allow_deletions=True)
    kept, index = whole_index(), facts()
    assert sum(bool(row.get("levels")) for row in kept) > 5
    AtomRow.objects.all().delete()
    AtomRelation.objects.all().delete()
    fill_levels()
    assert whole_index() == kept
    forget_atoms()
    assert facts() == index
    assert rebuilt_index() == kept
    assert facts() == index


def facts() -> list[tuple[Any, ...]]:
    """All that atoms are but their rows' numbers."""
    names = [name for name in Atom.__slots__ if name != "pk"]
    return [tuple(getattr(atom, name) for name in names) for atom in atoms()]


def test_the_order_of_pages_does_not_matter(vault_folder: VaultFolder) -> None:
    paths = [f"{folder}/{name}.md" for folder in ("a", "wiki/concepts", "b") for name in ("X", "x-2", "Y")]
    for path in paths:
        vault_folder.write(path, f"A page at {path}. [[Y]]")
    scan()
    first = facts()
    forget_atoms()
    Page.objects.all().delete()
    random.Random(1).shuffle(paths)
    for path in paths:
        sync_paths([path])
        atoms()
    assert facts() == first


class TestWritePath:
    def test_a_write_writes_its_levels(self, vault_folder: VaultFolder, claude) -> None:  # type: ignore[no-untyped-def]
        page = claude.write("Heat", "Heat moves.\n\n## One\n\nFirst.\n", frontmatter={"requires": ["[[Energy]]"]}).page
        row = AtomRow.objects.get(page=page)
        text = vault_folder.read(page.path)
        assert row.core == levels_of(PageText.of_page(parse_page(page.path, text))).core
        assert AtomRelation.objects.get(page=page).verb == "requires"
        claude.write("Heat", "Otherwise.\n")
        assert "Otherwise." in AtomRow.objects.get(page=page).core
        assert level_texts([page.pk], Level.FULL)[page.pk].count("Otherwise.") == 1
        page = claude.do(page_retitle, page=Page.objects.get(pk=page.pk), title="Warmth").page
        assert AtomRow.objects.get(page=page).summary.startswith("# Warmth [concept]\n")
        scan()
        before = whole_index()
        assert rebuilt_index() == before

    def test_a_page_that_goes_takes_them_along(self, vault_folder: VaultFolder, claude) -> None:  # type: ignore[no-untyped-def]
        page = claude.write("Heat", frontmatter={"requires": ["[[Energy]]"]}).page
        claude.do(page_delete, page=page)
        assert not AtomRow.objects.exists()
        assert not AtomRelation.objects.exists()
        assert len(atoms()) == 0
        claude.do(page_restore, page=Page.objects.get(pk=page.pk), version=1)
        assert atoms().find("Heat").pk == page.pk
        claude.do(page_move, page=Page.objects.get(pk=page.pk), path="wiki/entities/warm.md")
        assert atoms().find("Heat").id == "@wiki/concept-warm"

    def test_a_page_that_becomes_reserved_has_none(self, vault_folder: VaultFolder) -> None:
        vault_folder.write("wiki/a.md", "long enough to be known again")
        scan()
        (vault_folder.root / "wiki/a.md").rename(vault_folder.root / "wiki/overview.md")
        scan()
        assert Page.objects.live().get().reserved
        assert not AtomRow.objects.exists()
        (vault_folder.root / "wiki/overview.md").rename(vault_folder.root / "wiki/b.md")
        scan()
        assert [atom.path for atom in atoms()] == ["wiki/b.md"]


class TestOlderIndex:
    def test_the_next_scan_makes_what_an_older_synapse_did_not(self, vault_folder: VaultFolder) -> None:
        for number in range(3):
            vault_folder.write(f"wiki/{number}.md", "text")
        scan()
        assert not levels_wait()
        kept = whole_index()
        AtomRow.objects.filter(slug="0").delete()
        AtomRow.objects.filter(slug="1").update(rules=RULES - 1, core="old")
        VaultState.objects.update(levels_by=RULES - 1)
        assert levels_wait()
        version = scan().data_version
        assert whole_index() == kept
        assert not levels_wait()
        assert scan().data_version == version
