"""Single pages written by services, beside scans: the same rows, and neither undoes the other."""

from __future__ import annotations

import random
import uuid

import pytest
from django.db import transaction

from tests.conftest import VaultFolder
from tests.wiki.index import fill, rebuilt_index, whole_index
from vault.current import current_vault
from wiki.models import Edge, Link, Page
from wiki.search import index_words
from wiki.sync import apply as sync_apply
from wiki.sync import index_page, rename_page, scan, sync_paths, unindex_page
from wiki.sync import steps as sync_steps

pytestmark = pytest.mark.django_db


def write(folder: VaultFolder, path: str, text: str) -> Page:
    """As the write path does: the file first, then its row."""
    folder.write(path, text)
    vault = current_vault()
    page_id = vault.ids.id_for(path, lambda uid: Page.objects.live().filter(uid=uid).exclude(path=path).exists())
    with transaction.atomic():
        return index_page(page_id=page_id, path=path, read=vault.read(path))


def test_a_written_page_is_as_a_scan_would_make_it(vault_folder: VaultFolder) -> None:
    chance = random.Random(4)
    names = ["Ada", "Babbage", "Engine", "Notes"]
    for number in range(60):
        name = chance.choice(names)
        links = " ".join(f"[[{chance.choice(names).lower()}{chance.randrange(3)}]]" for _ in range(3))
        sources = f"[s{chance.randrange(2)}]"
        write(
            vault_folder,
            f"wiki/{name}{chance.randrange(3)}.md",
            f"---\ntitle: {name}\nsources: {sources}\n---\n{links}",
        )
        if number % 10 == 9:
            page = chance.choice(list(Page.objects.live()))
            (vault_folder.root / page.path).unlink()
            with transaction.atomic():
                unindex_page(page)
    kept = whole_index()
    assert Edge.objects.count() > 3
    assert scan().differences == 0, "a scan finds nothing to add"
    assert rebuilt_index() == kept


def test_links_of_other_pages_turn_at_once(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/from.md", "[[New]] [[Alias]]")
    scan()
    page = write(vault_folder, "wiki/new.md", "---\ntitle: New\naliases: [Alias]\n---\n")
    assert list(Link.objects.order_by("order").values_list("state", "target")) == [
        ("resolved", page.pk),
        ("by_alias", page.pk),
    ]
    assert Edge.objects.get().links == 2
    (vault_folder.root / "wiki/new.md").unlink()
    unindex_page(page)
    assert set(Link.objects.values_list("state", "target")) == {("broken", None)}
    assert not Edge.objects.exists()


def test_a_renamed_page_keeps_its_row(vault_folder: VaultFolder) -> None:
    page = write(vault_folder, "wiki/old.md", "[[old]] [[other]]")
    write(vault_folder, "wiki/other.md", "[[old]] [[new]]")
    (vault_folder.root / "wiki/old.md").rename(vault_folder.root / "wiki/new.md")
    current_vault().ids.record("wiki/new.md", page.uid)
    with transaction.atomic():
        renamed = rename_page(page, "wiki/new.md")
    assert (renamed.pk, renamed.path, renamed.title) == (page.pk, "wiki/new.md", "new")
    assert list(Link.objects.filter(source__title="other").order_by("order").values_list("state", flat=True)) == [
        "broken",
        "resolved",
    ]
    kept = whole_index()
    assert scan().differences == 0
    assert rebuilt_index() == kept


def test_a_page_written_over_another_takes_its_place(vault_folder: VaultFolder) -> None:
    """The index may be behind: it still has another page at the path that a service has just filled."""
    vault_folder.write("wiki/a.md", "first")
    scan()
    vault_folder.write("wiki/a.md", "second")
    with transaction.atomic():
        page = index_page(page_id=uuid.uuid4(), path="wiki/a.md", read=current_vault().read("wiki/a.md"))
    assert list(Page.objects.live()) == [page]


class TestMeanwhile:
    """A service writes while a scan is under way: what it wrote stands."""

    @pytest.fixture
    def meanwhile(self, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
        """Have something happen between the scan's look at a page and its transaction."""

        def arrange(happen) -> None:  # type: ignore[no-untyped-def]
            real = sync_steps.ScanRun._write

            def late(self, changes):  # type: ignore[no-untyped-def]
                monkeypatch.undo()
                happen()
                real(self, changes)

            monkeypatch.setattr(sync_steps.ScanRun, "_write", late)

        return arrange

    def test_an_edit(self, vault_folder: VaultFolder, meanwhile) -> None:  # type: ignore[no-untyped-def]
        fill(vault_folder, 2)
        scan()
        vault_folder.write("wiki/p0.md", "an edit [[p1]]")
        meanwhile(lambda: write(vault_folder, "wiki/p0.md", "a later write"))
        report = scan()
        assert [(entry["path"], entry["code"]) for entry in report.skipped] == [("wiki/p0.md", "written_meanwhile")]
        assert Page.objects.get(title="p0").words == 3
        assert scan().differences == 0

    def test_a_new_page(self, vault_folder: VaultFolder, meanwhile) -> None:  # type: ignore[no-untyped-def]
        vault_folder.write("wiki/a.md", "seen by the scan")
        meanwhile(lambda: write(vault_folder, "wiki/a.md", "written"))
        assert scan().added == 0
        assert Page.objects.get().words == 1

    def test_a_new_page_of_which_news_comes_too(
        self, vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, real = "wiki/concepts/ada.md", sync_steps.ScanRun.go

        def late(self, known, found):  # type: ignore[no-untyped-def]
            monkeypatch.undo()
            write(vault_folder, path, "written")
            real(self, known, found)

        vault_folder.write(path, "the write has not reached the index yet")
        monkeypatch.setattr(sync_steps.ScanRun, "go", late)
        report = sync_paths([path])
        assert [entry["code"] for entry in report.skipped] == ["written_meanwhile"]
        assert current_vault().ids.id_at(path) in (None, Page.objects.get().uid), "an index made anew gives the same id"
        assert whole_index() == rebuilt_index()
        assert rebuilt_index() == whole_index()

    def test_a_deletion(self, vault_folder: VaultFolder, meanwhile) -> None:  # type: ignore[no-untyped-def]
        fill(vault_folder, 2)
        scan()
        page = Page.objects.get(title="p0")
        vault_folder.write("wiki/p0.md", "an edit")

        def delete() -> None:
            (vault_folder.root / page.path).unlink()
            unindex_page(page)

        meanwhile(delete)
        scan()
        assert [page.title for page in Page.objects.live()] == ["p1"]


class TestCrashes:
    """P18, P19: whatever step a scan dies at, the next one ends where it would have ended."""

    STEPS = ["index_words", "mark_stale", "resolve_waiting", "settle_edges", "finish_scan_rows", "begin_scan_rows"]

    @pytest.mark.parametrize("step", STEPS)
    @pytest.mark.parametrize("call", [1, 2])
    def test_the_next_scan_finishes(
        self, vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch, step: str, call: int
    ) -> None:
        fill(vault_folder, 30)
        scan()
        monkeypatch.setattr("wiki.sync.plan.PAGES_AT_ONCE", 4)
        for number in range(10):
            vault_folder.write(f"wiki/p{number}.md", f"edited [[p{number + 5}]] [[n{number}]]")
            vault_folder.write(f"wiki/n{number}.md", f"new [[p{number}]]")
        (vault_folder.root / "wiki/p29.md").unlink()
        module = sync_apply if step == "index_words" else sync_steps
        real, calls = getattr(module, step), 0

        def dying(*args: object, **rest: object) -> object:
            nonlocal calls
            calls += 1
            if calls == call:
                raise KeyboardInterrupt
            return real(*args, **rest)

        with monkeypatch.context() as fragile:
            fragile.setattr(module, step, dying)
            try:
                scan()
            except KeyboardInterrupt:
                assert calls == call
        scan()
        assert not Link.objects.filter(state="pending").exists()
        assert not Page.objects.filter(graph_dirty=True).exists()
        kept = whole_index()
        assert scan().differences == 0
        assert rebuilt_index() == kept

    def test_a_scan_that_died_before_it_was_counted_is_counted_by_the_next(
        self, vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(vault_folder, 2)
        before = scan().data_version
        vault_folder.write("wiki/p0.md", "edited")
        with monkeypatch.context() as fragile, pytest.raises(KeyboardInterrupt):
            fragile.setattr(sync_steps, "finish_scan_rows", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
            scan()
        assert scan().data_version == before + 1
        assert scan().data_version == before + 1


class TestPaths:
    """The watcher's way in: some paths, whatever they are."""

    def test_only_the_named_paths_are_taken(self, vault_folder: VaultFolder) -> None:
        fill(vault_folder, 3)
        scan()
        for number in range(3):
            vault_folder.write(f"wiki/p{number}.md", "edited")
        report = sync_paths(["wiki/p1.md", "wiki/none.md", ".obsidian/app.json", "wiki", "wiki/p1.md"])
        assert (report.changed, report.added, report.deleted) == (1, 0, 0)
        assert sorted(Page.objects.values_list("title", "words")) == [("p0", 3), ("p1", 1), ("p2", 3)]

    def test_nothing_named_is_nothing_done(self, vault_folder: VaultFolder) -> None:
        assert sync_paths([]).differences == 0

    def test_a_move_of_which_only_the_new_path_is_named(self, vault_folder: VaultFolder) -> None:
        fill(vault_folder, 3)
        scan()
        page = Page.objects.get(title="p0")
        (vault_folder.root / "wiki/p0.md").rename(vault_folder.root / "wiki/new.md")
        assert sync_paths(["wiki/new.md"]).moved == 1
        assert Page.objects.live().get(path="wiki/new.md").pk == page.pk


def test_words_are_indexed_in_the_same_transaction(vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(rows: object) -> None:
        index_words(rows)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    vault_folder.write("wiki/a.md", "text")
    with monkeypatch.context() as fragile, pytest.raises(KeyboardInterrupt):
        fragile.setattr(sync_apply, "index_words", broken)
        scan()
    assert not Page.objects.exists()
