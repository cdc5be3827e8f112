"""P16: Qdrant down: search goes on by words and says so, and afterwards Qdrant has exactly what the database has."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.embedding import Hashed, hashed  # noqa: F401 - a fixture
from tests.indexed import indexed
from tests.promises.figures import Measured, figure
from tests.qdrant_server import FakeQdrant, running
from vault.errors import SynapseError
from wiki.embedding import reconcile
from wiki.embedding.pipeline import Outcome, embed_some
from wiki.embedding.waiting import waiting_pages
from wiki.models import Chunk
from wiki.search import search
from wiki.vectors.stores import forget_store, remote_store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("vault_folder")]
UPSERTS = 500


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeQdrant]:
    monkeypatch.setattr("wiki.vectors.stores.qdrant.SEARCH_SECONDS", 1)
    monkeypatch.setattr("wiki.vectors.stores.qdrant.WRITE_SECONDS", 1)
    with running() as fake:
        settings.QDRANT_URL = fake.url
        forget_store()
        yield fake
        forget_store()


def in_qdrant() -> set[Any]:
    store = remote_store()
    assert store
    return {(each.uid, each.ordinal, each.hash) for each in store.stored()}


def in_rows() -> set[Any]:
    return set(Chunk.objects.values_list("page__uid", "ordinal", "hash"))


def embed(embedder: Hashed) -> None:
    """All that waits, as the background does it: a failure is tried again."""
    while embed_some(128, embedder=embedder, store=remote_store()) != Outcome():
        pass


@pytest.mark.parametrize(
    ("mode", "count"), [("drop", UPSERTS), *((mode, figure(40, UPSERTS)) for mode in ("fail", "lose", "rubbish"))]
)
def test_stopped_during_upserts(
    server: FakeQdrant,
    hashed: Hashed,  # noqa: F811
    mode: str,
    count: int,
    measured: Measured,
) -> None:
    """It goes down in the middle of a write, is down for a while, and comes back; nobody repairs anything by hand."""
    for number in range(count):
        indexed(f"Page {number}", f"word{number} and a few others", path=f"wiki/{number:03}.md")
    stops_at = random.Random(mode).randint(count // 10, count * 9 // 10)

    def upserts(method: str, path: str) -> str:
        sent = sum(1 for asked in server.requests if asked[1].endswith("/batch"))
        return mode if sent >= stops_at else "ok"

    server.modes = upserts
    with pytest.raises(SynapseError):
        embed(hashed)
    waiting = waiting_pages().count()
    assert 0 < waiting < count
    server.modes = lambda method, path: "ok"
    embed(hashed)
    assert not waiting_pages().exists()
    assert len(in_rows()) == count
    assert in_qdrant() == in_rows()
    measured(
        "P16",
        f"{mode} after {count - waiting} of {count} upserts: afterwards {len(in_qdrant())} in Qdrant = "
        f"{len(in_rows())} in the database",
    )


def test_what_it_acknowledged_and_lost_is_found_and_sent_again(server: FakeQdrant, hashed: Hashed) -> None:  # noqa: F811
    """An answer of 200 that kept nothing leaves no trace but in the comparison."""
    chance = random.Random(1)
    for number in range(60):
        indexed(f"Page {number}", f"word{number} and a few others", path=f"wiki/{number:03}.md")
    server.modes = lambda method, path: "forget" if path.endswith("/batch") and chance.random() < 0.3 else "ok"
    embed(hashed)
    server.modes = lambda method, path: "ok"
    assert in_qdrant() < in_rows()
    assert not reconcile.check().equal
    assert reconcile.repair().equal
    assert in_qdrant() == in_rows()
    assert len(in_rows()) == 60


@pytest.mark.parametrize("mode", ["fail", "drop", "hang", "rubbish"])
def test_search_goes_on_and_says_what_is_missing(
    server: FakeQdrant,
    hashed: Hashed,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
) -> None:
    monkeypatch.setattr("wiki.vectors.patience.AWAY_SECONDS", 0.0)  # as if the time had passed that nobody asks it
    indexed("Falcons", "birds of prey that live here")
    embed(hashed)
    server.mode = mode
    answer = search("falcons")
    assert [hit.page.title for hit in answer.hits] == ["Falcons"]
    assert answer.mode == "lexical"
    assert answer.degraded
    assert "Qdrant" in " ".join(answer.degraded.values())
    server.mode = "ok"
    assert search("falcons").degraded is None
