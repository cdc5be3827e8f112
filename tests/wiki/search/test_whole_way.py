"""From a write to an answer, with the store that a laptop has: nothing is faked but the model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import VaultFolder
from tests.embedding import Hashed
from tests.wiki.conftest import Writer
from wiki.embedding.pipeline import embed_some
from wiki.embedding.waiting import anything_waits
from wiki.search import retrieve, search
from wiki.services import page_by_title, page_delete
from wiki.vectors.stores import forget_store

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_store() -> Iterator[None]:
    forget_store()
    yield
    forget_store()


def settle(embedder: Hashed) -> None:
    while anything_waits():
        embed_some(100, embedder=embedder)


def test_a_page_is_found_by_words_at_once_by_both_soon_and_over_links(
    vault_folder: VaultFolder, claude: Writer, hashed: Hashed
) -> None:
    claude.write("Lighthouse", "The keeper of the light is [[Ada]].\n")
    claude.write("Ada", "Born on the island, she climbs the stairs each night.\n")
    first = search("keeper of the light")
    assert (first.mode, first.degraded, [hit.page.title for hit in first.hits]) == ("lexical", None, ["Lighthouse"])
    settle(hashed)
    both = search("keeper of the light", k=1)
    assert (both.mode, both.degraded) == ("hybrid", None)
    assert [(hit.page.title, hit.phase, hit.score) for hit in both.hits] == [("Lighthouse", "both", 1.0)]
    claude.write("Foghorn", "It sounds where the keeper of the light sleeps.\n")
    fresh = search("foghorn sounds")
    assert fresh.hits[0].page.title == "Foghorn"
    settle(hashed)
    assert search("foghorn sounds").hits[0].phase == "both"
    answer = retrieve("keeper of the light")
    assert answer.context is not None
    assert "] Lighthouse (wiki/concepts/lighthouse.md)\nThe keeper of the light is" in answer.context.text
    assert {citation.hit.page.title for citation in answer.context.citations} == {"Lighthouse", "Foghorn", "Ada"}


def test_a_page_that_is_gone_is_not_found_by_meaning_either(
    vault_folder: VaultFolder, claude: Writer, hashed: Hashed
) -> None:
    claude.write("Lighthouse", "The keeper of the light.\n")
    claude.write("Harbour", "Ships and ropes.\n")
    settle(hashed)
    assert {hit.page.title for hit in search("keeper").hits} == {"Lighthouse", "Harbour"}
    page = page_by_title("Lighthouse")
    claude.do(page_delete, page=page, base_hash=page.content_hash)
    assert [hit.page.title for hit in search("keeper").hits] == ["Harbour"]
