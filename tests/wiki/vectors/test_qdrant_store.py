"""The whole adapter of Qdrant, on the client's server in memory and on a server that misbehaves."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from qdrant_client import QdrantClient

from tests.conftest import VaultFolder
from tests.qdrant_server import FakeQdrant, running
from tests.vectors import chunks, embedded, rows, unit
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from wiki.models import Page
from wiki.vectors.rows import forget_all
from wiki.vectors.stores import ChunkHit, current_store, forget_store, remote_store
from wiki.vectors.stores.local import LocalStore
from wiki.vectors.stores.qdrant import DENSE, SPARSE, QdrantStore, point_id

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("vault_folder"),
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
]
COLLECTION = "synapse_pages-by-chance-8"


@pytest.fixture
def memory() -> QdrantClient:
    return QdrantClient(":memory:")


@pytest.fixture
def store(memory: QdrantClient) -> QdrantStore:
    return QdrantStore(memory, memory, alias="synapse_pages")


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeQdrant]:
    monkeypatch.setattr("wiki.vectors.stores.qdrant.SEARCH_SECONDS", 1)
    monkeypatch.setattr("wiki.vectors.stores.qdrant.WRITE_SECONDS", 1)
    with running() as fake:
        settings.QDRANT_URL = fake.url
        forget_store()
        yield fake
        forget_store()


def put(store: Any, *pages: Page) -> None:
    for page in pages:
        store.upsert(chunks(page))


def same(found: list[ChunkHit], limit: int, seed: int, allowed: set[int] | None) -> None:
    """As good as the best of the database; what is equal to a thousandth may stand in either order."""
    exact = {(hit.page, hit.ordinal): hit.score for hit in LocalStore().search(unit(seed), limit=999, allowed=allowed)}
    assert [hit.score for hit in found] == pytest.approx(sorted(exact.values(), reverse=True)[:limit], abs=1e-3)
    assert {hit[:2]: hit.score for hit in found} == {
        hit[:2]: pytest.approx(exact[hit.page, hit.ordinal], abs=1e-3) for hit in found
    }


def contents(store: QdrantStore) -> set[tuple[uuid.UUID, int, str]]:
    return {(each.uid, each.ordinal, each.hash) for each in store.stored()}


def expected(*pages: Page) -> set[tuple[uuid.UUID, int, str]]:
    return {(chunk.uid, chunk.ordinal, chunk.hash) for page in pages for chunk in chunks(page)}


def test_it_finds_what_the_database_finds(store: QdrantStore) -> None:
    pages = [embedded(number, 1 + number % 4) for number in range(30)]
    put(store, *pages)
    for seed in range(5):
        for allowed in (None, {page.pk for page in pages[::3]}, set(), {10**9}):
            same(store.search(unit(seed), limit=12, allowed=allowed), 12, seed, allowed)


def test_more_pages_are_allowed_than_one_filter_names(store: QdrantStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiki.vectors.stores.qdrant._PAGES", 3)
    pages = [embedded(number, 2) for number in range(12)]
    put(store, *pages)
    allowed = {page.pk for page in pages[:8]}
    same(store.search(unit(3), limit=6, allowed=allowed), 6, 3, allowed)


def test_an_empty_index_finds_nothing_and_asks_nobody(store: QdrantStore, memory: QdrantClient) -> None:
    assert store.search(unit(1), limit=5) == []
    store.upsert([])
    store.delete([])
    store.delete([uuid.uuid4()])
    assert list(store.stored()) == []
    assert memory.get_collections().collections == []


def test_a_page_is_replaced_whole_and_twice_is_once(store: QdrantStore) -> None:
    page, other = embedded(1, 6), embedded(2, 2)
    put(store, page, other, page)
    assert contents(store) == expected(page, other)
    embedded(3, 2, page=page)
    put(store, page)
    assert contents(store) == expected(page, other)
    store.delete([page.uid])
    store.delete([page.uid])
    assert contents(store) == expected(other)


def test_points_say_what_they_are(store: QdrantStore, memory: QdrantClient) -> None:
    page = embedded(1, 1)
    put(store, page)
    point = memory.retrieve(COLLECTION, [str(point_id(current_vault().id, page.uid, 0))], with_vectors=True)[0]
    assert point.payload == {
        "vault": str(current_vault().id),
        "page_id": str(page.uid),
        "ordinal": 0,
        "hash": chunks(page)[0].hash,
        "path": page.path,
        "title": "Page 1",
        "type": "concept",
        "lang": "en",
    }
    assert isinstance(point.vector, dict)
    assert set(point.vector) == {DENSE, SPARSE}
    assert point.vector[DENSE] == pytest.approx(unit(1000).tolist(), abs=1e-3)
    assert [alias.collection_name for alias in memory.get_aliases().aliases] == [COLLECTION]


def test_vaults_side_by_side_do_not_see_each_other(
    store: QdrantStore, vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = embedded(1, 3)
    put(store, page)
    with monkeypatch.context() as patch:
        patch.setattr(QdrantStore, "_vault", lambda self: uuid.UUID(int=5))
        assert list(store.stored()) == []
        assert store.search(unit(1), limit=5) == []
        assert store.search(unit(1), limit=5, allowed=[page.pk]) == []
        put(store, page)
        store.delete([page.uid])
        assert list(store.stored()) == []
    assert contents(store) == expected(page)


def test_a_page_that_the_index_does_not_know_is_no_hit(store: QdrantStore) -> None:
    page, other = embedded(1, 1), embedded(2, 1)
    put(store, page, other)
    Page.objects.filter(pk=page.pk).delete()
    assert [hit.page for hit in store.search(unit(1), limit=5)] == [other.pk]


def test_tokens_in_common_raise_a_passage(store: QdrantStore) -> None:
    pages = [embedded(number, 1) for number in range(10)]
    put(store, *pages)
    plain = store.search(unit(1), limit=10)
    worst = plain[-1].page
    page = Page.objects.get(pk=worst)
    store.upsert([chunk._replace(sparse={"999": 9.0}) for chunk in chunks(page)])
    weighed = store.search(unit(1), limit=10, sparse={"999": 1.0})
    assert weighed[0].page == worst
    assert weighed[0].score == pytest.approx(plain[-1].score + 0.3 * 9, abs=1e-3)
    assert store.search(unit(1), limit=1, sparse={"999": 1.0})[0].score == pytest.approx(weighed[0].score, abs=1e-3)


def test_another_model_gets_a_collection_of_its_own_and_then_the_alias(
    store: QdrantStore, memory: QdrantClient
) -> None:
    put(store, embedded(1, 3))
    forget_all(model_id="a/model: new", dim=16)
    page = embedded(2, 2, model_id="a/model: new", dim=16)
    put(store, page)
    assert memory.get_aliases().aliases[0].collection_name == COLLECTION
    assert contents(store) == expected(page)
    assert len(store.search(unit(1, 16), limit=9)) == 2
    assert store.search(unit(1), limit=9) == []
    store.settle()
    store.settle()
    assert [alias.collection_name for alias in memory.get_aliases().aliases] == ["synapse_pages-a-model-new-16"]
    assert [each.name for each in memory.get_collections().collections] == ["synapse_pages-a-model-new-16"]


def test_a_collection_that_another_vault_still_uses_stays(
    store: QdrantStore, memory: QdrantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = embedded(1, 3)
    with monkeypatch.context() as patch:
        patch.setattr(QdrantStore, "_vault", lambda self: uuid.UUID(int=5))
        put(store, page)
    put(store, page)
    forget_all(model_id="new", dim=16)
    put(store, embedded(2, 2, model_id="new", dim=16))
    store.settle()
    assert memory.count(COLLECTION).count == 3


def test_settings_choose_the_store(server: FakeQdrant, settings: Any) -> None:
    page = embedded(1, 2)
    put(current_store(), page)
    assert current_store() is remote_store()
    assert [hit.page for hit in current_store().search(unit(1), limit=9)] == [page.pk] * 2
    assert ("PUT", f"/collections/{COLLECTION}/index") in server.requests
    settings.QDRANT_URL = ""
    assert isinstance(current_store(), LocalStore)
    assert remote_store() is None


@pytest.mark.parametrize("mode", ["fail", "hang", "drop", "rubbish", "forget"])
def test_a_search_of_a_server_that_misbehaves_ends_and_says_so(server: FakeQdrant, mode: str) -> None:
    page = embedded(1, 2)
    put(current_store(), page)
    server.mode = mode
    started = time.monotonic()
    with pytest.raises(SynapseError) as raised:
        current_store().search(unit(1), limit=5)
    assert raised.value.code is ErrorCode.DEPENDENCY_MISSING
    assert "QDRANT_URL" in raised.value.message
    assert server.url not in raised.value.message
    assert time.monotonic() - started < 20
    server.mode = "ok"
    assert len(current_store().search(unit(1), limit=5)) == 2


@pytest.mark.parametrize("mode", ["fail", "hang", "drop", "rubbish", "lose"])
@pytest.mark.parametrize("what", ["upsert", "delete"])
def test_a_write_that_fails_is_told_and_done_again(server: FakeQdrant, mode: str, what: str) -> None:
    page = embedded(1, 3)
    store = remote_store()
    assert isinstance(store, QdrantStore)
    put(store, page)
    embedded(2, 2, page=page)
    server.mode = mode

    def work() -> None:
        if what == "upsert":
            put(store, page)
        else:
            store.delete([page.uid])

    with pytest.raises(SynapseError):
        work()
    server.mode = "ok"
    work()
    assert contents(store) == (expected(page) if what == "upsert" else set())


def test_nobody_there_is_told_at_once(settings: Any) -> None:
    settings.QDRANT_URL = "http://127.0.0.1:9"
    forget_store()
    embedded(1, 1)
    with pytest.raises(SynapseError):
        current_store().search(unit(1), limit=5)
    with pytest.raises(SynapseError):
        current_store().upsert(rows(Page.objects.get(), 1, 1))
    forget_store()


def test_the_address_is_not_logged(server: FakeQdrant, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("httpx").setLevel(logging.NOTSET)
    caplog.set_level(logging.INFO)
    put(current_store(), embedded(1, 2))
    assert current_store().search(unit(1000), limit=1)
    server.mode = "fail"
    with pytest.raises(SynapseError):
        current_store().search(unit(1000), limit=1)
    assert server.requests and "127.0.0.1" not in caplog.text
