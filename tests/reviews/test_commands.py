"""``manage.py reviews``: each sub-command for people and for programs, and the queue that moves with its vault."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from reviews import services
from reviews.models import (
    CitedSource,
    Evidence,
    ItemType,
    Origin,
    ResearchRun,
    ReviewEvent,
    ReviewItem,
    Status,
)
from reviews.producers import runner
from reviews.services import Finding, file
from reviews.services.lines import bounded_lines, read_line
from tests.conftest import VaultFolder
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki.models import Audit, Page
from wiki.sync import scan

pytestmark = pytest.mark.django_db

CLAUDE = Author("claude", "mcp-stdio")
SCAN = Author("synapse", "scan")
PERSON = Author("user:ann", "admin")


def reviews(*words: str, code: int | None = None) -> tuple[str, str]:
    """Run the command; what it said on both channels. ``code`` is the exit code it has to end with."""
    out, err = io.StringIO(), io.StringIO()
    if code is None:
        call_command("reviews", *words, stdout=out, stderr=err, skip_checks=True)
    else:
        with pytest.raises((SystemExit, CommandError)) as ended:
            call_command("reviews", *words, stdout=out, stderr=err, skip_checks=True)
        if isinstance(ended.value, SystemExit):
            assert ended.value.code == code
        else:
            err.write(str(ended.value))
    return out.getvalue(), err.getvalue()


def as_json(*words: str, code: int | None = None) -> Any:
    return json.loads(reviews(*words, "--json", code=code)[0])


def ask(target: str, *, origin: str = Origin.RULE, rule: str = "missing-page", **fields: Any) -> ReviewItem:
    """An item, filed as a producer or an agent does."""
    given = {"item_type": ItemType.MISSING_PAGE, "title": target, "proposed_title": target, **fields}
    author = SCAN if origin == Origin.RULE else CLAUDE
    filed = file(findings=[Finding(rule=rule, target=target, **given)], origin=origin, author=author)
    (item,) = filed.filed
    return item


# --- looking ----------------------------------------------------------------------------------------


def test_a_list_shows_what_most_rests_on_first(vault_folder: VaultFolder) -> None:
    ask("Ada", rank=2)
    ask("Turing", rank=7)
    skipped = ask("Old")
    services.resolve(item_id=skipped.pk, action="skip", author=PERSON)
    said, _ = reviews("list")
    assert re.findall(r"(?:Turing|Ada|Old)", said) == ["Turing", "Ada"]
    assert "Old  (skipped)" in reviews("list", "--status", "all")[0]
    listed = as_json("list")
    assert [item["title"] for item in listed["result"]] == ["Turing", "Ada"]
    assert (listed["total"], listed["next_cursor"]) == (2, None)


def test_a_list_goes_on_where_it_ended(vault_folder: VaultFolder) -> None:
    for number in range(5):
        ask(f"Page {number}", rank=number)
    said, _ = reviews("list", "--limit", "2")
    assert "2 of 5." in said
    cursor = re.search(r"--cursor (\S+)", said)
    assert cursor
    assert "Page 2" in reviews("list", "--limit", "2", "--cursor", cursor[1])[0]
    assert as_json("list", "--limit", "2", "--order", "oldest")["result"][0]["title"] == "Page 0"


def test_an_empty_list_says_so(vault_folder: VaultFolder) -> None:
    assert "Nothing waits" in reviews("list")[0]
    assert "No such items" in reviews("list", "--status", "dismissed")[0]
    assert as_json("list")["result"] == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["list", "--cursor", "x"], "invalid_cursor"),
        (["list", "--page", "../x"], "path_not_allowed"),
        (["show", "8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01"], "review_not_found"),
        (["show", "x"], "review_not_found"),
        (["resolve", "8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01", "explode"], "invalid_action"),
        (["resolve", *["8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01" for _ in range(201)], "skip"], "too_many_ids"),
        (["resolve", "8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01", "skip", "--note", "x" * 2001], "invalid_param_value"),
        (["import", "/nonexistent/file"], "invalid_param_value"),
    ],
)
def test_an_error_is_a_sentence_and_an_envelope(vault_folder: VaultFolder, words: list[str], code: str) -> None:
    envelope = as_json(*words, code=1)
    assert envelope["error_code"] == code
    _, said = reviews(*words, code=1)
    assert said.strip() == envelope["error"]
    assert "Traceback" not in said and "/nonexistent" not in said


@pytest.mark.parametrize("words", [[], ["list", "--status", "x"], ["list", "--type", "x"], ["resolve", "x"], ["nope"]])
def test_what_argparse_refuses(vault_folder: VaultFolder, words: list[str]) -> None:
    with pytest.raises(CommandError):
        call_command("reviews", *words, skip_checks=True)


def test_an_item_is_shown_with_its_diff_and_its_events(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/concepts/a.md", "one\ntwo\n")
    scan()
    page = Page.objects.get()
    item = ask(
        "Change \x1b[31m it",
        origin=Origin.AGENT,
        rule="staged",
        item_type=ItemType.SUGGESTION,
        rationale="It is wrong.",
        page=page,
        proposed_text="one\nthree \x1b[2J\n",
        base_hash=page.content_hash,
        search_queries=["why two"],
    )
    said, _ = reviews("show", str(item.pk))
    for part in (
        "It is wrong.",
        "wiki/concepts/a.md",
        "-two",
        "+three",
        "lead: why two",
        "claude (mcp-stdio)",
        "create",
    ):
        assert part in said
    assert "\x1b" not in said
    shown = as_json("show", str(item.pk))
    assert (shown["diff"]["removed"], shown["diff"]["conflict"]) == (1, False)
    assert shown["events"][0]["what"] == "filed"
    vault_folder.write("wiki/concepts/a.md", "by hand\n")
    assert "Conflict" in reviews("show", str(item.pk))[0]


# --- deciding ---------------------------------------------------------------------------------------


def test_deciding_about_several_tells_each(vault_folder: VaultFolder) -> None:
    a, b, done = ask("A"), ask("B"), ask("Done")
    services.resolve(item_id=done.pk, action="skip", author=PERSON)
    unknown = str(uuid4())
    said, err = reviews("resolve", str(a.pk), str(b.pk), str(done.pk), unknown, "dismiss", "--note", "no use", code=1)
    assert f"{a.pk}  dismissed" in said and f"{b.pk}  dismissed" in said
    assert f"{done.pk}  was decided already: skipped" in said
    assert f"{unknown}  is no item's id" in err
    a.refresh_from_db()
    assert (a.status, a.note, a.reviewed_via) == (Status.DISMISSED, "no use", "command")


def test_deciding_answers_programs(vault_folder: VaultFolder) -> None:
    a, b = ask("A"), ask("B", item_type=ItemType.CONFIRM)
    answer = as_json("resolve", str(a.pk), "approve", code=1)  # a stub needs pages that ask for it
    assert answer["action"] == "create"
    assert answer["updated"] == [] and answer["failed"][0]["id"] == str(a.pk)
    answer = as_json("resolve", str(b.pk), "create", code=1)
    assert answer["failed"][0]["error_code"] == "action_not_supported"
    answer = as_json("resolve", str(a.pk), str(b.pk), str(a.pk), "resolved")
    assert answer["updated"] == [str(a.pk), str(b.pk)]
    answer = as_json("resolve", str(a.pk), "mark-resolved")
    assert answer["already"] == [str(a.pk)]


def test_create_writes_the_page(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/concepts/a.md", "---\nlang: en\n---\n[[Bletchley Park]]\n")
    scan()
    runner.run_everything()
    item = ReviewItem.objects.get(rule="missing-page")
    said, _ = reviews("resolve", str(item.pk), "create")
    page = Page.objects.get(title="Bletchley Park")
    assert f"created: {page.path}" in said
    assert page.path in vault_folder.files()


# --- sweeping ---------------------------------------------------------------------------------------


def test_a_sweep_closes_what_is_no_longer_true(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/concepts/a.md", "[[Nowhere]]\n")
    scan()
    runner.run_everything()
    assert ReviewItem.objects.filter(rule="missing-page", status=Status.PENDING).count() == 1
    vault_folder.write("wiki/concepts/a.md", "nothing\n")
    scan()
    said, _ = reviews("sweep")
    assert "Closed" in said
    assert not ReviewItem.objects.filter(rule="missing-page", status=Status.PENDING).exists()
    assert as_json("sweep") == {"auto_resolved": 0}


def test_a_full_sweep_files_what_it_finds(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/concepts/a.md", "[[Nowhere]]\n")
    scan()
    said, _ = reviews("sweep", "--full")
    assert re.search(r"Looked through the whole vault: [1-9]\d* filed", said)
    again = as_json("sweep", "--full")
    assert (again["filed"], again["closed"], again["failed"]) == (0, 0, {})


def test_what_is_held_back_is_told(vault_folder: VaultFolder, settings: Any) -> None:
    settings.SYNAPSE_REVIEW_CAP = 1
    vault_folder.write("wiki/concepts/a.md", "[[One]] [[Two]] [[Three]]\n")
    scan()
    assert "missing-page: 2 more held back" in reviews("sweep", "--full")[0]


def test_a_read_only_vault_is_left_alone(vault_folder: VaultFolder, settings: Any) -> None:
    item = ask("A")
    settings.SYNAPSE_READ_ONLY = True
    for words in (["sweep"], ["resolve", str(item.pk), "skip"]):
        assert as_json(*words, code=1)["error_code"] == "read_only"
    assert "SYNAPSE_READ_ONLY" in reviews("sweep", "--full", code=1)[1]
    assert "A" in reviews("list")[0]


# --- moving -----------------------------------------------------------------------------------------


@pytest.fixture
def busy(vault_folder: VaultFolder, settings: Any) -> VaultFolder:
    """A queue with something of everything in it."""
    settings.SYNAPSE_RESEARCH_BACKEND = "agent"
    vault_folder.write("raw/sources/turing.md", "A source.\n")
    vault_folder.write(
        "wiki/entities/turing.md",
        "---\ntitle: Alan Turing\nlang: en\nsources: [raw/sources/turing.md]\n---\n[[Bletchley]] [[Enigma]]\n",
    )
    vault_folder.write("wiki/concepts/b.md", "---\nlang: en\n---\n[[Bletchley]] [[Enigma]] [[turing]] ünïcode \u2028\n")
    scan()
    runner.run_everything()
    page = Page.objects.get(title="Alan Turing")
    by_target = {item.proposed_title: item for item in ReviewItem.objects.filter(rule="missing-page")}
    services.resolve(item_id=by_target["Bletchley"].pk, action="create", note="wanted", author=PERSON)
    services.resolve(item_id=by_target["Enigma"].pk, action="dismiss", author=PERSON)
    agents = [
        ask(f"Agent {number}", origin=Origin.AGENT, rule="agent", item_type=ItemType.CONTRADICTION, page=page)
        for number in range(3)
    ]
    services.resolve(item_id=agents[0].pk, action="deep-research", author=PERSON)
    services.resolve(item_id=agents[1].pk, action="skip", author=PERSON)
    services.reopen(item_id=agents[1].pk, author=PERSON)
    ask(
        "Edit",
        origin=Origin.AGENT,
        rule="staged",
        item_type=ItemType.SUGGESTION,
        page=page,
        proposed_frontmatter={"b": 1, "a": ["x", None]},
        proposed_body="body \u2028 \x7f",
        proposed_text="---\na: 1\n---\nbody\n",
        base_hash=page.content_hash,
        references=[page],
        search_queries=["q"],
        rests_on=[page.pk],
    )
    runner.run_everything()
    return vault_folder


def exported() -> str:
    return reviews("export")[0]


def anew() -> None:
    """Another database of the same vault, just scanned."""
    services.forget_all()
    for model in (Audit, Page):
        model.objects.all().delete()
    scan(full=True)


def contents(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("asked_anew", [False, True])
def test_a_queue_moves_with_its_vault(busy: VaultFolder, tmp_path: Path, asked_anew: bool) -> None:
    before = exported()
    path = tmp_path / "queue.jsonl"
    _, err = reviews("export", str(path))
    assert path.read_text(encoding="utf-8") == before
    assert f"Wrote {ReviewItem.objects.count()} items" in err
    anew()
    assert not ReviewItem.objects.exists()
    if asked_anew:  # the scan asks everything again before the import comes
        runner.run_everything()
        assert ReviewItem.objects.filter(proposed_title="Enigma", status=Status.PENDING).exists()
    said, _ = reviews("import", str(path))
    assert "Took in" in said
    assert contents(exported()) == contents(before)
    # Not only the same words: the questions are known to be decided, and the pages are tied again.
    runner.run_everything()
    assert contents(exported()) == contents(before)
    assert ReviewItem.objects.get(title="Edit").page == Page.objects.get(title="Alan Turing")
    assert Evidence.objects.filter(item__title="Edit").count() == 1
    assert ReviewItem.objects.get(title="Agent 1", status=Status.PENDING).previous is not None
    assert ReviewItem.objects.get(title="Agent 0").research_run == ResearchRun.objects.get()


def test_importing_twice_changes_nothing(busy: VaultFolder, tmp_path: Path) -> None:
    path = tmp_path / "queue.jsonl"
    reviews("export", str(path))
    anew()
    first = as_json("import", str(path))
    assert first["items"] == ReviewItem.objects.count() and first["runs"] == 1

    def everything() -> list[Any]:
        models = (ReviewItem, ReviewEvent, ResearchRun, Evidence, CitedSource, Audit)
        return [list(model.objects.order_by("pk").values()) for model in models]

    before = everything()
    second = as_json("import", str(path))
    assert (second["items"], second["runs"]) == (0, 0)
    assert second["known"] == first["items"] + first["runs"]
    assert everything() == before


def test_an_import_is_told_in_the_events_and_in_the_audit(busy: VaultFolder, tmp_path: Path) -> None:
    path = tmp_path / "queue.jsonl"
    reviews("export", str(path))
    anew()
    reviews("import", str(path))
    item = ReviewItem.objects.get(proposed_title="Enigma", status=Status.DISMISSED)
    assert [event.what for event in item.events.all()] == ["filed", "decided", "imported"]
    assert item.events.last().door == "command"  # type: ignore[union-attr]
    assert (item.reviewed_by, item.reviewed_via) == ("user:ann", "admin")
    assert Audit.objects.get(action="import").detail["items"] == ReviewItem.objects.count()


def test_what_an_agent_has_asked_here_stays(busy: VaultFolder, tmp_path: Path) -> None:
    path = tmp_path / "queue.jsonl"
    reviews("export", str(path))
    there = ReviewItem.objects.get(title="Agent 2")
    anew()
    page = Page.objects.get(title="Alan Turing")
    here = ask("Agent 2", origin=Origin.AGENT, rule="agent", item_type=ItemType.CONTRADICTION, page=page)
    assert here.content_key == there.content_key
    assert as_json("import", str(path))["standing"] == 1
    assert ReviewItem.objects.filter(title="Agent 2").get() == here


def test_a_source_that_had_changed_is_still_asked_about(vault_folder: VaultFolder, tmp_path: Path) -> None:
    vault_folder.write("raw/sources/s.md", "old\n")
    vault_folder.write("wiki/concepts/a.md", "---\nsources: [raw/sources/s.md]\n---\n[[b]]\n")
    vault_folder.write("wiki/concepts/b.md", "[[a]]\n")
    scan()
    runner.run_everything()
    vault_folder.write("raw/sources/s.md", "new\n")
    scan()
    runner.run()
    changed = ReviewItem.objects.filter(rule="source-changed", status=Status.PENDING)
    assert changed.count() == 1
    before, path = exported(), tmp_path / "queue.jsonl"
    reviews("export", str(path))
    anew()
    runner.run_everything()
    assert not changed.exists()
    reviews("import", str(path))
    runner.run_everything()
    assert changed.count() == 1
    assert contents(exported()) == contents(before)


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


def test_a_bad_line_is_told_and_the_others_come_in(busy: VaultFolder, tmp_path: Path) -> None:
    path = tmp_path / "queue.jsonl"
    reviews("export", str(path))
    lines = lines_of(path)
    total = len([line for line in lines if '"line":"item"' in line])
    number = next(at for at, line in enumerate(lines) if '"title":"Edit"' in line)
    lines[number] = lines[number].replace('"rank":0', '"rank":-1')
    lines.insert(number, "{ broken\n")
    path.write_text("".join(lines), encoding="utf-8")
    anew()
    answer = as_json("import", str(path), code=1)
    assert answer["items"] == total - 1
    assert [problem["line"] for problem in answer["problems"]] == [number + 1, number + 2]
    assert "rank must be a number" in answer["problems"][1]["error"]
    assert not ReviewItem.objects.filter(title="Edit").exists()
    _, err = reviews("import", str(path), code=1)
    assert f"line {number + 1}:" in err


@pytest.fixture
def a_line(vault_folder: VaultFolder) -> dict[str, Any]:
    """A line of an export that can be believed."""
    ask("Edit", origin=Origin.AGENT, rule="agent", item_type=ItemType.SUGGESTION, proposed_body="x")
    line: dict[str, Any] = contents(exported())[-1]
    assert read_line(json.dumps(line).encode())["title"] == "Edit"
    return line


@pytest.mark.parametrize(
    ("changes", "about"),
    [
        ({"id": "x"}, "id"),
        ({"item_type": "other"}, "item_type"),
        ({"status": "done"}, "status"),
        ({"status": "skipped"}, "reviewed_at"),
        ({"reviewed_at": "2026-01-01T00:00:00Z"}, "reviewed_at"),
        ({"created_at": "yesterday"}, "created_at"),
        ({"created_at": "2026-13-45T00:00:00Z"}, "created_at"),
        ({"created_at": "2026-01-01T00:00:00"}, "created_at"),
        ({"title": ""}, "title"),
        ({"title": "x" * 4_001}, "title"),
        ({"title": "a\x00b"}, "title"),
        ({"title": "\ud800"}, "title"),
        ({"title": 7}, "title"),
        ({"rank": True}, "rank"),
        ({"rank": 2**31}, "rank"),
        ({"base_hash": "X" * 64}, "base_hash"),
        ({"content_key": ""}, "content_key"),
        ({"proposed_frontmatter": [1]}, "proposed_frontmatter"),
        ({"proposed_frontmatter": {"a": ["\ud800"]}}, "proposed_frontmatter"),
        ({"proposed_page_type": "poem"}, "proposed_page_type"),
        ({"proposed_body": "x" * 5_000_001}, "proposed_body"),
        ({"referenced_pages": [{"id": "x", "title": "x", "path": "x"}] * 9}, "referenced_pages"),
        ({"referenced_pages": [{"id": "x"}]}, "referenced_pages"),
        ({"search_queries": ["x"] * 4}, "search_queries"),
        ({"events": [{"at": "x"}]}, "events"),
        ({"evidence": ["x"]}, "evidence"),
        ({"page": "wiki/a.md"}, "page"),
        ({"line": "poem"}, "line"),
        ({"surprise": 1}, "surprise"),
        ({"rank": None}, "rank"),
    ],
)
def test_a_line_is_believed_only_when_every_value_can_be(a_line: Any, changes: Any, about: str) -> None:
    with pytest.raises(SynapseError) as refused:
        read_line(json.dumps({**a_line, **changes}).encode())
    assert about in refused.value.message
    assert len(refused.value.message) < 400


@pytest.mark.parametrize("line", [b"[]", b"NaN", b'{"line": "item"}', b"\xff", b'{"line": "header", "line": "x"}', b""])
def test_a_line_that_is_no_object_of_ours(line: bytes) -> None:
    with pytest.raises(SynapseError):
        read_line(line)


def test_a_line_has_a_longest_length(settings: Any) -> None:
    settings.SYNAPSE_MAX_PAGE_BYTES = 1_000
    stream = io.BytesIO(b"a\n" + b"x" * 3_000_000 + b"\nb\n" + b"y" * 2_000_000)
    assert [(number, line) for number, line in bounded_lines(stream)] == [
        (1, b"a\n"),
        (2, None),
        (3, b"b\n"),
        (4, None),
    ]
    with pytest.raises(SynapseError) as refused:
        read_line(None)
    assert refused.value.code is ErrorCode.PAYLOAD_TOO_LARGE


@pytest.mark.parametrize(
    "first",
    [
        "",
        "{}\n",
        '{"line":"header","format":"x","version":1,"vault":"8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01"}\n',
        "hello\n",
    ],
)
def test_what_is_no_export_is_refused_whole(vault_folder: VaultFolder, tmp_path: Path, first: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(first, encoding="utf-8")
    assert "no export of a review queue" in as_json("import", str(path), code=1)["error"]


def test_another_vault_and_another_version_are_refused(busy: VaultFolder, tmp_path: Path) -> None:
    path = tmp_path / "queue.jsonl"
    text = exported()
    vault = str(current_vault().id)
    path.write_text(text.replace(f'"vault":"{vault}"', f'"vault":"{uuid4()}"'), encoding="utf-8")
    anew()
    assert "another vault" in as_json("import", str(path), code=1)["error"]
    assert not ReviewItem.objects.exists()
    assert as_json("import", str(path), "--any-vault")["items"]
    path.write_text(text.replace('"version":1', '"version":2', 1), encoding="utf-8")
    assert "version 2" in as_json("import", str(path), code=1)["error"]


def test_pages_of_another_vault_are_found_by_their_path(busy: VaultFolder, tmp_path: Path) -> None:
    path = tmp_path / "queue.jsonl"
    page = Page.objects.get(title="Alan Turing")
    path.write_text(exported().replace(str(page.uid), str(uuid4())), encoding="utf-8")
    anew()
    reviews("import", str(path))
    assert ReviewItem.objects.get(title="Edit").page == Page.objects.get(title="Alan Turing")


def test_what_follows_an_item_that_is_not_there_comes_in_alone(busy: VaultFolder, tmp_path: Path) -> None:
    path = tmp_path / "queue.jsonl"
    entries = contents(exported())
    again = next(entry for entry in entries if entry.get("previous_reason") == "reopened")
    kept = [entry for entry in entries if entry.get("id") != again["previous"]]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in reversed(kept[1:])), encoding="utf-8")
    path.write_text(json.dumps(kept[0]) + "\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    anew()
    reviews("import", str(path))
    item = ReviewItem.objects.get(pk=UUID(again["id"]))
    assert item.previous is None and item.previous_reason == "reopened"


def test_an_export_that_can_not_be_written_leaves_the_old_one(busy: VaultFolder, tmp_path: Path) -> None:
    assert reviews("export", str(tmp_path / "no" / "folder"), code=1)[1].startswith("The file can't be written")
    path = tmp_path / "queue.jsonl"
    reviews("export", str(path))
    reviews("export", str(path))
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("queue")] == ["queue.jsonl"]


def test_agents_do_not_import(busy: VaultFolder, settings: Any) -> None:
    settings.SYNAPSE_AGENT_MAY_DECIDE = False
    lines = list(enumerate((line.encode() for line in exported().splitlines(keepends=True)), start=1))
    with pytest.raises(SynapseError) as refused:
        services.import_lines(lines=lines, author=CLAUDE)
    assert refused.value.code is ErrorCode.FORBIDDEN
    settings.SYNAPSE_READ_ONLY = True
    with pytest.raises(SynapseError) as refused:
        services.import_lines(lines=lines, author=Author("ann", "command"))
    assert refused.value.code is ErrorCode.READ_ONLY


def test_decided_at_is_kept(busy: VaultFolder, tmp_path: Path) -> None:
    decided = ReviewItem.objects.get(proposed_title="Enigma")
    path = tmp_path / "queue.jsonl"
    reviews("export", str(path))
    anew()
    reviews("import", str(path))
    again = ReviewItem.objects.get(pk=decided.pk)
    assert again.reviewed_at == decided.reviewed_at
    assert again.reviewed_at and again.reviewed_at < timezone.now()
