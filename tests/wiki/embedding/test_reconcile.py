"""The rows and Qdrant's copy: every difference is found, and repair leaves none."""

from __future__ import annotations

import json
import random
import threading
import uuid
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.conftest import VaultFolder
from tests.embedding import Hashed, hashed
from tests.qdrant_server import FakeQdrant, running
from tests.vectors import chunks, embedded
from vault.errors import SynapseError
from wiki.embedding import reconcile
from wiki.embedding import thread as threads
from wiki.embedding.pipeline import embed_some
from wiki.embedding.thread import EmbedThread
from wiki.embedding.waiting import anything_waits
from wiki.models import Chunk, Page
from wiki.sync import scan
from wiki.vectors.rows import forget_all, remove_chunks
from wiki.vectors.stores import forget_store, remote_store

__all__ = ["hashed"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("vault_folder")]


@pytest.fixture
def server(settings: Any) -> Iterator[FakeQdrant]:
    with running() as fake:
        settings.QDRANT_URL = fake.url
        forget_store()
        yield fake
        forget_store()


def put(page: Page) -> None:
    store = remote_store()
    assert store
    store.upsert(chunks(page))


def vectors(*options: str) -> tuple[int, str]:
    """Exit code and output of ``manage.py vectors``."""
    out = StringIO()
    try:
        call_command("vectors", *options, stdout=out)
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue()
    return 0, out.getvalue()


def test_in_the_database_there_is_nothing_to_compare() -> None:
    embedded(1, 3)
    assert vectors("--check") == (0, "Vectors are searched in the index itself (3 passages): "
                                     "there is no copy that could differ.\n")  # fmt: skip
    assert json.loads(vectors("--repair", "--json")[1])["equal"] is True


def test_each_kind_of_difference_is_told_and_repaired(server: FakeQdrant) -> None:
    same, shorter, other, missing, surplus, moved = (embedded(number, 3) for number in range(6))
    for page in (same, shorter, other, surplus, moved):
        put(page)
    embedded(0, 3, page=same)  # the same rows anew
    embedded(1, 2, page=shorter)
    embedded(99, 3, page=other)
    remove_chunks([surplus.pk])
    Page.objects.filter(pk=moved.pk).update(path="wiki/elsewhere.md")
    found = reconcile.check()
    assert found.missing == [missing.uid]
    assert found.differing == sorted([shorter.uid, other.uid, moved.uid])
    assert found.surplus == [surplus.uid]
    assert found.chunks == 14
    assert vectors("--check")[0] == 1
    code, text = vectors("--repair", "--json")
    assert code == 0
    assert json.loads(text) == {
        "store": "qdrant", "equal": True, "chunks": 14, "missing": 0, "differing": 0, "surplus": 0,
        "pages": {"missing": [], "differing": [], "surplus": []}, "repaired": 5,
    }  # fmt: skip
    assert vectors("--check") == (0, "The index and Qdrant have the same 14 passages.\n")


def test_a_page_that_has_moved_is_told_without_embedding_it(
    server: FakeQdrant, vault_folder: VaultFolder, hashed: Hashed
) -> None:
    vault_folder.write("wiki/Bread.md", "---\ntitle: Bread\n---\nBaked of flour.\n")
    scan()
    embed_some(10, embedder=hashed, store=remote_store())
    hashed.passages.clear()
    (vault_folder.root / "wiki/Bread.md").rename(vault_folder.root / "wiki/Loaf.md")
    scan()
    assert reconcile.check().differing
    embed_some(10, embedder=hashed, store=remote_store())
    store = remote_store()
    assert store and [each.path for each in store.stored()] == ["wiki/Loaf.md"]
    assert reconcile.check().equal and not hashed.passages and not anything_waits()


def test_a_lost_qdrant_is_filled_from_the_rows(server: FakeQdrant) -> None:
    for number in range(50):
        put(embedded(number, 2))
    server.memory.delete_collection("synapse_pages-by-chance-8")
    forget_store()
    assert reconcile.repair().repaired == 50
    assert reconcile.check().equal


@pytest.mark.parametrize("seed", range(6))
def test_whatever_was_lost_or_left_repair_makes_them_equal(server: FakeQdrant, seed: int) -> None:
    chance = random.Random(seed)
    pages = [embedded(number, chance.randint(1, 5)) for number in range(20)]
    store = remote_store()
    assert store
    store.upsert(chunks(pages[0]))  # makes the collection
    for page in pages:
        server.mode = chance.choice(["ok", "forget"])
        store.upsert(chunks(page))
        if chance.random() < 0.3:
            embedded(chance.randint(100, 999), chance.randint(1, 5), page=page)
        if chance.random() < 0.2:
            remove_chunks([page.pk])
    server.mode = "ok"
    store.upsert([chunk._replace(uid=uuid.uuid4()) for chunk in chunks(pages[0])])
    reconcile.repair()
    copy = {(each.uid, each.ordinal, each.hash) for each in store.stored()}
    assert copy == set(Chunk.objects.values_list("page__uid", "ordinal", "hash"))


def test_a_page_that_changes_meanwhile_is_no_difference(server: FakeQdrant, monkeypatch: pytest.MonkeyPatch) -> None:
    page = embedded(1, 2)
    put(page)
    before = reconcile._of_store

    def read(store: Any) -> Any:
        found = before(store)
        embedded(2, 2, page=page)
        return found

    read_rows = reconcile._of_rows

    def rows(uids: Any = None) -> Any:
        found = read_rows(uids)
        if uids is None:
            embedded(3, 2, page=page)
        return found

    monkeypatch.setattr(reconcile, "_of_store", read)
    monkeypatch.setattr(reconcile, "_of_rows", rows)
    assert reconcile.check().equal


def test_after_a_change_of_model_repair_takes_the_old_collection_away(server: FakeQdrant) -> None:
    put(embedded(1, 3))
    forget_all(model_id="new", dim=16)
    page = Page.objects.get()
    embedded(2, 2, page=page, model_id="new", dim=16)
    assert reconcile.repair().equal
    assert [each.name for each in server.memory.get_collections().collections] == ["synapse_pages-new-16"]


def test_a_store_that_is_down_is_told_in_a_sentence(server: FakeQdrant) -> None:
    put(embedded(1, 3))
    server.mode = "drop"
    with pytest.raises(CommandError, match="Qdrant"):
        call_command("vectors", "--check")


def test_a_qdrant_that_is_lost_while_we_run_is_begun_anew(server: FakeQdrant) -> None:
    page = embedded(1, 2)
    put(page)
    server.memory.delete_collection("synapse_pages-by-chance-8")
    with pytest.raises(SynapseError):
        put(page)  # it was there a moment ago
    put(page)
    assert reconcile.check().equal


def test_what_was_lost_is_sent_with_the_next_page_that_changes(
    server: FakeQdrant, vault_folder: VaultFolder, hashed: Hashed
) -> None:
    for number in range(3):
        vault_folder.write(f"wiki/Loaf {number}.md", f"Baked of flour {number}.\n")
    scan()
    thread = EmbedThread(threading.Event())
    thread.look()
    server.memory.delete_collection("synapse_pages-hashed-words-64")
    forget_store()
    hashed.passages.clear()
    vault_folder.write("wiki/Loaf 1.md", "Baked of rye.\n")
    scan()
    thread.look()
    assert len(hashed.passages) == 1
    assert reconcile.check().equal and reconcile.check().chunks == 3


def test_the_thread_compares_once_an_hour_and_sooner_after_a_failure(
    server: FakeQdrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr(threads.time, "monotonic", lambda: now)
    for number in range(3):
        put(embedded(number, 2))
    thread = EmbedThread(threading.Event())
    server.memory.delete_collection("synapse_pages-by-chance-8")
    thread.compare()  # learns that it is gone
    now += 61
    thread.compare()
    assert reconcile.check().equal
    server.requests.clear()
    now += 3_000
    thread.compare()
    assert not server.requests
    now += 601
    thread.compare()
    assert server.requests
