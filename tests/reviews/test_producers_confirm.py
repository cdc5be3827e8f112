"""What a person has to confirm: sources that changed or went, conflict copies, frontmatter that does not parse."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.models import CitedSource, ReviewItem
from reviews.producers.confirm import BadFrontmatter, ConflictCopy, original_of
from reviews.producers.runner import run, run_everything, sweep
from reviews.producers.sources import SourceChanged, SourceGone
from reviews.services import Finding, resolve
from tests.conftest import VaultFolder
from tests.reviews.queue import ALICE
from wiki.models import Page
from wiki.services.citations import cited_by, pages_by_source, pages_citing
from wiki.sync import scan

pytestmark = pytest.mark.django_db

SOURCE = "raw/sources/a.txt"


def page(text: str = "text", *, sources: str = SOURCE) -> str:
    return f"---\ntype: concept\nsources: [{sources}]\n---\n{text}\n"


def look(rule: str) -> list[ReviewItem]:
    """Scan, run, and what is pending of the rule."""
    scan(allow_deletions=True)
    outcome = run()
    assert not outcome["failed"]
    return list(ReviewItem.objects.filter(rule=rule, status="pending").order_by("target"))


def closed(rule: str) -> int:
    return ReviewItem.objects.filter(rule=rule, status="auto_resolved").count()


# --- source-changed --------------------------------------------------------------------------------


@pytest.fixture
def cited(vault_folder: VaultFolder) -> VaultFolder:
    """A source that one page names and another links to; the queue has seen it."""
    vault_folder.write(SOURCE, "one")
    vault_folder.write("wiki/a.md", page())
    vault_folder.write("wiki/b.md", "See [[a.txt]].")
    vault_folder.write("wiki/c.md", "rests on nothing")
    assert look("source-changed") == []
    return vault_folder


def test_a_source_that_changes_is_asked_about(cited: VaultFolder) -> None:
    cited.write(SOURCE, "two")
    (item,) = look("source-changed")
    assert item.item_type == "confirm"
    assert item.title == "Source changed under 2 pages: raw/sources/a.txt"
    assert [entry["path"] for entry in item.referenced_pages] == ["wiki/a.md", "wiki/b.md"]
    assert item.file is not None and item.file.path == SOURCE
    assert item.rank == 2


def test_it_closes_once_all_have_followed(cited: VaultFolder) -> None:
    cited.write(SOURCE, "two")
    (item,) = look("source-changed")
    cited.write("wiki/a.md", page("rewritten"))
    (same,) = look("source-changed")
    assert same.pk == item.pk
    assert same.title == "Source changed under 1 page: raw/sources/a.txt"
    cited.write("wiki/b.md", "See the new [[a.txt]].")
    assert look("source-changed") == []
    assert closed("source-changed") == 1
    cited.write("wiki/a.md", page("rewritten again"))
    assert look("source-changed") == []


def test_a_page_that_moves_has_not_followed(cited: VaultFolder) -> None:
    cited.write(SOURCE, "two")
    (item,) = look("source-changed")
    (cited.root / "wiki/a.md").rename(cited.root / "wiki/elsewhere.md")
    (same,) = look("source-changed")
    assert same.pk == item.pk and same.rank == 2


def test_it_closes_when_the_old_bytes_are_back(cited: VaultFolder) -> None:
    cited.write(SOURCE, "two")
    assert look("source-changed")
    cited.write(SOURCE, "one")
    assert look("source-changed") == []
    cited.write(SOURCE, "three")
    (item,) = look("source-changed")
    assert item.previous_reason == "regressed"


def test_it_closes_when_nobody_cites_it(cited: VaultFolder) -> None:
    cited.write(SOURCE, "two")
    assert look("source-changed")
    cited.write("wiki/a.md", page(sources="raw/sources/other.txt"))
    (cited.root / "wiki/b.md").unlink()
    assert look("source-changed") == []
    assert not CitedSource.objects.exists()
    cited.write("wiki/c.md", page())
    assert look("source-changed") == [], "who cites it now cites what it is now"


def test_a_second_change_asks_all_again(cited: VaultFolder) -> None:
    cited.write(SOURCE, "two")
    (item,) = look("source-changed")
    cited.write("wiki/a.md", page("rewritten"))
    look("source-changed")
    cited.write(SOURCE, "three")
    (same,) = look("source-changed")
    assert same.pk == item.pk and same.rank == 2


def test_who_cites_it_later_agrees_with_it(cited: VaultFolder) -> None:
    cited.write(SOURCE, "two")
    look("source-changed")
    cited.write("wiki/c.md", page())
    (item,) = look("source-changed")
    assert item.rank == 2


@pytest.mark.parametrize("action", ["mark-resolved", "skip"])
def test_a_decision_is_about_this_change(cited: VaultFolder, action: str) -> None:
    cited.write(SOURCE, "two")
    (item,) = look("source-changed")
    resolve(item_id=item.pk, action=action, author=ALICE)
    assert look("source-changed") == []
    run_everything()
    assert look("source-changed") == []
    assert CitedSource.objects.get().noticed_hash == ""
    for text in ("three", "one"):  # not even the oldest bytes are what was decided about
        cited.write(SOURCE, text)
        (item,) = look("source-changed")
        resolve(item_id=item.pk, action=action, author=ALICE)
    assert ReviewItem.objects.filter(rule="source-changed").count() == 3


def test_a_sweep_closes_what_was_followed(cited: VaultFolder) -> None:
    cited.write(SOURCE, "two")
    assert look("source-changed")
    assert sweep() == 0
    cited.write("wiki/a.md", page("rewritten"))
    cited.write("wiki/b.md", "See the new [[a.txt]].")
    scan()
    assert sweep() == 1
    assert look("source-changed") == []


def test_reserved_pages_do_not_cite(vault_folder: VaultFolder) -> None:
    vault_folder.write(SOURCE, "one")
    vault_folder.write("wiki/overview.md", page("[[a.txt]]"))
    assert look("source-changed") == []
    vault_folder.write(SOURCE, "two")
    assert look("source-changed") == []
    (vault_folder.root / SOURCE).unlink()
    assert look("source-gone") == []


# --- source-gone -----------------------------------------------------------------------------------


def test_a_source_that_goes_is_asked_about_until_it_is_back(cited: VaultFolder) -> None:
    (cited.root / SOURCE).unlink()
    (item,) = look("source-gone")
    assert item.title == "Source gone: raw/sources/a.txt (cited by 2 pages)"
    assert [entry["path"] for entry in item.referenced_pages] == ["wiki/a.md", "wiki/b.md"]
    assert look("missing-page") == [], "a broken link to a file asks for no page"
    cited.write(SOURCE, "one")
    assert look("source-gone") == []
    assert closed("source-gone") == 1
    assert look("source-changed") == []


def test_it_comes_back_changed(cited: VaultFolder) -> None:
    (cited.root / SOURCE).unlink()
    assert look("source-gone")
    cited.write(SOURCE, "two")
    assert look("source-gone") == []
    assert len(look("source-changed")) == 1


def test_it_closes_when_no_page_cites_it_any_more(cited: VaultFolder) -> None:
    (cited.root / SOURCE).unlink()
    assert look("source-gone")
    cited.write("wiki/a.md", page(sources="raw/sources/other.txt"))
    (item,) = look("source-gone")
    assert item.rank == 1
    cited.write("wiki/b.md", "See nothing.")
    assert look("source-gone") == []


def test_where_its_bytes_are_now_is_told(cited: VaultFolder) -> None:
    (cited.root / "raw/sources/2024").mkdir()
    (cited.root / SOURCE).rename(cited.root / "raw/sources/2024/a.txt")
    (item,) = look("source-gone")
    assert "The same bytes are at raw/sources/2024/a.txt now." in item.rationale
    assert item.rank == 1, "the link leads to the new place"


def test_what_was_never_there_is_not_gone(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/a.md", page(sources='"https://example.org/x", A book, raw/sources/typo.txt'))
    assert look("source-gone") == []


def test_who_begins_to_cite_what_is_gone_is_told(cited: VaultFolder) -> None:
    (cited.root / SOURCE).unlink()
    look("source-gone")
    cited.write("wiki/c.md", page())
    (item,) = look("source-gone")
    assert item.rank == 3


# --- who cites -------------------------------------------------------------------------------------


def test_citing_one_by_one_and_all_at_once_agree(vault_folder: VaultFolder) -> None:
    from wiki.models import File

    for name in ("a.txt", "sub/b.md", "Caf\u00e9.txt", "nobody.txt"):
        vault_folder.write(f"raw/sources/{name}", name)
    vault_folder.write("wiki/1.md", page(sources="a.txt, raw/sources/sub/b.md"))
    vault_folder.write("wiki/2.md", page("[[sub/b]] ![[a.txt]]", sources="Cafe\u0301.txt"))
    vault_folder.write("wiki/3.md", "[x](../raw/sources/a.txt)")
    scan()
    files = File.objects.filter(kind="source")
    every = pages_by_source()
    assert every.keys() == {"raw/sources/a.txt", "raw/sources/sub/b.md", "raw/sources/Caf\u00e9.txt"}
    for file in files:
        one = pages_by_source({file.path}).get(file.path, set())
        assert one == every.get(file.path, set()) == set(pages_citing(file).values_list("pk", flat=True))
    for number in Page.objects.values_list("pk", flat=True):
        assert cited_by([number]) == {source for source, pages in every.items() if number in pages}


# --- conflict-copy ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "Note.sync-conflict-20240101-101010-ABCDEFG.md",
        "Note.sync-conflict-20240101-101010.md",
        "Note (Alice's conflicted copy 2024-01-01).md",
        "Note (conflicted copy 2024-01-01 101010).md",
        "Note (Case Conflict 1).md",
        "Note (SFConflict alice@example.org 2024-01-01-10-10-10).md",
        "Note (conflict on 2024-01-01).md",
        "Note_conflict-20240101-101010.md",
    ],
)
def test_copies_of_a_page_are_asked_about(vault_folder: VaultFolder, name: str) -> None:
    vault_folder.write("wiki/Note.md", "text")
    vault_folder.write(f"wiki/{name}", "other text")
    (item,) = look("conflict-copy")
    assert item.title == f"Conflict copy of Note: {name}"
    assert item.page is not None and item.page.path == "wiki/Note.md"
    assert item.file is not None and item.file.path == f"wiki/{name}"
    (vault_folder.root / "wiki" / name).unlink()
    assert look("conflict-copy") == []


def test_copies_of_one_page_can_be_told_apart_by_their_titles(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/Note.md", "text")
    for second in range(3):
        vault_folder.write(f"wiki/Note.sync-conflict-20240101-10101{second}-ABCDEFG.md", f"text {second}")
    assert len({item.title for item in look("conflict-copy")}) == 3


@pytest.mark.parametrize("name", [".Note.md.swp", "Note.md~", "#Note.md#", "Note.md.bak", "Note.tmp", "Note.md.orig"])
def test_leavings_of_editors_are_not(vault_folder: VaultFolder, name: str) -> None:
    vault_folder.write("wiki/Note.md", "text")
    vault_folder.write(f"wiki/{name}", "other text")
    assert look("conflict-copy") == []
    assert original_of(f"wiki/{name}") is None


def test_a_copy_without_its_page_is_not(vault_folder: VaultFolder) -> None:
    copy = "wiki/Note.sync-conflict-20240101-101010-ABCDEFG.md"
    vault_folder.write(copy, "other text")
    vault_folder.write("wiki/other/Note.md", "another folder's")
    vault_folder.write("wiki/index.md", "reserved")
    vault_folder.write("wiki/index.sync-conflict-20240101-101010-ABCDEFG.md", "reserved")
    vault_folder.write("raw/sources/x.md", "raw")
    vault_folder.write("raw/sources/x.sync-conflict-20240101-101010-ABCDEFG.md", "raw")
    assert look("conflict-copy") == []
    vault_folder.write("wiki/Note.md", "here it is")
    assert len(look("conflict-copy")) == 1
    (vault_folder.root / "wiki/Note.md").rename(vault_folder.root / "wiki/Renamed.md")
    assert look("conflict-copy") == []


def test_the_page_in_the_same_case_goes_first(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/note.md", "small")
    vault_folder.write("wiki/Note.sync-conflict-20240101-101010-ABCDEFG.md", "copy")
    (finding,) = conflict_copies()
    assert finding.page is not None and finding.page.path == "wiki/note.md"
    vault_folder.write("wiki/Note.md", "large")
    (finding,) = conflict_copies()
    assert finding.page is not None and finding.page.path == "wiki/Note.md"


def conflict_copies() -> list[Finding]:
    scan()
    return list(ConflictCopy().find(None))


# --- bad-frontmatter -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "block", ["a: [1", "a: 1\na: 2", "- a\n- b", "a: &x 1\nb: *x", "a: !tag 1", "a: {{title}}", "just text"]
)
def test_a_block_that_does_not_parse_is_asked_about(vault_folder: VaultFolder, block: str) -> None:
    vault_folder.write("wiki/a.md", f"---\n{block}\n---\nSecret words of the text.")
    (item,) = look("bad-frontmatter")
    assert item.page is not None and item.page.path == "wiki/a.md"
    assert item.title == "Frontmatter does not parse: wiki/a.md"
    assert "Secret" not in item.rationale
    (vault_folder.root / "wiki/a.md").rename(vault_folder.root / "wiki/b.md")
    (moved,) = look("bad-frontmatter")
    assert moved.pk == item.pk and "wiki/b.md" in moved.title
    vault_folder.write("wiki/b.md", "---\na: 1\n---\nSecret words of the text.")
    assert look("bad-frontmatter") == []


@pytest.mark.parametrize("text", [b"---\na: 1\n---\n\xff", b"no block", b"---\nnever closed", b"---\n---\n"])
def test_other_faults_are_not(vault_folder: VaultFolder, text: bytes) -> None:
    vault_folder.write("wiki/a.md", text)
    assert look("bad-frontmatter") == []


def test_reserved_pages_and_templates_are_not(vault_folder: VaultFolder) -> None:
    for path in ("wiki/overview.md", "purpose.md", "Templates/Person.md"):
        vault_folder.write(path, "---\na: {{title}}\n---\n")
    scan()
    assert not list(BadFrontmatter().find(None))


def test_the_reason_is_the_evidence(vault_folder: VaultFolder, settings: Any) -> None:
    vault_folder.write("wiki/a.md", "---\na: [1\n---\n")
    (item,) = look("bad-frontmatter")
    resolve(item_id=item.pk, action="skip", author=ALICE)
    vault_folder.write("wiki/a.md", "---\na: [1\n---\nmore text\n")
    assert look("bad-frontmatter") == []
    vault_folder.write("wiki/a.md", "---\na: 1\na: 2\n---\nmore text\n")
    assert len(look("bad-frontmatter")) == 1


def test_the_index_alone_is_asked(vault_folder: VaultFolder, django_assert_max_num_queries: Any) -> None:
    """However many pages there are, a look at everything is a few statements."""
    for number in range(60):
        vault_folder.write(f"raw/sources/{number}.txt", str(number))
        vault_folder.write(f"wiki/{number}.md", page(f"[[{number}.txt]]", sources=f"raw/sources/{number}.txt"))
    scan()
    run()
    for producer in (SourceChanged(), SourceGone(), ConflictCopy(), BadFrontmatter()):
        with django_assert_max_num_queries(8):
            assert not list(producer.find(None))
