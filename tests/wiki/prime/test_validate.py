"""prime_validate: every validator passes on a clean text and fails on its twin with one fault."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import VaultFolder
from vault.errors import ErrorCode, SynapseError
from wiki import deadlines
from wiki.prime.checking.validate import validate
from wiki.prime.checking.validators import CHECKS, Find
from wiki.prime.domains import BUILTIN_VALIDATORS
from wiki.sync import scan

pytestmark = pytest.mark.django_db

SET = ["Sourdough", "Starter", "Flour"]
CLEAN = """\
---
title: Rye at home
type: synthesis
lang: en
sources: [raw/sources/baking.md]
---
# Rye at home

[[Sourdough]] needs a [[Starter]] and [[Flour]]. It takes 24 hours, and rye flour holds 1,150 milligrams of ash.

## Why it rises

It is “raised by a culture of wild yeast and bacteria”, and the “starter”, as bakers call it, doubles in 4 hours.

1. Feed it.
2. Wait.
"""


def fixes(artifact: str, atom_set: list[str] | None = None, **more: Any) -> list[tuple[str, str]]:
    found = validate(artifact=artifact, atom_set=SET if atom_set is None else atom_set, **more)
    assert found["ok"] is not any(fix["severity"] == "error" for fix in found["fixes"])
    assert all(set(fix) <= {"validator", "severity", "message", "suggestion"} for fix in found["fixes"])
    return [(fix["validator"], fix["severity"]) for fix in found["fixes"]]


def test_every_built_in_validator_has_its_check() -> None:
    assert list(CHECKS) == list(BUILTIN_VALIDATORS)


def test_no_further_check_is_begun_once_the_time_is_over(bread: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[str] = []

    def slow(evidence: Any) -> Iterator[Any]:
        began.append("first")
        return iter(())

    def check() -> None:
        if began:
            raise deadlines.timed_out(1)

    monkeypatch.setitem(CHECKS, next(iter(CHECKS)), slow)
    monkeypatch.setattr(deadlines, "check", check)
    with pytest.raises(SynapseError) as raised:
        validate(artifact=CLEAN, atom_set=SET)
    assert raised.value.code is ErrorCode.TOOL_TIMEOUT
    assert began == ["first"]


def test_a_check_that_finds_without_end_is_ended(bread: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []

    def endless(evidence: Any) -> Iterator[Find]:
        for at in range(100_000):
            found.append(at)
            yield Find(0, "x")

    def check() -> None:
        if len(found) > 5_000:
            raise deadlines.timed_out(1)

    monkeypatch.setitem(CHECKS, "structure", endless)
    monkeypatch.setattr(deadlines, "check", check)
    with pytest.raises(SynapseError):
        validate(artifact=CLEAN, atom_set=SET, validators=["structure"])
    assert len(found) < 10_000


def test_a_clean_text(bread: VaultFolder) -> None:
    assert validate(artifact=CLEAN, atom_set=SET) == {"ok": True, "fixes": []}


@pytest.mark.parametrize(
    ("before", "after", "validator", "severity"),
    [
        ("and [[Flour]]", "and water", "contract-must-include", "error"),
        ("Feed it.", "Feed it, or use a bread machine.", "contract-must-avoid", "error"),
        ("Wait.", "Wait for [[Nobody]].", "links-resolve", "error"),
        ("lang: en\n", "", "frontmatter-valid", "error"),
        ("type: synthesis", "type: recipe", "frontmatter-valid", "error"),
        ("title: Rye at home", "title: [Rye", "frontmatter-valid", "error"),
        ("culture of wild yeast and bacteria", "culture of tame yeast and bacteria", "quotes-verbatim", "error"),
        ("24 hours", "25 hours", "numbers-supported", "warning"),
        ("1,150", "1,151", "numbers-supported", "warning"),
        ("a [[Starter]] and", "a culture and", "cites-atom-set", "warning"),
        ("## Why", "#### Why", "structure", "warning"),
        ("## Why", "# Why", "structure", "warning"),
        ("Wait.", "TODO", "placeholder", "warning"),
        ("Wait.", "Wait two cups.", "no-cups", "error"),
    ],
)
def test_its_twin_with_one_fault(bread: VaultFolder, before: str, after: str, validator: str, severity: str) -> None:
    assert before in CLEAN
    text = CLEAN.replace(before, after, 1)
    # What else names the same page must not stand for it.
    if validator == "cites-atom-set":
        text = text.replace("the “starter”", "the “culture”")
    if validator == "contract-must-include":
        text = text.replace("rye flour", "rye")
    found = fixes(text)
    assert (validator, severity) in found, found
    assert {name for name, _ in found} <= {validator, "cites-atom-set"}


def test_atoms_that_there_are_not(bread: VaultFolder) -> None:
    found = validate(artifact=CLEAN, atom_set=[*SET, "Sourdogh"])
    assert found["fixes"] == [
        {
            "validator": "atom-set-known",
            "severity": "error",
            "message": "There is no atom Sourdogh.",
            "suggestion": "Did you mean @wiki/concept-sourdough?",
        }
    ]


def test_an_empty_set_is_an_error(bread: VaultFolder) -> None:
    found = fixes(CLEAN, [])
    assert found == [("atom-set-known", "error")]


def test_a_contradiction_in_the_set(bread: VaultFolder) -> None:
    text = CLEAN.replace("2. Wait.", "2. No [[Baking powder]].")
    assert ("contradiction-in-set", "warning") in fixes(text, [*SET, "Baking powder"])
    assert ("contradiction-in-set", "warning") not in fixes(text)


def test_a_superseded_page_in_the_set(bread: VaultFolder) -> None:
    text = CLEAN.replace("2. Wait.", "2. Heat the [[Old oven]].")
    found = validate(artifact=text, atom_set=[*SET, "Old oven"])["fixes"]
    assert [(fix["validator"], fix["suggestion"]) for fix in found] == [("superseded", "Use @wiki/concept-deck-oven.")]


def test_a_page_that_the_contract_forbids(bread: VaultFolder) -> None:
    bread.write(
        "wiki/concepts/pure.md", "---\ntitle: Pure\ntype: concept\ncontract: {must_avoid: ['[[Old oven]]']}\n---\nx\n"
    )
    scan()
    assert ("contract-must-avoid", "error") in fixes("On [[Pure]] and the [[Old oven]].", ["Pure"])
    assert ("contract-must-avoid", "error") in fixes("On [[Pure]] and the old oven.", ["Pure", "Old oven"])
    assert ("contract-must-avoid", "error") not in fixes("On [[Pure]] alone.", ["Pure"])


def test_a_text_that_is_too_long_for_anybody(bread: VaultFolder) -> None:
    assert ("token-limit", "warning") in fixes(CLEAN + "word " * 25_000)
    assert ("token-limit", "warning") not in fixes(CLEAN + "word " * 15_000)


def test_a_text_that_is_no_page_may_link_what_there_is_not_yet(bread: VaultFolder) -> None:
    assert fixes("[[Flour]], [[Starter]], [[Sourdough]] and [[Nobody]].") == [("links-resolve", "warning")]


@pytest.mark.parametrize(
    "line",
    [
        "“Sourdough is bread that is raised by a culture of **wild yeast** and bacteria.”",
        '"sourdough is bread … wild yeast and bacteria"',
        "„The starter is fed with flour and water every 12 hours“",
        "«A starter is a culture [of] yeast»",
        'He said “no”, and `print("one two three four")`.',
        "In [[Flour|1,234 pounds]] and at https://example.org/77/88?x=99",
        "1150 milligrams; 1 150; 1.150 mg",
        '```\nx = 4711\n"five words that nobody said"\n# TODO\n```',
        "He wrote `TODO` on it.",
        'Boards of 4" and 12", as bakers say, and no "starter".',
        "»Starter« und, wie man hier oft sagt, »Mehl«",
        "»A starter is a culture of yeast and bacteria«",
        '"Sourdough is bread that is raised\nby a culture of wild yeast and bacteria."',
    ],
)
def test_what_is_no_fault(bread: VaultFolder, line: str) -> None:
    assert fixes(CLEAN + "\n" + line + "\n") == []


@pytest.mark.parametrize(
    "line", ["It holds 1,150.5 mg.", "It holds 11,50 mg.", "It takes 2 4 hours and 5.", "In 1999.", "40 % of it"]
)
def test_numbers_that_nobody_gave(bread: VaultFolder, line: str) -> None:
    assert ("numbers-supported", "warning") in fixes(CLEAN + "\n" + line + "\n")


@pytest.mark.parametrize(
    "line",
    [
        "»Sourdough is baked on the moon by cats«",
        "『酵母は月で育つ』",
        '"Sourdough is bread that is raised\nby a committee of wild cats."',
        '> "Sourdough is bread that is raised\n> by a committee of wild cats."',
    ],
)
def test_quotations_that_nobody_said(bread: VaultFolder, line: str) -> None:
    assert ("quotes-verbatim", "error") in fixes(CLEAN + "\n" + line + "\n")


def test_links_of_a_page_lead_on_from_where_it_will_lie(bread: VaultFolder) -> None:
    page = "---\ntitle: New\ntype: concept\nlang: en\nsources: [raw/sources/baking.md]\n---\n"
    assert fixes(page + "[Flour](../entities/flour.md), [[Sourdough]], [[Starter]].") == []
    assert ("links-resolve", "error") in fixes(page + "[Flour](../entities/flower.md), [[Sourdough]], [[Starter]].")


def test_errors_first_then_by_validator_and_place(bread: VaultFolder) -> None:
    found = fixes("TODO 99 [[Nobody]] “one two three four five” bread machine", ["Sourdough"])
    assert [severity for _, severity in found] == sorted(severity for _, severity in found)
    names = [*BUILTIN_VALIDATORS, "no-cups"]
    for wanted in ("error", "warning"):
        order = [names.index(name) for name, severity in found if severity == wanted]
        assert order == sorted(order)


def test_many_of_a_kind_are_counted(bread: VaultFolder) -> None:
    found = validate(artifact=CLEAN + "\nTODO" * 50, atom_set=SET)["fixes"]
    assert len(found) == 21 and found[-1]["message"] == "30 more of the same kind."


def test_only_those_asked_for_run(bread: VaultFolder) -> None:
    assert fixes("TODO [[Nobody]]", validators=["placeholder"]) == [("placeholder", "warning")]
    assert fixes("TODO [[Nobody]]", validators=[]) == []


def test_an_unknown_validator_is_refused(bread: VaultFolder) -> None:
    with pytest.raises(SynapseError) as raised:
        validate(artifact="x", atom_set=SET, validators=["sense"])
    assert raised.value.code is ErrorCode.UNKNOWN_VALIDATOR
    assert raised.value.repair["validators"] == [*BUILTIN_VALIDATORS, "no-cups"]


def test_required_patterns_and_severities_of_a_domain(bread: VaultFolder) -> None:
    bread.write(
        ".synapse/domains/baking.yaml",
        "name: baking\nversion: 1.0.0\ndescription: d\ntags: [rye]\nvalidators:\n"
        '  - {name: has-grams, checker: "regex:/\\\\d+ g/", mode: require, severity: error, description: a weight}\n'
        '  - {name: placeholder, checker: "builtin:placeholder", severity: error}\n',
    )
    assert fixes(CLEAN) == [("has-grams", "error")]
    assert fixes(CLEAN + "\n24 g TODO") == [("placeholder", "error")]


def test_a_text_larger_than_a_page_is_refused(bread: VaultFolder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_MAX_PAGE_BYTES = 1_000
    with pytest.raises(SynapseError) as raised:
        validate(artifact="x" * 1_001, atom_set=SET)
    assert raised.value.code is ErrorCode.PAYLOAD_TOO_LARGE


@pytest.mark.parametrize(
    "unit", ['"a b c d e" ', "[[x]] ", "1 ", "# h\n", "TODO ", "“", "1,1", "[...] ", "cup ", "> q\n", "((", "\0\ud800"]
)
def test_long_and_strange_texts_are_judged(bread: VaultFolder, unit: str) -> None:
    assert validate(artifact=unit * 20_000, atom_set=SET)["fixes"]
