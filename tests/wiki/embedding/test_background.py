"""The thread of serve, progress, pause, and the commands."""

from __future__ import annotations

import json
import threading
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from tests.conftest import VaultFolder
from tests.embedding import Hashed, hashed
from tests.indexed import indexed
from tests.qdrant_server import running
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from wiki.binding import bind
from wiki.embedding import thread as threads
from wiki.embedding.progress import LOCK, pace, progress
from wiki.embedding.state import is_paused, note_problem, pause, resume
from wiki.embedding.thread import BACK_OFF, UNEXPECTED, EmbedThread
from wiki.faults import Fault
from wiki.models import Chunk, EmbeddingState, Page
from wiki.services.health import troubles
from wiki.signals import page_written, rescan_finished
from wiki.sync import scan
from wiki.vectors.embedders import forget_embedder
from wiki.vectors.stores import forget_store

__all__ = ["hashed"]

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _vault(vault_folder: VaultFolder) -> None:
    bind()


@pytest.fixture
def thread() -> EmbedThread:
    """One that was never started: its looks are called by hand."""
    return EmbedThread(threading.Event())


def test_a_look_embeds_all_that_waits(hashed: Hashed, thread: EmbedThread) -> None:
    for at in range(30):
        indexed(f"Page {at}", "Text. " * 300)
    assert progress()["state"] == "waiting"
    thread.look()
    figures = progress()
    assert figures["state"] == "done" and figures["waiting"] == 0 and figures["eta_seconds"] == 0
    assert figures["pages"] == figures["pages_done"] == figures["lead_done"] == 30
    assert figures["chunks"] == Chunk.objects.count() > 30
    assert figures["model"] == "hashed-words"


def test_nothing_is_done_while_another_does_it(hashed: Hashed, thread: EmbedThread) -> None:
    indexed("Bread")
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with current_vault().lock(LOCK):
            held.set()
            release.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    assert held.wait(20)
    thread.look()
    assert progress()["state"] == "running" and not hashed.passages
    with pytest.raises(CommandError, match="Another process"):
        call_command("embedding", "run")
    assert ": running" in said("reembed")
    release.set()
    other.join(20)
    thread.look()
    assert progress()["state"] == "done"


def test_pause_stops_it_and_resume_lets_it_go_on(
    hashed: Hashed, thread: EmbedThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(12):
        indexed(f"Page {at}")
    real = hashed.embed_passages

    def paused_meanwhile(texts: Any) -> Any:
        pause()
        return real(texts)

    monkeypatch.setattr(hashed, "embed_passages", paused_meanwhile)
    thread.look()
    assert is_paused() and progress()["state"] == "paused"
    assert progress()["pages_done"] == hashed.batch_size
    thread.look()
    assert progress()["pages_done"] == hashed.batch_size
    monkeypatch.setattr(hashed, "embed_passages", real)
    assert resume() and not resume()
    thread.look()
    assert progress()["state"] == "done"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (SynapseError(ErrorCode.SEARCH_UNAVAILABLE, "The endpoint is away."), "The endpoint is away."),
        (RuntimeError("a secret of the text"), UNEXPECTED),
    ],
)
def test_a_failure_is_told_and_tried_again_later_and_later(
    hashed: Hashed, thread: EmbedThread, error: Exception, sentence: str
) -> None:
    for at in range(9):
        indexed(f"Page {at}")
    hashed.fails = error
    waits = []
    for _ in range(9):
        thread.look()
        waits.append(thread._wait)
    assert waits == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, BACK_OFF[1]]
    assert progress()["state"] == "failed" and progress()["error"] == sentence
    hashed.fails = None
    thread.look()
    assert thread._wait == 0 and progress()["state"] == "done" and progress()["error"] is None


@pytest.mark.parametrize(
    "error",
    [SynapseError(ErrorCode.STORAGE_ERROR, "The vault can't be read."), OperationalError("whatever it says")],
)
def test_a_fault_of_the_vault_or_the_database_is_not_told_as_the_embedders(
    hashed: Hashed, thread: EmbedThread, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise error

    indexed("Bread")
    with monkeypatch.context() as patched:
        patched.setattr(threads, "try_exclusive", refused)
        thread.look()
    assert thread._wait > 0 and progress()["error"] is None
    assert Fault.EMBEDDER_AWAY not in {trouble.fault for trouble in troubles()}
    thread.look()
    assert thread._wait == 0 and progress()["state"] == "done"


@pytest.mark.parametrize("pages", [1, 9], ids=["page by page", "given up"])
def test_a_fault_of_qdrant_is_not_told_as_the_embedders(
    hashed: Hashed, thread: EmbedThread, settings: Any, pages: int
) -> None:
    """It may also be there and refuse: then nobody but the thread can tell."""
    for at in range(pages):
        indexed(f"Page {at}")
    with running() as server:
        settings.QDRANT_URL = server.url
        forget_store()
        server.modes = lambda method, path: "ok" if method == "GET" else "fail"
        thread.look()
        assert thread._wait > 0 and progress()["state"] == "failed" and "Qdrant" in progress()["error"]
        assert [trouble.fault for trouble in troubles()] == [Fault.VECTORS_AWAY]
        server.modes = lambda method, path: "ok"
        thread.look()
        assert progress()["state"] == "done" and troubles() == []
        hashed.fails = SynapseError(ErrorCode.SEARCH_UNAVAILABLE, "The endpoint is away.")
        indexed("Bread")
        thread.look()
        assert [trouble.fault for trouble in troubles()] == [Fault.EMBEDDER_AWAY]


def test_vectors_of_another_model_are_left_and_said(hashed: Hashed, thread: EmbedThread) -> None:
    indexed("Bread")
    thread.look()
    EmbeddingState.objects.update(model_id="bge-m3", dim=1024)
    indexed("Cheese")
    thread.look()
    assert "reembed" in progress()["error"] and Chunk.objects.count() == 1


def test_no_embedder_is_said(settings: Any, thread: EmbedThread) -> None:
    settings.EMBEDDINGS_ENABLED, settings.EMBEDDER = True, "tests.no_such_module.load"
    forget_embedder()
    indexed("Bread")
    thread.look()
    assert progress()["state"] == "failed" and "can't be loaded" in progress()["error"]


def test_off_is_off() -> None:
    indexed("Bread")
    assert progress()["state"] == "off"
    thread = EmbedThread(threading.Event())
    thread.run()  # returns at once
    thread.end(1)


def test_the_time_left_is_what_was_measured(hashed: Hashed, monkeypatch: pytest.MonkeyPatch) -> None:
    page = indexed("Bread", "Text. " * 2_600)
    Page.objects.filter(pk=page.pk).update(words=2_600)
    monkeypatch.setattr(pace, "_seconds", None)
    assert progress()["eta_seconds"] is None
    pace.add(10, 5.0)
    assert progress()["eta_seconds"] == round(0.5 * 21)


def test_a_note_that_says_what_is_said_already_writes_nothing(django_assert_num_queries: Any) -> None:
    note_problem("Away.")
    with django_assert_num_queries(2):
        note_problem("Away.")
    note_problem("")
    with django_assert_num_queries(1):
        note_problem("")


def test_the_thread_wakes_for_news_and_ends_when_told(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMBEDDINGS_ENABLED = True
    monkeypatch.setattr(threads, "POLL_SECONDS", 600.0)
    monkeypatch.setattr(threads, "_stand_back", lambda: None)  # behind everything else, a busy machine never runs it
    looks = threading.Semaphore(0)
    monkeypatch.setattr(EmbedThread, "look", lambda self: looks.release())
    thread = EmbedThread(threading.Event())
    thread.start()
    assert looks.acquire(timeout=120)
    page_written.send(sender=Page, page=None, action="write", created=True, author=None)
    assert looks.acquire(timeout=120)
    rescan_finished.send(sender=None, report=None)
    assert looks.acquire(timeout=120)
    thread.end(120)
    assert not thread.is_alive() and not looks.acquire(blocking=False)


def test_what_a_scan_finds_is_embedded_and_a_moved_page_under_its_new_title(
    hashed: Hashed, thread: EmbedThread, vault_folder: VaultFolder
) -> None:
    vault_folder.write("wiki/Bread.md", "Baked of flour.\n")
    vault_folder.write("wiki/Cheese.md", "---\ntitle: Cheese\n---\nMade of milk.\n")
    vault_folder.write("raw/sources/not-a-page.md", "A source.\n")
    scan()
    thread.look()
    assert sorted(hashed.passages) == ["Bread\nBaked of flour.", "Cheese\nMade of milk."]
    hashed.passages.clear()
    for name in ("Bread", "Cheese"):
        (vault_folder.root / f"wiki/{name}.md").rename(vault_folder.root / f"wiki/New {name}.md")
    scan()
    thread.look()
    assert hashed.passages == ["New Bread\nBaked of flour."]
    (vault_folder.root / "wiki/New Bread.md").unlink()
    scan(allow_deletions=True)
    thread.look()
    assert Chunk.objects.count() == 1 and progress()["state"] == "done"


# --- commands ----------------------------------------------------------------------------------


def said(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_run_embeds_what_waits_and_says_how_far_it_is(hashed: Hashed) -> None:
    indexed("Bread", "Text.")
    assert "waits for `make serve`" in said("embedding", "status")
    assert said("embedding", "run").startswith("1 of 1 pages have all their vectors")
    assert json.loads(said("embedding", "run", "--json"))["state"] == "done"


def test_pause_holds_for_run_too(hashed: Hashed) -> None:
    indexed("Bread", "Text.")
    assert json.loads(said("embedding", "pause", "--json"))["changed"] is True
    with pytest.raises(CommandError, match="paused"):
        said("embedding", "run")
    assert "paused" in said("embedding", "status")
    assert json.loads(said("embedding", "resume", "--json"))["changed"] is True
    said("embedding", "run")
    assert Chunk.objects.count() == 1


def test_reembed_makes_all_anew_for_another_model(hashed: Hashed) -> None:
    indexed("Bread", "Text.")
    said("embedding", "run")
    hashed.model_id = "a-new-model"
    with pytest.raises(CommandError, match="reembed"):
        indexed("Cheese")
        said("embedding", "run")
    assert "2 of 2 pages" in said("reembed")
    assert set(Chunk.objects.values_list("model_id", flat=True)) == {"a-new-model"}


def test_reembed_without_an_embedder_forgets_nothing(hashed: Hashed, settings: Any) -> None:
    indexed("Bread", "Text.")
    said("embedding", "run")
    settings.EMBEDDINGS_ENABLED = False
    with pytest.raises(CommandError, match="EMBEDDINGS_ENABLED=false"):
        said("reembed")
    assert Chunk.objects.count() == 1


def test_a_server_of_other_settings_does_not_embed_what_was_begun_anew(hashed: Hashed, thread: EmbedThread) -> None:
    indexed("Bread", "Text.")
    hashed.model_id = "a-new-model"
    said("reembed", "--no-wait")
    hashed.model_id = "hashed-words"
    thread.look()
    assert not Chunk.objects.exists() and "starts again" in progress()["error"]
