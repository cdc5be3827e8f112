"""prime_query: what is admitted, what ranks first and why, and a budget that is never exceeded."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import VaultFolder
from tests.wiki.prime import bakery
from vault.errors import ErrorCode, SynapseError
from wiki.prime.asking.query import query
from wiki.prime.atoms.levels import Level, tokens
from wiki.prime.atoms.reading import atoms, level_texts
from wiki.sync import scan

pytestmark = pytest.mark.django_db


def ids(**asked: Any) -> list[str]:
    return [hit["id"].removeprefix("@wiki/") for hit in query(**asked)["hits"]]


def refused(**asked: Any) -> SynapseError:
    with pytest.raises(SynapseError) as raised:
        query(**asked)
    return raised.value


def test_a_hit_has_the_fields_that_were_promised(bread: VaultFolder) -> None:
    found = query(scope="focus:sourdough oven", budget_tokens=300)
    assert set(found) == {"hits", "total_tokens", "omitted"}
    hit = found["hits"][0]
    assert set(hit) == {"id", "kind", "tokens", "path", "explanation", "uri", "level", "page_tokens"}
    assert hit["id"] == "@wiki/concept-deck-oven" and hit["path"] == "wiki/concepts/deck-oven.md"
    assert hit["uri"] == "synapse://prime/@wiki/concept-deck-oven?level=core"
    assert "lexical 1.00 (words: sourdough, oven)" in hit["explanation"]
    assert found["total_tokens"] == sum(one["tokens"] for one in found["hits"])


@pytest.mark.parametrize("level", list(Level))
def test_the_text_is_the_level_word_by_word(bread: VaultFolder, level: Level) -> None:
    for hit in query(level=level, budget_tokens=25_000, include_text=True)["hits"]:
        pk = next(atom.pk for atom in atoms() if atom.id == hit["id"])
        assert hit["text"] == level_texts([pk], level)[pk]
        assert hit["tokens"] == tokens(hit["text"])


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("type:comparison", {"comparison-yeast-or-starter"}),
        ("type:source", {"source-baking-notes"}),
        ("tag:oven", {"concept-old-oven", "concept-deck-oven"}),
        ("tag:#Oven", {"concept-old-oven", "concept-deck-oven"}),
        ("path:wiki/entities/", {"entity-flour"}),
        ("lang:de", {"source-baking-notes"}),
        ("source:baking.md", None),
        ("source:other.md", set()),
        ("domain:wiki", None),
        ("domain:baking", {"concept-sourdough", "concept-starter", "entity-flour", "comparison-yeast-or-starter"}),
        ("tool:oven", {"concept-old-oven", "concept-deck-oven"}),
        ("page:Flour", {"entity-flour", "concept-sourdough", "concept-starter"}),
        ("Page: levain", {"concept-sourdough", "concept-starter", "entity-flour", "concept-baking-powder"}),
    ],
)
def test_scopes(bread: VaultFolder, scope: str, expected: set[str] | None) -> None:
    found = set(ids(scope=scope, budget_tokens=25_000))
    if expected is None:
        assert len(found) == len(bakery.PAGES)
    elif scope.startswith(("domain", "page", "Page")):
        assert expected <= found < {atom.id.removeprefix("@wiki/") for atom in atoms()}
    else:
        assert found == expected


@pytest.mark.parametrize("scope", ["", "sourdough", "focus", "focus:", ":x", "colour:red", "tool:spade", "type:recipe"])
def test_other_scopes_are_refused_with_what_there_is(bread: VaultFolder, scope: str) -> None:
    error = refused(scope=scope)
    assert error.code is ErrorCode.INVALID_SCOPE
    if "valid_axes" in error.repair:  # a terminal shows the message alone
        assert all(axis in error.message for axis in error.repair["valid_axes"])
    assert error.repair.get("valid_axes") == [
        *("type", "tag", "path", "source", "lang", "domain", "page", "focus", "tool")
    ] or error.repair.get("valid_values")


def test_names_that_lead_nowhere(bread: VaultFolder) -> None:
    assert refused(scope="page:Nothing").code is ErrorCode.UNKNOWN_ATOM
    assert refused(scope="domain:cheese").code is ErrorCode.UNKNOWN_DOMAIN
    assert refused(level="whole").repair["allowed"] == ["summary", "core", "full"]
    assert refused(level="whole").code is ErrorCode.INVALID_LEVEL
    assert refused(kinds=["recipe"]).code is ErrorCode.INVALID_PARAM_VALUE


def test_all_tags_must_match(bread: VaultFolder) -> None:
    assert set(ids(tags=["rye", "Starter"])) == {"concept-sourdough", "concept-starter"}
    assert ids(tags=["rye", "nothing"]) == []
    assert ids(tags=["rye"], scope="focus:ash") == ["entity-flour", "concept-sourdough", "concept-starter"]


def test_kinds_and_exclusions(bread: VaultFolder) -> None:
    assert set(ids(kinds=["entity", "source"])) == {"entity-flour", "source-baking-notes"}
    left = ids(exclude_ids=["@wiki/entity-flour", "Levain", "wiki/concepts/deck-oven.md", "nothing"])
    assert not {"entity-flour", "concept-sourdough", "concept-deck-oven"} & set(left) and len(left) == 5


def test_what_does_not_fit_is_passed_over_and_told(bread: VaultFolder) -> None:
    found = query(budget_tokens=60)
    assert [hit["id"] for hit in found["hits"]] == ["@wiki/concept-starter", "@wiki/entity-flour"]
    assert found["omitted"][:2] == [
        {"id": "@wiki/concept-sourdough", "tokens": 64, "reason": "needs 64, 60 of 60 remain"},
        {"id": "@wiki/comparison-yeast-or-starter", "tokens": 56, "reason": "needs 56, 2 of 60 remain"},
    ]


def test_the_order_of_pages_does_not_matter(db: None, vault_folder: VaultFolder) -> None:
    """Keys of rows and the order of reading change nothing."""
    answers = []
    for seed in range(3):
        names = list(bakery.PAGES)
        random.Random(seed).shuffle(names)
        for path in vault_folder.files():
            (vault_folder.root / path).unlink()
        scan(allow_deletions=True)
        for name in names:
            vault_folder.write(name, bakery.PAGES[name])
            scan()
        answers.append([query(scope="focus:sourdough in an oven"), query(), query(tags=["rye"], level="full")])
    assert answers[0] == answers[1] == answers[2]


def test_it_is_the_same_each_time(bread: VaultFolder) -> None:
    assert query(scope="focus:rye") == query(scope="focus:rye")


@given(
    st.integers(-5, 30_000),
    st.sampled_from(list(Level)),
    st.sampled_from([None, "focus:sourdough oven", "tag:rye", "tool:oven", "page:Flour"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_no_budget_is_exceeded(bread: VaultFolder, budget: int, level: Level, scope: str | None) -> None:
    found = query(budget_tokens=budget, level=level, scope=scope, include_text=True)
    bound = max(1, min(budget, 25_000))
    assert sum(tokens(hit["text"]) for hit in found["hits"]) == found["total_tokens"] <= bound
    assert len({hit["id"] for hit in found["hits"]}) == len(found["hits"])
    assert not {hit["id"] for hit in found["hits"]} & {one["id"] for one in found["omitted"]}


def test_an_empty_vault_answers_with_nothing(db: None, vault_folder: VaultFolder) -> None:
    nothing = {"hits": [], "total_tokens": 0, "omitted": []}
    assert query() == query(scope="focus:bread") == query(tags=["x"]) == nothing


def test_a_word_of_a_rare_kind_is_found_among_many(bread: VaultFolder) -> None:
    """The words index is asked about the admitted pages alone, or those that many others outrank would be lost."""
    for number in range(600):
        bread.write(f"wiki/concepts/loaf-{number}.md", "sourdough sourdough sourdough")
    scan()
    assert ids(scope="focus:sourdough", kinds=["comparison"]) == ["comparison-yeast-or-starter"]
