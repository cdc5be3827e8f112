"""When the skill starts: the labelled prompts, by the rule that a reader of the description would apply."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skill.evals import rule, run

EVALS = Path(__file__).resolve().parents[2] / "skill" / "evals"
PROMPTS: list[dict[str, Any]] = json.loads((EVALS / "prompts.json").read_text(encoding="utf-8"))
UNSURE: list[dict[str, Any]] = json.loads((EVALS / "unsure.json").read_text(encoding="utf-8"))
STARTING, NOT_STARTING = rule.phrases(rule.description())


def test_there_are_twenty_of_each_in_four_languages() -> None:
    assert Counter((row["lang"], row["expect"]) for row in PROMPTS) == {
        (lang, expect): 5 for lang in ("en", "it", "de", "fr") for expect in ("yes", "no")
    }
    assert len({row["prompt"] for row in PROMPTS + UNSURE}) == len(PROMPTS + UNSURE)
    assert len({row["id"] for row in PROMPTS + UNSURE}) == len(PROMPTS + UNSURE)
    assert {row["expect"] for row in UNSURE} == {"ask"}


@pytest.mark.parametrize("row", PROMPTS + UNSURE, ids=lambda row: row["id"])
def test_a_prompt_starts_the_skill_or_does_not(row: dict[str, Any]) -> None:
    assert rule.decide(row["prompt"]) == row["expect"]


def test_the_near_misses_are_near() -> None:
    """Rules that look at single words get many of them wrong."""

    def looks_at(words: str) -> int:
        missed = [
            row for row in PROMPTS if bool(re.search(words, row["prompt"], re.IGNORECASE)) != (row["expect"] == "yes")
        ]
        return len(missed)

    assert looks_at("synapse") >= 10
    assert looks_at("wiki") >= 10
    assert looks_at("synapse|wiki") >= 10
    assert looks_at("my|mi[oa]|mein|mon") >= 10


@pytest.mark.parametrize("phrase", STARTING)
def test_each_phrase_that_starts_it_does_and_only_while_the_description_has_it(phrase: str) -> None:
    prompt = f"{phrase}: page 1"
    assert rule.decide(prompt) == "yes"
    assert rule.decide(prompt, rule.description().replace(f'"{phrase}"', '"nothing"')) != "yes"


@pytest.mark.parametrize("phrase", NOT_STARTING)
def test_no_phrase_that_must_not_start_it_does(phrase: str) -> None:
    assert rule.decide(f"Please {phrase}.") == "no"


@pytest.mark.parametrize(
    "word",
    [
        "search my notes",
        "find a file",
        "Wikipedia",
        "company",
        "Confluence, Notion",
        "Azure Synapse",
        "Matrix Synapse",
        "neuroscience",
        "If unsure",
    ],
)
def test_the_description_names_what_it_is_not_for(word: str) -> None:
    assert word in rule.description().partition("Do NOT use for")[2]


@pytest.mark.parametrize(
    ("prompt", "decided"),
    [
        ("¿Qué dice mi wiki sobre Turing?", "yes"),
        ("Nel mio wiki personale, che pagine ho?", "yes"),
        ("Look into my own wiki", "yes"),
        ("Wikis are great, my mother says", "no"),
        ("Il mio wiki aziendale non si apre", "no"),
        ("My wiki at work is slow", "no"),
        ("Install the driver of Razer Synapse", "no"),
        ("SYNAPSES", "no"),
        ("How does a synapse release glutamate?", "no"),
        ("Add a page to my wiki on Confluence", "no"),
        ("Füge das meinem Wiki bei Notion hinzu", "no"),
        ("What does my wiki on bees say?", "yes"),
        ("", "no"),
    ],
)
def test_other_wordings(prompt: str, decided: str) -> None:
    assert rule.decide(prompt) == decided


def test_a_model_is_asked_with_the_description_and_its_last_word_counts() -> None:
    asked = run.question("Hello?", rule.SKILL.read_text(encoding="utf-8"))
    assert rule.description() in asked
    assert "<prompt>\nHello?\n</prompt>" in asked
    assert run.decision_in("Not yes. I would ask.\nNO") == "no"
    assert run.decision_in("perhaps") == ""
    assert not run.wrong({"expect": "no"}, "ask")
    assert run.wrong({"expect": "yes"}, "ask")


def test_a_command_is_asked_about_each_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [PROMPTS[0], UNSURE[0], next(row for row in PROMPTS if row["expect"] == "no")]
    counts = run.run(
        [sys.executable, "-c", "import sys; print('no' if 'dentist' in sys.stdin.read() else 'ask')"], rows, 30
    )
    assert counts == {"yes: wrong": 1, "ask: right": 1, "no: right": 1}
    assert PROMPTS[0]["id"] in capsys.readouterr().out
