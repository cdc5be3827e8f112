"""Words and meaning together: what each finds, and what is said when one of them fails."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection

from tests.embedding import Hashed
from tests.indexed import indexed
from tests.wiki.search.conftest import EveryRow
from vault.errors import ErrorCode, SynapseError
from wiki.models import Chunk, EmbeddingState, Page
from wiki.search import PageWords, SearchAnswer, index_words, retrieve, search, texts
from wiki.search.meaning import FAILED, QUERY_TOKENS
from wiki.search.schema import drop_words

pytestmark = pytest.mark.django_db

Embed = Callable[[], None]


def titles(answer: SearchAnswer) -> list[str]:
    return [hit.page.title for hit in answer.hits]


@pytest.fixture
def three() -> None:
    """A page that words find, one that both do, and one that only meaning does (no word of it is English prose)."""
    indexed("Whales", "whales sing in the deep sea")
    indexed("Songs", "people sing songs at sea")
    indexed("Stones", "granite and basalt lie still")


def test_both_are_asked_and_agree(three: None, embed: Embed) -> None:
    embed()
    answer = search("whales sing in the deep sea", k=3)
    assert (answer.mode, answer.degraded) == ("hybrid", None)
    assert titles(answer) == ["Whales", "Songs", "Stones"]
    assert [hit.phase for hit in answer.hits] == ["both", "both", "meaning"]
    assert answer.hits[0].score == 1.0
    assert answer.hits[0].why.endswith("; similar passage")
    assert answer.hits[0].why.startswith("matched words: ")
    assert (answer.hits[2].why, answer.hits[2].snippet) == ("similar passage", "granite and basalt lie still")
    assert answer.hits[2].score < 0.5


def test_a_page_that_was_just_written_is_found_by_its_words_before_it_is_embedded(three: None, embed: Embed) -> None:
    embed()
    indexed("Fresh", "a zeppelin over the sea")
    answer = search("zeppelin", k=4)
    assert answer.mode == "hybrid"
    assert answer.degraded is None
    assert titles(answer)[0] == "Fresh"
    assert (answer.hits[0].phase, answer.hits[0].score) == ("words", 1.0)


def test_before_anything_is_embedded_words_are_asked_alone_and_nothing_has_failed(
    three: None, hashed: Hashed, store: EveryRow
) -> None:
    answer = search("sea")
    assert (answer.mode, answer.degraded) == ("lexical", None)
    assert answer.hits[0].score == 1.0
    assert store.asked == []


def test_switched_off_is_no_failure(three: None, embed: Embed, store: EveryRow, settings: Any) -> None:
    embed()
    for name, value in (("EMBEDDER", "off"), ("EMBEDDINGS_ENABLED", False)):
        setattr(settings, name, value)
        answer = search("sea")
        assert (answer.mode, answer.degraded) == ("lexical", None)
    assert store.asked == []


def test_as_you_type_asks_words_alone(three: None, embed: Embed, store: EveryRow) -> None:
    embed()
    answer = search("wha", prefix=True)
    assert (answer.mode, titles(answer), store.asked) == ("lexical", ["Whales"], [])


@pytest.mark.parametrize("query", ["", "***", "🎉"])
def test_a_query_without_words_finds_nothing(three: None, embed: Embed, store: EveryRow, query: str) -> None:
    embed()
    answer = search(query)
    assert (answer.hits, answer.mode, answer.unavailable) == ([], "lexical", False)
    assert "no words" in (answer.degraded or {})["meaning"]
    assert store.asked == []


def test_the_page_whose_name_was_typed_is_first_whatever_meaning_says(three: None, embed: Embed) -> None:
    indexed("Deep sea", "Nothing of the kind stands here.", aliases=["the abyss"])
    indexed("Tides", "the abyss the abyss the abyss")
    embed()
    for query in ("deep SEA", "The Abyss"):
        answer = search(query, k=5)
        assert titles(answer)[0] == "Deep sea"
        assert answer.hits[0].score == 1.0


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (SynapseError(ErrorCode.SEARCH_UNAVAILABLE, "The endpoint does not answer."), "The endpoint does not answer."),
        (RuntimeError("secret at /home"), FAILED),
        (TimeoutError(), FAILED),
        (DatabaseError("secret"), FAILED),
    ],
)
@pytest.mark.parametrize("part", ["embedder", "store"])
def test_what_fails_is_told_and_words_find_alone(
    three: None, embed: Embed, hashed: Hashed, store: EveryRow, failure: Exception, told: str, part: str
) -> None:
    embed()
    {"embedder": hashed, "store": store}[part].fails = failure  # type: ignore[attr-defined]
    answer = search("whales sing")
    assert answer.mode == "lexical"
    assert answer.degraded == {"meaning": told}
    assert titles(answer) == ["Whales", "Songs"]
    assert answer.hits[0].score == 1.0
    assert not answer.unavailable


def test_the_log_hears_of_a_failure_once(
    three: None, embed: Embed, store: EveryRow, caplog: pytest.LogCaptureFixture
) -> None:
    embed()
    search("whales")  # what failed before this test is over
    store.fails = RuntimeError("secret")
    with caplog.at_level(logging.WARNING, logger="wiki.search.meaning"):
        for _ in range(3):
            search("whales")
        assert len(caplog.records) == 1
        assert "secret" not in caplog.text
        store.fails = None
        search("whales")
        store.fails = RuntimeError("again")
        search("whales")
        assert len(caplog.records) == 2


def test_no_embedder_is_told(three: None, embed: Embed, settings: Any) -> None:
    embed()
    settings.EMBEDDER = "tests.nowhere.load"
    answer = search("sea")
    assert answer.mode == "lexical"
    assert answer.degraded is not None
    assert "words" in answer.degraded["meaning"]


@pytest.mark.parametrize("change", [{"model_id": "another"}, {"dim": 3}])
def test_vectors_of_another_model_are_not_compared(
    three: None, embed: Embed, store: EveryRow, change: dict[str, Any]
) -> None:
    embed()
    EmbeddingState.objects.update(**change)
    answer = search("sea")
    assert answer.mode == "lexical"
    assert answer.degraded is not None
    assert "manage.py reembed" in answer.degraded["meaning"]
    assert store.asked == []


def test_without_words_meaning_finds_alone(three: None, embed: Embed) -> None:
    embed()
    Page.objects.filter(title="Stones").update(summary="Granite.")
    drop_words(connection)
    answer = retrieve("granite and basalt", depth=0)
    assert answer.mode == "semantic"
    assert answer.degraded is not None
    assert set(answer.degraded) == {"words"}
    assert titles(answer)[0] == "Stones"
    assert answer.hits[0].snippet == "Granite."
    assert answer.context is not None
    assert answer.context.text.startswith("[1] Stones (wiki/concepts/Stones.md)\nGranite.")
    assert answer.context.citations[0].passages == ()
    assert not answer.unavailable


def test_nothing_works(three: None, embed: Embed, store: EveryRow) -> None:
    embed()
    drop_words(connection)
    store.fails = RuntimeError()
    answer = search("sea")
    assert answer.hits == []
    assert answer.mode == "lexical"
    assert set(answer.degraded or ()) == {"words", "meaning"}
    assert answer.unavailable


def test_filters_hold_for_meaning(embed: Embed, store: EveryRow) -> None:
    for number in range(5):
        indexed(f"E{number}", "alpha beta", type="entity", lang="de", path=f"wiki/e/{number}.md")
    one = indexed("One", "gamma", type="concept", lang="en", tags=["x"], mtime_ns=2_000_000_000 * 10**9)
    embed()
    for filters in ({"types": ["concept"]}, {"lang": "en"}, {"tag": "x"}, {"path_prefix": "wiki/concepts/"}):
        answer = search("alpha beta", **filters)  # type: ignore[arg-type]
        assert titles(answer) == ["One"]
        assert answer.hits[0].phase == "meaning"
        assert store.asked[-1] == {one.pk}
    assert search("alpha", tag="nothing has it").hits == []


def test_pages_that_may_not_be_shown_are_not_found_by_meaning(three: None, embed: Embed) -> None:
    embed()
    Page.objects.filter(title="Whales").update(deleted_at="2026-01-01T00:00:00Z")
    Page.objects.filter(title="Songs").update(reserved=True)
    assert titles(search("whales sing", k=5)) == ["Stones"]


def test_a_page_scores_by_its_best_passage_and_many_passages_hide_no_other_page(embed: Embed) -> None:
    filler = "\n\n".join(f"## Part {number}\n\n" + "alpha beta gamma delta " * 40 for number in range(450))
    long = indexed("Long", filler)
    for number in range(3):
        indexed(f"Short {number}", "epsilon alpha")
    embed()
    assert Chunk.objects.filter(page=long).count() > 400
    answer = search("alpha beta gamma delta", k=10)
    assert titles(answer)[0] == "Long"
    assert len(answer.hits) == 4


def test_the_snippet_of_meaning_is_of_the_passage_that_is_near(embed: Embed) -> None:
    parts = ["apple pear plum " * 60, "granite basalt marble " * 60, "rain snow hail " * 60]
    page = indexed("Things", "\n\n".join(f"## {number}\n\n{part}" for number, part in enumerate(parts)))
    embed()
    _misspell(page, "basalt", "bassalt")
    hit = search("basalt").hits[0]
    assert hit.phase == "meaning"
    assert hit.snippet.startswith("… granite bassalt marble")


def test_passages_of_a_text_that_has_changed_since_are_not_shown(embed: Embed) -> None:
    page = indexed("Things", "\n\n".join(f"## {number}\n\n{'granite basalt ' * 90}" for number in range(3)))
    embed()
    _misspell(page, "basalt", "bassalt")
    Page.objects.filter(pk=page.pk).update(content_hash="1" * 64)
    answer = retrieve("basalt", depth=0)
    assert answer.context is not None
    assert [citation.passages[0][0] for citation in answer.context.citations] == [len("## 0\n\n")]


def _misspell(page: Page, word: str, other: str) -> None:
    """Index the page's words as if it had another word, so that meaning alone finds it."""
    body = dict(texts([page.pk]))[page.pk]
    index_words([PageWords(page.pk, page.title, body.replace(word, other))])


@pytest.mark.parametrize(("word", "characters"), [("sea ", 4 * QUERY_TOKENS - 1), ("海", QUERY_TOKENS)])
def test_of_a_long_query_the_beginning_is_embedded_and_costs_the_same_in_any_script(
    three: None, embed: Embed, hashed: Hashed, monkeypatch: pytest.MonkeyPatch, word: str, characters: int
) -> None:
    embed()
    given: list[str] = []
    monkeypatch.setattr(hashed, "embed_query", lambda text: given.append(text) or hashed._one(text))
    search(word * 2_000)
    assert [len(text) for text in given] == [characters]


def test_equals_are_in_the_order_of_their_paths_and_the_answer_is_the_same_again(embed: Embed) -> None:
    for name in "cadbe":
        indexed("Same", "the very same words", path=f"wiki/{name}.md")
    embed()
    answers = [retrieve("same words").as_dict() for _ in range(2)]
    assert answers[0] == answers[1]
    assert [hit["path"] for hit in answers[0]["result"]] == [f"wiki/{name}.md" for name in "abcde"]


LANGUAGES = [
    ("it", "Torre", "La torre pendente è il campanile della città di Pisa.", "campanile della città"),
    ("de", "Brücke", "Über die Straße führt eine Brücke aus Stein.", "Brücke über die Straße"),
    ("fr", "Été", "Une période de temps ensoleillé après l'été.", "temps ensoleillé"),
    ("es", "Corazón", "El corazón late unas cien mil veces al día.", "¿cuántas veces late el corazón?"),
    ("ru", "Ёлка", "Новогодняя ёлка стоит на площади.", "ёлка на площади"),
    ("ar", "كتاب", "هذا كتاب عن تاريخ المدينة القديمة.", "تاريخ المدينة"),
    ("zh", "管理", "知識管理系統幫助團隊保存與檢索文件。", "檢索文件"),
    ("ja", "文字", "日本語の文章は漢字とひらがなとカタカナで書かれる。", "カタカナ"),
    ("ko", "한국어", "한국어는 교착어이며 조사가 낱말에 붙는다.", "조사가 낱말"),
    ("en", "Templates", "Templates came with C++ in 1990.", "C++"),
    ("zh", "山", "高山流水", "山"),
]


@pytest.mark.parametrize(("title", "query"), [(title, query) for _, title, _, query in LANGUAGES])
def test_each_language_finds_its_page_first_with_meaning_too(embed: Embed, title: str, query: str) -> None:
    for lang, name, body, _ in LANGUAGES:
        indexed(name, body, lang=lang)
    embed()
    answer = search(query)
    assert answer.mode == "hybrid"
    assert titles(answer)[0] == title
