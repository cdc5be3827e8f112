"""A page keeps its id through renames, moves and swaps, and nothing else is taken for one (P14)."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import VaultFolder
from tests.wiki.index import rebuilt_index, whole_index
from vault.current import current_vault
from wiki.models import Link, Page
from wiki.sync import scan, sync_paths
from wiki.sync.diff import Seen
from wiki.sync.known import KnownPage
from wiki.sync.moves import find_moves

# --- telling moves, without a disk ---

HASHES = {"old": "0" * 64, "new": "1" * 64}


def known(path: str, *, inode: int, content: str = "old", birth: int | None = None, size: int = 9) -> KnownPage:
    return KnownPage(inode, uuid.UUID(int=inode), path, HASHES[content], size, 1, inode, birth, 1)


def seen(path: str, *, inode: int, size: int = 9) -> Seen:
    return Seen(path, "page", size, 2, inode)


def moves(
    *,
    vanished: list[KnownPage] | None = None,
    new: list[Seen] | None = None,
    changed: list[tuple[KnownPage, Seen]] | None = None,
    contents: dict[str, str] | None = None,
    births: dict[str, int] | None = None,
) -> dict[str, str]:
    contents, births = contents or {}, births or {}
    found = find_moves(
        vanished=vanished or [],
        new=new or [],
        changed=changed or [],
        content_hash=lambda path: HASHES.get(contents.get(path, "")),
        birth_ns=births.get,
    )
    return {page.path: place.path for page, place in found}


def test_the_same_inode_and_content_is_a_move() -> None:
    assert moves(vanished=[known("a", inode=7)], new=[seen("b", inode=7)], contents={"b": "old"}) == {"a": "b"}


def test_the_same_inode_and_birth_is_a_move_whatever_was_written() -> None:
    gone = [known("a", inode=7, birth=5)]
    assert moves(vanished=gone, new=[seen("b", inode=7, size=3)], births={"b": 5}) == {"a": "b"}


def test_an_inode_that_was_given_to_a_new_file_is_no_move() -> None:
    gone = [known("a", inode=7, birth=5)]
    assert moves(vanished=gone, new=[seen("b", inode=7)], contents={"b": "new"}, births={"b": 6}) == {}


def test_an_inode_alone_is_no_move_where_birth_is_not_known() -> None:
    assert moves(vanished=[known("a", inode=7)], new=[seen("b", inode=7)], contents={"b": "new"}) == {}


def test_the_same_content_elsewhere_is_a_move() -> None:
    assert moves(vanished=[known("a", inode=7)], new=[seen("b", inode=8)], contents={"b": "old"}) == {"a": "b"}


@pytest.mark.parametrize(
    ("gone", "came"),
    [(["a"], ["b", "c"]), (["a", "b"], ["c"]), (["a", "b"], ["c", "d"])],
    ids=["one to two", "two to one", "two to two"],
)
def test_content_that_is_not_unique_tells_nothing(gone: list[str], came: list[str]) -> None:
    found = moves(
        vanished=[known(path, inode=number + 1) for number, path in enumerate(gone)],
        new=[seen(path, inode=number + 10) for number, path in enumerate(came)],
        contents=dict.fromkeys(came, "old"),
    )
    assert found == {}


def test_empty_files_are_not_the_same_page() -> None:
    assert moves(vanished=[known("a", inode=7, size=0)], new=[seen("b", inode=8, size=0)], contents={"b": "old"}) == {}
    assert moves(vanished=[known("a", inode=7, size=0)], new=[seen("b", inode=7, size=0)], contents={"b": "old"}) == {}


def test_swapped_names_are_told_by_both_inodes() -> None:
    one, other = known("a", inode=7), known("b", inode=8, content="new")
    changed = [(one, seen("a", inode=8)), (other, seen("b", inode=7))]
    assert moves(changed=changed, contents={"a": "new", "b": "old"}) == {"a": "b", "b": "a"}


def test_names_that_go_round_or_along_a_chain() -> None:
    one, two, three = known("a", inode=1, birth=1), known("b", inode=2, birth=2), known("c", inode=3, birth=3)
    births = {"b": 1, "c": 2, "a": 3, "d": 3}
    round_trip = [(one, seen("a", inode=3)), (two, seen("b", inode=1)), (three, seen("c", inode=2))]
    assert moves(changed=round_trip, births=births) == {"a": "b", "b": "c", "c": "a"}
    chain = [(two, seen("b", inode=1)), (three, seen("c", inode=2))]
    assert moves(vanished=[one], changed=chain, new=[seen("d", inode=3)], births=births) == {
        "a": "b",
        "b": "c",
        "c": "d",
    }


def test_a_page_saved_through_another_file_stays_itself() -> None:
    draft, page = known("draft", inode=7), known("page", inode=8, content="new")
    assert moves(vanished=[draft], changed=[(page, seen("page", inode=7))], contents={"page": "old"}) == {}


def test_hard_links_tell_nothing() -> None:
    found = moves(vanished=[known("a", inode=7)], new=[seen("b", inode=7), seen("c", inode=7)], contents={"b": "old"})
    assert found == {"a": "b"}, "by content, which is in one place only"


# --- on disk ---


def ids() -> dict[str, uuid.UUID]:
    return dict(Page.objects.live().values_list("path", "uid"))


def rename(folder: VaultFolder, old: str, new: str) -> None:
    (folder.root / new).parent.mkdir(parents=True, exist_ok=True)
    os.rename(folder.root / old, folder.root / new)


Take = Callable[[set[str]], None]


@pytest.fixture(params=["scan", "paths"])
def take(request: pytest.FixtureRequest) -> Take:
    """Both ways in which changes come to the index."""

    def by_scan(paths: set[str]) -> None:
        scan()

    def by_paths(paths: set[str]) -> None:
        sync_paths(paths)

    return by_scan if request.param == "scan" else by_paths


@pytest.mark.django_db
class TestOnDisk:
    def test_a_rename_keeps_the_id_and_turns_the_links(self, vault_folder: VaultFolder, take: Take) -> None:
        vault_folder.write("wiki/a.md", "first")
        vault_folder.write("wiki/other.md", "[[a]] and [[b]]")
        scan()
        page = ids()["wiki/a.md"]
        rename(vault_folder, "wiki/a.md", "wiki/b.md")
        take({"wiki/a.md", "wiki/b.md"})
        assert ids()["wiki/b.md"] == page
        links = list(Link.objects.order_by("order").values_list("text", "state", "target__uid"))
        assert links == [("a", "broken", None), ("b", "resolved", page)]

    def test_a_rename_with_an_edit_keeps_the_id(self, vault_folder: VaultFolder, take: Take) -> None:
        vault_folder.write("wiki/a.md", "first")
        scan()
        page = ids()["wiki/a.md"]
        rename(vault_folder, "wiki/a.md", "wiki/b.md")
        with open(vault_folder.root / "wiki/b.md", "a") as file:
            file.write(" and more")
        take({"wiki/a.md", "wiki/b.md"})
        kept_birth = current_vault().birth_ns("wiki/b.md") is not None
        assert (ids() == {"wiki/b.md": page}) is kept_birth

    def test_another_case_of_the_name_is_the_same_page(self, vault_folder: VaultFolder, take: Take) -> None:
        vault_folder.write("wiki/a.md", "first")
        vault_folder.write("wiki/b.md", "[[a]]")
        scan()
        page = ids()["wiki/a.md"]
        rename(vault_folder, "wiki/a.md", "wiki/A.md")
        take({"wiki/a.md", "wiki/A.md"})
        assert ids()["wiki/A.md"] == page
        assert Link.objects.get().target_path == "wiki/A.md"

    def test_swapped_names(self, vault_folder: VaultFolder, take: Take) -> None:
        vault_folder.write("wiki/a.md", "first")
        vault_folder.write("wiki/b.md", "second")
        scan()
        before = ids()
        rename(vault_folder, "wiki/a.md", "wiki/c.md")
        rename(vault_folder, "wiki/b.md", "wiki/a.md")
        rename(vault_folder, "wiki/c.md", "wiki/b.md")
        take({"wiki/a.md", "wiki/b.md"})
        assert ids() == {"wiki/a.md": before["wiki/b.md"], "wiki/b.md": before["wiki/a.md"]}

    def test_a_new_page_at_the_old_path_of_a_moved_one(self, vault_folder: VaultFolder, take: Take) -> None:
        vault_folder.write("wiki/a.md", "first")
        scan()
        page = ids()["wiki/a.md"]
        rename(vault_folder, "wiki/a.md", "wiki/b.md")
        vault_folder.write("wiki/a.md", "a new one")
        take({"wiki/a.md", "wiki/b.md"})
        assert ids()["wiki/b.md"] == page
        assert ids()["wiki/a.md"] not in (None, page)

    def test_delete_and_create_is_no_move(self, vault_folder: VaultFolder, take: Take) -> None:
        """ext4 gives the new file the inode of the deleted one at once."""
        for number in range(20):
            vault_folder.write(f"wiki/a{number}.md", f"first {number}")
        scan()
        before = set(ids().values())
        for number in range(9):
            (vault_folder.root / f"wiki/a{number}.md").unlink()
            vault_folder.write(f"wiki/b{number}.md", f"other {number}")
        take({f"wiki/{letter}{number}.md" for letter in "ab" for number in range(9)})
        created = {page for path, page in ids().items() if path.startswith("wiki/b")}
        assert len(created) == 9
        assert not created & before

    def test_a_renamed_folder_keeps_all_ids(self, vault_folder: VaultFolder) -> None:
        for number in range(30):
            vault_folder.write(f"deep/{number}.md", f"page {number}, [[{(number + 1) % 30}]]")
        scan()
        before = {Path(path).name: page for path, page in ids().items()}
        rename(vault_folder, "deep", "deeper")
        report = scan()
        assert (report.moved, report.deleted, report.added, report.broken) == (30, 0, 0, 0)
        assert {Path(path).name: page for path, page in ids().items()} == before

    def test_ids_outlive_the_database(self, vault_folder: VaultFolder, take: Take) -> None:
        vault_folder.write("wiki/a.md", "first")
        scan()
        rename(vault_folder, "wiki/a.md", "wiki/b.md")
        take({"wiki/a.md", "wiki/b.md"})
        vault_folder.write("wiki/a.md", "second")
        take({"wiki/a.md"})
        before = ids()
        Page.objects.all().delete()
        scan()
        assert ids() == before

    def test_a_page_that_comes_back_revives_its_row(self, vault_folder: VaultFolder, take: Take) -> None:
        vault_folder.write("wiki/a.md", "first")
        vault_folder.write("wiki/b.md", "[[a]]")
        scan()
        row = Page.objects.get(path="wiki/a.md")
        (vault_folder.root / "wiki/a.md").unlink()
        take({"wiki/a.md"})
        assert not Page.objects.live().filter(path="wiki/a.md").exists()
        assert Link.objects.get().state == "broken"
        vault_folder.write("wiki/a.md", "again")
        take({"wiki/a.md"})
        assert Page.objects.live().get(path="wiki/a.md").pk == row.pk
        assert Link.objects.get().target_id == row.pk

    def test_two_paths_that_ask_for_one_id_get_two(self, vault_folder: VaultFolder, take: Take) -> None:
        """The page went from a to b and both are gone; then files come to both paths at once."""
        vault_folder.write("wiki/a.md", "first")
        scan()
        rename(vault_folder, "wiki/a.md", "wiki/b.md")
        take({"wiki/a.md", "wiki/b.md"})
        (vault_folder.root / "wiki/b.md").unlink()
        vault_folder.write("wiki/other.md", "so that the vault is not empty")
        take({"wiki/b.md", "wiki/other.md"})
        vault_folder.write("wiki/a.md", "second [[b]]")
        vault_folder.write("wiki/b.md", "third [[a]]")
        take({"wiki/a.md", "wiki/b.md"})
        assert len(set(ids().values())) == 3
        kept = whole_index()
        assert rebuilt_index() == kept


@pytest.mark.django_db
@pytest.mark.parametrize("told", [["wiki/a.md"], ["wiki/b.md"], ["wiki/a.md", "wiki/b.md"]])
def test_one_end_of_a_rename_leads_to_the_other(vault_folder: VaultFolder, told: list[str]) -> None:
    vault_folder.write("wiki/a.md", "one")
    vault_folder.write("wiki/c.md", "[[a]]")
    scan()
    before = Page.objects.get(path="wiki/a.md").uid
    (vault_folder.root / "wiki/a.md").rename(vault_folder.root / "wiki/b.md")
    with (vault_folder.root / "wiki/b.md").open("a") as file:
        file.write(" and edited at once")
    assert sync_paths(told).moved == 1
    assert Page.objects.live().get(path="wiki/b.md").uid == before


@pytest.mark.django_db
def test_a_page_put_in_the_place_of_another_leaves_that_one_its_id(vault_folder: VaultFolder) -> None:
    for name in ("a", "b"):
        vault_folder.write(f"wiki/{name}.md", f"this is {name}")
    scan()
    stays = Page.objects.get(path="wiki/b.md").uid
    (vault_folder.root / "wiki/a.md").rename(vault_folder.root / "wiki/b.md")
    sync_paths(["wiki/a.md"])
    [page] = Page.objects.live()
    assert (page.path, page.uid) == ("wiki/b.md", stays)
