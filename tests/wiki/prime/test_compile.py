"""prime_compile: both forms of a source, its faults with their lines, and a live page equal to its stored levels."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import VaultFolder
from tests.wiki.prime import bakery
from vault.errors import ErrorCode, SynapseError
from wiki.models import AtomRow, Page
from wiki.prime.atoms.levels import Level
from wiki.prime.atoms.reading import atoms, level_texts, relations
from wiki.prime.checking.brace import read_atom
from wiki.prime.checking.compile import compile_source
from wiki.prime.checking.draft import KINDS
from wiki.sync import scan

pytestmark = pytest.mark.django_db

SLOW_RISE = """\
// what bakers know
rule SlowRise {
  id: "@bake/rule-slow-rise"
  version: "1.2.0"
  description: "Let the dough rise slowly, in the cold"
  tags: [dough, time, patience]
  claim: "Slow is better."
  notes: ["a night", "in the cold"]
  requires: ["@wiki/concept-starter"]
  related: [Flour]
  contract { must-include: ["@wiki/entity-flour"] must-avoid: ["hot water"] }
}
"""
NEW = """\
---
title: Rye bread
type: concept
lang: en
tags: [rye, bread]
sources: [raw/sources/baking.md]
requires: "[[Flour]]"
---
# Rye bread

Rye bread is bread of rye flour, see [[Sourdough]] and [[Nobody]].
"""


def remarks(source: str, **more: Any) -> list[tuple[str, str, int]]:
    found = compile_source(source=source, **more)
    assert found["ok"] is (found["compiled"] is not None)
    assert found["ok"] is not any(one["level"] == "error" for one in found["diagnostics"])
    return [(one["level"], one["layer"], one["source"]["line"]) for one in found["diagnostics"]]


def messages(source: str, **more: Any) -> str:
    return "\n".join(one["message"] for one in compile_source(source=source, **more)["diagnostics"])


@pytest.mark.parametrize("path", list(bakery.PAGES))
def test_a_live_page_compiles_to_its_stored_levels(bread: VaultFolder, path: str) -> None:
    found = compile_source(source=bakery.PAGES[path], deep=True)
    page = Page.objects.live().get(path=path)
    row, atom = AtomRow.objects.get(page=page), atoms().by_pk[page.pk]
    compiled = found["compiled"]
    assert found["ok"] and not [one for one in found["diagnostics"] if one["layer"] == "L3" and one["level"] == "error"]
    for level in Level:
        assert compiled["chunks"][level] == level_texts([page.pk], level)[page.pk]
        assert compiled["atom_yaml"]["tokens"][level] == atom.cost(level)
    assert compiled["atom_yaml"]["id"] == atom.id and compiled["atom_yaml"]["page"] == path
    assert compiled["atom_yaml"]["content_hash"] == f"sha256:{page.content_hash}"
    assert compiled["atom_yaml"]["quality"] == {"overall": atom.quality, "failed": list(atom.failed)}
    assert compiled["atom_yaml"]["description"] == row.description
    told = relations([page.pk]).get(page.pk, [])
    assert [one["type"] for one in compiled["graph_yaml"]["relations"]] == [one.verb for one in told if one.target]


def test_pages_of_every_sort_compile_to_their_stored_levels(db: None, vault_folder: VaultFolder) -> None:
    pages = {
        "notes/plain.md": "no frontmatter at all\n",
        "notes/broken.md": "---\ntitle: [x\n---\ntext\n",
        "notes/empty.md": "",
        "wiki/concepts/漢字.md": "---\ntitle: 漢字\ntype: concept\n---\n漢字は文字です。[[かな]]を見よ。\n",
        "notes/rtl.md": "---\ntitle: שלום\ntags: [א, ب]\n---\nשלום עולם\n\n## פרק\n\nعربي\n",
        "notes/twin.md": "---\ntitle: Plain twin\n---\na",
        "wiki/entities/twin.md": "---\ntitle: Plain twin\n---\nb",
        "notes/crlf.md": "---\r\ntitle: Lines\r\n---\r\nOne\r\n\r\n## Two\r\n\r\nthree\r\n",
        "notes/form.md": "rule Slow {\n id: 3\n}\n",
    }
    for path, text in pages.items():
        vault_folder.write(path, text)
    scan()
    for path, text in pages.items():
        if not text:
            continue
        compiled = compile_source(source=text)["compiled"]
        pk = Page.objects.live().get(path=path).pk
        assert {level: compiled["chunks"][level] for level in Level} == {
            level: level_texts([pk], level)[pk] for level in Level
        }, path
        assert compiled["atom_yaml"]["page"] == path


def test_a_new_page(bread: VaultFolder) -> None:
    found = compile_source(source=NEW)
    assert found["compiled"]["atom_yaml"]["id"] == "@wiki/concept-rye-bread"
    assert found["compiled"]["atom_yaml"]["page"] == "wiki/concepts/rye-bread.md"
    assert found["compiled"]["atom_yaml"]["domain"] == "baking"
    assert found["compiled"]["graph_yaml"] == {
        "atom": "@wiki/concept-rye-bread",
        "relations": [
            {"type": "requires", "target": "@wiki/entity-flour"},
            {"type": "related", "target": "@wiki/concept-sourdough"},
        ],
        "dangling": [{"type": "related", "text": "Nobody"}],
    }
    assert remarks(NEW) == [("warning", "L3", 11)]
    assert list(found["compiled"]["atom_yaml"]) == [
        *("id", "kind", "version", "title", "description", "domain", "tags", "lang", "page", "content_hash", "tokens"),
        *("quality", "relations", "sources", "lifecycle", "created_at", "updated_at"),
    ]


def test_a_compiled_page_written_to_the_vault_has_these_levels(bread: VaultFolder) -> None:
    compiled = compile_source(source=NEW)["compiled"]
    bread.write(compiled["atom_yaml"]["page"], NEW)
    scan()
    assert compile_source(source=NEW)["compiled"]["chunks"] == compiled["chunks"]
    assert atoms().find("Rye bread").id == compiled["atom_yaml"]["id"]


def test_nothing_is_written(bread: VaultFolder) -> None:
    before = (bread.files(), Page.objects.count(), AtomRow.objects.count())
    compile_source(source=NEW, deep=True)
    compile_source(source=SLOW_RISE, deep=True)
    assert (bread.files(), Page.objects.count(), AtomRow.objects.count()) == before


def test_the_brace_form(bread: VaultFolder) -> None:
    found = compile_source(source=SLOW_RISE)["compiled"]
    atom = found["atom_yaml"]
    assert (atom["id"], atom["kind"], atom["prime_kind"]) == ("@bake/rule-slow-rise", "concept", "rule")
    assert (atom["title"], atom["version"], atom["tags"]) == ("Slow Rise", "1.2.0", ["dough", "time", "patience"])
    assert [(one["type"], one["target"]) for one in found["graph_yaml"]["relations"]] == [
        ("requires", "@wiki/concept-starter"),
        ("related", "@wiki/entity-flour"),
    ]
    assert found["chunks"]["core"].endswith("Slow is better.")
    for kept in ("a night", "in the cold", "hot water", "dough, time, patience"):
        assert kept in found["chunks"]["full"]


@pytest.mark.parametrize(
    ("before", "after", "level", "layer", "line", "said"),
    [
        ('  id: "@bake/rule-slow-rise"\n', "", "error", "L1", 2, "The atom has no id."),
        ('"@bake/rule-slow-rise"', '"slow"', "error", "L1", 3, "not of the form @scope/kind-name"),
        ('"@bake/rule-slow-rise"', '"@bake/fact-slow-rise"', "warning", "L1", 3, "does not begin with the atom's kind"),
        ('"1.2.0"', '"new"', "error", "L1", 4, "not of the form 1.0.0"),
        ("  description:", "  descr:", "error", "L1", 2, "The atom has no description."),
        ("rule SlowRise", "ruler SlowRise", "error", "L1", 2, "There is no kind ruler."),
        ('claim: "Slow', 'claim: Slow is, "Slow', "error", "L1", 7, ""),
        ("[Flour]", "[Flower]", "warning", "L3", 10, "related names Flower"),
        ("@wiki/concept-starter", "@wiki/concept-stirrer", "error", "L3", 9, "requires names @wiki/concept-stirrer"),
        ("@wiki/entity-flour", "@wiki/entity-flower", "error", "L3", 11, "must_include names @wiki/entity-flower"),
        ('"hot water"', '"Flour"', "error", "L3", 11, "wants @wiki/entity-flour and forbids it"),
        ("related: [Flour]", "conflicts: [Starter]", "error", "L3", 10, "and conflicts with it"),
        ("SlowRise", "Flour", "error", "L3", 2, "has this title already"),
        ("@bake/rule-slow-rise", "@wiki/entity-flour", "error", "L3", 3, "has this id already"),
    ],
)
def test_each_fault_has_its_line(
    bread: VaultFolder, before: str, after: str, level: str, layer: str, line: int, said: str
) -> None:
    assert before in SLOW_RISE
    clean = messages(SLOW_RISE)
    source = SLOW_RISE.replace(before, after, 1)
    found = [one for one in compile_source(source=source)["diagnostics"] if one["message"] not in clean]
    assert (level, layer, line) in [(one["level"], one["layer"], one["source"]["line"]) for one in found], found
    assert any(said in one["message"] for one in found)
    assert all(one["hint"] for one in found)


def test_a_circle_of_requirements_is_an_error(bread: VaultFolder) -> None:
    bread.write("wiki/concepts/egg.md", "---\ntitle: Egg\ntype: concept\nrequires: '[[Hen]]'\n---\nAn egg.\n")
    hen = "---\ntitle: Hen\ntype: concept\nrequires: '[[Egg]]'\n---\nA hen.\n"
    bread.write("wiki/concepts/hen.md", hen)
    scan()
    changed = hen.replace("A hen", "The hen")
    assert "It requires itself, by way of @wiki/concept-egg." in messages(changed)
    assert compile_source(source=changed)["compiled"] is None
    # What is in the vault is served, whatever is wrong with it.
    assert "It requires itself" in messages(hen) and compile_source(source=hen)["compiled"]


def test_nearly_the_same_page(bread: VaultFolder) -> None:
    tags = "tags: [rye, slow, crust]"
    bread.write(
        "wiki/concepts/a.md", f"---\ntitle: Loaf\ntype: concept\n{tags}\n---\nA dark loaf of rye with a crust.\n"
    )
    scan()
    twin = f"---\ntitle: Dark loaf\ntype: concept\n{tags}\n---\nA dark loaf of rye with much crust.\n"
    assert "@wiki/concept-a is nearly the same." in messages(twin)
    assert "nearly the same" not in messages(twin + "See [[Loaf]].")
    assert "nearly the same" not in messages(twin.replace("slow", "quick"))
    assert "nearly the same" not in messages(twin.replace("A dark loaf of rye with much", "Nothing else but"))


def test_sense_is_looked_at_only_when_asked_for(bread: VaultFolder) -> None:
    thin = "---\ntitle: Crumb\ntype: concept\nlang: en\nsources: [x]\ndescription: Crumb\n---\nTODO [[Flour]]\n"
    assert not [layer for _, layer, _ in remarks(thin) if layer == "L2"]
    assert len([layer for _, layer, _ in remarks(thin, deep=True) if layer == "L2"]) >= 3


@pytest.mark.parametrize("source", ["", " \n\t"])
def test_a_blank_source_is_refused(bread: VaultFolder, source: str) -> None:
    with pytest.raises(SynapseError) as raised:
        compile_source(source=source)
    assert raised.value.code is ErrorCode.INVALID_PARAM_VALUE


def test_a_source_larger_than_a_page_is_refused(bread: VaultFolder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_MAX_PAGE_BYTES = 1_000
    with pytest.raises(SynapseError) as raised:
        compile_source(source="x" * 1_001)
    assert raised.value.code is ErrorCode.PAYLOAD_TOO_LARGE


PIECES = st.sampled_from(
    [
        "---\n",
        "title: A\n",
        "type: concept\n",
        "rule A {",
        "}",
        ' id: "@a/rule-b"',
        "[[Flour]]",
        "[[",
        "# H\n",
        "\0",
        "\ud800",
    ]
)


@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=12).map("".join)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_any_source_is_answered(bread: VaultFolder, source: str) -> None:
    if source.strip():
        remarks(source, deep=True)


PAGE = "---\ntitle: New one\ntype: concept\nlang: en\nsources: [raw/sources/baking.md]\n"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (PAGE + 'requires: "[[Nobody]]"\n---\nText.\n', 6),
        (PAGE + "requires: Nobody\n---\nText.\n", 6),
        (PAGE + "relations:\n  requires: Nobody\n---\nText.\n", 7),
        (PAGE + "---\nText.\n\n- requires:: [[Nobody]]\n", 9),
        (PAGE + "---\nText.\n\nSee [[Starter]]\nand [[Nobody|him]].\n", 10),
    ],
)
def test_a_name_that_leads_nowhere_is_told_with_its_line(bread: VaultFolder, source: str, line: int) -> None:
    told = [one for one in compile_source(source=source)["diagnostics"] if "names Nobody" in one["message"]]
    assert [one["source"]["line"] for one in told] == [line]


def test_a_line_of_the_text_is_no_property(bread: VaultFolder) -> None:
    source = "---\ntitle: New one\ntype: concept\nlang: en\n---\n[[Starter]]\n\nsources: none\n"
    assert remarks(source) == [("warning", "L1", 1)]


def test_what_is_wrong_with_a_pages_form_is_told_with_its_line(bread: VaultFolder) -> None:
    found = compile_source(source='---\ntype: concept\nlang: en\ntitle: "New\n---\n[[Starter]]\n')["diagnostics"]
    errors = [(one["message"], one["source"]["line"]) for one in found if one["level"] == "error"]
    assert errors == [("A quote is opened and not closed.", 5)]


def test_of_many_names_that_lead_nowhere_the_rest_is_counted(bread: VaultFolder) -> None:
    found = compile_source(source=NEW + " ".join(f"[[Nobody {at}]]" for at in range(300)))["diagnostics"]
    assert len(found) == 101 and found[-1]["message"] == "201 more names lead nowhere."


def test_the_hint_of_the_brace_form_names_a_kind() -> None:
    kind = read_atom("{").faults[0].hint.removeprefix("Write: ").split()[0]
    assert kind in KINDS
