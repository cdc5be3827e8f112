"""Floods are told to wait, each caller by itself: so many requests, changes and decisions in any minute."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from rest_framework.request import Request

from tests.wiki.api.conftest import Rest, frontmatter, refused
from vault.errors import SynapseError
from wiki import throttling
from wiki.api.throttles import count_decisions
from wiki.authentication import TokenUser
from wiki.models import Scope
from wiki.throttling import MINUTE, Kind, Limits
from wiki.tokens import create_token


class Clock:
    """A steady clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.5

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    made = Clock()
    monkeypatch.setattr(throttling, "limits", Limits(clock=made))
    yield made


def create(rest: Rest, number: int) -> Any:
    title = f"Page {number}"
    return rest.post("/pages", {"title": title, "content": "Text.\n", "frontmatter": frontmatter(title)})


def test_requests_beyond_the_limit_wait_as_long_as_they_are_told(rita: Rest, clock: Clock, settings: Any) -> None:
    settings.SYNAPSE_RATE_PER_MINUTE = 3
    assert [rita.get("/status").status_code for _ in range(3)] == [200] * 3
    clock.now += 10
    answer = rita.get("/status")
    envelope = refused(answer, 429, "rate_limited")
    assert answer["Retry-After"] == str(envelope["retry_after"]) == "51"
    clock.now += envelope["retry_after"] - 1
    refused(rita.get("/pages"), 429, "rate_limited")
    clock.now += 1
    assert rita.get("/pages").status_code == 200


def test_each_caller_is_counted_by_itself(rita: Rest, wanda: Rest, clock: Clock, settings: Any) -> None:
    settings.SYNAPSE_RATE_PER_MINUTE = 1
    person = Client()
    person.force_login(User.objects.create_superuser("paula", password="x"))
    assert [rita.get("/status").status_code for _ in range(2)] == [200, 429]
    assert [wanda.get("/status").status_code for _ in range(2)] == [200, 429]
    assert [person.get("/status").status_code for _ in range(2)] == [200, 429]


def test_changes_have_a_limit_of_their_own(wanda: Rest, clock: Clock, settings: Any) -> None:
    settings.SYNAPSE_WRITES_PER_MINUTE = 2
    assert [create(wanda, number).status_code for number in range(3)] == [201, 201, 429]
    assert wanda.get("/status").status_code == 200
    refused(wanda.delete("/pages/6f1c7a52-3c1b-5d0e-9a55-0a6f8f6f3a11"), 429, "rate_limited")
    clock.now += MINUTE + 1
    assert create(wanda, 9).status_code == 201


def test_a_write_that_waits_leaves_no_key_behind(wanda: Rest, clock: Clock, settings: Any) -> None:
    from wiki.models import IdempotencyKey

    settings.SYNAPSE_WRITES_PER_MINUTE = 1
    create(wanda, 1)
    body = {"title": "Page 2", "content": "Text.\n", "frontmatter": frontmatter("Page 2")}
    refused(wanda.post("/pages", body, Idempotency_Key="k"), 429, "rate_limited")
    assert not IdempotencyKey.objects.exists()
    clock.now += MINUTE + 1
    assert wanda.post("/pages", body, Idempotency_Key="k").status_code == 201


def test_the_server_says_that_it_is_well_to_everybody(rita: Rest, nobody: Rest, clock: Clock, settings: Any) -> None:
    settings.SYNAPSE_RATE_PER_MINUTE = 1
    rita.get("/status")
    for rest in (rita, nobody):
        assert [rest.get("/health/live").status_code for _ in range(3)] == [200] * 3


def test_documents_are_counted_too(rita: Rest, clock: Clock, settings: Any) -> None:
    settings.SYNAPSE_RATE_PER_MINUTE = 1
    assert rita.get("/openapi.json").status_code == 200
    refused(rita.get("/openapi.json"), 429, "rate_limited")
    refused(rita.get("/docs", Accept="text/html"), 429, "rate_limited")


def asked_by(user: Any) -> Request:
    request = Request(RequestFactory().post("/review/queue/bulk"))
    request.user = user
    return request


def test_a_program_decides_so_many_reviews_in_a_minute_each_of_a_bulk_counted(
    db: None, clock: Clock, settings: Any
) -> None:
    settings.SYNAPSE_DECISIONS_PER_MINUTE = 400
    program = asked_by(TokenUser(create_token(name="agent", scope=Scope.WRITE)[0]))
    for _ in range(2):
        count_decisions(program, 200)
    with pytest.raises(SynapseError) as waits:
        count_decisions(program, 1)
    assert waits.value.repair == {"retry_after": 61}
    person = asked_by(User.objects.create_superuser("paula", password="x"))
    for _ in range(9):
        count_decisions(person, 200)


def test_five_hundred_decisions_spread_over_a_minute_are_slowed(clock: Clock, settings: Any) -> None:
    """A steady pace is no way around the limit: a full bucket would let all of them through."""
    settings.SYNAPSE_DECISIONS_PER_MINUTE = 400
    done = 0
    for number in range(500):
        clock.now = 1_000 + number * MINUTE / 500
        try:
            throttling.check("token:agent", Kind.DECISIONS)
        except SynapseError:
            continue
        done += 1
    assert done == 400


def test_a_bulk_above_the_limit_waits_for_an_idle_minute_and_not_for_ever(clock: Clock, settings: Any) -> None:
    settings.SYNAPSE_DECISIONS_PER_MINUTE = 100
    throttling.check("token:agent", Kind.DECISIONS, 200)
    with pytest.raises(SynapseError) as waits:
        throttling.check("token:agent", Kind.DECISIONS, 200)
    clock.now += waits.value.repair["retry_after"]
    throttling.check("token:agent", Kind.DECISIONS, 200)


@pytest.mark.parametrize("seed", range(20))
def test_never_more_than_the_limit_in_any_minute_and_never_longer_to_wait_than_told(seed: int) -> None:
    chance, clock = random.Random(seed), Clock()
    limits, limit = Limits(clock=clock), chance.randrange(1, 30)
    taken: list[tuple[float, int]] = []
    for _ in range(600):
        clock.now += chance.choice([0.0, 0.01, chance.random(), chance.random() * 20])
        cost = chance.choice([1, 1, 1, chance.randrange(1, limit + 1)])
        wait = limits.take("a", Kind.REQUESTS, cost, limit)
        if wait:
            assert isinstance(wait, int) and 1 <= wait <= MINUTE + 1
            if chance.random() < 0.3:
                clock.now += wait
                assert limits.take("a", Kind.REQUESTS, cost, limit) == 0
                wait = 0
        if not wait:
            taken.append((clock.now, cost))
        recent = sum(cost for at, cost in taken if clock.now - at < MINUTE)
        assert recent <= limit
        # It is refused only where a second more or less could make a difference.
        if wait:
            assert sum(cost for at, cost in taken if clock.now - at <= MINUTE + 1) + cost > limit


def test_what_a_caller_costs_in_memory_is_bounded() -> None:
    clock = Clock()
    limits = Limits(clock=clock)
    for _ in range(5_000):
        clock.now += 0.05
        limits.take("a", Kind.REQUESTS, 1, 10**9)
    assert len(limits._minutes[Kind.REQUESTS]["a"]._seconds) <= MINUTE + 1
