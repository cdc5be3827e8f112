"""Domain files: what they say is used, every mistake is named with its place, and none is passed over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

from tests.conftest import VaultFolder
from vault.domain_files import MAX_BYTES, DomainFile
from vault.errors import ErrorCode, SynapseError
from wiki.prime.domains import (
    BUILTIN,
    BUILTIN_VALIDATORS,
    SIGNALS,
    Axis,
    Condition,
    Severity,
    domain_named,
    domains,
    read_domains,
)

WHOLE = """\
name: baking
version: 1.2.0
description: Bread and what it takes
tags: [Rye, Sourdough]
axes:
  - {name: level, description: for whom, matches: [Beginner, Expert], required: true}
contract:
  must-include: ["[[Flour]]"]
  must_avoid: [baking powder]
  conditionally_required: [{when: "task_type: author", include: [Oven]}]
  audience: {type: enum, values: [home, bakery]}
validators:
  - {name: structure, checker: "builtin:structure", severity: error}
  - {name: no-cups, checker: "regex:/\\\\bcups?\\\\b/i", mode: forbid}
  - {name: has-grams, checker: "regex:/\\\\d+ ?g/", severity: error, mode: require}
synonyms: {rye: [Roggen, secale]}
kind_boosts: {concept: 2}
weights: {lexical: 0.5}
intent:
  task_types: [{name: recipe, match: [Bake, recipe for], kinds: [synthesis]}]
  fields: {oven: {values: {deck: [Deck oven], home: [home oven]}, required: true}}
"""
LEAST = "name: {}\nversion: 1.0.0\ndescription: d\n"


@pytest.fixture
def folder(vault_folder: VaultFolder) -> Path:
    found = vault_folder.root / ".synapse" / "domains"
    found.mkdir(parents=True)
    return found


def faults(text: str) -> list[str]:
    return [str(fault) for fault in read_domains([DomainFile("x.yaml", text)])[1]]


def test_a_vault_without_domains_has_the_one_of_wikis(vault_folder: VaultFolder) -> None:
    assert domains() == {"wiki": BUILTIN}
    assert [validator.name for validator in BUILTIN.validators] == list(BUILTIN_VALIDATORS)


def test_what_a_file_says(folder: Path) -> None:
    (folder / "bread.yaml").write_text(WHOLE, encoding="utf-8")
    (folder / "ignored.txt").write_text("name: [", encoding="utf-8")
    assert list(domains()) == ["wiki", "baking"]
    found = domain_named(" Baking ")
    assert found.tags == ("rye", "sourdough")
    assert found.axis("level") == Axis("level", "for whom", ("beginner", "expert"), required=True)
    assert found.contract.must_include == ("[[Flour]]",) and found.contract.must_avoid == ("baking powder",)
    assert found.contract.conditions == (Condition("task_type", "author", ("Oven",)),)
    assert found.contract_fields["audience"].values == ("home", "bakery")
    assert found.synonyms == {"rye": ("roggen", "secale")}
    assert found.kind_boosts == {"concept": 2.0}
    assert found.weights == {**SIGNALS, "lexical": 0.5}
    assert found.task_types[0].match == ("bake", "recipe for")
    assert found.intent_fields["oven"].values["deck"] == ("deck oven",)


def test_built_in_validators_stay_and_a_domain_adds_its_own(folder: Path) -> None:
    (folder / "bread.yaml").write_text(WHOLE, encoding="utf-8")
    found = {validator.name: validator for validator in domain_named("baking").validators}
    assert list(found) == [*BUILTIN_VALIDATORS, "no-cups", "has-grams"]
    assert found["structure"].severity is Severity.ERROR
    assert found["placeholder"].severity is Severity.WARNING
    assert found["no-cups"].pattern.search("Two CUPS") and not found["no-cups"].pattern.search("cupsize")
    assert found["has-grams"].require and found["has-grams"].severity is Severity.ERROR


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "x.yaml, name: This key is missing. Add it."),
        ("name: [", "x.yaml: Line 2: A bracket is opened and not closed, or a value is missing."),
        ("- a", "x.yaml: Line 1: The block is a list, not `key: value` lines."),
        (LEAST.format("My Site"), "x.yaml, name: Write a name in small letters and digits with hyphens between"),
        (LEAST.format("wiki"), "x.yaml, name: wiki is the name of the built-in domain. Take another."),
        (LEAST.format("a") + "colour: red\n", "x.yaml, colour: There is no such key here."),
        (LEAST.format("a") + "tags: rye\n", "x.yaml, tags: "),
        (LEAST.format("a") + f"tags: [{', '.join(f't{at}' for at in range(201))}]\n", "x.yaml, tags: "),
        (LEAST.format("a") + "axes: [{name: level, matches: []}]\n", "x.yaml, axes.0.matches: "),
        (
            LEAST.format("a") + "axes: [{name: b, matches: [c]}, {name: b, matches: [c]}]\n",
            "x.yaml, axes: b is there twice",
        ),
        (LEAST.format("a") + "contract: {must_include: Flour}\n", "x.yaml, contract.must_include: "),
        (
            LEAST.format("a") + "contract: {must_inclued: [Flour]}\n",
            "x.yaml, contract.must_inclued: There is no such key",
        ),
        (
            LEAST.format("a") + "contract: {conditionally_required: [{when: always, include: []}]}\n",
            "Write it as key: value",
        ),
        (LEAST.format("a") + "contract: {audience: {type: enum}}\n", "x.yaml, contract.audience.values: "),
        (LEAST.format("a") + "weights: {luck: 1}\n", "x.yaml, weights.luck: There is no such signal."),
        (LEAST.format("a") + "weights: {lexical: -1}\n", "x.yaml, weights.lexical: "),
        (
            LEAST.format("a") + "validators: [{name: b, checker: 'builtin:sense'}]\n",
            "checker: There is no such validator.",
        ),
        (LEAST.format("a") + "validators: [{name: b, checker: 'builtin:structure'}]\n", "keeps its name, structure"),
        (
            LEAST.format("a") + "validators: [{name: structure, checker: 'regex:/a/'}]\n",
            "structure is a built-in validator",
        ),
        (LEAST.format("a") + "validators: [{name: b, checker: 'python:eval'}]\n", "Write builtin:<name>"),
        (LEAST.format("a") + "validators: [{name: b, checker: 'regex:/(?=a)/'}]\n", "of the kind of RE2"),
        (
            LEAST.format("a") + "validators: [{name: b, checker: 'regex:/a/g'}]\n",
            "The flags of a pattern are i, m and s",
        ),
        (LEAST.format("a") + "intent: {task_types: [{name: b, match: []}]}\n", "x.yaml, intent.task_types.0.match: "),
        (LEAST.format("a") + "axes: [{name: focus, matches: [b]}]\n", "x.yaml, axes.0.name: A scope has another"),
        (
            LEAST.format("a") + "intent: {fields: {pages: {values: {b: [c]}}}}\n",
            "x.yaml, intent.fields.pages: Every intent has pages already.",
        ),
        (LEAST.format("a") + "kind_boosts: {recipe: 2}\n", "x.yaml, kind_boosts: There is no kind recipe."),
        (
            LEAST.format("a") + "intent: {task_types: [{name: b, match: [c], kinds: [recipe]}]}\n",
            "x.yaml, intent.task_types.0.kinds: There is no kind recipe.",
        ),
        (
            LEAST.format("a") + "validators: [{name: structure, checker: 'builtin:structure', mode: require}]\n",
            "x.yaml, validators.0.mode: A built-in validator has no mode.",
        ),
        (
            LEAST.format("a") + "validators: [{name: b, checker: 'regex:/x*/'}]\n",
            "x.yaml, validators.0.checker: The pattern finds even nothing",
        ),
        (
            LEAST.format("a") + "contract: {conditionally_required: [{when: 'mood: good', include: [Flour]}]}\n",
            "x.yaml, contract.conditionally_required.0.when: No intent has mood.",
        ),
        (
            LEAST.format("a")
            + "axes: [{name: level, matches: [Low]}]\n"
            + "contract: {conditionally_required: [{when: 'level: high', include: [Flour]}]}\n",
            "x.yaml, contract.conditionally_required.0.when: level is never high, but: low.",
        ),
        (
            LEAST.format("a") + "contract: {must_include: [Flour], must_avoid: [Flour]}\n",
            "x.yaml, contract: It wants Flour and forbids it.",
        ),
    ],
)
def test_each_mistake_is_named_with_its_place(text: str, said: str) -> None:
    found = faults(text)
    assert any(said in fault for fault in found), found


def test_what_only_looks_like_a_mistake() -> None:
    text = LEAST.format("a") + (
        "axes: [{name: level, matches: [High]}]\n"
        "validators: [{name: b, checker: 'regex:/\\A[^!]*\\z/', mode: require}]\n"
        "contract: {conditionally_required: [{when: 'level: High', include: [b]}, {when: 'tags: rye', include: [c]}]}\n"
    )
    assert faults(text) == []


def test_no_signal_at_all_is_a_mistake() -> None:
    nothing = ", ".join(f"{name}: 0" for name in SIGNALS)
    assert faults(LEAST.format("a") + f"weights: {{{nothing}}}\n") == [
        "x.yaml, weights: At least one signal must weigh more than 0."
    ]


def test_two_files_of_one_name(folder: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (folder / name).write_text(LEAST.format("same"), encoding="utf-8")
    with pytest.raises(SynapseError, match=r"b\.yaml, name: same is the name of another file") as raised:
        domains()
    assert raised.value.code is ErrorCode.DEPENDENCY_MISSING


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"name: \xff", "not UTF-8"), (b"#" * (MAX_BYTES + 1), "larger than 256 KiB"), (None, "can't be read")],
)
def test_a_file_that_cannot_be_read_is_never_passed_over(folder: Path, data: bytes | None, said: str) -> None:
    if data is None:
        (folder / "x.yaml").symlink_to("/etc/hostname")
    else:
        (folder / "x.yaml").write_bytes(data)
    with pytest.raises(SynapseError, match=said):
        domains()


def test_the_check_at_start_names_every_mistake(folder: Path) -> None:
    (folder / "x.yaml").write_text("name: A B\nversion: 1\n", encoding="utf-8")
    found = [message for message in run_checks(tags=["synapse"]) if message.id == "synapse.E050"]
    assert len(found) == 3 and all(
        str(message.msg).startswith("A domain file can't be used. x.yaml") for message in found
    )
    (folder / "x.yaml").write_text(LEAST.format("a"), encoding="utf-8")
    assert [message.id for message in run_checks(tags=["synapse"]) if message.id == "synapse.E050"] == []


def test_an_unknown_domain_is_told_which_there_are(vault_folder: VaultFolder) -> None:
    with pytest.raises(SynapseError) as raised:
        domain_named("cooking")
    assert raised.value.code is ErrorCode.UNKNOWN_DOMAIN and raised.value.repair["domains"] == ["wiki"]


def test_a_changed_file_is_read_again(folder: Path) -> None:
    (folder / "x.yaml").write_text(LEAST.format("a"), encoding="utf-8")
    assert "a" in domains()
    (folder / "x.yaml").write_text(LEAST.format("b"), encoding="utf-8")
    assert list(domains()) == ["wiki", "b"]


def test_the_same_text_gives_an_equal_domain() -> None:
    one: Any = read_domains([DomainFile("x.yaml", WHOLE)])[0]["baking"]
    other: Any = read_domains([DomainFile("y.yaml", WHOLE)])[0]["baking"]
    assert (one.axes, one.contract, one.weights) == (other.axes, other.contract, other.weights)
