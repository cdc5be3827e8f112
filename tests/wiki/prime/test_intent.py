"""What a brief is understood to ask for, in several languages, and how honest it is about what it does not know."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import VaultFolder
from vault.errors import ErrorCode, SynapseError
from wiki.prime.asking.intent import MAX_BRIEF, intent
from wiki.sync import scan

pytestmark = pytest.mark.django_db

KEYS = {
    *("domain", "task_type", "terms", "tags", "pages", "kinds", "axes", "must", "avoid", "lang"),
    *("required_axes", "ambiguity_flags", "confidence"),
}


def read(brief: str, **more: Any) -> dict[str, Any]:
    return intent(brief=brief, **more)


def test_its_fields_and_the_domains_own(bread: VaultFolder) -> None:
    assert set(read("a loaf", domain="wiki")) == KEYS
    assert set(read("a loaf", domain="baking")) == {*KEYS, "skill"}
    assert read("for a beginner", domain="baking")["skill"] == "beginner"
    assert read("for a loaf", domain="baking")["skill"] is None


@pytest.mark.parametrize(
    ("brief", "task", "lang"),
    [
        ("Compare sourdough with the baking powder", "compare", "en"),
        ("What is the difference between a starter and yeast?", "compare", "en"),
        ("Give me an overview of the ovens", "synthesize", "en"),
        ("Which sources say that rye is heavy?", "trace", "en"),
        ("Write a page about the deck oven", "author", "en"),
        ("Check this draft on the flour", "validate", "en"),
        ("Draft a page on the flour", "author", "en"),
        ("Create a page about the rye", "author", "en"),
        ("Crea una pagina sulla farina di segale", "author", "it"),
        ("Crée une page sur le four de la maison", "author", "fr"),
        ("Erstelle eine Seite über das Mehl", "author", "de"),
        ("Crea una página sobre el pan de los abuelos", "author", "es"),
        ("Write a page about open source ovens", "author", "en"),
        ("What is the source code of an oven?", "lookup", "en"),
        ("Écris une page sur le pain sans citer la maison", "author", "fr"),
        ('Write about "a comparison of the ovens"', "author", "en"),
        ("What do the baking notes say? Compare them", "compare", "en"),
        ("Controlla la bozza sulla farina", "validate", "it"),
        ("What is sourdough?", "lookup", "en"),
        ("sourdough and its friends", "explore", "en"),
        ("Confronta il lievito con la pasta madre", "compare", "it"),
        ("Che cos'è la farina di segale?", "lookup", "it"),
        ("Scrivi una pagina sul forno della nonna", "author", "it"),
        ("Vergleiche den Sauerteig mit der Hefe", "compare", "de"),
        ("Was ist das für ein Ofen?", "lookup", "de"),
        ("Schreibe eine Seite über das Mehl", "author", "de"),
        ("Qu'est-ce que le levain et à quoi il sert ?", "lookup", "fr"),
        ("Écris une page sur le four de la maison", "author", "fr"),
        ("Escribe una página sobre el pan de los abuelos", "author", "es"),
        ("サワードウとは何か", "explore", "ja"),
        ("酵母是什么", "explore", "zh"),
        ("Что такое закваска", "explore", "ru"),
    ],
)
def test_task_and_language(bread: VaultFolder, brief: str, task: str, lang: str) -> None:
    found = read(brief)
    assert (found["task_type"], found["lang"]) == (task, lang)


def test_pages_are_named_by_title_and_alias_the_longest_first(bread: VaultFolder) -> None:
    found = read("yeast or starter, the levain, and a DECK OVEN")
    assert found["pages"] == ["@wiki/comparison-yeast-or-starter", "@wiki/concept-sourdough", "@wiki/concept-deck-oven"]
    assert "no_known_page" not in found["ambiguity_flags"]


def test_a_name_of_several_pages_is_told(bread: VaultFolder) -> None:
    bread.write("wiki/entities/rye-starter.md", "---\ntitle: Starter\ntype: entity\n---\nAnother one.")
    scan()
    found = read("What is a starter?")
    assert found["pages"] == ["@wiki/concept-starter", "@wiki/entity-rye-starter"]
    assert "title_ambiguous:Starter" in found["ambiguity_flags"]


@pytest.mark.parametrize(
    ("brief", "avoid"),
    [
        ("sourdough without baking powder", ["baking powder"]),
        ("sourdough without the baking powder and with rye", ["baking powder"]),
        ('sourdough, avoid "bread machine", please', ["bread machine"]),
        ("bread except white toast, and rye", ["white toast"]),
        ("Pane senza il lievito chimico ma con farina", ["lievito chimico"]),
        ("Brot ohne Hefe", ["hefe"]),
        ("Pain sans levure, bien cuit", ["levure"]),
        ("bread without", []),
        ("without sourdough. Tell of rye", ["sourdough"]),
        ("bread without mentioning the Baking powder", ["baking powder"]),
        ("bread without talking about the Baking powder, and rye", ["baking powder"]),
        ("Pane senza parlare di Baking powder", ["baking powder"]),
        ("bread without sugar or the butter", ["sugar", "butter"]),
        ("bread without Sourdough or Starter", ["sourdough", "starter"]),
        ("bread without Sourdough, Starter and Baking powder", ["sourdough", "starter", "baking powder"]),
        ("bread without Sourdough and Starter in the oven", ["sourdough"]),
        ("the sin of pride in the bread", []),
        ("choose a sans serif font for the bread", []),
        ("pan sin azúcar", ["azúcar"]),
        ("escribe al menos tres párrafos sobre el pan", []),
    ],
)
def test_what_is_to_be_avoided(bread: VaultFolder, brief: str, avoid: list[str]) -> None:
    found = read(brief)
    assert found["avoid"] == avoid
    assert not {"baking", "powder", "machine", "toast", "hefe", "levure"} & set(found["terms"])
    assert "@wiki/concept-baking-powder" not in found["pages"]


def test_a_title_with_the_word_of_a_task_names_no_task(bread: VaultFolder) -> None:
    bread.write("wiki/concepts/bakery-review.md", "---\ntitle: Bakery review\ntype: concept\n---\nIt is yearly.")
    scan()
    found = read("What is the bakery review?")
    assert (found["task_type"], found["pages"]) == ("lookup", ["@wiki/concept-bakery-review"])
    assert read("the bakery review")["task_type"] == "validate", "nothing else tells of a task"


def test_quotations_must_be_there_unless_they_are_avoided(bread: VaultFolder) -> None:
    assert read('say "wild yeast" and “26 degrees”, avoid "dry yeast"')["must"] == ["wild yeast", "26 degrees"]


def test_tags_come_with_their_synonyms_and_choose_the_domain(bread: VaultFolder) -> None:
    found = read("my levain culture in the oven")
    assert (found["domain"], found["tags"]) == ("baking", ["starter", "oven"])
    assert found["axes"] == {"tool": "oven"} and found["required_axes"] == []
    assert read("a poem")["domain"] == "wiki"
    assert read("oven and mixer", domain="baking")["ambiguity_flags"][-1] == "axis_ambiguous:tool"
    assert read("dough", domain="baking")["required_axes"] == ["tool"]


def test_a_field_that_the_domain_requires_is_asked_for(bread: VaultFolder) -> None:
    bread.write(
        ".synapse/domains/c.yaml",
        "name: cakes\nversion: 1.0.0\ndescription: d\n"
        "intent: {fields: {size: {values: {small: [tiny]}, required: true}}}\n",
    )
    assert read("a tiny loaf", domain="cakes")["required_axes"] == []
    assert read("a loaf", domain="cakes")["required_axes"] == ["size"]


def test_two_domains_with_as_many_tags(bread: VaultFolder) -> None:
    bread.write(".synapse/domains/a.yaml", "name: acorns\nversion: 1.0.0\ndescription: d\ntags: [rye]\n")
    found = read("rye")
    assert found["domain"] == "acorns" and "multiple_domains" in found["ambiguity_flags"]


def test_it_says_how_sure_it_is(bread: VaultFolder) -> None:
    sure, unsure = read("Compare sourdough with yeast or starter in the oven"), read("hm")
    assert sure["confidence"] > 0.8 and unsure["confidence"] < 0.3
    assert unsure["ambiguity_flags"] == ["short_brief", "no_task_verb", "no_known_page"]


def test_a_brief_that_is_no_brief_any_more_is_refused(bread: VaultFolder) -> None:
    assert read("bread " * (MAX_BRIEF // 6))["terms"] == ["bread"]
    with pytest.raises(SynapseError) as caught:
        read("x" * (MAX_BRIEF + 1))
    assert (caught.value.code, caught.value.repair) == (
        ErrorCode.PAYLOAD_TOO_LARGE,
        {"limit_characters": MAX_BRIEF},
    )


@pytest.mark.parametrize("brief", ["", "  \n", "\u3000"])
def test_a_blank_brief_is_refused(bread: VaultFolder, brief: str) -> None:
    with pytest.raises(SynapseError) as raised:
        read(brief)
    assert raised.value.code is ErrorCode.INVALID_PARAM_VALUE


def test_an_unknown_domain_is_refused(bread: VaultFolder) -> None:
    with pytest.raises(SynapseError) as raised:
        read("bread", domain="cheese")
    assert raised.value.code is ErrorCode.UNKNOWN_DOMAIN and raised.value.repair["domains"] == ["wiki", "baking"]


@pytest.mark.parametrize(
    "brief",
    [
        "sourdough " * 10_000,
        'without "' * 5_000,
        '"a" ' * 10_000,
        "avoid rye, " * 5_000,
        "面包" * 10_000,
        "“" * 20_000,
        "." * 50_000,
    ],
)
def test_long_and_strange_briefs_are_answered(bread: VaultFolder, brief: str) -> None:
    found = read(brief)
    assert 0 <= found["confidence"] <= 1 and len(found["terms"]) <= 64


def test_an_empty_vault(db: None, vault_folder: VaultFolder) -> None:
    assert read("What is bread?")["pages"] == []
