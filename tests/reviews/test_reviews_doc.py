"""docs/reviews.md says what the code does: statuses, actions, rules and commands are compared with it."""

from __future__ import annotations

import re
from pathlib import Path

from django.core.management.base import CommandParser

from reviews.actions import ACTIONS
from reviews.management.commands.reviews import Command
from reviews.models import ItemType, ReviewItem, Status
from reviews.producers import PRODUCERS

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "reviews.md").read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """The rows of the first table under a heading, without its head."""
    part = DOCUMENT.split(f"## {heading}\n", 1)[1]
    found = re.search(r"^\|.*\n\|[-|]+\n((?:\|.*\n)+)", part, re.M)
    assert found
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_status_is_described() -> None:
    assert [names(row[0])[0] for row in table("Where an item stands")] == Status.values


def test_every_action_is_described_with_its_aliases_and_the_items_it_fits() -> None:
    rows = table("What can be decided")
    assert [names(row[0]) for row in rows] == [[action.name, *action.aliases] for action in ACTIONS]
    for row, action in zip(rows, ACTIONS, strict=True):
        fitting = {
            kind for kind in ItemType.values if action.fits(ReviewItem(item_type=kind, proposed_title="t", target="t"))
        }
        excluded = set(re.findall(r"all but ([\w-]+)", row[1]))
        named = {kind for kind in ItemType.values if kind in row[1]}
        said = set(ItemType.values) - excluded if row[1].startswith("all") else named
        assert said == fitting, action.name


def test_every_rule_is_described_with_its_type() -> None:
    said = {rule: row[1] for row in table("How items come") for rule in names(row[0])}
    assert said == {producer.rule: producer.item_type for producer in PRODUCERS}


def test_every_command_is_shown() -> None:
    parser = CommandParser()
    Command().add_arguments(parser)
    (choices,) = [action.choices for action in parser._actions if action.dest == "command"]
    shown = re.findall(r"^manage\.py reviews (\w+)", DOCUMENT, re.M)
    assert shown == list(choices or ())


def test_every_key_is_described_as_the_admin_describes_it() -> None:
    root = Path(__file__).resolve().parents[2]
    keys = (root / "reviews" / "templates" / "reviews" / "admin" / "keys.html").read_text(encoding="utf-8")
    shown = {key for line in re.findall(r"<dt>(.*?)</dt>", keys) for key in re.findall(r"<kbd>(.)</kbd>", line)}
    described = {
        key for row in re.findall(r"^\| (`.`(?: `.`)*) \|", DOCUMENT, re.M) for key in re.findall("`(.)`", row)
    }
    assert described == shown != set()
