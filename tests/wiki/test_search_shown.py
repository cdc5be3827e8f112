"""What is shown of a hit, the filters, the command and the repair."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import VaultFolder
from tests.indexed import indexed
from vault.errors import ErrorCode, SynapseError
from wiki.models import Page
from wiki.search import MOST_SHOWN, search
from wiki.search.passages import SNIPPET_CHARS, why_and_snippet
from wiki.search.query import WordsQuery, analyse
from wiki.search.rebuild import rebuild_words
from wiki.search.schema import drop_words

PROSE = "Some words that nobody asks for stand here. " * 40


def snippet(query: WordsQuery, body: str) -> str:
    return why_and_snippet(query, "", "", body)[1]


def why(query: WordsQuery, title: str, body: str) -> str:
    return why_and_snippet(query, title, "", body)[0]


def test_the_snippet_shows_where_the_words_are_together() -> None:
    body = f"wing. {PROSE}The heated wing of an aircraft.\n\n{PROSE}"
    text = snippet(analyse("heated wing"), body)
    assert "The heated wing of an aircraft." in text
    assert text.startswith("… ")
    assert text.endswith(" …")
    assert "\n" not in text


@given(st.text(max_size=2000), st.text(min_size=1, max_size=30))
def test_a_snippet_is_bounded(body: str, query: str) -> None:
    assert len(snippet(analyse(query), body + query)) <= SNIPPET_CHARS + 4


def test_a_snippet_begins_and_ends_with_whole_words() -> None:
    text = snippet(analyse("needle"), PROSE + "needle " + PROSE)
    assert set(text.strip("… ").split()) <= set((PROSE + "needle").split())


def test_inflections_and_accents_are_matched_in_the_snippet() -> None:
    assert "città è" in snippet(analyse("citta"), PROSE + "La città è bella. " + PROSE)
    assert "was running" in snippet(analyse("runs"), PROSE + "She was running. " + PROSE)
    assert "檢索" in snippet(analyse("檢索"), "文" * 1000 + "檢索" + "文" * 1000)


def test_a_word_inside_another_is_no_match() -> None:
    assert why(analyse("art"), "Cartography", "the party starts") == "matched words"


def test_why_names_the_words_that_matched_as_they_were_asked() -> None:
    query = analyse("Heated airplanes, C++ node.js 知識管理 zebra")
    body = "An airplane heats in c++ with node.js 知識管理"
    assert why(query, "", body) == "matched words: C++, Heated, airplanes, node.js, node, js, 知識管理"


def test_a_snippet_steers_no_terminal() -> None:
    assert "\x1b" not in snippet(analyse("red"), "\x1b[31mred\x9b text")


@pytest.mark.django_db
class TestFilters:
    @pytest.fixture(autouse=True)
    def pages(self) -> None:
        for number in range(60):
            indexed(f"Noise {number}", "apple apple apple", type="source", lang="de", path=f"raw-notes/{number}.md")
        indexed("One", "an apple", type="entity", lang="en", tags=["Fruit/Red"], mtime_ns=2_000_000_000 * 10**9)
        indexed("Two", "an apple a day", type="concept", lang="en-GB", tags=["fruit"], path="wiki/Two_%/two.md")
        indexed("Three", "no pear", type="concept", lang="en", tags=["fruitless"])

    def found(self, **filters: object) -> list[str]:
        return [hit.page.title for hit in search("apple pear", k=5, **filters).hits]  # type: ignore[arg-type]

    def test_type(self) -> None:
        assert self.found(types=["entity"]) == ["One"]
        assert set(self.found(types=["entity", "concept"])) == {"One", "Two", "Three"}

    def test_tag_with_what_is_nested_in_it(self) -> None:
        assert set(self.found(tag="#Fruit")) == {"One", "Two"}
        assert self.found(tag="fruit/red") == ["One"]
        assert self.found(tag="fru%") == []

    def test_path_prefix_is_no_pattern_and_heeds_case(self) -> None:
        assert self.found(path_prefix="wiki/Two_%/") == ["Two"]
        assert self.found(path_prefix="wiki/two") == []
        assert set(self.found(path_prefix="wiki/")) == {"One", "Two", "Three"}

    def test_lang_with_its_regions(self) -> None:
        assert set(self.found(lang="EN")) == {"One", "Two", "Three"}
        assert self.found(lang="en-gb") == ["Two"]

    def test_updated_since(self) -> None:
        assert self.found(updated_since=datetime(2030, 1, 1, tzinfo=UTC)) == ["One"]
        assert self.found(updated_since=datetime(9999, 1, 1, tzinfo=UTC)) == []
        assert len(self.found(updated_since=datetime(1, 1, 1, tzinfo=UTC))) == 5

    def test_all_together_and_for_a_page_named_by_its_title(self) -> None:
        assert self.found(types=["concept"], tag="fruit", lang="en", path_prefix="wiki/") == ["Two"]
        assert [hit.page.title for hit in search("one", types=["concept"]).hits] == []

    @pytest.mark.parametrize("filters", [{"types": ["nonsense"]}, {"updated_since": datetime(2030, 1, 1)}])
    def test_what_can_not_be_is_refused(self, filters: dict[str, object]) -> None:
        with pytest.raises(SynapseError) as raised:
            self.found(**filters)
        assert raised.value.code is ErrorCode.INVALID_PARAM_VALUE


@pytest.mark.django_db
class TestCommand:
    def run(self, *arguments: str) -> str:
        out = StringIO()
        call_command("search", *arguments, stdout=out, stderr=out)
        return out.getvalue()

    @pytest.fixture(autouse=True)
    def page(self, vault_folder: VaultFolder) -> Page:
        vault_folder.write("wiki/concepts/alpha.md", "---\ntitle: Alpha\ntags: [greek]\n---\nThe first letter.\n")
        return indexed("Alpha", "The first letter.", path="wiki/concepts/alpha.md", tags=["greek"])

    def test_a_table_for_people(self) -> None:
        text = self.run("first", "letter")
        assert "Alpha  wiki/concepts/alpha.md" in text
        assert "matched words: first, letter" in text
        assert self.run("nonsense") == "No page has any of these words.\n"
        assert self.run("letter", "--lang", "it") == (
            "No page among those that the options name has any of these words.\n"
        )

    def test_json_for_programs(self, page: Page) -> None:
        answer = json.loads(self.run("letter", "--json", "--tag", "greek", "--since", "1969-01-01"))
        assert answer["result"] == [
            {
                "id": str(page.uid),
                "title": "Alpha",
                "type": None,
                "relevance_score": 1.0,
                "path": "wiki/concepts/alpha.md",
                "phase": "words",
                "why": "matched words: letter",
                "snippet": "The first letter.",
            }
        ]
        assert (answer["mode"], answer["degraded"]) == ("lexical", None)

    def test_filters_are_named_as_over_rest_and_k_has_its_bounds(self) -> None:
        for number in range(MOST_SHOWN + 5):
            indexed(f"N{number}", "many", path=f"wiki/n/{number}.md")
        assert len(json.loads(self.run("many", "-k", "1000", "--json"))["result"]) == MOST_SHOWN
        assert len(json.loads(self.run("many", "-k", "0", "--json"))["result"]) == 1
        assert "Alpha" in self.run("letter", "--prefix", "wiki/concepts/")
        assert "Alpha" not in self.run("letter", "--prefix", "wiki/n/")
        assert "Alpha" in self.run("lette", "--as-you-type") and "Alpha" not in self.run("lette")

    @pytest.mark.parametrize("arguments", [[], ["x", "--since", "soon"], ["x", "--since", "2027-13-01"]])
    def test_a_wrong_call_is_told(self, arguments: list[str]) -> None:
        with pytest.raises(CommandError):
            self.run(*arguments)

    def test_retrieve_prints_the_context_and_what_its_numbers_stand_for(self, page: Page) -> None:
        out = StringIO()
        call_command("retrieve", "first", "letter", "--preset", "fast", stdout=out, stderr=out)
        text = out.getvalue()
        assert text.startswith(
            "[1] Alpha (wiki/concepts/alpha.md)\nThe first letter.\n\n[1]  1.00  Alpha: matched words"
        )
        assert "of 6,553 tokens; searched by words alone." in text
        out = StringIO()
        call_command("retrieve", "letter", "--context-window", "5000", "--json", stdout=out)
        answer = json.loads(out.getvalue())
        assert answer["context"] == "[1] Alpha (wiki/concepts/alpha.md)\nThe first letter."
        assert (answer["budget"], answer["citations"][0]["id"]) == (1000, str(page.uid))
        out = StringIO()
        call_command("retrieve", "nonsense", stdout=out)
        assert out.getvalue() == "Nothing fits the query.\n"
        drop_words(connection)
        with pytest.raises(CommandError, match="--rebuild"):
            call_command("retrieve", "letter", stdout=out)

    def test_a_lost_index_is_made_anew_from_the_files(self) -> None:
        drop_words(connection)
        indexes = search("letter")
        assert indexes.degraded
        assert self.run("--rebuild") == "The words of 1 page are indexed.\n"
        assert [hit.page.title for hit in search("greek letter").hits] == ["Alpha"]

    def test_a_page_without_a_readable_file_is_left_out_of_the_new_index(self, vault_folder: VaultFolder) -> None:
        (vault_folder.root / "wiki/concepts/alpha.md").unlink()
        told: list[tuple[int, int]] = []
        assert rebuild_words(lambda done, total: told.append((done, total))) == 0
        assert search("letter").hits == []
