"""Running producers: after scans and writes, over what changed, whatever fails in between; and the sweep."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError

from reviews import jobs as queue_jobs
from reviews.models import ProducerState, ReviewEvent, ReviewItem
from reviews.producers import PRODUCERS, Producer, runner
from reviews.producers.runner import run, run_everything, sweep
from reviews.services import Finding, held_back, resolve
from reviews.services.producer_state import owing
from tests.conftest import VaultFolder
from tests.reviews.queue import ALICE, CLAUDE, pending
from tests.wiki.index import scan_counting_writes
from vault.current import current_vault, forget_vault
from vault.errors import ErrorCode, SynapseError
from wiki import binding, changes, jobs
from wiki.changes import Changed
from wiki.models import Job, Link, Page
from wiki.services import write_page
from wiki.sync import scan, scan_lock

pytestmark = pytest.mark.django_db


class Told:
    """A producer whose findings a test tells, and what it was asked."""

    item_type = "confirm"

    def __init__(self, rule: str, *targets: str) -> None:
        self.rule = rule
        self.true = set(targets)
        self.concerns: set[str] = set()
        self.asked: list[set[str] | None] = []
        self.fails: Exception | None = None
        self.ranks: dict[str, int] = {}

    def targets(self, changed: Changed) -> set[str]:
        return set(self.concerns)

    def find(self, targets: Collection[str] | None) -> Iterable[Finding]:
        self.asked.append(None if targets is None else set(targets))
        if self.fails:
            raise self.fails
        for target in sorted(self.true if targets is None else self.true & set(targets)):
            yield Finding(
                item_type="confirm",
                rule=self.rule,
                target=target,
                title=target,
                evidence=[target],
                rank=self.ranks.get(target, 0),
            )


@pytest.fixture
def told(vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    """Two rules, ``told`` and ``other``, in place of all others, and an index that they have seen."""
    producer, other = Told("told"), Told("other")
    monkeypatch.setattr(runner, "PRODUCERS", (producer, other))
    vault_folder.write("wiki/a.md", "text")
    scan()
    jobs.drain()
    assert producer.asked == [None]
    producer.asked.clear()
    yield producer


def other() -> Any:
    return runner.PRODUCERS[1]


def change() -> None:
    changes.note(pages={Page.objects.get().pk})


def titles(status: str = "pending") -> list[str]:
    return sorted(ReviewItem.objects.filter(status=status).values_list("title", flat=True))


# --- one run ---------------------------------------------------------------------------------------


def test_it_works(told: Told) -> None:
    told.true, told.concerns = {"a", "b", "c"}, {"a", "b"}
    change()
    assert run() == {"filed": 2, "refreshed": 0, "closed": 0, "held_back": {}, "failed": {}}
    assert told.asked == [{"a", "b"}]
    assert titles() == ["a", "b"]
    assert set(ReviewItem.objects.values_list("origin", "filed_by", "filed_via")) == {("rule", "synapse", "scan")}
    assert not changes.waiting()


def test_nothing_changed_is_nothing_asked(told: Told) -> None:
    assert run()["filed"] == 0
    assert told.asked == []


def test_what_is_not_concerned_is_not_asked(told: Told) -> None:
    change()
    run()
    assert told.asked == []


def test_what_is_no_longer_true_is_closed(told: Told) -> None:
    told.true = told.concerns = {"a", "b"}
    change()
    run()
    told.true = {"b"}
    change()
    assert run()["closed"] == 1
    assert titles() == ["b"] and titles("auto_resolved") == ["a"]
    event = ReviewEvent.objects.get(what="closed")
    assert (event.who, event.door, event.note) == ("synapse", "sweep", runner.CLOSED)


def test_what_is_not_asked_is_not_closed(told: Told) -> None:
    told.true = told.concerns = {"a", "b"}
    change()
    run()
    told.true, told.concerns = set(), {"a"}
    change()
    run()
    assert titles() == ["b"]


def test_items_that_rest_on_what_changed_are_asked_again(told: Told) -> None:
    page = Page.objects.get()
    for number, named in enumerate(({"page": page}, {"references": [page]}, {"rests_on": [page.pk]}, {})):
        pending(f"t{number}", rule="told", item_type="confirm", **named)
    decided = pending("t9", rule="told", item_type="confirm", rests_on=[page.pk])
    dismissed = pending("t8", rule="told", item_type="confirm", rests_on=[page.pk])
    resolve(item_id=decided.pk, action="skip", author=ALICE)
    resolve(item_id=dismissed.pk, action="dismiss", author=ALICE)
    change()
    run()
    assert told.asked == [{"t0", "t1", "t2", "t9"}]


def test_running_twice_changes_nothing(told: Told) -> None:
    told.true = {"a", "b"}
    run_everything()
    before = list(ReviewItem.objects.order_by("pk").values()), ReviewEvent.objects.count()
    outcome = run_everything()
    assert (outcome["filed"], outcome["refreshed"], outcome["closed"]) == (0, 0, 0)
    assert (list(ReviewItem.objects.order_by("pk").values()), ReviewEvent.objects.count()) == before


def test_everything_changed_is_everything_asked(told: Told) -> None:
    changes.note_everything()
    run()
    assert told.asked == [None]


def test_progress_is_told(told: Told) -> None:
    heard: list[tuple[str, int, int]] = []
    run_everything(progress=lambda *step: heard.append(step))
    assert heard == [("told", 0, 2), ("other", 1, 2)]


def test_each_rule_has_one_producer() -> None:
    rules = [producer.rule for producer in PRODUCERS]
    assert len(set(rules)) == len(rules) == 11
    assert {producer.item_type for producer in PRODUCERS} == {"missing-page", "duplicate", "confirm", "suggestion"}
    kept: tuple[Producer, ...] = PRODUCERS
    assert all(producer.targets(Changed()) == set() for producer in kept)
    assert all(len(producer.rule) <= 32 for producer in kept)


# --- the cap ---------------------------------------------------------------------------------------


def test_what_is_over_the_cap_is_held_back_and_told(told: Told, settings: Any) -> None:
    settings.SYNAPSE_REVIEW_CAP = 2
    told.true = {"a", "b", "c", "d", "e"}
    told.ranks = {"d": 9, "b": 5}
    assert run_everything()["held_back"] == {"told": 3}
    assert titles() == ["b", "d"], "the best go first"
    assert held_back() == {"told": 3}


def test_the_next_scans_file_the_rest(told: Told, settings: Any) -> None:
    settings.SYNAPSE_REVIEW_CAP = 2
    told.true = {"a", "b", "c", "d", "e"}
    run_everything()
    queue_jobs.request_findings()
    assert not jobs.is_waiting("findings"), "a write does not bring it on"
    for left in ({"told": 1}, {}):
        scan()
        jobs.drain()
        assert held_back() == left
    assert len(titles()) == 5
    assert other().asked == [None, None], "the other rule owed nothing: it looked at first, and at everything"
    scan()
    assert not jobs.is_waiting("findings", "rescanned")


def test_a_run_over_some_adds_to_what_is_held_back(told: Told, settings: Any) -> None:
    settings.SYNAPSE_REVIEW_CAP = 1
    told.true = {"a", "b", "c", "d"}
    for concerned in ({"a", "b"}, {"c", "d"}):
        told.concerns = concerned
        change()
        run()
    assert held_back() == {"told": 2}


# --- failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError("a secret"), OperationalError("a secret"), KeyError("a secret")])
def test_one_that_fails_stops_no_other(told: Told, error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    told.fails, other().true = error, {"x"}
    told.concerns = other().concerns = {"x"}
    change()
    assert run()["failed"] == {"told": type(error).__name__}
    assert titles() == ["x"]
    assert "a secret" not in caplog.text
    assert not changes.waiting()


def test_one_that_failed_looks_at_everything_after_the_next_scan(told: Told) -> None:
    told.fails, told.true, told.concerns = RuntimeError(), {"a"}, {"a"}
    change()
    run()
    told.fails = None
    assert owing({"told", "other"}) == {"told"}
    scan()
    jobs.drain()
    assert told.asked == [{"a"}, None]
    assert titles() == ["a"]
    assert not owing({"told", "other"})


def test_a_run_that_dies_is_repeated(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes are forgotten last, whatever the process was doing."""
    told.true = told.concerns = {"a"}
    for place in ("file", "_close_untrue", "_close_answered"):
        change()
        with monkeypatch.context() as patched:

            def dies(*args: Any, **kwargs: Any) -> Any:
                raise KeyboardInterrupt

            patched.setattr(runner, place, dies)
            with pytest.raises(KeyboardInterrupt):
                run()
        assert changes.waiting(), place
    assert run()["failed"] == {}
    assert titles() == ["a"]
    assert not changes.waiting()


def test_a_scan_at_work_is_waited_for(told: Told) -> None:
    told.true = told.concerns = {"a"}
    change()
    binding.begin_scan_rows()
    assert run() == {"waits": "scan"}
    assert told.asked == [] and changes.waiting()
    binding.finish_scan_rows()
    assert run()["filed"] == 1


def test_a_scan_that_died_is_made_up_for(told: Told) -> None:
    told.true = told.concerns = {"a"}
    change()
    queue_jobs.request_findings()
    binding.begin_scan_rows()
    jobs.drain()
    assert list(Job.objects.order_by("pk").values_list("kind", flat=True))[-3:] == ["findings", "rescan", "findings"]
    assert titles() == ["a"]
    assert jobs.waiting() == 0


def test_a_job_finds_its_turn_between_scans(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    told.true = told.concerns = {"a"}
    change()
    queue_jobs.request_findings()
    binding.begin_scan_rows()

    @contextmanager
    def once_it_has_ended(**given: float) -> Iterator[bool]:
        binding.finish_scan_rows()
        with scan_lock(**given) as ours:
            yield ours

    monkeypatch.setattr("wiki.sync.scan_lock", once_it_has_ended)
    jobs.drain()
    assert titles() == ["a"] and not changes.waiting()
    assert not Job.objects.filter(kind="rescan").exists()


def test_what_is_found_while_a_scan_begins_is_not_filed(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    told.true = told.concerns = {"a"}
    change()
    find = told.find

    def find_and_scan(targets: Collection[str] | None) -> Iterable[Finding]:
        yield from find(targets)
        binding.begin_scan_rows()

    monkeypatch.setattr(told, "find", find_and_scan)
    assert run() == {"waits": "scan"}
    assert titles() == [] and changes.waiting()


def test_two_at_once_take_turns(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "WAIT_SECONDS", 0.05)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with current_vault().lock(jobs.LOCK):
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert held.wait(10)
        with pytest.raises(SynapseError) as refused:
            run_everything()
    finally:
        done.set()
        thread.join()
    assert refused.value.code is ErrorCode.CONFLICT
    assert run_everything()["failed"] == {}


# --- read-only -------------------------------------------------------------------------------------


def test_read_only_files_and_closes_nothing(told: Told, settings: Any) -> None:
    told.true = told.concerns = {"a"}
    pending("old", rule="told", item_type="confirm")
    settings.SYNAPSE_READ_ONLY = True
    change()
    assert run() == run_everything() == {"waits": "read_only"}
    queue_jobs.request_findings()
    queue_jobs.request_findings_of_scan()
    assert not jobs.waiting()
    with pytest.raises(SynapseError) as refused:
        sweep()
    assert refused.value.code is ErrorCode.READ_ONLY
    assert titles() == ["old is missing"] and told.asked == []
    settings.SYNAPSE_READ_ONLY = False
    assert changes.waiting()
    assert run()["filed"] == 1


# --- the sweep -------------------------------------------------------------------------------------


def test_a_sweep_closes_and_files_nothing(told: Told) -> None:
    told.true = {"a", "new"}
    for target in ("a", "b"):
        pending(target, rule="told", item_type="confirm")
    assert sweep() == 1
    assert told.asked == [{"a", "b"}]
    assert titles() == ["a is missing"] and titles("auto_resolved") == ["b is missing"]
    assert sweep() == 0


def test_a_sweep_closes_nothing_while_a_scan_is_at_work(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/a.md", "[[Missing]]")
    scan()
    run()
    binding.begin_scan_rows()
    Link.objects.update(state="pending")
    assert sweep() == 0
    scan()
    assert sweep() == 0
    assert ReviewItem.objects.filter(rule="missing-page", status="pending").exists()


def test_a_sweep_leaves_what_agents_filed_but_missing_pages_that_are_there(told: Told) -> None:
    for title, kind in (("A", "missing-page"), ("B", "missing-page"), ("a", "suggestion")):
        pending(title, rule="agent", origin="agent", item_type=kind, proposed_title=title)
    assert sweep() == 1
    assert titles("auto_resolved") == ["A is missing"]


@pytest.mark.parametrize(
    "text",
    ["---\ntitle: Ada Lovelace\n---\n", "---\naliases: [Ada Lovelace]\n---\n", "", "---\ntitle: ADA LOVELACE\n---\n"],
)
def test_a_page_that_an_agent_asked_for_closes_its_item(vault_folder: VaultFolder, text: str) -> None:
    vault_folder.write("wiki/a.md", "text")
    scan()
    run()
    pending("ada lovelace", rule="agent", origin="agent", proposed_title="Ada Lovelace")
    pending("bob", rule="agent", origin="agent", proposed_title="Bob")
    vault_folder.write("wiki/b.md", "other")
    scan()
    assert run()["closed"] == 0
    vault_folder.write("wiki/ada lovelace.md" if not text else "wiki/c.md", text)
    scan()
    assert run()["closed"] == 1
    assert titles("auto_resolved") == ["ada lovelace is missing"]


# --- who asks for a run ----------------------------------------------------------------------------


def test_a_scan_asks_for_one_run(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/a.md", "[[Missing]]")
    scan()
    scan()
    assert list(Job.objects.values_list("kind", "key")) == [("findings", "rescanned")]
    jobs.drain()
    assert ReviewItem.objects.get(rule="missing-page").title.startswith("Missing page: Missing ")
    assert Job.objects.get().outcome["filed"] >= 1


def test_a_scan_that_finds_nothing_new_asks_for_nothing(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/a.md", "text")
    scan()
    jobs.drain()
    _, writes = scan_counting_writes()
    assert not writes
    assert jobs.waiting() == 0


def test_a_write_asks_for_one_run(vault_folder: VaultFolder, django_capture_on_commit_callbacks: Any) -> None:
    vault_folder.write("wiki/a.md", "text")
    scan()
    jobs.drain()
    given = {"type": "concept", "title": "X", "sources": ["raw/sources/a.md"], "lang": "en"}
    for title in ("X", "Y"):
        with django_capture_on_commit_callbacks(execute=True):
            write_page(title=title, content="[[Ada]]", frontmatter={**given, "title": title}, author=CLAUDE)
    assert Job.objects.filter(kind="findings", finished_at__isnull=True).count() == 1
    jobs.drain()
    assert ReviewItem.objects.get(rule="missing-page").rank == 2


def test_a_listener_that_fails_breaks_no_write(
    vault_folder: VaultFolder, django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(jobs, "enqueue", fails)
    monkeypatch.setattr(changes, "waiting", fails)
    given = {"type": "concept", "title": "X", "sources": ["raw/sources/a.md"], "lang": "en"}
    with django_capture_on_commit_callbacks(execute=True):
        written = write_page(title="X", content="text", frontmatter=given, author=CLAUDE)
    assert (vault_folder.root / written.page.path).exists()


def test_the_rescan_command_leaves_nothing_to_do(vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiki.management.commands.rescan.ensure_vault", lambda: None)
    vault_folder.write("wiki/a.md", "[[Missing]]")
    call_command("rescan", stdout=StringIO())
    assert jobs.waiting() == 0 and not changes.waiting()
    assert ReviewItem.objects.filter(rule="missing-page").exists()
    call_command("rescan", "--dry-run", stdout=StringIO())


def test_another_vault_begins_with_an_empty_queue(vault_folder: VaultFolder, tmp_path: Any, settings: Any) -> None:
    vault_folder.write("wiki/a.md", "[[Missing]]")
    scan()
    run()
    assert ReviewItem.objects.exists() and ProducerState.objects.exists()
    settings.SYNAPSE_VAULT = tmp_path / "other"
    settings.SYNAPSE_VAULT.mkdir()
    forget_vault()
    current_vault().ensure_id()
    assert binding.adopt()
    assert not ReviewItem.objects.exists() and not ProducerState.objects.exists()


def test_the_same_vault_at_another_place_keeps_its_queue(vault_folder: VaultFolder, settings: Any) -> None:
    vault_folder.write("wiki/a.md", "[[Missing]]")
    scan()
    run()
    before = ReviewItem.objects.count()
    settings.SYNAPSE_VAULT = vault_folder.root.rename(vault_folder.root.with_name("elsewhere"))
    forget_vault()
    assert binding.adopt()
    assert ReviewItem.objects.count() == before
