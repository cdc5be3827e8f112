"""P14: a page that gets another name stays the page that it was: its links and its reviews stay with its id."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from uuid import UUID

import pytest

from reviews.models import ReviewItem
from tests.conftest import VaultFolder
from tests.promises.figures import Measured, figure
from tests.reviews.queue import pending
from tests.wiki.conftest import Writer, alice
from tests.wiki.index import rebuilt_index, whole_index
from vault.current import current_vault
from wiki.models import Link, Page
from wiki.services import page_move
from wiki.sync import scan, sync_paths

__all__ = ["alice"]

pytestmark = pytest.mark.django_db

EACH = figure(4, 60)
REUSED = figure(9, 200)
#: The ways in which a file gets another name outside of Synapse, by the name of the pages that they happen to.
WAYS = ("renamed", "case", "swapped", "other", "edited", "folder", "round")


class Pages:
    """Pages with links and a review each, whose files get other names."""

    def __init__(self, folder: VaultFolder) -> None:
        self.folder, self.root = folder, folder.root
        for way in WAYS:
            for number in range(EACH):
                next_one = (number + 1) % EACH
                folder.write(
                    f"wiki/{way}/{way}{number}.md",
                    f"---\ntitle: The {way} {number}\n---\nPage {way} {number} [[hub]] [[The {way} {next_one}]]\n",
                )
        names = "\n".join(f"[[The {way} {number}]]" for way in WAYS for number in range(EACH))
        folder.write("wiki/hub.md", f"{names}\n")
        scan()
        self.ids = {page.title: page.uid for page in Page.objects.all()}
        for page in Page.objects.exclude(title="hub"):
            pending(f"about {page.title}", item_type="suggestion", rule="agent", origin="agent", page=page)
        self.links = self.led()

    def rename(self, old: str, new: str) -> set[str]:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        os.rename(self.root / old, self.root / new)
        return {old, new}

    def led(self) -> set[tuple[UUID, str, UUID | None]]:
        return set(Link.objects.values_list("source__uid", "text", "target__uid"))

    def are_what_they_were(self) -> None:
        pages = {page.title: page for page in Page.objects.live()}
        assert {title: page.uid for title, page in pages.items()} == self.ids
        assert all((self.root / page.path).is_file() for page in pages.values())
        assert self.led() == self.links
        about = dict(ReviewItem.objects.values_list("page__title", "page__uid"))
        assert about == {title: uid for title, uid in self.ids.items() if title != "hub"}

    def happens(self) -> Iterable[set[str]]:
        """Each way to another name, for EACH pages: the paths that it touched."""
        for number in range(EACH):
            yield self.rename(f"wiki/renamed/renamed{number}.md", f"wiki/deep/er/another {number}.md")
            yield self.rename(f"wiki/case/case{number}.md", f"wiki/case/CASE{number}.md")
            swap = self.rename(f"wiki/swapped/swapped{number}.md", f"wiki/swapped/between{number}.md")
            swap |= self.rename(f"wiki/other/other{number}.md", f"wiki/swapped/swapped{number}.md")
            yield swap | self.rename(f"wiki/swapped/between{number}.md", f"wiki/other/other{number}.md")
            edited = self.rename(f"wiki/edited/edited{number}.md", f"wiki/edited/now {number}.md")
            with open(self.root / f"wiki/edited/now {number}.md", "a", encoding="utf-8") as file:
                file.write("and edited in the same breath\n")
            yield edited
        yield self.rename("wiki/folder", "wiki/Another Folder") | {
            f"wiki/{name}/folder{number}.md" for name in ("folder", "Another Folder") for number in range(EACH)
        }
        first = self.rename("wiki/round/round0.md", "wiki/round/out.md")
        for number in range(1, EACH):
            first |= self.rename(f"wiki/round/round{number}.md", f"wiki/round/round{number - 1}.md")
        yield first | self.rename("wiki/round/out.md", f"wiki/round/round{EACH - 1}.md")


@pytest.fixture
def pages(vault_folder: VaultFolder) -> Pages:
    return Pages(vault_folder)


def knows_births(folder: VaultFolder) -> bool:
    return current_vault().birth_ns(folder.files()[0]) is not None


@pytest.mark.parametrize("how", ["one scan", "told by path"])
def test_links_and_reviews_stay(pages: Pages, measured: Measured, how: str) -> None:
    if not knows_births(pages.folder):
        pytest.skip("this file system keeps no time of birth: a rename with an edit can't be told from a new file")
    paths = list(pages.happens()) if how == "one scan" else []
    if how == "one scan":
        report = scan()
        assert (report.deleted, report.added, report.stopped) == (0, 0, None)
    else:
        for some in pages.happens():
            report = sync_paths(some)
            assert (report.deleted, report.added, report.stopped) == (0, 0, None)
            paths.append(some)
    pages.are_what_they_were()
    kept = whole_index()
    assert rebuilt_index() == kept
    count = EACH * len(WAYS)
    measured(
        "P14",
        f"{count} pages renamed, by case, swapped, round, edited, by folder ({how}): links and reviews stay",
    )


def test_a_move_through_synapse_too(pages: Pages, alice: Writer, measured: Measured) -> None:
    for number in range(EACH):
        page = Page.objects.get(title=f"The renamed {number}")
        alice.do(page_move, page=page, path=f"wiki/moved/there {number}.md")
    assert {page.title: page.uid for page in Page.objects.live().exclude(reserved=True)} == pages.ids
    led = {(source, target) for source, _, target in pages.links}
    assert {(source, target) for source, _, target in pages.led()} == led
    assert ReviewItem.objects.filter(page__path__startswith="wiki/moved/").count() == EACH
    measured("P14", f"{EACH} pages moved through Synapse: links and reviews stay")


Take = Callable[[set[str]], object]


@pytest.mark.parametrize("take", [lambda paths: scan(allow_deletions=True), sync_paths], ids=["scan", "paths"])
def test_an_inode_that_is_used_again_is_no_move(vault_folder: VaultFolder, measured: Measured, take: Take) -> None:
    reused = 0
    for number in range(REUSED):
        vault_folder.write(f"wiki/keep{number}.md", f"stays {number}")
        vault_folder.write("wiki/old.md", f"---\ntitle: Old {number}\n---\nold {number}")
        scan(allow_deletions=True)
        old = Page.objects.live().get(path="wiki/old.md")
        pending(f"about {number}", item_type="suggestion", rule="agent", origin="agent", page=old)
        inode = (vault_folder.root / "wiki/old.md").stat().st_ino
        (vault_folder.root / "wiki/old.md").unlink()
        new = vault_folder.write(
            f"wiki/new{number}.md", f"---\ntitle: New {number}\n---\nnew {number}"
        )  # the same size
        reused += new.stat().st_ino == inode
        take({"wiki/old.md", f"wiki/new{number}.md"})
        came = Page.objects.live().get(path=f"wiki/new{number}.md")
        assert came.uid != old.uid
        assert not Page.objects.live().filter(uid=old.uid).exists()
        assert ReviewItem.objects.get(target=f"about {number}").page_id == old.pk
    if not reused:
        pytest.skip("this file system gives no number of an inode twice")
    measured("P14", f"{REUSED} times deleted and created, {reused} with the inode again: 0 taken for a move")
