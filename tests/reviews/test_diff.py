"""The diff of an item: rows give both texts back, bounds hold, and a page that changed since is told."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from reviews import comparing
from reviews.comparing import Comparison, Row, Segment, matching_blocks, row_as_dict, split_lines
from reviews.models import ItemType, Origin, ReviewItem, Status
from reviews.services import Finding, file, resolve, stage_write
from reviews.services.diff import MAX_LINES, MAX_ROWS, MAX_SHOWN, MAX_TEXT, ItemDiff, conflicting, item_diff
from tests.conftest import VaultFolder
from vault.history import Author
from wiki.models import Page
from wiki.services import put_page
from wiki.sync import scan

LINES = [
    "a b c\n",
    "foo bar baz\n",
    "\n",
    "x\n",
    "foo bar bay\n",
    "日本 語\n",
    "日本 人\n",
    "tab\there\r\n",
    "end",
    "\u2028",
    "a",
]
texts = st.lists(st.sampled_from(LINES), max_size=14).map("".join)
any_text = texts | st.text(max_size=60)


def both(rows: list[Row], old: str) -> tuple[str, str]:
    """The two texts that rows tell, skipped lines taken from the old one."""
    lines = split_lines(old)
    was: list[str] = []
    now: list[str] = []
    for row in rows:
        if row.kind == "skipped":
            assert row.old_line is not None
            same = lines[row.old_line - 1 : row.old_line - 1 + row.count]
            was += same
            now += same
        else:
            was.append("".join(part.text for part in row.old))
            now.append("".join(part.text for part in row.new))
    return "".join(was), "".join(now)


@given(any_text, any_text, st.sampled_from([None, 0, 1, 3]))
def test_the_rows_give_both_texts_back(old: str, new: str, context: int | None) -> None:
    rows = list(Comparison(old, new).rows(context=context))
    assert both(rows, old) == (old, new)
    for row in rows:
        same = "".join(part.text for part in row.old) == "".join(part.text for part in row.new)
        assert same == (row.kind in ("same", "skipped"))
        assert (row.old_line is None) == (row.kind == "added")
        assert (row.new_line is None) == (row.kind == "removed")


@pytest.mark.parametrize("turned", [False, True], ids=["added", "removed"])
def test_what_has_nothing_beside_it_is_not_compared(turned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new page of 100,000 lines is looked at by whoever may read: its words are not counted for that."""

    def compared(*sides: Any) -> Any:
        raise AssertionError(sides)

    monkeypatch.setattr(comparing, "_pairs", compared)
    old, new = "a\nb\n", "a\nx y\nz\nb\nc\n"
    comparison = Comparison(*((new, old) if turned else (old, new)))
    kind = "removed" if turned else "added"
    rows = list(comparison.rows())
    assert [row.kind for row in rows] == ["same", kind, kind, "same", kind]
    assert not comparison.coarse
    assert all(part.changed for row in rows if row.kind == kind for part in (*row.old, *row.new))


@given(any_text, any_text)
def test_lines_are_numbered_in_order_and_counted(old: str, new: str) -> None:
    comparison = Comparison(old, new)
    rows = list(comparison.rows())
    assert [row.old_line for row in rows if row.old_line] == list(range(1, len(split_lines(old)) + 1))
    assert [row.new_line for row in rows if row.new_line] == list(range(1, len(split_lines(new)) + 1))
    assert comparison.removed == sum(1 for row in rows if row.kind in ("removed", "changed"))
    assert comparison.added == sum(1 for row in rows if row.kind in ("added", "changed"))


@given(any_text, any_text)
def test_what_is_not_marked_is_the_same_on_both_sides(old: str, new: str) -> None:
    for row in Comparison(old, new).rows():
        if row.kind == "changed":
            was, now = ("".join(part.text for part in side if not part.changed) for side in (row.old, row.new))
            assert "".join(was.split()) == "".join(now.split())


@given(st.lists(st.sampled_from("abcdef"), max_size=40), st.lists(st.sampled_from("abcdef"), max_size=40))
def test_blocks_are_equal_and_in_order(old: list[str], new: list[str]) -> None:
    blocks, coarse = matching_blocks(old, new)
    at_old = at_new = 0
    for block in blocks:
        assert block.old >= at_old and block.new >= at_new and block.size
        assert old[block.old : block.old + block.size] == new[block.new : block.new + block.size]
        at_old, at_new = block.old + block.size, block.new + block.size
    assert not coarse


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not on this machine")
@pytest.mark.parametrize("seed", range(12))
def test_the_unified_diff_is_one_that_git_applies(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    old = [f"line {chance.randrange(30)}\n" for _ in range(chance.randrange(60))]
    new = [line for line in old if chance.random() > 0.1]
    for _ in range(chance.randrange(1, 8)):
        new.insert(chance.randrange(len(new) + 1), f"new {chance.randrange(99)}\n")
    was, now = "".join(old), "".join(new).removesuffix("\n" if seed % 2 else "")
    (tmp_path / "page.md").write_text(was)
    patch = "--- a/page.md\n+++ b/page.md\n" + "".join(Comparison(was, now).unified())
    # Outside of any repository: the patch is for this folder alone.
    subprocess.run(
        ["git", "apply", "--unsafe-paths", "-"],
        input=patch.encode(),
        cwd=tmp_path,
        check=True,
        env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent), "PATH": "/usr/bin:/bin"},
    )
    assert (tmp_path / "page.md").read_text() == now


def test_words_are_marked() -> None:
    (row,) = Comparison("The quick brown fox.\n", "The slow brown fox!\n").rows()
    assert row.old == (
        Segment("The "),
        Segment("quick", changed=True),
        Segment(" brown fox"),
        Segment(".", changed=True),
        Segment("\n"),
    )
    assert [part.text for part in row.new if part.changed] == ["slow", "!"]
    (row,) = Comparison("東京は晴れ\n", "東京は雨\n").rows()
    assert [part.text for part in row.old if part.changed] == ["晴れ"]


def test_a_line_stands_beside_the_one_it_was_made_from() -> None:
    old = "Ada wrote the first program.\n"
    new = "A heading that was not there\nAda wrote the very first program.\n"
    assert [row.kind for row in Comparison(old, new).rows()] == ["added", "changed"]


def test_a_break_at_the_end_is_part_of_the_last_line() -> None:
    (row,) = Comparison("a", "a\n").rows()
    assert row.kind == "changed"
    assert list(Comparison("a", "a\n").unified()) == [
        "@@ -1,1 +1,1 @@\n",
        "-a\n\\ No newline at end of file\n",
        "+a\n",
    ]
    assert list(Comparison("a\n", "a\n").unified()) == []


def test_rows_are_plain_data() -> None:
    rows = [row_as_dict(row) for row in Comparison("same\n" * 9 + "<b>\n", "same\n" * 9 + "<i>\n").rows(context=3)]
    assert rows[0] == {"kind": "skipped", "old_line": 1, "new_line": 1, "old": [], "new": [], "count": 6}
    assert {"text": "b", "changed": True} in rows[-1]["old"]
    json.dumps(rows)


class Steps:
    """Counts the equality tests of lines: what a comparison costs, whatever else the machine does."""

    count = 0


class Counted(str):
    def __eq__(self, other: object) -> bool:
        Steps.count += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("kind", ["few", "same", "two", "shuffled", "nothing"])
def test_the_work_grows_with_the_length_and_not_with_its_square(kind: str) -> None:
    def cost(size: int) -> int:
        chance = random.Random(1)
        old = [str(chance.randrange({"few": 6, "same": 1, "two": 2}.get(kind, 10**9))) for _ in range(size)]
        new = [f"{line}x" for line in old] if kind == "nothing" else chance.sample(old, size)
        Steps.count = 0
        matching_blocks([Counted(line) for line in old], [Counted(line) for line in new])
        return Steps.count

    assert cost(8_000) <= 12 * cost(2_000) + 5_000


def test_long_lines_are_marked_between_their_equal_ends() -> None:
    old, new = "x" * 40_000 + "y" + "x" * 40_000, "x" * 40_000 + "zz" + "x" * 40_000
    comparison = Comparison(old, new)
    (row,) = comparison.rows()
    assert [part.text for part in row.old if part.changed] == ["y"]
    assert [part.text for part in row.new if part.changed] == ["zz"]
    assert comparison.coarse


# --- items ---------------------------------------------------------------------------------------

PATH = "wiki/concepts/diff.md"
BOB = Author("bob", "rest")
CLAUDE = Author("claude", "mcp-http")


#: The day that is written into what is shown, and the frontmatter that has it already.
TODAY = "2026-01-02"
FRONT = f"---\ntitle: Diff\nupdated: {TODAY}\n---\n"


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("reviews.services.diff", "wiki.services.approved", "wiki.services.composing"):
        monkeypatch.setattr(f"{place}.today", lambda: TODAY)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def page_of(folder: VaultFolder, text: str) -> Page:
    folder.write(PATH, text)
    scan()
    return Page.objects.get(path=PATH)


def item_about(page: Page | None, **fields: Any) -> ReviewItem:
    """A pending item as a staged write leaves it."""
    given = {
        "item_type": ItemType.SUGGESTION,
        "rule": "staged",
        "origin": Origin.AGENT,
        "title": "Change",
        "target": "change",
        "content_key": sha(str(fields)),
        "page": page,
        "page_path": page.path if page else PATH,
        **fields,
    }
    return ReviewItem.objects.create(**given)


def diff_of(item: ReviewItem) -> ItemDiff:
    found = item_diff(item)
    assert found is not None
    return found


def test_an_item_that_proposes_no_text_has_no_diff(vault_folder: VaultFolder, db: None) -> None:
    assert item_diff(item_about(None, proposed_title="New")) is None
    assert item_diff(item_about(page_of(vault_folder, "a\n"))) is None


def test_an_edit_is_shown_against_the_file_as_it_is_now(vault_folder: VaultFolder, db: None) -> None:
    old = FRONT + "one\ntwo\n"
    page = page_of(vault_folder, old)
    shown = diff_of(item_about(page, proposed_text=old.replace("two", "three"), base_hash=sha(old)))
    assert not shown.conflict
    assert (shown.path, shown.added, shown.removed) == (PATH, 1, 1)
    assert shown.unified.endswith(" one\n-two\n+three\n")
    assert both(list(shown.rows), old) == (old, shown.proposed)
    assert shown.as_dict()["texts"] is None
    json.dumps(shown.as_dict())


def test_a_page_that_is_to_be_made_is_all_new(vault_folder: VaultFolder, db: None) -> None:
    shown = diff_of(item_about(None, proposed_text=FRONT + "text\n", proposed_title="New"))
    assert shown.current is None
    assert not shown.conflict
    assert (shown.added, shown.removed) == (5, 0)
    assert shown.as_dict()["new_page"]


def test_a_page_that_changed_since_is_a_conflict_with_three_texts(vault_folder: VaultFolder, db: None) -> None:
    old = FRONT + "one\n"
    page = page_of(vault_folder, old)
    item = item_about(page, proposed_text=old + "proposed\n", base_hash=sha(old))
    put_page(page=page, text=old + "by Bob\n", base_hash=sha(old), author=BOB)
    shown = diff_of(item)
    assert shown.conflict
    assert shown.as_dict()["texts"] == {
        "base": old,
        "current": old + "by Bob\n",
        "proposed": old + "proposed\n",
    }
    # Known by the file, before any scan has noticed.
    vault_folder.write(PATH, "by hand\n")
    assert diff_of(item).current == "by hand\n"


def test_a_base_that_nobody_kept_is_not_known(vault_folder: VaultFolder, db: None) -> None:
    page = page_of(vault_folder, "one\n")
    shown = diff_of(item_about(page, proposed_text="two\n", base_hash=sha("zero\n")))
    assert shown.conflict and shown.base is None
    assert shown.as_dict()["texts"]["base"] is None


def test_a_page_that_is_gone_is_a_conflict(vault_folder: VaultFolder, db: None) -> None:
    page = page_of(vault_folder, "one\n")
    item = item_about(page, proposed_text="two\n", base_hash=sha("one\n"))
    (vault_folder.root / PATH).unlink()
    assert diff_of(item).conflict
    scan(allow_deletions=True)
    item.refresh_from_db()
    assert diff_of(item).conflict


def test_a_page_that_came_to_the_proposed_title_is_a_conflict(vault_folder: VaultFolder, db: None) -> None:
    item = item_about(None, proposed_text="---\ntitle: Diff\n---\nnew\n", proposed_title="Diff")
    assert not diff_of(item).conflict
    page_of(vault_folder, "---\ntitle: Diff\n---\nmade by hand\n")
    assert diff_of(item).conflict


def test_so_it_is_where_another_page_gave_rise_to_the_proposal(vault_folder: VaultFolder, db: None) -> None:
    vault_folder.write("wiki/concepts/other.md", "---\ntitle: Other\n---\n")
    scan()
    item = item_about(Page.objects.get(title="Other"), proposed_body="new\n", proposed_title="Diff")
    assert not diff_of(item).conflict
    assert not conflicting(ReviewItem.objects.all()).exists()
    page_of(vault_folder, "---\ntitle: Diff\n---\nmade by hand\n")
    assert diff_of(item).conflict
    assert list(conflicting(ReviewItem.objects.all())) == [item]


def test_what_was_decided_is_no_conflict(vault_folder: VaultFolder, db: None) -> None:
    page = page_of(vault_folder, "two\n")
    item = item_about(
        page, proposed_text="two\n", base_hash=sha("one\n"), status=Status.CREATED, reviewed_at=timezone.now()
    )
    assert not diff_of(item).conflict


def test_a_file_that_can_not_be_read_is_a_problem_and_no_failure(
    vault_folder: VaultFolder, db: None, settings: Any
) -> None:
    page = page_of(vault_folder, "one\n" * 100)
    settings.SYNAPSE_MAX_PAGE_BYTES = 50
    shown = diff_of(item_about(page, proposed_text="two\n", base_hash="0" * 64))
    assert "larger than 50" in shown.problem
    assert not shown.conflict


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("".join(f"{n}\n" for n in range(5_000)), "".join(f"{n}!\n" for n in range(5_000))),
        ("a " * 400_000, "b " * 400_000),
        ("a " * 400_000, "a " * 400_000 + "b"),
        ("\n" * (MAX_LINES + 1), "a\n"),
        ("", "word\n" * 100_000),
    ],
)
def test_everything_shown_is_bounded(vault_folder: VaultFolder, db: None, old: str, new: str) -> None:
    page = page_of(vault_folder, old)
    item = item_about(page, proposed_text=new, base_hash="1" * 64)
    shown = diff_of(item).as_dict()
    assert len(shown["rows"]) <= MAX_ROWS
    assert len(shown["unified"]) <= MAX_SHOWN
    assert sum(len(part["text"]) for row in shown["rows"] for part in (*row["old"], *row["new"])) <= MAX_SHOWN
    assert all(len(text) <= MAX_TEXT for text in shown["texts"].values() if text)
    assert shown["truncated"]


def test_a_change_at_the_end_of_a_long_line_is_still_seen(vault_folder: VaultFolder, db: None) -> None:
    old = FRONT + "a " * 400_000
    shown = diff_of(item_about(page_of(vault_folder, old), proposed_text=old + "b", base_hash=sha(old)))
    row = shown.rows[-1]
    assert row.new[-1] == Segment("b", changed=True)
    assert any(part.left_out for part in row.new)


def test_the_day_of_the_write_is_shown(vault_folder: VaultFolder, db: None) -> None:
    old = "---\ntitle: Diff\nupdated: 2020-05-05\n---\none\n"
    shown = diff_of(item_about(page_of(vault_folder, old), proposed_text=old + "two\n", base_hash=sha(old)))
    assert shown.proposed == old.replace("2020-05-05", TODAY) + "two\n"


GIVEN = {"type": "concept", "title": "Diff", "lang": "en", "sources": ["raw/sources/a.md"]}


@pytest.mark.parametrize("kind", ["staged edit", "staged page", "edit", "page", "missing page"])
def test_what_is_shown_is_what_create_writes(vault_folder: VaultFolder, db: None, kind: str) -> None:
    """Byte for byte, whichever way it was proposed."""
    vault_folder.write("wiki/concepts/asks.md", "---\nlang: en\n---\n[[New Thing]] [[Diff]]\n")
    if "edit" in kind:
        page_of(
            vault_folder, "---\n# a comment\ntype: concept\ntitle: Diff\nlang: en\nsources: [x]\n---\nold [[asks]]\n"
        )
    scan()
    page = Page.objects.filter(path=PATH).first()
    base = page.content_hash if page else ""
    body = "A new text that links to [[asks]] and [[New Thing]].\n"
    if kind.startswith("staged"):
        item = stage_write(title="Diff", content=body, frontmatter=GIVEN, base_hash=base or None, author=CLAUDE)
    elif kind == "edit":
        item = item_about(page, rule="agent", proposed_body=body, base_hash=base)
    elif kind == "page":
        item = item_about(None, rule="agent", proposed_title="Diff", proposed_body=body, proposed_frontmatter=GIVEN)
    else:
        (item,) = file(
            findings=[Finding(item_type="missing-page", rule="missing-page", target="new thing", title="New Thing")],
            origin=Origin.RULE,
            author=CLAUDE,
        ).filed
        assert item_diff(item) is None
    shown = item_diff(item, stubs=True)
    assert shown is not None
    assert (shown.conflict, shown.problem) == (False, "")
    before = vault_folder.files()
    done = resolve(item_id=item.pk, action="create", author=BOB).item
    assert done.created_path == shown.path
    assert vault_folder.read(shown.path).decode() == shown.proposed
    assert ("edit" in kind) == (shown.path in before)


def test_a_proposal_that_can_not_be_written_says_why(vault_folder: VaultFolder, db: None) -> None:
    page = page_of(vault_folder, "no frontmatter\n")
    shown = diff_of(item_about(page, rule="agent", proposed_body="x\n"))
    assert "does not name the version" in shown.problem
    assert not shown.conflict
    shown = diff_of(item_about(page, rule="agent", proposed_body="y\n", base_hash=page.content_hash))
    assert shown.problem and not shown.conflict
    assert shown.proposed == "y\n"


def test_another_file_in_the_place_of_a_new_page_is_a_conflict(vault_folder: VaultFolder, db: None) -> None:
    vault_folder.write(PATH, "---\ntitle: Another title\n---\n")
    item = item_about(None, proposed_title="Diff", proposed_text=FRONT, target=PATH, page_path="")
    shown = diff_of(item)
    assert shown.conflict
    assert shown.current is not None and "Another title" in shown.current


def test_a_read_only_vault_is_still_looked_at(vault_folder: VaultFolder, db: None, settings: Any) -> None:
    old = FRONT + "one\n"
    item = item_about(page_of(vault_folder, old), proposed_text=old + "two\n", base_hash=sha(old))
    settings.SYNAPSE_READ_ONLY = True
    assert diff_of(item).added == 1
