"""``manage.py prime``: what a person reads, what a program reads, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.conftest import VaultFolder
from tests.wiki.prime import bakery
from wiki.prime.asking.query import query
from wiki.prime.asking.resolve import resolve
from wiki.sync import scan

pytestmark = pytest.mark.django_db


@pytest.fixture
def bread(vault_folder: VaultFolder) -> VaultFolder:
    bakery.fill(vault_folder, domain=True)
    scan()
    return vault_folder


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    call_command("prime", *words)
    return capsys.readouterr().out


def read(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(said(capsys, *words, "--json"))


def test_query(bread: VaultFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert read(capsys, "query", "sourdough", "oven", "--budget", "60") == query(
        scope="focus:sourdough oven", budget_tokens=60
    )
    shown = said(capsys, "query", "--tag", "oven", "--budget", "40", "--text")
    assert "@wiki/concept-deck-oven  (core)" in shown and "| # Deck oven [concept]" in shown
    assert "left out: @wiki/concept-old-oven, needs 27, 17 of 40 remain" in shown
    assert said(capsys, "query", "--tag", "nothing").startswith("No page fits.")


def test_resolve_and_intent(bread: VaultFolder, capsys: pytest.CaptureFixture[str]) -> None:
    brief = "Write a page on sourdough without baking powder"
    assert read(capsys, "resolve", brief, "--max-tokens", "200") == resolve(brief=brief, max_tokens=200)
    shown = said(capsys, "resolve", brief)
    assert "task_type: author" in shown and "must avoid: @wiki/concept-baking-powder" in shown
    assert "avoid: baking powder" in said(capsys, "intent", brief, "--domain", "baking")


def test_validate_ends_with_1_where_the_text_has_errors(
    bread: VaultFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "draft.md"
    file.write_text("[[Deck oven]] bakes at 250 degrees.", encoding="utf-8")
    assert said(capsys, "validate", str(file), "--atom", "Deck oven").strip() == "The text is fine."
    with pytest.raises(SystemExit) as ended:
        said(capsys, "validate", str(file), "--atom", "Deck ofen")
    assert ended.value.code == 1
    shown = capsys.readouterr().out
    assert "error  atom-set-known: There is no atom Deck ofen." in shown and "Did you mean" in shown


def test_compile(bread: VaultFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "slow.prime"
    file.write_text('rule Slow { id: "@a/rule-slow" description: "Slow dough" }', encoding="utf-8")
    assert "@a/rule-slow: summary" in said(capsys, "compile", str(file))
    file.write_text("rule Slow {\n id: 3 }", encoding="utf-8")
    with pytest.raises(SystemExit):
        said(capsys, "compile", str(file), "--deep")
    assert "source:2: error (L1)" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ("query", "bread", "--scope", "type:concept"),
        ("query", "--scope", "colour:red"),
        ("intent", " "),
        ("resolve", "bread", "--domain", "cheese"),
        ("compile", "/no/such/file"),
    ],
)
def test_what_is_refused_is_one_sentence(bread: VaultFolder, words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match=r"^[^\n]+$"):
        call_command("prime", *words)


def test_a_broken_domain_file_is_told(bread: VaultFolder, capsys: pytest.CaptureFixture[str]) -> None:
    bread.write(".synapse/domains/bad.yaml", "name: Bad One\n")
    with pytest.raises(CommandError, match=r"bad\.yaml, name"):
        call_command("prime", "query")
