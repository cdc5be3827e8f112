"""What is shown of the calls that are kept: the command's figures and the admin's list."""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.utils import timezone

from mcpapi.models import ToolCall
from mcpapi.statistics import percentile

pytestmark = pytest.mark.django_db
URL = "/admin/mcpapi/toolcall/"
TRICKY = "<script>alert(1)</script>\u202e"


def kept(tool: str, latency: float, **more: Any) -> ToolCall:
    given = {"resolved": tool, "profile": "http", "client": "token:laptop", "outcome": "ok", "tokens": 10}
    return ToolCall.objects.create(tool=more.pop("asked", tool), latency_ms=latency, **{**given, **more})


@pytest.fixture(autouse=True)
def kept_calls(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("require_tables", "check_binding"):
        monkeypatch.setattr(f"wiki.management.base.{name}", lambda: None)
    for latency in range(1, 101):
        kept("get_page", latency)
    kept("get_page", 500, asked="read_page", outcome="structured_error", error_code="page_not_found", tokens=1_000)
    kept("search_wiki", 9_000, outcome="timeout", error_code="tool_timeout", client=TRICKY, params={"query": TRICKY})
    kept("search_wiki", 7, outcome="exception", error_code="internal_error", at=timezone.now() - timedelta(days=3))
    kept("-", 1, resolved="", asked="no_such_tool", outcome="structured_error", error_code="unknown_tool")
    kept("get_page", 1, is_test=True)


def stats(*arguments: str) -> str:
    out = io.StringIO()
    call_command("mcp_stats", *arguments, stdout=out)
    return out.getvalue()


def test_figures_of_each_tool_and_of_all():
    found = json.loads(stats("--json"))
    page = found["tools"]["get_page"]
    assert (page["calls"], page["errors"], page["by_old_name"]) == (101, 1, 1)
    assert (page["p50_ms"], page["p95_ms"]) == (51.0, 96.0)
    assert (page["tokens"], page["tokens_per_call"]) == (2_000, 20)
    search = found["tools"]["search_wiki"]
    assert (search["timeouts"], search["exceptions"], search["errors"]) == (1, 1, 0)
    assert found["tools"]["-"]["errors"] == 1
    assert found["total"]["calls"] == 104
    assert found["error_codes"] == {"page_not_found": 1, "tool_timeout": 1, "internal_error": 1, "unknown_tool": 1}


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [(["--days", "1"], 103), (["--client", "laptop"], 103), (["--include-test"], 105), (["--client", "nobody"], 0)],
    ids=["days", "client", "test", "none"],
)
def test_which_calls_are_counted(arguments, calls):
    assert json.loads(stats("--json", *arguments))["total"]["calls"] == calls


def test_the_table_shows_the_same_figures_and_hides_nothing_in_names():
    shown = stats()
    row = next(line for line in shown.splitlines() if line.startswith("get_page"))
    assert re.split(r"\s+", row) == ["get_page", "101", "1", "0", "0", "51.0", "96.0", "2,000", "20"]
    assert "\\u202e" in shown
    assert "\u202e" not in shown
    assert "No calls that --days and --client let through are kept" in stats("--client", "nobody")


@pytest.mark.parametrize("days", ["0", "-1", "nan", "1e99"])
def test_days_that_can_not_be_are_refused(days):
    with pytest.raises(CommandError, match="--days"):
        stats("--days", days)


@pytest.mark.parametrize(
    ("values", "percent", "found"),
    [([], 50, None), ([3.0], 95, 3.0), ([1.0, 2.0], 50, 1.0), ([1.0, 2.0], 95, 2.0), ([1.0, 2.0, 3.0, 4.0], 50, 2.0)],
)
def test_percentiles_are_values_that_occurred(values, percent, found):
    assert percentile(values, percent) == found


def staff(*permissions: str) -> Client:
    user = User.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("outcome__exact=timeout", 1),
        ("resolved=search_wiki", 2),
        ("is_test__exact=1", 1),
        ("q=laptop", 50),
        ("q=read_page", 1),
    ],
)
def test_the_admin_lists_and_filters(query, shown):
    answer = staff("view_toolcall").get(f"{URL}?{query}")
    assert answer.status_code == 200
    assert len(answer.context["cl"].result_list) == shown


def test_the_admin_shows_a_call_and_changes_none():
    client = staff("view_toolcall", "change_toolcall", "delete_toolcall", "add_toolcall")
    call = ToolCall.objects.get(client=TRICKY)
    shown = client.get(f"{URL}{call.pk}/change/").content.decode()
    assert "<script>alert" not in shown
    assert "\u202e" not in shown
    assert "\\u202e" in shown
    assert "\u202e" not in client.get(URL).content.decode()
    for path in ("add/", f"{call.pk}/delete/", f"{call.pk}/change/"):
        assert client.post(f"{URL}{path}", {"post": "yes"}).status_code == 403
    assert URL in client.get("/admin/").content.decode()


def test_only_who_may_see_calls_sees_them():
    assert Client().get(URL).status_code == 302
    assert staff().get(URL).status_code == 403
