"""Calls of tools in the admin: searched and narrowed down, in as many queries for many as for few."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from mcpapi.models import ToolCall

LIST = "/admin/mcpapi/toolcall/"


@pytest.fixture
def boss(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss"))
    return client


def call(number: int, outcome: str = "ok", code: str = "", tool: str = "get_page") -> ToolCall:
    return ToolCall(
        tool=tool,
        resolved=tool,
        profile="http",
        client=f"client {number % 3}",
        params={"title": {"length": number}},
        latency_ms=number,
        outcome=outcome,
        error_code=code,
        tokens=number,
    )


@pytest.fixture
def calls(db: None) -> None:
    """Calls that ended in each way."""
    ToolCall.objects.bulk_create(
        [
            call(1),
            call(2),
            call(3, "structured_error", "page_not_found"),
            call(4, "structured_error", "conflict", "write_page"),
            call(5, "exception", "internal_error"),
            call(6, "timeout", "timeout"),
        ]
    )


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", 6),
        ("outcome__exact=ok", 2),
        ("outcome__exact=structured_error", 2),
        ("outcome__exact=timeout", 1),
        ("error_code=conflict", 1),
        ("outcome__exact=structured_error&error_code=page_not_found", 1),
        ("resolved=write_page", 1),
        ("q=client+1", 2),
    ],
)
def test_calls_are_found_by_how_they_ended(calls: None, boss: Client, query: str, shown: int) -> None:
    answer = boss.get(f"{LIST}?{query}")
    assert answer.status_code == 200
    assert len(answer.context["cl"].result_list) == shown


def test_a_call_opens_and_is_not_changed(calls: None, boss: Client) -> None:
    row = ToolCall.objects.latest("pk")
    assert boss.get(f"{LIST}{row.pk}/change/").status_code == 200
    assert boss.post(f"{LIST}{row.pk}/change/", {"tool": "x"}).status_code == 403
    assert boss.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 403


def test_more_calls_cost_no_more_queries(calls: None, boss: Client) -> None:
    with CaptureQueriesContext(
        connection,
    ) as few:
        boss.get(LIST)
    ToolCall.objects.bulk_create(call(number) for number in range(300))
    with CaptureQueriesContext(connection) as many:
        boss.get(LIST)
    assert len(many) == len(few) <= 12
