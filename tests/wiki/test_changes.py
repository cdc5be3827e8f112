"""The feed of changes: nothing that changed is missing from it, and what changes nothing leaves no trace."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest
from django.db import transaction

from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from tests.wiki.index import fill, forget_index, scan_counting_writes
from tests.wiki.test_rebuild import Person
from vault.errors import SynapseError
from wiki import binding, changes
from wiki.changes import Changed
from wiki.models import Citation, File, IndexChange, Link, Page
from wiki.rows import index_lock
from wiki.services import page_delete, page_move, page_retitle
from wiki.sync import scan, steps, sync_paths
from wiki.sync.values import citation_keys

pytestmark = pytest.mark.django_db

OUT = ("order", "kind", "embed", "text", "subpath", "alias", "property", "state", "target_path", "target_id")


def taken() -> Changed:
    """What waits, taken and forgotten."""
    found = changes.take()
    changes.done(found.upto)
    assert not changes.waiting()
    return found


def pk(path: str) -> int:
    return Page.objects.live().get(path=path).pk


def file_pk(path: str) -> int:
    return File.objects.get(path=path).pk


def test_pages_that_only_gained_or_lost_a_link_in_are_told_from_others(vault_folder: VaultFolder) -> None:
    vault_folder.write("a.md", "[[b]]")
    vault_folder.write("b.md", "x")
    vault_folder.write("c.md", "x")
    scan()
    taken()
    vault_folder.write("a.md", "[[c]]")
    scan()
    found = taken()
    assert found.pages == {pk("a.md"), pk("b.md"), pk("c.md")}
    assert found.linked == {pk("b.md"), pk("c.md")}
    vault_folder.write("a.md", "[[b]]")
    vault_folder.write("c.md", "y")
    scan()
    assert taken().linked == {pk("b.md")}


class View:
    """What of each page and file those who follow the feed may rest on."""

    def __init__(self) -> None:
        out: dict[int, list[Any]] = defaultdict(list)
        into: dict[int, Counter[int]] = defaultdict(Counter)
        for source, *link in Link.objects.order_by("source", "order").values_list("source_id", *OUT):
            out[source].append(link)
            if link[-1] is not None:
                into[link[-1]][source] += 1
        row = ("path", "title", "type", "lang", "frontmatter", "sources", "flags", "content_hash", "reserved")
        self.pages = {
            number: (values, deleted is None, out[number], into[number])
            for number, deleted, *values in Page.objects.values_list("pk", "deleted_at", *row)
        }
        rows = File.objects.values_list("pk", "path", "kind", "content_hash", "deleted_at")
        self.files = {number: (*values, deleted is None) for number, *values, deleted in rows}

    def rewritten(self, before: View) -> set[int]:
        """The pages that are not as they were, whatever leads to them."""
        return {number for number, page in self.pages.items() if page[:3] != before.pages.get(number, ())[:3]}

    def differences(self, before: View) -> tuple[set[int], set[int]]:
        """The pages and files that are not as they were."""
        return (
            {number for number in self.pages if self.pages[number] != before.pages.get(number)},
            {number for number in self.files if self.files[number] != before.files.get(number)},
        )


@pytest.fixture
def indexed(vault_folder: VaultFolder) -> VaultFolder:
    """p0 → p1 → p2 → p3, which is missing, and a source; nothing waits."""
    fill(vault_folder, 3)
    vault_folder.write("raw/sources/a.pdf", "one")
    scan()
    taken()
    return vault_folder


# --- what is noted ---------------------------------------------------------------------------------


def test_it_works(indexed: VaultFolder) -> None:
    before = {path: pk(path) for path in ("wiki/p0.md", "wiki/p1.md")}
    indexed.write("wiki/p0.md", "another text [[p1]]")
    scan()
    assert taken().pages == {before["wiki/p0.md"]}


def test_the_first_scan_is_one_row(vault_folder: VaultFolder) -> None:
    fill(vault_folder, 200)
    vault_folder.write("raw/sources/a.pdf", "one")
    scan()
    assert list(IndexChange.objects.values_list("kind", flat=True)) == ["all"]
    found = taken()
    assert found.everything and not found.pages and not found.files


def test_an_index_made_anew_is_one_row(indexed: VaultFolder) -> None:
    forget_index()
    scan()
    assert taken().everything


def test_a_scan_that_changes_much_is_one_row(indexed: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MANY", 5)
    for number in range(5):
        indexed.write(f"wiki/new {number}.md", "[[p1]]")
    scan()
    assert IndexChange.objects.count() == 1
    assert taken().everything
    indexed.write("wiki/p0.md", "one page [[p1]]")
    scan()
    assert taken().pages == {pk("wiki/p0.md")}


def test_old_and_new_targets_are_noted(indexed: VaultFolder) -> None:
    indexed.write("wiki/p0.md", "page 0 [[p2]]")
    scan()
    assert taken().pages == {pk("wiki/p0.md"), pk("wiki/p1.md"), pk("wiki/p2.md")}


def test_a_page_that_comes_notes_those_who_asked_for_it(indexed: VaultFolder) -> None:
    indexed.write("wiki/p3.md", "here")
    scan()
    assert taken().pages == {pk("wiki/p3.md"), pk("wiki/p2.md")}


def test_a_page_that_goes_notes_both_its_sides(indexed: VaultFolder) -> None:
    gone = pk("wiki/p1.md")
    (indexed.root / "wiki/p1.md").unlink()
    scan()
    assert taken().pages == {pk("wiki/p0.md"), gone, pk("wiki/p2.md")}


def test_files_are_noted_when_they_come_change_and_go(indexed: VaultFolder) -> None:
    number = file_pk("raw/sources/a.pdf")
    for step in ("changed", "gone", "back"):
        if step == "gone":
            (indexed.root / "raw/sources/a.pdf").unlink()
        else:
            indexed.write("raw/sources/a.pdf", step)
        scan()
        assert taken().files == {number}, step
    indexed.write("wiki/p0.sync-conflict-20260101-101010-ABCDEFG.md", "copy")
    scan()
    assert taken().files == {file_pk("wiki/p0.sync-conflict-20260101-101010-ABCDEFG.md")}


def test_services_note_what_scans_would(indexed: VaultFolder, claude: Writer) -> None:
    written = claude.write("P3", "Links to [[p0]].\n").page
    assert taken().pages >= {written.pk, pk("wiki/p2.md"), pk("wiki/p0.md")}
    claude.do(page_retitle, page=Page.objects.get(pk=written.pk), title="Another")
    assert written.pk in taken().pages
    moved = Page.objects.get(pk=written.pk)
    claude.do(page_move, page=moved, path="wiki/entities/elsewhere.md")
    assert written.pk in taken().pages
    claude.do(page_delete, page=Page.objects.get(pk=written.pk))
    assert taken().pages >= {written.pk, pk("wiki/p0.md")}


@pytest.mark.parametrize("seed", range(3))
def test_nothing_that_changed_is_missing(vault_folder: VaultFolder, seed: int) -> None:
    """Whatever people, editors and sync tools do, told by path or found by scans."""
    person = Person(vault_folder, seed)
    for _ in range(30):
        person.create()
    scan()
    taken()
    for _ in range(25):
        before = View()
        told = set().union(*(person.act() for _ in range(person.chance.randint(1, 6))))
        sync_paths(told, allow_deletions=True) if person.chance.random() < 0.5 else scan(allow_deletions=True)
        now = View()
        pages, files = now.differences(before)
        found = taken()
        assert not found.everything
        assert pages <= found.pages
        assert found.linked <= found.pages
        assert now.rewritten(before).isdisjoint(found.linked)
        assert files <= found.files
        scan(allow_deletions=True)
        taken()
        _, writes = scan_counting_writes()
        assert not writes


@pytest.mark.parametrize("seed", range(3))
def test_citations_are_those_of_the_pages(vault_folder: VaultFolder, seed: int) -> None:
    person = Person(vault_folder, seed)
    for _ in range(15):
        for _ in range(8):
            person.act()
        scan(allow_deletions=True)
    kept = sorted(Citation.objects.values_list("page_id", "key"))
    sources = Page.objects.live().values_list("pk", "sources")
    assert kept == sorted((number, key) for number, names in sources for key in citation_keys(names))
    assert kept


def test_a_scan_that_changes_nothing_writes_nothing(indexed: VaultFolder) -> None:
    _, writes = scan_counting_writes()
    assert not writes
    assert not changes.waiting()


# --- the transaction -------------------------------------------------------------------------------


def test_what_is_rolled_back_was_never_noted(indexed: VaultFolder) -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        index_lock()
        changes.note(pages={1})
        raise RuntimeError
    assert not changes.waiting()


def test_what_is_not_done_is_told_again(indexed: VaultFolder) -> None:
    indexed.write("wiki/p0.md", "another")
    scan()
    assert changes.take() == changes.take()


def test_what_comes_after_the_look_stays(indexed: VaultFolder) -> None:
    changes.note(pages={1}, files={7})
    found = changes.take()
    changes.note(pages={1, 2})
    changes.done(found.upto)
    assert taken().pages == {1, 2}


def test_everything_that_comes_after_the_look_stays(indexed: VaultFolder) -> None:
    changes.note_everything()
    found = changes.take()
    changes.note_everything()
    changes.done(found.upto)
    assert taken().everything


def test_nothing_named_is_nothing_noted() -> None:
    changes.note()
    changes.note(everything=True)
    assert not changes.waiting()
    assert not changes.take()


# --- nobody consumes -------------------------------------------------------------------------------


def test_what_nobody_takes_becomes_one_row(indexed: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MAX_WAITING", 50)
    for number in range(200):
        changes.note(pages={number}, files={number})
        assert IndexChange.objects.count() <= 52
    assert changes.take().everything


def test_it_begins_anew_once_it_was_taken(indexed: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MAX_WAITING", 50)
    for number in range(200):
        changes.note(pages={number})
        assert taken().pages == {number}


def test_another_vault_begins_with_an_empty_feed(indexed: VaultFolder, tmp_path, settings) -> None:  # type: ignore[no-untyped-def]
    from vault.current import current_vault, forget_vault

    changes.note(pages={1})
    other = VaultFolder(tmp_path / "other")
    other.write("wiki/own.md", "its own page")
    settings.SYNAPSE_VAULT = other.root
    forget_vault()
    current_vault().ensure_id()
    with pytest.raises(SynapseError):
        binding.check_binding()
    assert binding.adopt()
    assert not changes.waiting()
    scan()
    assert taken().everything


def test_numbers_rise_although_the_table_is_emptied(indexed: VaultFolder) -> None:
    """``done`` takes away by number: one that is given twice would take away what nobody has seen."""
    changes.note(pages={1})
    before = changes.take().upto
    changes.done(before)
    changes.note(pages={2})
    assert changes.take().upto > before
