"""P22: a bulk decision touches what the person saw, however the list changes under the form."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from reviews.models import ReviewEvent, ReviewItem
from reviews.services import bulk, close, list_items, reopen, resolve
from tests.promises.engines import ENGINES, place_on, raced
from tests.promises.figures import Measured, figure
from tests.reviews.queue import ALICE, BOB, SWEEP, file_all, finding


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_unseen_is_touched_while_processes_change_the_list(engine: str, measured: Measured) -> None:
    """Five processes send the form, five others file, refresh, decide, close and reopen."""
    with place_on(engine) as environment:
        race = raced(environment, "bulk_while_the_list_changes")["bulk_while_the_list_changes"]
    seen, by_person = set(race["seen"]), race["decided_by_person"]
    assert len(seen) == 40
    assert race["total"] > len(seen) + len(race["unseen"]), "the list did change"
    assert set(by_person) <= seen
    assert sorted(by_person) == sorted(race["updated"]), "what they were told is what was done"
    assert all(race["statuses"][one] != "pending" for one in seen)
    assert Counter(race["exits"]).most_common(1)[0][1] == 1, "no item left the queue twice"
    assert len(by_person) > 10, "some were left for the people"
    unseen = race["total"] - len(seen)
    measured(
        "P22",
        f"{len(seen)} seen, {unseen} others while 5 processes changed the list under 5 that decided: "
        f"{len(by_person)} decided, {len(set(by_person) - seen)} unseen touched",
        on=engine,
    )


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(figure(8, 40)))
@pytest.mark.parametrize("order", ["oldest", "rank"])
def test_nothing_unseen_is_touched_whatever_happened_in_between(vault_folder: Any, order: str, seed: int) -> None:
    chance = random.Random(seed)
    file_all(*(finding(f"t{number}", rank=chance.randrange(5)) for number in range(40)))
    seen = [item["id"] for item in list_items(limit=15, order=order)["result"]]
    everything = [str(pk) for pk in ReviewItem.objects.values_list("pk", flat=True)]
    for _ in range(10):
        what = chance.choice(["file", "refresh", "decide", "close", "reopen"])
        one = ReviewItem.objects.get(pk=chance.choice(everything))
        if what == "file":
            file_all(*(finding(f"new {chance.random()}", rank=9) for _ in range(3)))
        elif what == "refresh":
            file_all(finding(one.target, rank=chance.randrange(9), evidence=[str(chance.random())]))
        elif what == "decide" and one.status == "pending":
            resolve(item_id=one.pk, action=chance.choice(["skip", "mark-resolved"]), author=BOB)
        elif what == "close":
            close(items=[one], note="gone", author=SWEEP)
        elif what == "reopen":
            reopen(item_id=one.pk, author=BOB)
    others = ReviewItem.objects.exclude(pk__in=seen).order_by("pk")
    before = list(others.values())
    decided_before = {str(pk) for pk in ReviewItem.objects.exclude(status="pending").values_list("pk", flat=True)}
    outcome = bulk(ids=seen, action="dismiss", author=ALICE)
    assert list(others.values()) == before
    assert outcome.updated == [one for one in seen if one not in decided_before]
    assert outcome.already == [one for one in seen if one in decided_before]
    touched = ReviewEvent.objects.filter(who=ALICE.name).values_list("item_id", flat=True)
    assert {str(pk) for pk in touched} == set(outcome.updated)
