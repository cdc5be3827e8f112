"""The context: within its budget, and each number stands for the passage that is there."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.indexed import indexed
from wiki.models import Page
from wiki.search import SearchHit, retrieve
from wiki.search.assembly import assemble, best_passages
from wiki.search.budget import beginning, budget, tokens
from wiki.search.query import analyse
from wiki.vectors.chunks import cut

SCRIPTS = st.sampled_from(
    ["ab cd. ", "知識管理系統。", "한국어 조사 ", "カタカナ、", "слово и ", "🎉 ", "x", "\n\n## Head\n\n", "\n"]
)
BODIES = st.lists(st.tuples(SCRIPTS, st.integers(1, 400)), max_size=12).map(
    lambda parts: "".join(text * times for text, times in parts)
)


class TestTokens:
    def test_four_characters_are_one_and_a_wide_one_is_one(self) -> None:
        assert [tokens(text) for text in ("", "a", "abcd", "abcde", "知識", "한국어", "a知", "ｆｕ", "カナ")] == [
            *(0, 1, 1, 2, 2, 3, 2, 2, 2)
        ]

    @given(st.lists(st.text(), max_size=6))
    def test_parts_come_to_as_many_as_the_whole_or_more(self, parts: list[str]) -> None:
        assert tokens("".join(parts)) <= sum(tokens(part) for part in parts)

    @given(st.text(), st.integers(-3, 40))
    def test_a_beginning_fits(self, text: str, room: int) -> None:
        found = beginning(text, room)
        assert text.startswith(found)
        assert tokens(found) <= max(0, room)

    def test_the_window_is_clamped(self) -> None:
        assert [budget(window) for window in (-1, 0, 4_096, 32_768, 10**9)] == [819, 819, 819, 6_553, 200_000]


def hits(bodies: list[str], title: str = "Page") -> tuple[list[SearchHit], dict[int, str]]:
    found = [
        SearchHit(Page(pk=number, title=f"{title} {number}", path=f"wiki/{number}.md", summary="sum"), 1.0, "why", "")
        for number in range(len(bodies))
    ]
    return found, dict(enumerate(bodies))


@given(
    bodies=st.lists(BODIES, max_size=14),
    window=st.one_of(st.integers(0, 20_000), st.integers(0, 1_100_000)),
    query=st.sampled_from(["ab", "知識", "слово", "nothing", ""]),
    title=st.sampled_from(["Page", "標題" * 240, "t" * 500, "two\nlines"]),
    near=st.lists(st.integers(0, 9), max_size=4, unique=True),
    without=st.integers(0, 13),
)
@hypothesis_settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_budget_is_never_exceeded_and_citations_point_at_what_is_given(
    bodies: list[str], window: int, query: str, title: str, near: list[int], without: int
) -> None:
    found, texts = hits(bodies, title)
    texts.pop(without, None)
    context = assemble(analyse(query), found, texts, dict.fromkeys(texts, near), window)
    assert context.tokens == tokens(context.text) <= context.budget == budget(window)
    assert [citation.n for citation in context.citations] == list(range(1, len(context.citations) + 1))
    order = [citation.hit.page.pk for citation in context.citations]
    assert order == sorted(order)
    rest = context.text
    for citation in context.citations:
        header = f"[{citation.n}] "
        assert rest.startswith(header)
        line, _, rest = rest.partition("\n")
        assert line.endswith(f" ({citation.hit.page.path})")
        body = texts.get(citation.hit.page.pk)
        if body is None:
            assert citation.passages == ()
            given_text = "sum"
        else:
            assert list(citation.passages) == sorted(citation.passages)
            given_text = body[slice(*citation.passages[0])] if citation.passages else ""
            for start, end in citation.passages:
                assert 0 <= start <= end <= len(body)
                assert body[start:end] in rest
        assert rest.startswith(given_text)
        following = rest.find(f"\n\n[{citation.n + 1}] ")
        rest = rest[following + 2 :] if following >= 0 else ""


def test_passages_are_whole_but_for_the_first() -> None:
    long = "word " * 100_000
    found, bodies = hits(["知" * 5_000, long, "short and sweet"])
    context = assemble(analyse("知 word sweet"), found, bodies, {}, 4_096)
    assert context.text.startswith("[1] Page 0 (wiki/0.md)\n知")
    assert context.tokens <= 819
    whole = {(passage.start, passage.end) for passage in cut("Page 1", long)}
    for citation in context.citations[1:]:
        assert citation.hit.page.pk != 1 or set(citation.passages) <= whole


def test_a_page_that_does_not_fit_is_left_out_and_the_next_has_its_number() -> None:
    found, bodies = hits(["alpha", "知" * 300 + "alpha", "知" * 300 + "alpha", "知" * 300 + "alpha", "alpha omega"])
    context = assemble(analyse("alpha"), found, bodies, {}, 4_096)
    assert [(citation.n, citation.hit.page.pk) for citation in context.citations] == [(1, 0), (2, 1), (3, 2), (4, 4)]


def test_the_passage_that_matched_and_not_the_head_of_the_page() -> None:
    body = (
        "# Head\n\n" + "beginning " * 180 + "\n\n## Middle\n\n" + "other " * 180 + "\n\n## End\n\nThe needle is here.\n"
    )
    found, bodies = hits([body + "hay " * 180])
    context = assemble(analyse("needle"), found, bodies, {}, 4_096)
    assert "The needle is here." in context.text
    assert "beginning" not in context.text
    assert "other" not in context.text
    context = assemble(analyse("nothing"), found, bodies, {}, 4_096)
    assert "beginning" in context.text


def test_passages_stand_in_the_order_of_the_page_and_what_is_left_out_shows() -> None:
    parts = [
        f"## {number}\n\nneedle{'s and pins' if number == 2 else ''} " + f"w{number} " * 150 for number in range(4)
    ]
    parts[1] = "## 1\n\n" + "hay " * 180
    found, bodies = hits(["\n\n".join(parts)])
    context = assemble(analyse("needle pins"), found, bodies, {}, 32_768)
    places = context.citations[0].passages
    assert len(places) == 3
    assert context.text.index("w0") < context.text.index("w2") < context.text.index("w3")
    assert context.text.count("\n\n…\n\n") == 1
    assert "hay" not in context.text


def test_words_and_meaning_say_together_which_passage_is_best() -> None:
    passages = cut("T", "\n\n".join(f"## {number}\n\n" + f"word{number} common " * 90 for number in range(5)))
    assert best_passages(analyse("word3 common"), passages)[0] == 3
    assert best_passages(analyse("nothing"), passages, [4, 2]) == [4, 2]
    assert best_passages(analyse("word2"), passages, [4, 2])[0] == 2
    assert best_passages(analyse("nothing"), passages) == [0]
    assert best_passages(analyse("nothing"), passages, [99]) == [0]


@pytest.mark.django_db
def test_the_context_of_an_answer(django_assert_max_num_queries: Any) -> None:
    body = "First words.\n\n## Rotor\n\nThe rotor turns.\n"
    page = indexed("Enigma\nmachine", body, path="wiki/entities/enigma.md")
    with django_assert_max_num_queries(17):
        answer = retrieve("rotor")
    context = answer.context
    assert context is not None
    citation = context.citations[0].as_dict()
    (place,) = citation["passages"]
    text = body[place["start"] : place["end"]]
    assert context.text == f"[1] Enigma machine (wiki/entities/enigma.md)\n{text}"
    assert "The rotor turns." in text
    assert citation == {
        "n": 1,
        "id": str(page.uid),
        "title": "Enigma\nmachine",
        "path": "wiki/entities/enigma.md",
        "score": 1.0,
        "phase": "words",
        "why": "matched words: rotor",
        "passages": [place],
    }
    assert set(answer.as_dict()) == {
        *("result", "mode", "degraded", "data_version", "citations", "context", "tokens", "budget")
    }
    assert set(retrieve("rotor", with_context=False).as_dict()) == {"result", "mode", "degraded", "data_version"}


@pytest.mark.django_db
def test_nothing_found_is_an_empty_context() -> None:
    answer = retrieve("nothing")
    assert answer.context is not None
    assert (answer.context.text, answer.context.citations, answer.context.tokens) == ("", [], 0)
    assert answer.context.budget == 6_553


@pytest.mark.django_db
@given(window=st.integers(0, 40_000), k=st.integers(-2, 40), query=st.sampled_from(["ab", "管理", "조사", "cd слово"]))
@hypothesis_settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_budget_holds_through_the_whole_pipeline(scripts: None, window: int, k: int, query: str) -> None:
    answer = retrieve(query, k=k, context_window=window)
    context = answer.context
    assert context is not None
    assert tokens(context.text) <= context.budget == budget(window)
    assert len(answer.hits) <= max(1, k)
    assert [int(n) for n in re.findall(r"(?m)^\[(\d+)\] ", context.text)] == [c.n for c in context.citations]


@pytest.fixture
def scripts() -> None:
    for number in range(20):
        indexed(
            f"Page {number}", ("ab cd. " * 50 + "知識管理系統。" * 40 + "한국어 조사 " * 30 + "слово ") * (number + 1)
        )
