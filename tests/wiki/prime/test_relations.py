"""What a page writes of others with a verb, and how it is kept."""

from __future__ import annotations

import pytest

from vault.pages import parse_page
from wiki.prime.atoms.facts import contract_of, facts_of
from wiki.prime.atoms.levels import PageText
from wiki.prime.atoms.quality import CHECKS, failed_checks, quality_of
from wiki.prime.atoms.relations import VERBS, relations_of, verb_of


def page(text: str) -> PageText:
    return PageText.of_page(parse_page("wiki/a.md", text.encode()))


def written(text: str) -> list[tuple[str, str, int | None]]:
    return [(one.verb, one.text, one.link_order) for one in relations_of(page(text))]


# --- relations ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "verb"),
    [
        ("requires", "requires"),
        ("Validates With", "validates-with"),
        ("see_also", "see-also"),
        ("depends-on", "requires"),
        ("author", None),
        ("x" * 100_000, None),
        ("", None),
    ],
)
def test_a_verb_has_several_spellings(key: str, verb: str | None) -> None:
    assert verb_of(key) == verb


def test_properties_are_numbered_after_the_links_of_the_body() -> None:
    text = '---\nconflicts: "[[C]]"\nrequires: ["[[A]]", B]\nauthor: "[[N]]"\n---\n[[One]] [two](two.md)'
    assert written(text) == [("requires", "A", 3), ("requires", "B", None), ("conflicts", "C", 2)]


def test_a_mapping_of_relations_and_a_verb_that_is_not_known() -> None:
    text = '---\nrelations:\n  supersedes: "[[A]]"\n  admires: ["[[B]]", C]\n---\n'
    found = relations_of(page(text))
    assert [one[:3] for one in found] == [("supersedes", "A", 0), ("related", "B", 1), ("related", "C", None)]
    assert [one.as_written for one in found] == ["", "admires", "admires"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("requires:: [[A]]", ["requires A"]),
        ("Requires:: [[A]], [[B|b]] and more", ["requires A", "requires B"]),
        ("- **part of**:: [[A]]", ["part-of A"]),
        ("> see-also:: [x](A.md)", ["see-also A.md"]),
        ("Text [requires:: [[A]]] and [[B]] (conflicts:: [[C]]).", ["requires A", "conflicts C"]),
        ("requires:: [[A]] conflicts:: [[B]]", ["requires A", "requires B"]),
        ("requires::\n[[A]]", []),
        ("requires: [[A]]", []),
        ("prerequires:: [[A]]", []),
        ("it requires:: [[A]]", []),
        ("`requires:: [[A]]`", []),
        ("```\nrequires:: [[A]]\n```\n[[B]]", []),
        ("author:: [[A]]", []),
    ],
)
def test_lines_of_the_body_that_begin_with_a_verb(body: str, found: list[str]) -> None:
    assert [f"{one.verb} {one.text}" for one in relations_of(page(body))] == found
    for one in relations_of(page(body)):
        assert page(body).read.links[one.link_order or 0].target == one.text


def test_plain_links_are_not_told_again() -> None:
    assert written("[[A]] ![[B]] [c](c.md)") == []
    assert set(VERBS) >= {"requires", "conflicts", "supersedes", "see-also", "validates-with", "derived-from"}


# --- facts --------------------------------------------------------------------------------------


def test_a_contract_is_read_whatever_its_keys_are_like() -> None:
    text = (
        "---\nlifecycle: Superseded\nversion: 1.2.0\ncreated: 2024-01-02\ncontract:\n"
        "  must-include: [\"[[A|a]]\", '@w/b']\n"
        "  must_avoid: C\n  conditionally-required:\n    - when: task_type:author\n      include: [D]\n"
        "    - when: {lang: de}\n      include: E\n    - when: nothing\n      include: F\n    - text\n---\n"
    )
    facts = facts_of(page(text))
    assert facts.contract == {
        "must_include": ["A", "@w/b"],
        "must_avoid": ["C"],
        "conditionals": [{"when": "task_type:author", "include": ["D"]}, {"when": "lang:de", "include": ["E"]}],
    }
    assert facts[1:] == ("superseded", "1.2.0", "2024-01-02", "")


@pytest.mark.parametrize("value", [None, "text", [], {}, {"must_include": []}, {"other": ["A"]}])
def test_no_contract_is_an_empty_one(value: object) -> None:
    assert contract_of(value) == {}


# --- quality ------------------------------------------------------------------------------------

GOOD = (
    "---\ntype: concept\ntitle: Heat\nlang: en\nsources: [raw/sources/a.pdf]\ntags: [physics, energy]\n---\n"
    "Heat is energy that moves by itself. It goes from warm to cold.\n"
)


def test_a_page_that_is_kept_well_fails_nothing() -> None:
    assert failed_checks(page(GOOD)) == []
    assert quality_of([]) == 1.0


@pytest.mark.parametrize(
    ("old", "new", "failed"),
    [
        ("lang: en", "lang: [", ["frontmatter", "title", "type", "sources", "lang", "tags"]),
        ("title: Heat", "subtitle: Heat", ["title"]),
        ("type: concept", "type: idea", ["type"]),
        ("sources: [raw/sources/a.pdf]", "sources: []", ["sources"]),
        ("lang: en", "lang: ''", ["lang"]),
        ("[physics, energy]", "[physics]", ["tags"]),
        ("It goes from", "TODO: it goes from", ["placeholder"]),
        (" It goes from warm to cold.", "", ["body-repeats-description"]),
        ("lang: en", "lang: en\ndescription: heat", ["description-repeats-title", "description-short"]),
        ("lang: en", "lang: en\ndescription: Warmth that moves", ["description-short"]),
    ],
)
def test_each_check_can_fail(old: str, new: str, failed: list[str]) -> None:
    found = failed_checks(page(GOOD.replace(old, new)))
    assert found == failed
    assert quality_of(found) == pytest.approx(1 - len(failed) / len(CHECKS), abs=0.001)


def test_a_page_without_text_fails_what_is_told_of_text() -> None:
    found = failed_checks(page(GOOD.partition("Heat is")[0]))
    assert found == ["body", "description", "description-short", "body-repeats-description"]
    covered = {"frontmatter", "title", "type", "sources", "lang", "tags", "placeholder", "description-repeats-title"}
    assert covered | set(found) == {check.name for check in CHECKS}


def test_a_short_description_in_chinese_says_enough() -> None:
    assert "description-short" not in failed_checks(page(GOOD.replace("Heat is energy", "热是能量的传递。 Heat")))
