"""Search by words, the same on every database."""

from __future__ import annotations

import unicodedata

import pytest
from django.db import OperationalError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.indexed import indexed
from vault.errors import ErrorCode, SynapseError
from wiki.data_version import STATE_PK
from wiki.models import Page, VaultState
from wiki.search import PageWords, index_words, remove_words, search, words_sqlite
from wiki.search.schema import drop_words

pytestmark = pytest.mark.django_db


def titles(query: str, **options: object) -> list[str]:
    return [hit.page.title for hit in search(query, **options).hits]  # type: ignore[arg-type]


LANGUAGES = [
    ("it", "La torre di Pisa", "La torre pendente è il campanile della città di Pisa.", "il campanile della citta"),
    ("de", "Die Straße", "Über die Straße führt eine Brücke aus Stein.", "STRASSE brucke"),
    ("fr", "L'été indien", "Une période de temps ensoleillé après l'été.", "temps ensoleille ete"),
    ("es", "El corazón", "El corazón late unas cien mil veces al día.", "¿cuántas veces late el corazon?"),
    ("pt", "A canção", "Uma canção popular brasileira sobre a saudade.", "cancao brasileira"),
    ("pl", "Łódź", "Miasto włókiennicze w środkowej Polsce.", "lodz wlokiennicze"),
    ("ru", "Ёлка", "Новогодняя ёлка стоит на площади.", "елка на площади"),
    ("el", "Αθήνα", "Η Ακρόπολη της Αθήνας είναι αρχαία.", "ακροπολη"),
    ("tr", "İstanbul", "Boğaz iki kıtayı ayırır.", "istanbul bogaz"),
    ("vi", "Hà Nội", "Thủ đô của Việt Nam.", "ha noi viet nam"),
    ("ar", "كتاب", "هذا كِتَابٌ عن تاريخ المدينة القديمة.", "كتاب تاريخ"),
    ("he", "ספרייה", "הספרייה הלאומית שומרת כתבי יד.", "כתבי יד"),
    ("hi", "हिन्दी", "हिन्दी भारत की एक भाषा है।", "हिन्दी भाषा"),
    ("zh", "知識管理", "知識管理系統幫助團隊保存與檢索文件。", "檢索"),
    ("ja", "ひらがな", "日本語の文章は漢字とひらがなとカタカナで書かれる。", "カタカナ"),
    ("ko", "한국어", "한국어는 교착어이며 조사가 낱말에 붙는다.", "조사"),
    ("th", "ภาษาไทย", "ภาษาไทยเขียนโดยไม่เว้นวรรคระหว่างคำ", "เว้นวรรค"),
    ("lo", "ພາສາລາວ", "ພາສາລາວເປັນພາສາທາງການ", "ທາງການ"),
    ("km", "ភាសាខ្មែរ", "ភាសាខ្មែរជាភាសាផ្លូវការ", "ផ្លូវការ"),
    ("my", "မြန်မာဘာသာ", "မြန်မာဘာသာစကားသည်ရုံးသုံးဘာသာဖြစ်သည်", "ရုံးသုံး"),
]


@pytest.fixture
def many_languages() -> None:
    for lang, title, body, _ in LANGUAGES:
        indexed(title, body, lang=lang)


@pytest.mark.parametrize(("lang", "title", "query"), [(lang, title, query) for lang, title, _, query in LANGUAGES])
def test_each_language_finds_its_page_first(many_languages: None, lang: str, title: str, query: str) -> None:
    assert titles(query)[0] == title
    assert titles(title)[0] == title
    assert titles(query, lang=lang) == [title]


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC"])
@pytest.mark.parametrize(("title", "query"), [(title, query) for _, title, _, query in LANGUAGES])
def test_the_form_of_the_query_does_not_matter(many_languages: None, form: str, title: str, query: str) -> None:
    assert titles(unicodedata.normalize(form, query.upper()))[0] == title  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["管", "管理", "識管", "系", "件", "識", "知識管理系統"])
def test_any_part_of_a_text_without_spaces_is_found(query: str) -> None:
    indexed("A", "知識管理系統幫助團隊保存與檢索文件")
    indexed("B", "完全不同的內容")
    assert titles(query) == ["A"]


def test_a_korean_word_is_found_with_any_particle() -> None:
    indexed("A", "도서관에서 책을 빌렸다")
    assert titles("도서관") == titles("서관") == titles("책") == ["A"]


def test_a_word_of_another_script_is_found_where_it_touches_a_run() -> None:
    indexed("A", "使用Python编程")
    assert titles("python") == titles("编程") == ["A"]


def test_the_whole_run_goes_above_its_parts() -> None:
    indexed("A", "理管 知管 識理 管知 知識")
    indexed("B", "這是知識管理的文件")
    assert titles("知識管理")[0] == "B"


def test_names_with_punctuation_are_told_from_the_letter() -> None:
    indexed("C", "C is a language. C C C, in C")
    indexed("Templates", "Templates came with C++ in 1990.")
    indexed("Sharp", "C# runs on .NET")
    indexed("Node", "A node.js server")
    indexed("Graph", "js: a node of a graph")
    assert titles("C++") == ["Templates"]
    assert titles("C#") == titles(".net") == ["Sharp"]
    assert titles("node.js")[0] == "Node"
    assert titles("c")[0] == "C"


def test_a_compound_is_found_whole_and_by_its_parts() -> None:
    indexed("A", "call foo-bar_baz here")
    indexed("B", "baz and bar but foo")
    assert titles("foo-bar_baz")[0] == "A"
    assert set(titles("bar baz")) == {"A", "B"}


@pytest.mark.parametrize(
    "query",
    [
        "alpha AND", "AND alpha", "alpha OR", "NOT alpha", "NEAR(alpha beta, 2)", "NEAR(alpha", "alpha*",
        "*alpha", "-alpha", "title:alpha", "body : alpha", "{title body}: alpha", '"unbalanced alpha',
        'alpha""', "^alpha", "(alpha", "alpha)", "alpha; DROP TABLE wiki_words; --", "alpha' OR '1'='1",
        "alpha & beta", "alpha | !beta", "alpha <-> beta", "alpha:*", "alpha\\", "%alpha_", "(a+)+$ alpha",
        "alpha 🎉", "alpha\0beta", "alpha\ud800", "alpha\n\t\r", "\u202ealpha", "al\u00adpha alpha",
    ],
)  # fmt: skip
def test_operators_are_words(query: str) -> None:
    indexed("Alpha", "alpha is here")
    indexed("Other", "nothing to see")
    answer = search(query)
    assert answer.degraded is None
    assert answer.hits[0].page.title == "Alpha"


@pytest.mark.parametrize("query", ["", " ", "*", '"', "***" * 1000, "🎉", "…", "\0", "\ud800", "- - -", "\u0301", "()"])
def test_a_query_without_words_finds_nothing(query: str) -> None:
    indexed("Alpha", "alpha is here")
    answer = search(query)
    assert answer.hits == []
    assert "no words" in (answer.degraded or {})["meaning"]


def test_words_that_are_operators_are_found_as_words() -> None:
    indexed("Gates", "near and not are gates")
    assert titles("NEAR") == titles("gates AND NOT") == ["Gates"]


@given(query=st.text(max_size=80), prefix=st.booleans(), k=st.integers(-5, 300))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_query_fails_and_scores_are_in_order(many_languages: None, query: str, prefix: bool, k: int) -> None:
    answer = search(query + " ка é 知", prefix=prefix, k=k)
    assert answer.degraded is None
    scores = [hit.score for hit in answer.hits]
    assert len(scores) <= max(1, min(k, 100))
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert scores[:1] in ([], [1.0])


def test_ten_thousand_characters_are_answered_and_more_refused() -> None:
    indexed("Alpha", "alpha beta")
    assert titles(" ".join(["alpha", *(f"word{number}" for number in range(1100))])[:10_000]) == ["Alpha"]
    with pytest.raises(SynapseError) as raised:
        search("*" * 100_000)
    assert raised.value.code is ErrorCode.INVALID_PARAM_VALUE


def test_a_title_counts_more_than_a_mention() -> None:
    indexed("Mention", "falcons " + "and other birds of prey that live here " * 3)
    indexed("Falcons", "Birds of prey that live here and there " * 3)
    assert titles("falcon prey") == ["Falcons", "Mention"]


def test_a_page_whose_name_was_typed_comes_first() -> None:
    indexed("Turing machine history", "turing machine " * 30)
    indexed("Turing machine", "It was described in 1936.")
    indexed("Enigma", "A cipher device.", aliases=["The bombe"])
    indexed("Bombe", "The bombe, the bombe, the bombe.", path="wiki/concepts/z.md")
    assert titles("Turing Machine")[0] == "Turing machine"
    assert titles("the bombe")[0] == "Enigma"


def test_aliases_and_tags_are_searched() -> None:
    indexed("Enigma", "A cipher device.", aliases=["Rotor machine"], tags=["cryptography"])
    assert titles("rotor") == titles("cryptography") == ["Enigma"]


def test_inflections_are_found() -> None:
    indexed("Runs", "She runs and was running daily.")
    assert titles("run") == titles("RUNNING") == ["Runs"]


@pytest.mark.parametrize(
    "typed", ["e", "en", "encyc", "encycloped", "encyclopedi", "encyclopedia", "a big encyc", "Éncyc"]
)
def test_as_you_type(typed: str) -> None:
    indexed("Books", "Encyclopedias are relational works")
    indexed("Other", "nothing of the kind")
    assert titles(typed, prefix=True)[0] == "Books"


@pytest.mark.parametrize("typed", ["relat", "relatio", "relation", "relationa", "relational"])
def test_as_you_type_goes_on_past_the_stem(typed: str) -> None:
    indexed("Books", "Works and their relations")
    assert titles(typed, prefix=True) == ["Books"]


def test_what_many_titles_begin_with_is_not_looked_for_in_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL looks into texts and titles at the same cost")
    monkeypatch.setattr(words_sqlite, "_MANY_NAMES", 3)
    for number in range(40):
        indexed(f"Falcon {number}", "A bird.")
        indexed(f"Other {number}", "falcons " * 20)
    indexed("Nest", "Where one lives.")
    assert {title.split()[0] for title in titles("fal", k=20, prefix=True)} == {"Falcon"}
    assert titles("nest fal", k=20, prefix=True)[0] == "Nest"
    monkeypatch.setattr(words_sqlite, "_MANY_NAMES", 40)
    assert titles("fal", prefix=True)[0].startswith("Other")


def test_where_the_titles_find_too_few_the_texts_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_sqlite, "_MANY_NAMES", 1)
    for number in range(3):
        indexed(f"Falcon {number}", "A bird.")
    indexed("Mention", "falcons live here")
    assert len(titles("fal", prefix=True)) == 4


def test_equals_are_in_the_order_of_their_paths() -> None:
    for number in (7, 3, 9, 1, 5, 8, 2, 6, 4, 0) * 3:
        indexed("Same", "the same words", path=f"wiki/{number}{Page.objects.count():02}.md")
    paths = [hit.page.path for hit in search("same words", k=5).hits]
    assert paths == sorted(Page.objects.values_list("path", flat=True))[:5]


def test_deleted_and_reserved_pages_never_appear_and_leave_no_gap() -> None:
    for number in range(40):
        indexed("Hidden word", "word word", path=f"wiki/a{number:02}.md", reserved=number % 2 == 0)
    Page.objects.filter(reserved=False).update(deleted_at="2026-01-01T00:00:00Z")
    for number in range(6):
        indexed(f"Shown {number}", "a word among many others here", path=f"wiki/z{number}.md")
    assert titles("word", k=5) == [f"Shown {number}" for number in range(5)]
    assert titles("hidden word", k=3) == ["Shown 0", "Shown 1", "Shown 2"]


def test_what_was_written_in_this_transaction_is_found_and_what_was_rolled_back_is_not() -> None:
    with transaction.atomic():
        indexed("Fresh", "brand new")
        assert titles("brand") == ["Fresh"]
    try:
        with transaction.atomic():
            indexed("Undone", "brand new too")
            raise RuntimeError
    except RuntimeError:
        pass
    assert titles("brand") == ["Fresh"]


def test_a_new_text_replaces_the_old_and_removal_is_complete() -> None:
    page = indexed("Page", "first version 知識")
    index_words([(page.pk, "Page", "second text")])
    assert titles("first") == titles("知識") == []
    assert titles("second") == ["Page"]
    remove_words([page.pk, page.pk, 10**9])
    assert titles("second") == []
    index_words([])
    remove_words([])


def test_text_that_no_database_stores_is_indexed_all_the_same() -> None:
    page = indexed("Odd", "placeholder")
    index_words([PageWords(page.pk, "O\0dd \ud800 title", "bo\0dy \udfff text", aliases=["a\0b"], tags=["\ud800"])])
    assert titles("text") == titles("title") == ["Odd"]


def test_a_page_of_two_megabytes_of_different_words_is_indexed() -> None:
    indexed("Large", " ".join(f"w{number:x}" for number in range(250_000)) + " end")
    assert titles("w1") == ["Large"]


def test_a_broken_index_is_told_and_does_not_spoil_the_transaction() -> None:
    indexed("Alpha", "alpha")
    drop_words(connection)
    answer = search("alpha beta")
    assert answer.hits == []
    assert answer.mode == "lexical"
    assert answer.degraded is not None
    assert "manage.py search --rebuild" in answer.degraded["words"]
    assert Page.objects.count() == 1


def test_a_time_limit_is_the_callers_to_report(monkeypatch: pytest.MonkeyPatch) -> None:
    indexed("Alpha", "alpha")
    connection.ensure_connection()
    if connection.vendor == "sqlite":
        connection.connection.set_progress_handler(lambda: 1, 1)
    else:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 20")
        monkeypatch.setattr("wiki.search.words_postgres.match_expression", lambda terms: _sleeping())
    try:
        with pytest.raises(OperationalError):
            search("alpha")
    finally:
        if connection.vendor == "sqlite":
            connection.connection.set_progress_handler(None, 0)


def _sleeping() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(5)")
    return "'alpha'"


def test_the_answer_names_the_version_of_the_index() -> None:
    assert search("x").data_version == 0
    VaultState.objects.create(pk=STATE_PK, vault_id="0" * 32, root="/", data_version=41)
    assert search("x").data_version == 41


def test_the_number_of_queries_does_not_grow_with_the_hits(django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(30):
        indexed(f"Page {number}", "common words here")
    with django_assert_max_num_queries(7 if connection.vendor == "sqlite" else 14):
        assert len(search("common words", k=30).hits) == 30
