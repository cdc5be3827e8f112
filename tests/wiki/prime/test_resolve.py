"""prime_resolve: the context for a brief, what it must hold, and what could not be met."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import VaultFolder
from wiki.prime.asking.resolve import resolve
from wiki.prime.atoms.levels import tokens
from wiki.prime.checking.validate import validate
from wiki.sync import scan

pytestmark = pytest.mark.django_db

BRIEFS = [
    "Write a page on sourdough without baking powder",
    'What is a starter? Say "wild yeast"',
    "Compare yeast or starter with the old oven",
    "flour",
    "面包",
    "something that no page tells of",
    "sourdough " * 10_000,
]


def ids(found: dict[str, Any]) -> list[str]:
    return [hit["id"].removeprefix("@wiki/") for hit in found["hits"]]


def page(title: str, body: str = "Text.", **properties: str) -> str:
    lines = "\n".join(f"{name.replace('_', '-')}: {value}" for name, value in properties.items())
    return f"---\ntitle: {title}\ntype: concept\n{lines}\n---\n{body}\n"


def test_its_fields(bread: VaultFolder) -> None:
    found = resolve(brief=BRIEFS[0])
    assert set(found) == {"intent", "hits", "contract", "total_tokens", "omitted", "conflicts"}
    assert set(found["contract"]) == {"must_include", "must_avoid", "unmet"}
    assert "text" not in found["hits"][0] and "text" in resolve(brief=BRIEFS[0], include_text=True)["hits"][0]


def test_the_contract_is_gathered_from_brief_pages_and_relations(bread: VaultFolder) -> None:
    found = resolve(brief='Write a page on sourdough without baking powder, mention "wild yeast"')
    assert found["contract"] == {
        "must_include": ["wild yeast", "@wiki/entity-flour", "@wiki/concept-starter"],
        "must_avoid": ["@wiki/concept-baking-powder", "bread machine", "@wiki/concept-old-oven"],
        "unmet": [],
    }
    assert ids(found)[:3] == ["entity-flour", "concept-starter", "concept-sourdough"]
    assert not {"concept-baking-powder", "concept-old-oven"} & set(ids(found))
    assert found["hits"][1]["explanation"].startswith("must be included: @wiki/concept-sourdough requires it; score")


def test_a_page_that_is_named_comes_whole_where_it_fits(bread: VaultFolder) -> None:
    for budget, level in ((1_500, "full"), (31, "core")):
        first = resolve(brief="What is a deck oven?", max_tokens=budget)["hits"][0]
        assert (first["id"], first["level"]) == ("@wiki/concept-deck-oven", level)
    first = resolve(brief="What is yeast or starter?", max_tokens=55)["hits"][0]
    assert (first["id"], first["level"]) == ("@wiki/comparison-yeast-or-starter", "summary")


def test_conditions_of_the_domain_hold_when_the_brief_is_so(bread: VaultFolder) -> None:
    wanted = resolve(brief="Write a page about the deck oven", domain="baking")["contract"]["must_include"]
    assert "@wiki/entity-flour" in wanted
    wanted = resolve(brief="What is a deck oven?", domain="baking")["contract"]["must_include"]
    assert "@wiki/entity-flour" not in wanted


def test_the_brief_beats_the_domain_and_the_domain_beats_a_page(bread: VaultFolder) -> None:
    found = resolve(brief="Write a page on sourdough without flour")
    assert "@wiki/entity-flour" in found["contract"]["must_avoid"] and "entity-flour" not in ids(found)
    assert {
        "name": "@wiki/entity-flour",
        "kept": "must_avoid: the brief",
        "dropped": "must_include: @wiki/concept-sourdough",
    } in found["conflicts"]
    bread.write(
        ".synapse/domains/strict.yaml",
        'name: strict\nversion: 1.0.0\ndescription: d\ncontract: {must_avoid: ["Flour"], must_include: ["Old oven"]}\n',
    )
    found = resolve(brief="sourdough", domain="strict")
    assert "@wiki/entity-flour" in found["contract"]["must_avoid"]
    assert "@wiki/concept-old-oven" in found["contract"]["must_include"] and "concept-old-oven" in ids(found)
    assert [row["kept"] for row in found["conflicts"]][:2] == [
        "must_avoid: the domain strict",
        "must_include: the domain strict",
    ]


def test_requirements_are_followed_five_steps(bread: VaultFolder) -> None:
    for number in range(8):
        bread.write(f"wiki/concepts/s{number}.md", page(f"Step {number}", requires=f'"[[Step {number + 1}]]"'))
    scan()
    wanted = resolve(brief="Step 0", max_tokens=5_000)["contract"]["must_include"]
    assert wanted == [f"@wiki/concept-s{number}" for number in range(1, 6)]


def test_a_circle_of_requirements_ends(bread: VaultFolder) -> None:
    bread.write("wiki/concepts/hen.md", page("Hen", requires='"[[Egg]]"'))
    bread.write("wiki/concepts/egg.md", page("Egg", requires='"[[Hen]]"'))
    scan()
    assert set(resolve(brief="Hen")["contract"]["must_include"]) == {"@wiki/concept-egg", "@wiki/concept-hen"}


def test_what_cannot_be_met_is_told_with_its_reason(bread: VaultFolder) -> None:
    found = resolve(brief='Write about sourdough, say "flying saucers"', max_tokens=20)
    reasons = {row["name"]: row["reason"] for row in found["contract"]["unmet"]}
    assert reasons["flying saucers"] == "no page of the ranking says it"
    assert reasons["@wiki/concept-starter"].startswith("needs 30, ")
    found = resolve(brief='Write about sourdough, say "wild yeast"', max_tokens=120)
    assert [row["reason"] for row in found["contract"]["unmet"]][-1].startswith("no page that says it fits into the")


def test_each_demand_keeps_room_for_the_others(bread: VaultFolder) -> None:
    """One page that must be there is not given so much that another can't be."""
    for name in ("One", "Two"):
        bread.write(f"wiki/concepts/{name}.md", page(name, "\n\n".join(f"{name} {n} " + "x " * 80 for n in range(9))))
    bread.write("wiki/concepts/both.md", page("Both", requires='["[[One]]", "[[Two]]"]'))
    scan()
    found = resolve(brief="Both", max_tokens=120)
    assert found["contract"]["unmet"] == [] and {"concept-one", "concept-two"} <= set(ids(found))


@given(st.integers(-1, 3_000), st.sampled_from(BRIEFS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_no_budget_is_exceeded(bread: VaultFolder, budget: int, brief: str) -> None:
    found = resolve(brief=brief, max_tokens=budget, include_text=True)
    assert sum(tokens(hit["text"]) for hit in found["hits"]) == found["total_tokens"] <= max(1, budget)
    avoided = set(found["contract"]["must_avoid"])
    assert not avoided & {hit["id"] for hit in found["hits"]}
    assert not avoided & set(found["contract"]["must_include"])


@pytest.mark.parametrize("brief", BRIEFS)
@pytest.mark.parametrize("budget", [100, 1_500])
def test_the_context_by_itself_is_without_fault(bread: VaultFolder, brief: str, budget: int) -> None:
    found = resolve(brief=brief, max_tokens=budget, include_text=True)
    if not found["hits"] or found["contract"]["unmet"]:
        return
    context = "\n\n".join(hit["text"] for hit in found["hits"])
    verdict = validate(artifact=context, atom_set=[hit["id"] for hit in found["hits"]])
    # A page that the brief names is there even if a newer one replaces it: that is told, and no error.
    named = [one["name"] for one in found["conflicts"] if one["kept"] == "the brief names it"]
    told = [fix for fix in verdict["fixes"] if fix["validator"] != "superseded"]
    assert (verdict["ok"], told) == (True, [])
    assert all(any(name in fix["message"] for name in named) for fix in verdict["fixes"])


def test_it_is_the_same_each_time(bread: VaultFolder) -> None:
    assert resolve(brief=BRIEFS[0]) == resolve(brief=BRIEFS[0])


def test_an_empty_vault(db: None, vault_folder: VaultFolder) -> None:
    found = resolve(brief="What is bread?")
    assert (found["hits"], found["total_tokens"], found["contract"]["must_include"]) == ([], 0, [])


def test_of_a_name_that_is_to_be_avoided_no_namesake_is_handed_out(bread: VaultFolder) -> None:
    for folder in ("concepts", "entities"):
        kind = {"concepts": "concept", "entities": "entity"}[folder]
        bread.write(f"wiki/{folder}/rye.md", f"---\ntitle: Rye\ntype: {kind}\n---\nRye is in this bread.")
    scan()
    both = ["@wiki/concept-rye", "@wiki/entity-rye"]
    found = resolve(brief="What is in this bread?")
    assert set(both) <= {hit["id"] for hit in found["hits"]}
    found = resolve(brief="What is in this bread, without rye?")
    assert found["contract"]["must_avoid"][:2] == both
    assert not set(both) & {hit["id"] for hit in found["hits"]}


def test_a_page_that_the_brief_names_is_handed_out_though_it_is_superseded(bread: VaultFolder) -> None:
    found = resolve(brief="What did the old oven bake?")
    assert found["hits"][0]["id"] == "@wiki/concept-old-oven"
    assert "@wiki/concept-old-oven" not in found["contract"]["must_avoid"]
    assert found["conflicts"] == [
        {
            "name": "@wiki/concept-old-oven",
            "kept": "the brief names it",
            "dropped": f"must_avoid: {why}",
        }
        for why in ("@wiki/concept-deck-oven supersedes it", "it is marked as superseded")
    ]
    unnamed = resolve(brief="Which oven was heated with wood?")
    assert "@wiki/concept-old-oven" in unnamed["contract"]["must_avoid"]
    assert "@wiki/concept-old-oven" not in {hit["id"] for hit in unnamed["hits"]}
    unwanted = resolve(brief="What bakes sourdough, without the old oven?")
    assert "@wiki/concept-old-oven" in unwanted["contract"]["must_avoid"]
