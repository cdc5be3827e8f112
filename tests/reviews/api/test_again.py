"""Decisions that are sent again, and too many of them: once is once, and a flood is told to wait."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from reviews.models import ReviewEvent, ReviewItem
from tests.reviews.api.conftest import Rest, asked_many, refused
from wiki import throttling
from wiki.throttling import Limits

QUEUE = "/review/queue"


@pytest.fixture(autouse=True)
def _fresh_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttling, "limits", Limits(clock=lambda: 1_000.0))


@pytest.mark.parametrize(
    ("method", "path", "body", "other"),
    [
        ("PATCH", "/review/queue/{0}", {"action": "skip"}, {"action": "dismiss"}),
        ("POST", "/review/queue/{0}/skip", {"note": "x"}, {"note": "y"}),
        ("POST", "/review/queue/bulk", {"action": "skip", "ids": ["{0}"]}, {"action": "skip", "ids": ["{1}"]}),
        ("POST", "/review/queue/bulk-resolve", {"action": "skip", "ids": ["{0}"]}, {"action": "skip", "ids": ["{1}"]}),
        (
            "POST",
            "/review/queue",
            {"items": [{"item_type": "confirm", "title": "Is it so?"}]},
            {"items": [{"item_type": "confirm", "title": "Or not?"}]},
        ),
    ],
)
def test_the_same_key_is_the_same_answer_and_one_effect(
    wanda: Rest, method: str, path: str, body: Any, other: Any
) -> None:
    first, second = asked_many(2)

    def filled(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: filled(value) for name, value in part.items()}
        if isinstance(part, list):
            return [filled(value) for value in part]
        return part.format(first, second)

    answers = [wanda.call(method, filled(path), filled(body), Idempotency_Key="k1") for _ in range(3)]
    assert len({(answer.status_code, answer.content) for answer in answers}) == 1
    assert [answer.get("Idempotency-Replayed") for answer in answers] == [None, "true", "true"]
    assert ReviewEvent.objects.filter(who="token:wanda").count() == 1
    refused(wanda.call(method, filled(path), filled(other), Idempotency_Key="k1"), 422, "idempotency_conflict")
    assert ReviewEvent.objects.filter(who="token:wanda").count() == 1


def test_what_is_refused_whole_and_an_id_named_twice_are_not_counted_as_decisions(wanda: Rest, settings: Any) -> None:
    settings.SYNAPSE_DECISIONS_PER_MINUTE = 4
    ids = asked_many(4)
    for path in ("bulk", "bulk-resolve"):
        for _ in range(2):
            refused(wanda.post(f"{QUEUE}/{path}", {"action": "skip", "ids": ids * 51}), 422, "too_many_ids")
            refused(wanda.post(f"{QUEUE}/{path}", {"action": "skip", "ids": []}), 422, "too_many_ids")
    assert wanda.post(f"{QUEUE}/bulk", {"action": "skip", "ids": ids[:2] * 100}).json()["updated"] == ids[:2]
    assert wanda.post(f"{QUEUE}/bulk-resolve", {"action": "skip", "ids": ids[2:] * 100}).json()["count"] == 2
    refused(wanda.post(f"{QUEUE}/bulk", {"action": "skip", "ids": ids[:1]}), 429, "rate_limited")


def test_a_program_decides_so_many_in_a_minute_each_of_a_bulk_counted(wanda: Rest, settings: Any) -> None:
    settings.SYNAPSE_DECISIONS_PER_MINUTE = 4
    ids = asked_many(6)
    assert wanda.post(f"{QUEUE}/bulk", {"action": "skip", "ids": ids[:3]}).status_code == 200
    assert wanda.patch(f"{QUEUE}/{ids[3]}", {"action": "skip"}).status_code == 200
    for method, path, body in (
        ("PATCH", f"{QUEUE}/{ids[4]}", {"action": "skip"}),
        ("POST", f"{QUEUE}/{ids[4]}/dismiss", {}),
        ("POST", f"{QUEUE}/bulk", {"action": "skip", "ids": ids[4:]}),
        ("POST", f"{QUEUE}/bulk-resolve", {"action": "skip", "ids": ids[4:]}),
    ):
        answer = wanda.call(method, path, body)
        assert refused(answer, 429, "rate_limited")["retry_after"] == int(answer["Retry-After"])
    assert ReviewItem.objects.filter(status="pending").count() == 2
    assert wanda.get(QUEUE).status_code == 200
    boss = Client()
    boss.force_login(User.objects.create_superuser("ada"))
    assert boss.post(f"{QUEUE}/{ids[4]}/skip", b"", content_type="application/json").status_code == 200
