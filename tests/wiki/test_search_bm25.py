"""The ranking of both databases against BM25 as the paper has it, in plain Python over the same tokens."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections import Counter

import pytest
from django.db import connection, transaction

from tests.indexed import indexed
from wiki.models import Page
from wiki.search import search, words_postgres
from wiki.search.query import Term, analyse
from wiki.search.stemmer import stem
from wiki.search.text import words
from wiki.search.words import engine

pytestmark = pytest.mark.django_db
VOCABULARY = [f"{a}{b}{c}" for a in "bdgkmp" for b in "aeiou" for c in "lnr"]


def rounded(count: int) -> int:
    """How often a page is taken to have a word: PostgreSQL's index holds levels."""
    if connection.vendor == "sqlite":
        return count
    return words_postgres.LEVELS[bisect_right(words_postgres.LEVELS, count) - 1]


class Bm25:
    """All pages in memory; the title counts three times, a phrase is a word of its own."""

    def __init__(self, pages: dict[int, tuple[str, str]]) -> None:
        self.lengths: dict[int, int] = {}
        self.counts: dict[int, Counter[str]] = {}
        self.runs: dict[int, list[list[str]]] = {}
        for pk, (title, body) in pages.items():
            in_title, in_body = ([stem(word) for word in words(text)] for text in (title, body))
            self.lengths[pk] = len(in_title) + len(in_body)
            self.counts[pk] = Counter({token: 3 * count for token, count in Counter(in_title).items()})
            self.counts[pk].update(in_body)
        self.average = sum(self.lengths.values()) / len(self.lengths)

    def scores(self, terms: list[str]) -> dict[int, float]:
        scores: dict[int, float] = {}
        for term in terms:
            having = [pk for pk, counts in self.counts.items() if counts[term]]
            idf = max(math.log((len(self.lengths) - len(having) + 0.5) / (len(having) + 0.5)), 1e-6)
            for pk in having:
                count = rounded(self.counts[pk][term])
                normal = 1.2 * (0.25 + 0.75 * self.lengths[pk] / self.average)
                scores[pk] = scores.get(pk, 0.0) + idf * count * 2.2 / (count + normal)
        return scores


@pytest.fixture
def collection() -> Bm25:
    """Sixty pages of few words, so that words are frequent and rare and stand in titles."""
    chance = random.Random(7)
    weights = [1 / (at + 1) for at in range(len(VOCABULARY))]
    texts = {}
    for number in range(60):
        title = f"{chance.choice(VOCABULARY)} {chance.choice(VOCABULARY)}"
        body = " ".join(chance.choices(VOCABULARY, weights, k=chance.randint(3, 200)))
        texts[indexed(title, body, path=f"wiki/{number:02}.md").pk] = (title, body)
    return Bm25(texts)


QUERIES = [random.Random(seed).sample(VOCABULARY, 1 + seed % 5) for seed in range(25)]


@pytest.mark.parametrize("query", QUERIES, ids=" ".join)
def test_scores_are_those_of_the_formula(collection: Bm25, query: list[str]) -> None:
    terms = [Term((word,), word) for word in query]
    found = {pk: score for pk, _, score in engine().ranked(terms, 1000)}
    expected = collection.scores([stem(word) for word in query])
    # a word that most pages have adds (nearly) nothing, and may be left out
    assert {pk: pytest.approx(score, rel=1e-6, abs=1e-4) for pk, score in expected.items()} == found


@pytest.mark.parametrize("query", QUERIES, ids=" ".join)
def test_the_best_are_in_the_order_of_the_formula(collection: Bm25, query: list[str]) -> None:
    expected = collection.scores([stem(word) for word in query])
    paths = dict(Page.objects.values_list("pk", "path"))
    order = sorted(expected, key=lambda pk: (-round(expected[pk], 4), paths[pk]))
    best = [expected[pk] for pk in order[:10]]
    found = [expected[hit.page.pk] for hit in search(" ".join(query), k=10).hits if hit.page.title != " ".join(query)]
    assert found == pytest.approx(best[: len(found)], abs=2e-4)


def test_pages_that_pass_a_filter_have_the_scores_that_they_have_among_all(collection: Bm25) -> None:
    terms = [Term((word,), word) for word in VOCABULARY[3:7]]
    some = list(Page.objects.filter(path__lt="wiki/30").values_list("pk", flat=True))
    marks = ", ".join(["%s"] * len(some))
    within = engine().ranked_within(terms, 1000, f"SELECT id FROM wiki_page WHERE id IN ({marks})", tuple(some))
    everywhere = {pk: score for pk, _, score in engine().ranked(terms, 1000)}
    assert {pk: score for pk, _, score in within} == pytest.approx(
        {pk: score for pk, score in everywhere.items() if pk in some}, abs=1e-4
    )


def test_candidates_have_their_whole_score(collection: Bm25, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the rarest words find enough pages, frequent words rank those as if all pages had been looked at."""
    if connection.vendor == "sqlite":
        pytest.skip("FTS5 chooses for itself")
    terms = [Term((word,), word) for word in (VOCABULARY[2], VOCABULARY[5], VOCABULARY[40])]
    expected = {pk: score for pk, _, score in engine().ranked(terms, 1000)}
    monkeypatch.setattr(words_postgres, "_CANDIDATES", 1)
    found = engine().ranked(terms, 3)
    assert len(found) == 3
    assert {pk: score for pk, _, score in found} == pytest.approx({pk: expected[pk] for pk, _, _ in found}, abs=1e-4)


def test_the_callers_transaction_is_planned_as_before() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("PostgreSQL's settings")
    with transaction.atomic(), connection.cursor() as cursor:
        search("anything at all")
        cursor.execute("SELECT current_setting('enable_seqscan')")
        assert cursor.fetchone() == ("on",)


def test_a_level_is_no_word() -> None:
    indexed("Heat", "heat " * 30)
    for typed in ("~2heat", "7heat", "~", "2"):
        assert [term.tokens for term in analyse(typed).terms] != [("heat",)]
        assert not search(typed, prefix=True).hits


def test_a_page_with_the_word_more_often_goes_above_one_of_the_same_length() -> None:
    for number in range(8):
        indexed(f"Other {number}", "nothing of interest")
    indexed("Once", "falcon " + "plain " * 39)
    indexed("Often", "falcon " * 5 + "plain " * 35)
    assert [hit.page.title for hit in search("falcon").hits] == ["Often", "Once"]
    assert [hit.page.title for hit in search("falc", prefix=True).hits] == ["Often", "Once"]


# Language, its pages (title, body), and a question with the page that answers it: the others share words with it.
QUESTIONS = [
    (
        "it",
        [
            ("Il pane", "Il pane si fa con farina, acqua, lievito e sale, e si cuoce nel forno."),
            ("Il vino", "Il vino si fa con l'uva, che fermenta in cantina per mesi."),
            ("L'olio", "L'olio si fa con le olive, raccolte in autunno e portate al frantoio."),
        ],
        "come si fa il vino con l'uva?",
        "Il vino",
    ),
    (
        "de",
        [
            ("Die Brücke", "Die Brücke führt über den Fluss und wurde aus Stein gebaut."),
            ("Der Tunnel", "Der Tunnel führt unter dem Fluss hindurch und wurde gebohrt."),
            ("Die Fähre", "Die Fähre fährt über den Fluss, wenn kein Eis darauf liegt."),
        ],
        "Welche Bruecke oder Brücke wurde aus Stein gebaut?",
        "Die Brücke",
    ),
    (
        "fr",
        [
            ("La forêt", "La forêt abrite des chênes, des hêtres et des cerfs."),
            ("Le désert", "Le désert reçoit peu de pluie, et la nuit y est froide."),
            ("La côte", "La côte est battue par les vagues et le vent."),
        ],
        "ou pousse le chene, dans quelle foret?",
        "La forêt",
    ),
    (
        "es",
        [
            ("El niño", "El niño aprende a leer en la escuela con su maestra."),
            ("El médico", "El médico cura a los enfermos en el hospital."),
            ("El panadero", "El panadero hace el pan antes del alba."),
        ],
        "¿quién cura a los enfermos? el medico",
        "El médico",
    ),
    (
        "ru",
        [
            ("Река", "Река течёт с гор и впадает в море."),
            ("Гора", "Гора покрыта снегом круглый год."),
            ("Лес", "Лес растёт у подножия гор, в нём живут волки."),
        ],
        "где растет лес и живут волки",
        "Лес",
    ),
    (
        "zh",
        [
            ("數據庫", "數據庫保存表格與索引,查詢時使用索引。"),
            ("編譯器", "編譯器把源代碼翻譯成機器代碼。"),
            ("操作系統", "操作系統管理進程、內存與文件。"),
        ],
        "如何管理內存",
        "操作系統",
    ),
    (
        "ja",
        [
            ("東京", "東京は日本の首都で、人口がとても多い。"),
            ("京都", "京都は古い寺と庭で知られている。"),
            ("大阪", "大阪は食べ物の町として知られている。"),
        ],
        "古い寺で知られている町は",
        "京都",
    ),
    (
        "ko",
        [
            ("김치", "김치는 배추와 고추로 담그는 음식이다."),
            ("비빔밥", "비빔밥은 밥에 나물을 넣어 비벼 먹는 음식이다."),
            ("냉면", "냉면은 차가운 국물에 면을 말아 먹는 음식이다."),
        ],
        "배추로 담그는 음식",
        "김치",
    ),
    (
        "ar",
        [
            ("البحر", "البحر مالح وفيه أسماك كثيرة."),
            ("النهر", "النهر ماؤه عذب ويجري من الجبال."),
            ("الصحراء", "الصحراء حارة ولا ينزل فيها المطر."),
        ],
        "اسماك البحر",
        "البحر",
    ),
]


@pytest.fixture
def all_pages() -> None:
    for lang, pages, _, _ in QUESTIONS:
        for title, body in pages:
            indexed(title, body, lang=lang)


@pytest.mark.parametrize(("query", "title"), [(query, title) for _, _, query, title in QUESTIONS])
def test_a_question_in_each_language_finds_its_page_first(all_pages: None, query: str, title: str) -> None:
    assert search(query).hits[0].page.title == title


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("寺", "京都"),
        ("古い", "京都"),
        ("內存", "操作系統"),
        ("碼", "編譯器"),
        ("면", "냉면"),
        ("배추", "김치"),
        ("首都", "東京"),
    ],
)
def test_one_and_two_characters_are_a_query(all_pages: None, query: str, title: str) -> None:
    assert search(query).hits[0].page.title == title
