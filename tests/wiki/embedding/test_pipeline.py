"""From pages to vectors: only what is new is embedded, and it may happen twice, late or in another order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.embedding import Hashed
from tests.indexed import indexed
from vault.errors import ErrorCode, SynapseError
from wiki.embedding import waiting
from wiki.embedding.pipeline import FAILURES, Outcome, embed_some
from wiki.models import Chunk, EmbeddingState, Page
from wiki.search import PageWords, index_words
from wiki.vectors.chunks import cut
from wiki.vectors.rows import as_array, chunks_after, chunks_of, forget_all, remove_chunks

pytestmark = pytest.mark.django_db

LONG = "\n\n".join(f"## Part {at}\n" + f"Words of part {at} that make it long enough. " * 8 for at in range(4))


@pytest.fixture
def embedder() -> Hashed:
    return Hashed()


class Remembering:
    """A store that keeps what it is told."""

    def __init__(self) -> None:
        self.pages: dict[UUID, list[str]] = {}
        self.fails = False

    def upsert(self, chunks: Sequence[Any]) -> None:
        if self.fails:
            raise SynapseError(ErrorCode.SEARCH_UNAVAILABLE, "The store does not answer.")
        for uid in {chunk.uid for chunk in chunks}:
            self.pages[uid] = [chunk.hash for chunk in chunks if chunk.uid == uid]

    def delete(self, page_ids: Sequence[UUID]) -> None:
        for uid in page_ids:
            self.pages.pop(uid, None)


def changed(page: Page, body: str, content_hash: str) -> None:
    """What a scan does to a page that has changed."""
    Page.objects.filter(pk=page.pk).update(content_hash=content_hash)
    index_words([PageWords(page.pk, page.title, body)])


def settle(embedder: Hashed, **options: Any) -> list[Outcome]:
    outcomes = []
    while waiting.anything_waits():
        outcomes.append(embed_some(embedder=embedder, **options))
        assert len(outcomes) < 1_000
    return outcomes


def rows() -> list[tuple[Any, ...]]:
    return list(
        Chunk.objects.order_by("page_id", "ordinal").values_list(
            "page_id", "ordinal", "start", "end", "heading", "hash"
        )
    )


def expected() -> list[tuple[Any, ...]]:
    from wiki.search import texts

    pages = Page.objects.listed().order_by("pk")
    bodies = dict(texts([page.pk for page in pages]))
    return [
        (page.pk, ordinal, passage.start, passage.end, passage.heading, passage.hash)
        for page in pages
        for ordinal, passage in enumerate(cut(page.title, bodies[page.pk]))
    ]


def test_every_passage_gets_its_vector(embedder: Hashed) -> None:
    page = indexed("Bread", LONG)
    indexed("Empty")
    settle(embedder)
    assert rows() == expected()
    assert not waiting.waiting_pages().exists()
    chunks = list(chunks_of([page.pk]))
    wanted = embedder.embed_passages([passage.embedded for passage in cut("Bread", LONG)])
    assert np.allclose(as_array([chunk.vector for chunk in chunks]), wanted, atol=1e-3)
    state = EmbeddingState.objects.get()
    assert (state.model_id, state.dim) == ("hashed-words", 64)


def test_leads_come_first_then_what_changed_then_the_rest(embedder: Hashed) -> None:
    old, new = indexed("Old", LONG), indexed("New", LONG)
    first = embed_some(embedder=embedder)
    assert (first.leads, first.chunks) == (2, 2)
    assert [text.split("\n")[0] for text in embedder.passages] == ["Old > Part 0", "New > Part 0"]
    changed(new, LONG + "\n\nmore", "1" * 64)
    assert [row.pk for row in waiting.wholes(9)] == [new.pk, old.pk]
    later = indexed("Later")
    assert [row.pk for row in waiting.leads(9)] == [later.pk]


def test_only_what_is_new_is_embedded(embedder: Hashed) -> None:
    page = indexed("Bread", LONG)
    settle(embedder)
    embedder.passages.clear()
    changed(
        page,
        "An introduction that was added. " * 20 + "\n\n" + LONG.replace("of part 2", "of the second part"),
        "1" * 64,
    )
    [outcome] = settle(embedder)
    assert [text.split("\n")[0] for text in embedder.passages] == ["Bread", "Bread > Part 2"]
    assert (outcome.pages, outcome.chunks, outcome.kept) == (1, 2, 3)
    assert rows() == expected()


def test_a_page_with_the_same_text_gets_no_new_rows(embedder: Hashed) -> None:
    page = indexed("Bread", LONG)
    settle(embedder)
    before = list(Chunk.objects.values())
    Page.objects.update(content_hash="1" * 64)  # its frontmatter changed
    settle(embedder)
    assert list(Chunk.objects.values()) == before
    page.refresh_from_db()
    assert page.vectors_hash == page.lead_hash == "1" * 64


def test_a_shorter_page_has_fewer_rows_under_one_number(embedder: Hashed) -> None:
    page = indexed("Bread", LONG)
    settle(embedder)
    seen = max(Chunk.objects.values_list("seq", flat=True))
    changed(page, "Short.", "1" * 64)
    settle(embedder)
    assert [(chunk.page, chunk.ordinal) for chunk in chunks_after(seen)] == [(page.pk, 0)]
    assert Chunk.objects.count() == 1


def test_all_rows_of_a_page_carry_the_number_of_its_last_write(embedder: Hashed) -> None:
    page, other = indexed("Bread", LONG), indexed("Cheese", LONG)
    settle(embedder)
    changed(page, LONG + "\n\n## Part 5\n" + "Something else. " * 30, "1" * 64)
    settle(embedder)
    numbers = {pk: set(Chunk.objects.filter(page=pk).values_list("seq", flat=True)) for pk in (page.pk, other.pk)}
    assert all(len(each) == 1 for each in numbers.values())
    assert numbers[page.pk] == {EmbeddingState.objects.get().generation} > numbers[other.pk] or numbers[page.pk] > set()
    assert max(numbers[page.pk]) > max(numbers[other.pk])


def test_a_page_that_changes_while_it_is_embedded_waits_as_what_it_is_now(
    embedder: Hashed, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = indexed("Bread", "Old text.")
    real = embedder.embed_passages

    def meanwhile(texts: Sequence[str]) -> np.ndarray:
        monkeypatch.setattr(embedder, "embed_passages", real)
        changed(page, "New text.", "1" * 64)
        return real(texts)

    monkeypatch.setattr(embedder, "embed_passages", meanwhile)
    assert embed_some(embedder=embedder).pages == 0
    assert not Chunk.objects.exists()
    settle(embedder)
    assert rows() == expected()


@pytest.mark.parametrize("fields", [{"deleted_at": timezone.now()}, {"reserved": True}])
def test_what_is_not_listed_any_more_goes(embedder: Hashed, fields: dict[str, Any]) -> None:
    page, store = indexed("Bread", LONG), Remembering()
    indexed("Cheese")
    settle(embedder, store=store)
    Page.objects.filter(pk=page.pk).update(**fields)
    [outcome] = settle(embedder, store=store)
    assert outcome.removed == 1
    assert not Chunk.objects.filter(page=page.pk).exists() and page.uid not in store.pages
    state = EmbeddingState.objects.get()
    assert state.removed_at == state.generation
    Page.objects.filter(pk=page.pk).update(deleted_at=None, reserved=False)  # it comes back
    settle(embedder, store=store)
    assert rows() == expected()


def test_no_model_is_asked_inside_a_transaction(embedder: Hashed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the query before and the query after embedding no transaction is open (the test's own apart)."""
    indexed("Bread", LONG)
    real, depth = embedder.embed_passages, len(connection.savepoint_ids)

    def looked_at(texts: Sequence[str]) -> np.ndarray:
        assert len(connection.savepoint_ids) == depth
        return real(texts)

    monkeypatch.setattr(embedder, "embed_passages", looked_at)
    settle(embedder)


def test_another_model_is_refused_with_the_command(embedder: Hashed) -> None:
    indexed("Bread")
    settle(embedder)
    embedder.model_id = "another"
    with pytest.raises(SynapseError, match="reembed"):
        embed_some(embedder=embedder)
    embedder.model_id, embedder.dim = "hashed-words", 32
    with pytest.raises(SynapseError, match="64 numbers"):
        embed_some(embedder=embedder)
    forget_all()
    embedder.dim = 64
    settle(embedder)
    assert rows() == expected()


def test_the_store_is_told_before_a_page_is_done(embedder: Hashed) -> None:
    page, store = indexed("Bread", LONG), Remembering()
    store.fails = True
    outcome = embed_some(embedder=embedder, store=store)
    assert outcome.failed == [page.pk] and outcome.problem == "The store does not answer."
    store.fails = False
    settle(embedder, store=store)
    assert store.pages == {page.uid: [row[-1] for row in rows()]}
    assert len(embedder.passages) == len(set(embedder.passages)) + 1  # the lead, whose mark was never set


def test_a_page_that_cannot_be_embedded_does_not_keep_others(embedder: Hashed, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = indexed("Bad", "poison"), indexed("Good")
    real = embedder.embed_passages

    def sometimes(texts: Sequence[str]) -> np.ndarray:
        if any("poison" in text for text in texts):
            raise SynapseError(ErrorCode.SEARCH_UNAVAILABLE, "The endpoint refuses the text.")
        return real(texts)

    monkeypatch.setattr(embedder, "embed_passages", sometimes)
    outcome = embed_some(embedder=embedder)
    assert (outcome.failed, outcome.problem) == ([bad.pk], "The endpoint refuses the text.")
    assert set(Chunk.objects.values_list("page_id", flat=True)) == {good.pk}
    assert embed_some(embedder=embedder, besides=outcome.failed) == Outcome()


def test_an_embedder_that_always_fails_is_given_up(embedder: Hashed) -> None:
    for at in range(20):
        indexed(f"Page {at}")
    embedder.fails = SynapseError(ErrorCode.SEARCH_UNAVAILABLE, "The endpoint does not answer.")
    embedder.batch_size = 1
    with pytest.raises(SynapseError, match="does not answer"):
        embed_some(embedder=embedder)
    assert FAILURES < 20 and not Chunk.objects.exists()


def test_a_stop_keeps_what_is_done_of_a_long_page(embedder: Hashed) -> None:
    body = "\n\n".join(f"## Part {at}\n" + f"Words of part {at} that make it long. " * 12 for at in range(40))
    indexed("Book", body)
    embed_some(embedder=embedder)
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 3

    outcome = embed_some(1_000, embedder=embedder, stop=stop)
    assert 0 < outcome.chunks < 20 and outcome.pages == 0
    assert Chunk.objects.count() == outcome.chunks + 1
    settle(embedder)
    assert rows() == expected() and len(embedder.passages) == len(set(embedder.passages))


def test_in_any_order_and_any_number_of_times_it_comes_to_the_same(embedder: Hashed) -> None:
    rng = random.Random(7)
    store = Remembering()
    pages = [indexed(f"Page {at}", rng.choice([LONG, "Short.", ""])) for at in range(6)]
    for step in range(60):
        page = rng.choice(pages)
        match rng.randrange(6):
            case 0:
                changed(page, f"Step {step}. " + rng.choice([LONG, LONG[:900], ""]), f"{step:064d}")
            case 1:
                Page.objects.filter(pk=page.pk).update(deleted_at=rng.choice([None, timezone.now()]))
            case 2:
                remove_chunks([page.pk])
            case 3:
                store.fails = rng.random() < 0.5
            case _:
                try:
                    embed_some(rng.choice([1, 4, 32]), embedder=embedder, store=store)
                except SynapseError:
                    assert store.fails
    store.fails = False
    settle(embedder, store=store)
    assert rows() == expected()
    told = {page.uid: [row[-1] for row in rows() if row[0] == page.pk] for page in Page.objects.listed()}
    assert store.pages == told


def test_looking_for_work_costs_two_queries(embedder: Hashed) -> None:
    indexed("Bread")
    settle(embedder)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert not waiting.anything_waits()
    assert len(queries) == 2
