"""Jobs: rows that are drained by one process at a time, twice rather than never."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from tests.conftest import VaultFolder
from vault.current import current_vault
from wiki import catchup, jobs
from wiki.models import Job
from wiki.services import request_rescan
from wiki.services.rescan import scan_is_running
from wiki.sync import scan_lock

pytestmark = pytest.mark.django_db


@pytest.fixture
def ran(vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The payloads of the jobs of kind ``catalog`` that ran; one with ``fail`` raises."""
    payloads: list[dict[str, Any]] = []

    def handle(payload: dict[str, Any]) -> dict[str, Any]:
        payloads.append(payload)
        if payload.get("fail"):
            raise RuntimeError("a secret of the text")
        return {"done": True}

    monkeypatch.setattr("wiki.services.catalog.run_job", handle)
    return payloads


def test_it_works(ran: list[dict[str, Any]]) -> None:
    jobs.enqueue("catalog", payload={"n": 1})
    assert jobs.waiting() == 1
    assert jobs.run_due() == 1
    assert ran == [{"n": 1}]
    job = Job.objects.get()
    assert job.finished_at is not None and job.outcome == {"done": True} and job.attempts == 1
    assert jobs.waiting() == 0


def test_one_waiting_row_a_kind_and_key(ran: list[dict[str, Any]]) -> None:
    for key in ("a", "a", "b"):
        jobs.enqueue("catalog", key, payload={"key": key})
    assert jobs.run_due() == 2
    jobs.enqueue("catalog", "a")
    assert jobs.waiting() == 1


def test_a_delay_is_kept_unless_a_command_drains(ran: list[dict[str, Any]]) -> None:
    jobs.enqueue("catalog", delay=60)
    assert jobs.run_due() == 0
    assert jobs.drain() == 1
    assert len(ran) == 1


def test_a_command_comes_to_its_end_while_others_go_on_asking(
    ran: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def handle(payload: dict[str, Any]) -> None:
        ran.append(payload)
        if len(ran) < 20:
            jobs.enqueue("catalog", delay=2.0)  # as each write does that comes meanwhile

    monkeypatch.setattr("wiki.services.catalog.run_job", handle)
    jobs.enqueue("catalog", delay=2.0)
    jobs.enqueue("catalog", "other", delay=2.0)
    assert jobs.run_due(now=True) == 2
    assert jobs.waiting() == 1


def test_a_job_of_a_transaction_that_fails_never_was(ran: list[dict[str, Any]]) -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        jobs.enqueue("catalog")
        raise RuntimeError
    assert jobs.waiting() == 0


def test_a_failing_job_stops_no_other_and_is_tried_again(ran: list[dict[str, Any]]) -> None:
    jobs.enqueue("catalog", "bad", payload={"fail": True})
    jobs.enqueue("catalog", "good")
    for attempt in range(1, jobs.MAX_ATTEMPTS + 1):
        jobs.drain()
        job = Job.objects.get(key="bad")
        assert job.attempts == attempt
        assert (job.finished_at is not None) == (attempt == jobs.MAX_ATTEMPTS)
    assert job.outcome == {"failed": "RuntimeError"}
    assert len(ran) == jobs.MAX_ATTEMPTS + 1
    assert jobs.drain() == 0


def test_a_job_whose_process_died_is_begun_again(ran: list[dict[str, Any]]) -> None:
    jobs.enqueue("catalog")
    Job.objects.update(started_at=timezone.now(), attempts=1)
    assert jobs.run_due() == 1
    assert Job.objects.get().attempts == 2


def test_a_dead_job_gives_way_to_a_newer_one(ran: list[dict[str, Any]]) -> None:
    jobs.enqueue("catalog", payload={"n": 1})
    Job.objects.update(started_at=timezone.now())
    jobs.enqueue("catalog", payload={"n": 2})
    assert jobs.run_due() == 1
    assert ran == [{"n": 2}]
    assert Job.objects.get(payload={"n": 1}).outcome == {"superseded": True}


def test_a_job_that_ends_its_process_each_time_is_given_up(ran: list[dict[str, Any]]) -> None:
    jobs.enqueue("catalog")
    Job.objects.update(started_at=timezone.now(), attempts=jobs.MAX_DEATHS)
    assert jobs.run_due() == 0
    assert Job.objects.get().outcome == {"failed": "process_died"}
    assert ran == []


def test_a_row_that_came_while_the_lock_was_held_is_run_too(
    ran: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever came for it has gone away, since another drained."""
    taken = jobs.try_exclusive

    @contextmanager
    def late(name: str) -> Iterator[bool]:
        with taken(name) as ours:
            yield ours
        if len(ran) == 1:
            jobs.enqueue("catalog", "late")

    monkeypatch.setattr(jobs, "try_exclusive", late)
    jobs.enqueue("catalog", "first")
    assert jobs.run_all_due() == 2
    assert jobs.waiting() == 0


def test_with_a_broker_the_work_is_left_to_celery(
    ran: list[dict[str, Any]], settings: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    told: list[str] = []
    monkeypatch.setattr(jobs.broker, "tell", lambda task, delay=0.0: told.append(task))
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    with django_capture_on_commit_callbacks(execute=True):
        jobs.enqueue("catalog")
        assert told == [], "nobody is told of a row that may never be"
    assert told == [jobs.broker.DRAIN]
    assert jobs.drain() == 0
    thread = jobs.JobThread(threading.Event())
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert ran == [] and jobs.waiting() == 1


def test_only_one_process_drains(ran: list[dict[str, Any]]) -> None:
    jobs.enqueue("catalog")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with current_vault().lock("jobs"):
            held.set()
            done.wait(10)

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert held.wait(10)
        assert jobs.run_due() == 0
    finally:
        done.set()
        other.join()
    assert jobs.run_due() == 1


def test_a_round_ends_when_it_is_told_to(ran: list[dict[str, Any]]) -> None:
    jobs.enqueue("catalog")
    stop = threading.Event()
    stop.set()
    assert jobs.run_due(stop=stop) == 0


def test_kinds_are_closed() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        jobs.enqueue("nonsense")


def test_rooms_above_add_their_kinds_once(ran: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "HANDLERS", dict(jobs.HANDLERS))
    for _ in range(2):
        jobs.register("another", jobs.HANDLERS["catalog"])
    jobs.enqueue("another", payload={"n": 1})
    assert jobs.is_waiting("another") and not jobs.is_waiting("another", "key")
    assert jobs.run_due() == 1
    assert ran == [{"n": 1}] and not jobs.is_waiting("another")
    with pytest.raises(ValueError, match="another"):
        jobs.register("another", "elsewhere.run")


def test_finished_rows_are_kept_for_a_month(ran: list[dict[str, Any]]) -> None:
    for key, days in (("old", 31), ("new", 29)):
        jobs.enqueue("catalog", key)
        Job.objects.filter(key=key).update(finished_at=timezone.now() - timedelta(days=days))
    jobs.forget_finished()
    assert [job.key for job in Job.objects.all()] == ["new"]


@pytest.mark.parametrize("tidy_seconds", [0.0, 3_600.0])
def test_the_thread_drains_tidies_and_stops(monkeypatch: pytest.MonkeyPatch, tidy_seconds: float) -> None:
    rounds = threading.Semaphore(0)
    monkeypatch.setattr(jobs, "run_due", lambda stop: rounds.release())
    tidied: list[str] = []
    for name in ("forget_finished", "forget_expired"):
        monkeypatch.setattr(jobs, name, partial(tidied.append, name))
    monkeypatch.setattr(jobs, "close_old_connections", lambda: None)
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(jobs, "TIDY_SECONDS", tidy_seconds)
    stop = threading.Event()
    thread = jobs.JobThread(stop)
    thread.start()
    assert rounds.acquire(timeout=10) and rounds.acquire(timeout=10)
    stop.set()
    thread.join(10)
    assert not thread.is_alive()
    assert set(tidied) == {"forget_finished", "forget_expired"}
    assert (len(tidied) == 2) is (tidy_seconds > 0), "at the start, and then once in a while"


def test_a_rescan_is_asked_for_once(vault_folder: VaultFolder) -> None:
    first = request_rescan()
    assert first["started"] and not first["running"]
    assert request_rescan() == {"started": False, "job": first["job"], "running": False}
    vault_folder.write("wiki/a.md", "x\n")
    assert jobs.run_due()
    assert Job.objects.get(pk=first["job"]).outcome["added"] == 1
    assert request_rescan()["job"] != first["job"]


def test_a_running_scan_is_told(vault_folder: VaultFolder) -> None:
    with current_vault().lock("scan"):
        told: list[Any] = []
        thread = threading.Thread(target=lambda: told.append(scan_is_running()))
        thread.start()
        thread.join(10)
    assert told == [True]
    assert not scan_is_running()


def test_a_rescan_takes_its_turn_after_the_scan_that_is_at_work(
    vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, asked_for = threading.Event(), threading.Event()

    def another_scan() -> None:
        with current_vault().lock("scan"):
            held.set()
            asked_for.wait(60)

    def lock(**given: Any) -> Any:
        asked_for.set()  # from here on the other one is about to end
        return scan_lock(**given)

    monkeypatch.setattr("wiki.services.rescan.scan_lock", lock)
    other = threading.Thread(target=another_scan)
    other.start()
    assert held.wait(60)
    jobs.enqueue("rescan")
    jobs.run_due()
    asked_for.set()
    other.join(60)
    job = Job.objects.get(kind="rescan")
    assert job.finished_at is not None and job.outcome["running"] is False


def test_what_waits_for_the_index_is_noted_once_and_taken(vault_folder: VaultFolder) -> None:
    assert not catchup.noted() and catchup.take() == []
    catchup.note(["wiki/a.md", "wiki/é\u2028.md"])
    catchup.note(["wiki/a.md"])
    (current_vault().state / "index-pending.jsonl").open("a").write('"torn')
    assert catchup.noted()
    assert catchup.take() == ["wiki/a.md", "wiki/é\u2028.md"]
    assert not catchup.noted()


def test_noted_paths_are_scanned(vault_folder: VaultFolder) -> None:
    from wiki.services import page_by_title

    vault_folder.write("wiki/a.md", "x\n")
    catchup.note(["wiki/a.md"])
    started = time.monotonic()
    assert jobs.run_due()
    assert page_by_title("a").path == "wiki/a.md"
    assert time.monotonic() - started < 30
