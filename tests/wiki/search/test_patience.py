"""What hangs costs one search a few seconds, and the next ones nothing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests import endpoint_server, qdrant_server
from tests.conftest import VaultFolder
from tests.embedding import Hashed
from tests.indexed import indexed
from tests.wiki.search.conftest import EveryRow
from vault.errors import SynapseError
from wiki.embedding.pipeline import embed_some
from wiki.search import SearchAnswer, meaning, search
from wiki.vectors import patience
from wiki.vectors.embedders import current_embedder, forget_embedder
from wiki.vectors.patience import Patience
from wiki.vectors.stores import forget_store

Embed = Callable[[], None]
MOMENT = 0.05


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> Patience:
    """A patience that is soon at its end, for anything that fails."""
    monkeypatch.setattr(patience, "SECONDS", MOMENT)
    monkeypatch.setattr(patience, "SLOW_SECONDS", 0.0)
    monkeypatch.setattr(meaning, "patience", found := Patience())
    return found


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """What hangs waits for it."""
    event = threading.Event()
    yield event
    event.set()


def test_one_that_fails_fast_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Patience()
    monkeypatch.setattr(patience, "SLOW_SECONDS", 60.0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), ours.turn() as turn:
            turn.ask(lambda: 1 // 0)


def test_after_a_while_one_tries_and_the_others_go_on_without(ours: Patience) -> None:
    with pytest.raises(ZeroDivisionError), ours.turn() as turn:
        turn.ask(lambda: 1 // 0)
    refused = pytest.raises(SynapseError, match="Meaning failed just now")
    with refused, ours.turn():
        pytest.fail("it is not asked again so soon")
    ours._until = 0.0
    with ours.turn() as turn:
        with refused, ours.turn():
            pytest.fail("two do not try at once")
        assert turn.ask(lambda: 1) == 1
    with ours.turn(), ours.turn():
        pass


def test_what_still_hangs_is_not_asked_a_second_time(ours: Patience, release: threading.Event) -> None:
    with pytest.raises(SynapseError, match="not ready within"), ours.turn() as turn:
        turn.ask(release.wait)
    ours._until = 0.0
    with pytest.raises(SynapseError, match="not ready within"), ours.turn():
        pytest.fail("the first one has not come back")
    late = ours._late[0].asked
    release.set()
    late.result(60)
    with ours.turn() as turn:
        turn.ask(lambda: 1)


def test_a_timeout_of_the_questions_own_is_its_own(ours: Patience) -> None:
    def fails() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"), ours.turn() as turn:
        turn.ask(fails)


def mode(answer: SearchAnswer) -> tuple[str, bool]:
    return answer.mode, "meaning" in (answer.degraded or {})


@pytest.mark.django_db
def test_a_model_that_loads_is_not_waited_for_and_is_there_once_it_has_loaded(
    embed: Embed, settings: Any, monkeypatch: pytest.MonkeyPatch, ours: Patience, release: threading.Event
) -> None:
    indexed("Whales", "whales sing")
    embed()
    loads: list[int] = []

    def load() -> Hashed:
        loads.append(1)
        assert release.wait(60)
        return Hashed()

    monkeypatch.setitem(sys.modules, "tests.made_up", type(sys)("tests.made_up"))
    sys.modules["tests.made_up"].load = load  # type: ignore[attr-defined]
    settings.EMBEDDER = "tests.made_up.load"
    monkeypatch.setattr(meaning, "patience", ours := Patience())
    assert [mode(search("whales")) for _ in range(3)] == [("lexical", True)] * 3
    assert "not ready within" in (search("whales").degraded or {})["meaning"]
    late = ours._late[0].asked
    release.set()
    late.result(60)
    monkeypatch.setattr(patience, "SECONDS", 60.0)
    assert mode(search("whales")) == ("hybrid", False)
    assert loads == [1]


@pytest.mark.django_db
def test_an_endpoint_that_hangs_is_waited_for_once(
    settings: Any, store: EveryRow, ours: Patience, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMBEDDINGS_ENABLED, settings.EMBEDDER, settings.EMBEDDER_MODEL = True, "openai", "m"
    with endpoint_server.running() as server:
        settings.EMBEDDER_URL = server.url + "/v1"
        forget_embedder()
        indexed("Whales", "whales sing")
        embedder = current_embedder()
        assert embedder is not None
        embed_some(10, embedder=embedder)
        monkeypatch.setattr(patience, "SECONDS", 60.0)
        assert mode(search("whales")) == ("hybrid", False)
        monkeypatch.setattr(patience, "SECONDS", MOMENT)
        server.answer = lambda handler, body: (server.open.wait(60), None)[1]
        asked = len(server.requests)
        assert [mode(search("whales")) for _ in range(4)] == [("lexical", True)] * 4
        assert len(server.requests) - asked <= 1
        # a process that was started while it hangs waits no longer
        forget_embedder()
        monkeypatch.setattr(meaning, "patience", Patience())
        assert [mode(search("whales")) for _ in range(4)] == [("lexical", True)] * 4
        assert len(server.requests) - asked <= 2
    forget_embedder()


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
@pytest.mark.parametrize("misbehaves", ["hang", "away"])
def test_a_qdrant_that_hangs_is_waited_for_once(
    vault_folder: VaultFolder,
    hashed: Hashed,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    ours: Patience,
    misbehaves: str,
) -> None:
    with qdrant_server.running() as server:
        settings.QDRANT_URL = server.url
        forget_store()
        from wiki.vectors.stores import remote_store

        indexed("Whales", "whales sing")
        embed_some(10, embedder=hashed, store=remote_store())
        monkeypatch.setattr(meaning, "patience", Patience())
        monkeypatch.setattr(patience, "SECONDS", 60.0)
        assert mode(search("whales")) == ("hybrid", False)
        monkeypatch.setattr("wiki.vectors.stores.qdrant.SEARCH_SECONDS", 0.2)
        if misbehaves == "hang":
            server.mode = "hang"
        else:
            settings.QDRANT_URL = "http://127.0.0.1:9"
        asked = len(server.requests)
        answers = [search("whales") for _ in range(4)]
        assert [mode(answer) for answer in answers] == [("lexical", True)] * 4
        assert all("QDRANT_URL" in (answer.degraded or {})["meaning"] for answer in answers)
        assert len(server.requests) - asked <= 1
    forget_store()
