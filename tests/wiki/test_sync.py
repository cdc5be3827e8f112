"""A scan brings the index up to date with the files, and does no more than that."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import VaultFolder
from tests.wiki.index import fill, rebuilt_index, scan_counting_writes, whole_index
from vault.current import current_vault
from wiki.data_version import data_version
from wiki.models import Alias, Edge, File, Link, Page, Tag
from wiki.sync import ScanReport, scan
from wiki.sync import steps as sync_steps

pytestmark = pytest.mark.django_db


def test_it_works(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/entities/ada.md", "---\ntitle: Ada\ntype: entity\naliases: [Lady]\n---\nSee [[babbage]].")
    vault_folder.write("wiki/entities/babbage.md", "Back to [[Ada|her]], [[Lady]], [[nobody]] and ![[machine.png]]")
    vault_folder.write("raw/sources/machine.png", b"\x89PNG")
    report = scan()
    assert report.as_dict() | {"seconds": 0} == {
        "pages": 2, "files": 1, "links": 5, "broken": 1, "added": 2, "changed": 0, "moved": 0, "deleted": 0,
        "files_changed": 1, "flagged": [], "flagged_total": 0, "skipped": [], "skipped_total": 0, "seconds": 0,
        "stopped": None, "running": False, "dry_run": False, "data_version": 1,
    }  # fmt: skip
    states = list(Link.objects.filter(source__title="babbage").values_list("text", "state", "target_path"))
    assert states == [
        ("Ada", "resolved", "wiki/entities/ada.md"),
        ("Lady", "by_alias", "wiki/entities/ada.md"),
        ("nobody", "broken", None),
        ("machine.png", "resolved", "raw/sources/machine.png"),
    ]
    edge = Edge.objects.get()
    assert (edge.links, edge.weight) == (3, 3 * 2 + 0.8)


def test_what_a_row_holds(vault_folder: VaultFolder) -> None:
    vault_folder.write(
        "wiki/sources/Étude.md",
        "---\ntitle: E\u0301tude\nlang: fr\ntags: [Music]\nsources: [raw/sources/a.pdf]\n---\nA first sentence. #More.",
    )
    scan()
    page = Page.objects.get()
    assert (page.title, page.title_key, page.name_key) == ("Étude", "étude", "étude")
    assert (page.type, page.lang, page.sources, page.flags) == ("source", "fr", ["raw/sources/a.pdf"], [])
    assert page.summary == "A first sentence."
    assert sorted(Tag.objects.values_list("key", flat=True)) == ["more", "music"]
    assert page.content_hash == current_vault().read(page.path).content_hash


# --- what changes, and only that ---


def marks(root: Path) -> dict[Path, tuple[int, ...]]:
    """What a write would change of each file and folder; not when it was last read."""
    found = {path: os.stat(path) for path in root.rglob("*")}
    return {path: (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns) for path, status in found.items()}


def test_a_second_scan_does_nothing(vault_folder: VaultFolder) -> None:
    """P10."""
    for number in range(12):
        vault_folder.write(f"wiki/p{number}.md", f"[[p{number + 1}]] text")
    vault_folder.write("raw/sources/a.txt", "source")
    first = scan()
    before = marks(vault_folder.root)
    report, writes = scan_counting_writes()
    assert writes == []
    assert report.differences == 0
    assert report.data_version == first.data_version == 1
    assert marks(vault_folder.root) == before


def test_only_what_can_have_changed_is_resolved_again(vault_folder: VaultFolder, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    for number in range(20):
        vault_folder.write(f"wiki/p{number}.md", f"[[p{number + 1}]] [[late]]")
    scan()
    asked: list[str] = []
    real = sync_steps.resolve_waiting.__globals__["resolve"]

    def resolve(target: str, **rest: object) -> object:
        asked.append(target)
        return real(target, **rest)

    monkeypatch.setattr("wiki.sync.links.resolve", resolve)
    vault_folder.write("wiki/late.md", "[[p3]]")
    vault_folder.write("wiki/p7.md", "[[p8]] [[late]] and more words")
    scan()
    assert sorted(asked) == ["late"] * 20 + ["p3"]
    assert not Link.objects.filter(text="late").exclude(state="resolved").exists()


def test_a_touched_file_is_read_but_is_no_change(vault_folder: VaultFolder) -> None:
    file = vault_folder.write("wiki/a.md", "text")
    scan()
    os.utime(file, ns=(0, 10**18))
    report = scan()
    assert (report.changed, report.data_version) == (0, 1)
    assert Page.objects.get().mtime_ns == 10**18
    _, writes = scan_counting_writes()
    assert writes == []


def test_an_edit_replaces_names_tags_and_links(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/a.md", "---\naliases: [One, Two]\n---\n#x [[b]] [[c]]")
    vault_folder.write("wiki/b.md", "[[Two]] [[Three]]")
    scan()
    vault_folder.write("wiki/a.md", "---\naliases: [One, Three]\n---\n#y [[c]] [[b|shown]]")
    assert scan().changed == 1
    assert sorted(Alias.objects.values_list("name", flat=True)) == ["One", "Three"]
    assert list(Tag.objects.values_list("name", flat=True)) == ["y"]
    links = list(Link.objects.filter(source__title="b").order_by("order").values_list("text", "state"))
    assert links == [("Two", "broken"), ("Three", "by_alias")]
    assert list(Link.objects.filter(source__title="a").order_by("order").values_list("text", "alias")) == [
        ("c", None),
        ("b", "shown"),
    ]


def test_a_title_in_another_case_can_settle_which_page_is_meant(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/one.md", "---\ntitle: THE NAME\n---\n")
    vault_folder.write("wiki/two.md", "---\ntitle: the name\n---\n")
    vault_folder.write("wiki/from.md", "[[The Name]]")
    scan()
    assert Link.objects.get().state == "ambiguous"
    vault_folder.write("wiki/two.md", "---\ntitle: The Name\n---\n")
    scan()
    assert Link.objects.get().target_path == "wiki/two.md"
    assert rebuilt_index() == whole_index()


@pytest.mark.parametrize("ahead", [-31_536_000, 31_536_000], ids=["a year ago", "a year ahead"])
def test_clocks_do_not_matter(vault_folder: VaultFolder, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """P24: files from another time, and an index made at another time."""
    file = vault_folder.write("wiki/a.md", "one [[b]]")
    now = time.time_ns()
    os.utime(file, ns=(0, now + ahead * 10**9))
    with monkeypatch.context() as clock:
        clock.setattr(time, "time_ns", lambda: now - ahead * 10**9)
        scan()
    vault_folder.write("wiki/a.md", "two [[c]]")
    assert scan().changed == 1
    assert Link.objects.get().text == "c"
    assert scan().differences == 0


def test_a_save_within_the_same_tick_is_seen(vault_folder: VaultFolder) -> None:
    """A second save of the same size can leave size, mtime and inode as they were."""
    file = vault_folder.write("wiki/a.md", "one")
    fresh = time.time_ns() + 10**9
    os.utime(file, ns=(fresh, fresh))
    scan()
    with open(file, "r+") as same:
        same.write("two")
    os.utime(file, ns=(fresh, fresh))
    assert scan().changed == 1


def test_doubt_ends_with_the_next_scan_that_writes(vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    file = vault_folder.write("wiki/a.md", "one")
    fresh = time.time_ns() + 10**9
    os.utime(file, ns=(fresh, fresh))
    scan()
    vault_folder.write("wiki/b.md", "two")
    with monkeypatch.context() as clock:
        clock.setattr(time, "time_ns", lambda: fresh + 10**10)
        scan()
    assert Page.objects.get(title="a").read_ns == fresh + 10**10


def test_a_full_scan_sees_what_no_stat_tells(vault_folder: VaultFolder) -> None:
    """P11."""
    old = 10**18 + 1
    files = [vault_folder.write(f"wiki/a{number}.md", f"one {number}") for number in range(5)]
    source = vault_folder.write("raw/sources/a.txt", "one")
    for file in [*files, source]:
        os.utime(file, ns=(old, old))
    scan()
    for file in [*files, source]:
        file.write_bytes(file.read_bytes().replace(b"one", b"two"))
        os.utime(file, ns=(old, old))
    assert scan().differences == 0
    report = scan(full=True)
    assert (report.changed, report.files_changed) == (5, 1)
    assert rebuilt_index() == whole_index()


# --- files that are not pages ---


def test_files_are_link_targets_and_sources_are_hashed(vault_folder: VaultFolder) -> None:
    vault_folder.write("raw/sources/a.txt", "source")
    vault_folder.write("wiki/picture.png", "png")
    vault_folder.write("wiki/a.sync-conflict-20260101-101010-ABCDEFG.md", "copy")
    vault_folder.write("wiki/from.md", "[[a.txt]] ![[picture.png]]")
    scan()
    kinds = {
        path: (kind, bool(digest)) for path, kind, digest in File.objects.values_list("path", "kind", "content_hash")
    }
    assert kinds == {
        "raw/sources/a.txt": ("source", True),
        "wiki/picture.png": ("attachment", False),
        "wiki/a.sync-conflict-20260101-101010-ABCDEFG.md": ("conflict", False),
    }
    (vault_folder.root / "wiki/picture.png").unlink()
    scan()
    assert list(Link.objects.order_by("order").values_list("state", flat=True)) == ["resolved", "broken"]
    vault_folder.write("wiki/picture.png", "another")
    vault_folder.write("raw/sources/a.txt", "changed")
    assert scan().files_changed == 2
    assert not Link.objects.filter(state="broken").exists()
    assert File.objects.count() == 3


# --- other ways to ask ---


def test_a_dry_run_counts_and_writes_nothing(vault_folder: VaultFolder) -> None:
    fill(vault_folder, 5)
    scan()
    before = whole_index()
    vault_folder.write("wiki/p0.md", "changed")
    os.utime(vault_folder.root / "wiki/p1.md", ns=(1, 1))
    os.rename(vault_folder.root / "wiki/p2.md", vault_folder.root / "wiki/moved.md")
    (vault_folder.root / "wiki/p3.md").unlink()
    vault_folder.write("wiki/new.md", "new")
    vault_folder.write("raw/sources/new.txt", "new")
    report = scan(dry_run=True)
    counts = (report.added, report.changed, report.moved, report.deleted, report.files_changed)
    assert counts == (1, 1, 1, 1, 1)
    assert whole_index() == before
    assert data_version() == 1
    scan()
    assert data_version() == 2


def test_while_another_scan_is_at_work_nothing_is_done(vault_folder: VaultFolder) -> None:
    fill(vault_folder, 2)
    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        with current_vault().lock("scan"):
            holding.set()
            done.wait(10)

    other = threading.Thread(target=hold)
    other.start()
    holding.wait(10)
    try:
        report = scan()
    finally:
        done.set()
        other.join()
    assert (report.running, report.pages) == (True, 0)
    assert scan().pages == 2


def test_progress_is_told(vault_folder: VaultFolder) -> None:
    fill(vault_folder, 150)
    heard: dict[str, list[tuple[int, int]]] = {}
    scan(progress=lambda phase, done, total: heard.setdefault(phase, []).append((done, total)))
    assert list(heard) == ["pages", "links", "edges"]
    assert heard["pages"][-1] == (150, 150)
    done, total = heard["links"][-1]  # of links to pages that were there already no word is said
    assert 0 < done == total < 150


def test_listeners_hear_of_scans_that_ran(vault_folder: VaultFolder) -> None:
    from wiki.signals import rescan_finished

    heard: list[ScanReport] = []

    def listener(sender: object, report: ScanReport, **rest: object) -> None:
        heard.append(report)

    rescan_finished.connect(listener)
    try:
        fill(vault_folder, 1)
        report = scan()
        scan(dry_run=True)
    finally:
        rescan_finished.disconnect(listener)
    assert heard == [report]


def test_a_long_report_is_cut() -> None:
    report = ScanReport(skipped=[{"path": str(number)} for number in range(500)])
    assert (len(report.as_dict()["skipped"]), report.as_dict()["skipped_total"]) == (200, 500)
    assert (
        ScanReport(pages=173, links=1807, broken=4, seconds=0.94).summary() == "173 pages, 1,807 links, 4 broken, 0.9 s"
    )
