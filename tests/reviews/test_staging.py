"""Staged writes: composed as they would be written, filed instead, and written as they were shown."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.models import ReviewItem, Status
from reviews.services import list_items, propose, resolve, stage_write
from reviews.services.diff import item_diff
from tests.conftest import VaultFolder
from tests.reviews.queue import ALICE, CLAUDE, history, pending
from vault import drafts
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki.models import Job, Page
from wiki.services import compose_page, composing, page_delete, page_move, write_page
from wiki.sync import dump_index, scan, sync_paths

pytestmark = pytest.mark.django_db

AGENT = Author("token:claude.ai", "mcp-http")
TIDES: dict[str, Any] = {"type": "concept", "title": "Tides", "sources": ["raw/sources/sea.md"], "lang": "en"}
MOON = """\ufeff---
title:   "Moon"   # as the person likes it
type: entity
tags: [sky,   night]
sources:
    - raw/sources/a.md
odd: {a: 1,b: 2}
lang: en
---
It pulls.
""".replace("\n", "\r\n")


def stage(title: str = "Tides", content: str = "Twice a day.\n", author: Author = AGENT, **options: Any) -> ReviewItem:
    frontmatter = {**TIDES, "title": title, **options.pop("frontmatter", {})}
    return stage_write(title=title, content=content, frontmatter=frontmatter, author=author, **options)


def create(item: ReviewItem) -> ReviewItem:
    return resolve(item_id=item.pk, action="create", author=ALICE).item


def refused(item: ReviewItem) -> SynapseError:
    with pytest.raises(SynapseError) as caught:
        resolve(item_id=item.pk, action="create", author=ALICE)
    assert ReviewItem.objects.get(pk=item.pk).status == Status.PENDING
    return caught.value


def everything(folder: VaultFolder) -> dict[str, bytes]:
    """Every file of the vault, those of .synapse included."""
    files = (file for file in folder.root.rglob("*") if file.is_file())
    return {str(file.relative_to(folder.root)): file.read_bytes() for file in files}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def moon(folder: VaultFolder) -> Page:
    folder.write("wiki/entities/moon.md", MOON)
    scan()
    return Page.objects.get(title="Moon")


def change_moon(page: Page, content: str = "It pulls the [[Tides]].\n", **options: Any) -> ReviewItem:
    frontmatter = {"type": "entity", "mood": "calm", "sources": ["raw/sources/b.md"]}
    return stage("Moon", content, frontmatter=frontmatter, **{"base_hash": page.content_hash, **options})


# --- staging --------------------------------------------------------------------------------------


def test_staging_a_new_page_files_it_and_leaves_no_trace_in_the_vault(vault_folder: VaultFolder) -> None:
    moon(vault_folder)
    before, index, jobs = everything(vault_folder), list(dump_index()), Job.objects.count()

    item = stage(content="Pulled by the [[Big Moon]], twice a day.\n", origin_source="raw/sources/b.md")

    assert everything(vault_folder) == before
    assert list(dump_index()) == index
    assert Job.objects.count() == jobs
    item = ReviewItem.objects.get(pk=item.pk)
    assert (item.item_type, item.rule, item.origin, item.status) == ("suggestion", "staged", "agent", Status.PENDING)
    assert (item.page, item.base_hash, item.target) == (None, "", "wiki/concepts/tides.md")
    assert (item.proposed_title, item.proposed_page_type) == ("Tides", "concept")
    assert item.proposed_frontmatter == {**TIDES, "sources": ["raw/sources/sea.md", "raw/sources/b.md"]}
    assert item.proposed_body == "Pulled by the [[Big Moon]], twice a day.\n"
    assert item.proposed_text.endswith("---\nPulled by the [[big-moon|Big Moon]], twice a day.\n")
    assert (item.filed_by, item.filed_via) == (AGENT.name, AGENT.door)
    assert history(item) == [("filed", AGENT.name, "pending")]


def test_staging_a_change_leaves_the_page_and_names_the_version_it_was_made_from(vault_folder: VaultFolder) -> None:
    page = moon(vault_folder)
    before = everything(vault_folder)
    item = change_moon(page)
    assert everything(vault_folder) == before
    assert (item.page, item.base_hash) == (page, sha256(before[page.path]))
    page.refresh_from_db()
    assert page.content_hash == item.base_hash


def test_the_same_write_staged_twice_is_one_item_also_on_another_day(
    vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = moon(vault_folder)
    first = [stage(), change_moon(page)]
    again = [stage(author=Author("token:other", "mcp-http")), change_moon(page)]
    monkeypatch.setattr(composing, "today", lambda: "2100-01-01")
    later = [stage(), change_moon(page)]
    assert [item.pk for item in first] == [item.pk for item in again] == [item.pk for item in later]
    assert {item.filed_by for item in ReviewItem.objects.all()} == {AGENT.name}
    assert ReviewItem.objects.count() == 2
    other = [
        stage(content="Thrice a day.\n"),
        stage(frontmatter={"mood": "calm"}),
        stage(origin_source="raw/sources/c.md"),
        change_moon(page, "Less.\n"),
    ]
    assert len({item.pk for item in [*first, *other]}) == 6


def test_what_the_page_says_already_is_nothing_to_propose(vault_folder: VaultFolder) -> None:
    page = write_page(title="Tides", content="Twice a day.\n", frontmatter=TIDES, author=CLAUDE).page
    with pytest.raises(SynapseError) as caught:
        stage()
    assert caught.value.code is ErrorCode.INVALID_CONTENT
    assert ReviewItem.objects.count() == 0
    assert stage(content="Thrice.\n").page == page


def test_what_was_dismissed_is_not_asked_again_and_says_so(vault_folder: VaultFolder) -> None:
    item = stage()
    resolve(item_id=item.pk, action="dismiss", author=ALICE)
    with pytest.raises(SynapseError) as caught:
        stage()
    assert caught.value.code is ErrorCode.REVIEW_TERMINAL
    assert caught.value.repair == {"id": str(item.pk), "status": "dismissed"}
    assert ReviewItem.objects.count() == 1


REFUSED: list[tuple[dict[str, Any], ErrorCode]] = [
    ({"frontmatter": {"type": "concept", "title": "Tides", "lang": "en"}}, ErrorCode.INVALID_FRONTMATTER),
    ({"frontmatter": {**TIDES, "title": "Other"}}, ErrorCode.INVALID_FRONTMATTER),
    ({"frontmatter": {**TIDES, "content_hash": "0"}}, ErrorCode.INVALID_FRONTMATTER),
    ({"content": ""}, ErrorCode.INVALID_CONTENT),
    ({"content": "a\0b"}, ErrorCode.INVALID_CONTENT),
    ({"content": "x" * 2_000}, ErrorCode.PAYLOAD_TOO_LARGE),
    ({"content": "x" * 990}, ErrorCode.PAYLOAD_TOO_LARGE),
    ({"base_hash": "0" * 64}, ErrorCode.CONFLICT),
    ({"path": "wiki/entities/tides.md"}, ErrorCode.PATH_NOT_ALLOWED),
    ({"title": "index", "frontmatter": {**TIDES, "title": "index"}}, ErrorCode.PATH_NOT_ALLOWED),
    ({"title": "Note", "frontmatter": {**TIDES, "title": "Note"}}, ErrorCode.PATH_NOT_ALLOWED),
    ({"title": "Twin", "frontmatter": {**TIDES, "title": "Twin"}}, ErrorCode.AMBIGUOUS_TITLE),
    ({"title": "Moon", "frontmatter": {**TIDES, "title": "Moon"}}, ErrorCode.BASE_REQUIRED),
    ({"title": "Moon", "frontmatter": {**TIDES, "title": "Moon"}, "base_hash": "0" * 64}, ErrorCode.CONFLICT),
    ({"title": "Bad", "frontmatter": {**TIDES, "title": "Bad"}, "base_hash": "BAD"}, ErrorCode.INVALID_FRONTMATTER),
]


@pytest.mark.parametrize(("changes", "code"), REFUSED)
def test_staging_refuses_what_writing_refuses_in_the_same_words(
    vault_folder: VaultFolder, settings: Any, changes: dict[str, Any], code: ErrorCode
) -> None:
    moon(vault_folder)
    vault_folder.write("daily/note.md", "---\ntitle: Note\n---\nMine.\n")
    for name in ("one", "two"):
        vault_folder.write(f"wiki/{name}.md", "---\ntitle: Twin\n---\nText.\n")
    bad = vault_folder.write("wiki/bad.md", "---\ntitle: Bad\nx: [\n---\nText.\n").read_bytes()
    scan()
    Page.objects.filter(path="wiki/bad.md").update(title="Bad")
    settings.SYNAPSE_MAX_PAGE_BYTES = 1_000
    given = {"title": "Tides", "content": "Twice a day.\n", "frontmatter": TIDES, **changes}
    if given.get("base_hash") == "BAD":
        given["base_hash"] = sha256(bad)
    before = everything(vault_folder)
    with pytest.raises(SynapseError) as staged:
        stage_write(**given, author=AGENT)
    assert staged.value.code is code
    assert everything(vault_folder) == before  # no draft either
    assert ReviewItem.objects.count() == 0
    with pytest.raises(SynapseError) as written:
        write_page(**given, author=AGENT)
    assert written.value.code is code
    kept = written.value.repair.pop("draft", None)
    assert staged.value.repair == written.value.repair
    if not kept:
        assert staged.value.message == written.value.message


def test_read_only_refuses_staging(vault_folder: VaultFolder, settings: Any) -> None:
    settings.SYNAPSE_READ_ONLY = True
    with pytest.raises(SynapseError) as caught:
        stage()
    assert caught.value.code is ErrorCode.READ_ONLY
    assert ReviewItem.objects.count() == 0


# --- what create writes ---------------------------------------------------------------------------

_LINES = st.lists(
    st.sampled_from(["Text.", "[[Moon]] [[moon|it]]", "[[Nobody]]", "---", "", "![[Moon]]", "| a | [[Moon]] |", "é中"]),
    min_size=1,
    max_size=6,
)
_PROPERTIES = st.dictionaries(
    st.sampled_from(["mood", "tags", "aliases", "related", "odd", "created"]),
    st.sampled_from(["calm", ["a", "b"], "[[Moon]]", 7, None, "2020-02-02", {"deep": ["[[Moon]]"]}]),
    max_size=4,
).filter(
    lambda given: not isinstance(given.get("tags"), int | dict) and not isinstance(given.get("aliases"), int | dict)
)


@given(lines=_LINES, properties=_PROPERTIES, changes=st.booleans(), crlf=st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_create_writes_the_bytes_that_the_diff_showed_and_that_write_page_would_have_written(
    vault_folder: VaultFolder, lines: list[str], properties: dict[str, Any], changes: bool, crlf: bool
) -> None:
    for path in vault_folder.files():
        (vault_folder.root / path).unlink()
    sync_paths(list(Page.objects.live().values_list("path", flat=True)))
    page = moon(vault_folder)
    title, content = ("Moon" if changes else "Tides"), ("\r\n" if crlf else "\n").join([*lines, ""])
    given = {
        "title": title,
        "content": content if content.strip() else "Text.\n",
        "frontmatter": {**TIDES, "title": title, **properties},
        "base_hash": page.content_hash if changes else None,
    }
    item = stage_write(**given, author=AGENT)
    shown = item_diff(ReviewItem.objects.get(pk=item.pk))
    assert shown is not None
    made = create(item)
    approved = vault_folder.read(made.created_path)
    assert approved == item.proposed_text.encode() == shown.proposed.encode()

    # the same write, made at once in the vault as it was
    vault_folder.write("wiki/entities/moon.md", MOON)
    if not changes:
        (vault_folder.root / made.created_path).unlink()
    sync_paths(["wiki/entities/moon.md", made.created_path])
    written = write_page(**given, author=AGENT)
    assert vault_folder.read(written.page.path) == approved


def test_another_day_changes_the_line_of_updated_and_no_other_byte(
    vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = moon(vault_folder)
    staged = [stage(), change_moon(page)]
    monkeypatch.setattr(composing, "today", lambda: "2100-01-01")
    monkeypatch.setattr("wiki.services.approved.today", lambda: "2100-01-01")
    for item in staged:
        written = vault_folder.read(create(item).created_path)
        assert written != item.proposed_text.encode()
        days = re.compile(rb"(?m)^updated: [0-9-]{10}\r?$")
        assert days.findall(written) == [
            days.findall(item.proposed_text.encode())[0].replace(
                days.findall(item.proposed_text.encode())[0].split()[1], b"2100-01-01"
            )
        ]
        assert days.sub(b"", written) == days.sub(b"", item.proposed_text.encode())


def test_a_page_that_came_to_be_linked_meanwhile_does_not_change_what_is_written(vault_folder: VaultFolder) -> None:
    item = stage(content="Pulled by [[Luna]].\n")
    write_page(title="Luna", content="x\n", frontmatter={**TIDES, "title": "Luna", "type": "entity"}, author=CLAUDE)
    vault_folder.write("Luna.md", "Another.\n")
    scan()
    assert vault_folder.read(create(item).created_path) == item.proposed_text.encode()


def test_a_change_follows_its_page_to_another_path(vault_folder: VaultFolder) -> None:
    page = moon(vault_folder)
    item = change_moon(page)
    page_move(page=page, path="wiki/sky/moon.md", author=ALICE)
    write_page(title="Luna", content="x\n", frontmatter={**TIDES, "title": "Luna", "type": "entity"}, author=CLAUDE)
    made = create(item)
    assert (made.created_page, made.created_path) == (page, "wiki/sky/moon.md")
    assert vault_folder.read("wiki/sky/moon.md") == item.proposed_text.encode()
    assert "wiki/entities/moon.md" not in vault_folder.files()


def test_a_change_follows_its_page_that_a_person_renamed_in_an_editor(vault_folder: VaultFolder) -> None:
    page = moon(vault_folder)
    item = change_moon(page)
    (vault_folder.root / "wiki/entities/moon.md").rename(vault_folder.root / "wiki/the moon.md")
    scan()
    made = create(item)
    assert (made.created_page, made.created_path) == (page, "wiki/the moon.md")
    assert vault_folder.read("wiki/the moon.md") == item.proposed_text.encode()


def test_a_page_that_was_moved_where_agents_may_not_write_is_left_alone(vault_folder: VaultFolder) -> None:
    page = moon(vault_folder)
    item = change_moon(page)
    page_move(page=page, path="private/moon.md", author=ALICE)
    assert refused(item).code is ErrorCode.PATH_NOT_ALLOWED
    assert vault_folder.read("private/moon.md") == MOON.encode()


@pytest.mark.parametrize("indexed", [True, False])
def test_a_page_that_has_changed_is_a_conflict_with_the_three_texts(vault_folder: VaultFolder, indexed: bool) -> None:
    page = moon(vault_folder)
    item = change_moon(page)
    if indexed:
        write_page(
            title="Moon",
            content="Mine.\n",
            frontmatter={**TIDES, "title": "Moon", "type": "entity"},
            base_hash=page.content_hash,
            author=CLAUDE,
        )
    else:
        vault_folder.write("wiki/entities/moon.md", "A person saved this.\n")
    before = everything(vault_folder)

    error = refused(item)

    assert error.code is ErrorCode.CONFLICT
    assert error.repair["content_hash"] == sha256(before[page.path])
    assert error.repair["base"] == (MOON if indexed else None)  # an editor keeps no history
    assert error.repair["current"] == before[page.path].decode()
    assert error.repair["proposed"] == item.proposed_text
    assert everything(vault_folder) == before
    assert drafts.list_drafts(current_vault()) == []
    kept = ReviewItem.objects.get(pk=item.pk)
    assert (kept.failure, kept.proposed_text) == (error.message, item.proposed_text)
    assert "Mine" not in kept.failure and "person" not in kept.failure


def test_an_editor_that_saves_at_the_last_moment_is_not_overwritten(
    vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vault import writer

    page = moon(vault_folder)
    item = change_moon(page)
    real = writer.replace

    def saved_before(*args: Any, **options: Any) -> Any:
        vault_folder.write("wiki/entities/moon.md", "A person saved this.\n")
        return real(*args, **options)

    monkeypatch.setattr(writer, "replace", saved_before)
    error = refused(item)
    assert (error.code, error.repair["current"]) == (ErrorCode.CONFLICT, "A person saved this.\n")
    assert vault_folder.read("wiki/entities/moon.md") == b"A person saved this.\n"


@pytest.mark.parametrize("how", ["deleted", "gone from the disk", "not even a row"])
def test_a_page_that_is_gone_is_a_conflict_and_is_not_made_again(vault_folder: VaultFolder, how: str) -> None:
    page = moon(vault_folder)
    item = change_moon(page)
    if how == "deleted":
        page_delete(page=page, base_hash=page.content_hash, author=ALICE)
    else:
        (vault_folder.root / page.path).unlink()
    if how == "not even a row":
        Page.objects.all().delete()
    error = refused(item)
    assert error.code is ErrorCode.CONFLICT
    assert (error.repair["current"], error.repair["proposed"]) == (None, item.proposed_text)
    assert error.repair["base"] == (MOON if how == "deleted" else None)
    assert vault_folder.files() == []


def test_a_new_page_whose_title_was_taken_meanwhile_is_a_conflict(vault_folder: VaultFolder) -> None:
    item = stage()
    page = write_page(title="Tides", content="First.\n", frontmatter={**TIDES, "type": "entity"}, author=CLAUDE).page
    before = everything(vault_folder)
    error = refused(item)
    assert error.code is ErrorCode.CONFLICT
    assert error.repair == {
        "content_hash": page.content_hash,
        "path": page.path,
        "base": None,
        "current": before[page.path].decode(),
        "proposed": item.proposed_text,
    }
    assert everything(vault_folder) == before


@pytest.mark.parametrize("text", ["---\ntitle: Low Tides\n---\nx\n", "---\ntitle: Tides\n---\nx\n"])
@pytest.mark.parametrize("indexed", [True, False])
def test_a_place_that_was_taken_meanwhile_is_a_conflict_and_no_other_place_is_chosen(
    vault_folder: VaultFolder, text: str, indexed: bool
) -> None:
    item = stage()
    vault_folder.write("wiki/concepts/tides.md", text)
    if indexed:
        scan()
    before = everything(vault_folder)
    error = refused(item)
    assert (error.code, error.repair["current"]) == (ErrorCode.CONFLICT, text)
    assert {path: data for path, data in everything(vault_folder).items() if path in before} == before
    assert vault_folder.files() == ["wiki/concepts/tides.md"]


def test_the_place_that_was_shown_is_kept_when_a_better_one_comes_free(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/concepts/tides.md", "---\ntitle: Something else\n---\nx\n")
    scan()
    item = stage()
    assert item.target == "wiki/concepts/tides-2.md"
    (vault_folder.root / "wiki/concepts/tides.md").unlink()
    scan(allow_deletions=True)
    assert create(item).created_path == "wiki/concepts/tides-2.md"


# --- what the agent sees of it --------------------------------------------------------------------


def test_the_agent_sees_in_the_list_what_became_of_it(vault_folder: VaultFolder) -> None:
    made, skipped, waiting = stage(), stage("Ebb"), stage("Flood")
    create(made)
    resolve(item_id=skipped.pk, action="skip", note="not now", author=ALICE)
    seen = {item["id"]: item for item in list_items(status="all")["result"]}
    assert seen[str(made.pk)]["status"] == "created"
    assert seen[str(made.pk)]["created_page"]["path"] == "wiki/concepts/tides.md"
    assert (seen[str(skipped.pk)]["status"], seen[str(skipped.pk)]["note"]) == ("skipped", "not now")
    assert seen[str(waiting.pk)]["status"] == "pending"
    assert all(item["proposed_body"] is None and item["has_proposal"] for item in seen.values())


def test_composing_says_what_writing_would_warn_of(vault_folder: VaultFolder) -> None:
    content = "![x](https://example.org/x.png)\n"
    made = compose_page(title="Tides", content=content, frontmatter=TIDES, author=AGENT)
    assert (made.page, made.base_hash, made.path) == (None, None, "wiki/concepts/tides.md")
    assert "example.org" in ReviewItem.objects.get(pk=stage(content=content).pk).rationale
    assert made.warnings == write_page(title="Tides", content=content, frontmatter=TIDES, author=AGENT).warnings


def test_what_somebody_waits_for_stands_above_what_scans_find(vault_folder: VaultFolder) -> None:
    waits = stage()
    asks = {"item_type": "contradiction", "title": "Two dates"}
    (asked,) = propose(items=[asks], author=CLAUDE)["result"]
    noise = pending("orphan", rank=499)
    shown = [entry["id"] for entry in list_items(order="rank")["result"]]
    assert shown == [str(waits.pk), asked["id"], str(noise.pk)]
