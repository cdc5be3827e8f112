"""What is kept of a call: enough for statistics, never a text or a secret, and nothing that a call waits for."""

from __future__ import annotations

import hashlib
import json
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from mcpapi import telemetry
from mcpapi.models import ToolCall
from mcpapi.registry import TOOLS
from mcpapi.telemetry import CallRecord, Calls, Outcome, kept_params

SECRET = "hunter2-Ünï-the-secret-of-the-page " * 4
TOKEN = "syn_" + "A" * 43


@pytest.fixture(autouse=True)
def switched_on(settings):
    settings.SYNAPSE_TELEMETRY = True


def record(**changes: Any) -> CallRecord:
    given: dict[str, Any] = {
        "tool": "read_page",
        "resolved": "get_page",
        "profile": "http",
        "client": "token:laptop",
        "arguments": {"title": "Alan Turing"},
        "latency_ms": 12.34567,
        "outcome": Outcome.OK,
        "error_code": "",
        "answer": {"title": "Alan Turing", "content": SECRET},
    }
    return CallRecord(**{**given, **changes})


@pytest.mark.django_db
def test_a_call_is_a_row_once_it_is_flushed(settings, django_assert_num_queries):
    settings.SYNAPSE_TELEMETRY_IS_TEST = True
    calls = Calls()
    with django_assert_num_queries(0):
        calls.note(record())
        calls.note(
            record(
                tool="search_wiki",
                outcome=Outcome.STRUCTURED_ERROR,
                error_code="tool_timeout",
                answer={"result": [1, 2]},
                characters=401,
            )
        )
    assert calls.flush() == 2
    error, ok = ToolCall.objects.all()
    assert (ok.tool, ok.resolved, ok.profile, ok.client) == ("read_page", "get_page", "http", "token:laptop")
    assert (ok.params, ok.latency_ms, ok.outcome, ok.error_code) == ({"title": "Alan Turing"}, 12.346, "ok", "")
    assert (ok.results, ok.is_test) == (None, True)
    assert ok.tokens == round(len(json.dumps(record().answer, ensure_ascii=False)) / 4)
    assert (error.error_code, error.results, error.tokens) == ("tool_timeout", 2, 100)
    assert calls.flush() == 0


def test_switched_off_nothing_is_noted(settings):
    settings.SYNAPSE_TELEMETRY = False
    calls = Calls(limit=1)
    calls.note(record())
    calls.note(record())
    assert (calls.dropped, len(calls._rows)) == (0, 0)


def test_what_memory_is_not_set_aside_for_is_dropped_and_counted():
    calls = Calls(limit=3)
    for _ in range(5):
        calls.note(record())
    assert (calls.dropped, len(calls._rows)) == (2, 3)


@pytest.mark.django_db
def test_a_database_that_fails_costs_the_rows_and_nothing_else(monkeypatch, caplog):
    calls = Calls()

    def fail(rows: Any) -> None:
        raise DatabaseError("INSERT … " + SECRET)

    monkeypatch.setattr(ToolCall.objects, "bulk_create", fail)
    calls.note(record())
    assert calls.flush() == 0
    assert calls.dropped == 1
    assert SECRET not in caplog.text
    monkeypatch.undo()
    calls.note(record())
    assert calls.flush() == 1


def test_what_can_not_be_noted_raises_nothing():
    calls = Calls()
    calls.note(record(answer={"content": object()}))
    calls.note(record(arguments={"query": object()}))
    assert calls.dropped == 2


def test_the_log_says_how_many_were_dropped(caplog, monkeypatch):
    calls, flushed = Calls(), threading.Semaphore(0)

    def flush() -> int:
        calls.dropped += 2
        flushed.release()
        return 0

    monkeypatch.setattr(calls, "flush", flush)
    with caplog.at_level("WARNING", logger="mcpapi.telemetry"), calls.running(every=0.01):
        assert flushed.acquire(timeout=5)
        assert flushed.acquire(timeout=5)  # what the first has lost is said before the second
    said = [entry.rows for entry in caplog.records if entry.getMessage() == "calls of tools were not kept"]
    assert said
    assert set(said) == {2}


@pytest.mark.django_db(transaction=True)
def test_a_thread_writes_and_writes_the_rest_at_the_end():
    calls = Calls()
    with calls.running(every=60):
        calls.note(record())
    assert ToolCall.objects.count() == 1


def planted(schema: dict[str, Any], name: str) -> Any:
    """An argument of this schema with the secret wherever a text can stand."""
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object":
        properties = schema.get("properties", {})
        return {**{key: planted(rule, key) for key, rule in properties.items()}, "free": SECRET, SECRET: [SECRET]}
    if kind == "array":
        return [planted(schema.get("items", {}), name), {"content": SECRET}]
    if kind == "string":
        return f"{name} is kept {TOKEN}" if name in telemetry.KEPT | telemetry.KEPT_OF_ITEMS else SECRET
    return 1


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_text_of_a_page_and_no_secret_is_kept_of_any_tool(tool):
    schema = tool.input_schema
    arguments = {name: planted(rule, name) for name, rule in schema["properties"].items()}
    kept = json.dumps(kept_params({**arguments, "api_key": SECRET, "body": {"deep": [SECRET]}}), ensure_ascii=False)
    assert SECRET not in kept
    assert "hunter2" not in kept
    assert TOKEN not in kept
    assert "A" * 43 not in kept


def test_a_text_is_kept_as_its_length_and_hash_and_a_short_one_as_its_length():
    kept = kept_params({"content": SECRET, "note": "no", "query": "who was Turing?", "k": 5, "pin": 1234})
    assert kept == {
        "content": {"characters": len(SECRET), "sha256": hashlib.sha256(SECRET.encode()).hexdigest()},
        "note": {"characters": 2},
        "query": "who was Turing?",
        "k": 5,
        "pin": {"kind": "number"},
    }


def test_briefs_texts_and_sources_of_prime_are_content():
    for name in ("brief", "artifact", "source"):
        kept = kept_params({name: SECRET, "level": "core", "max_tokens": 300, "atom_set": ["@wiki/concept-a"]})
        assert kept[name] == {"characters": len(SECRET), "sha256": hashlib.sha256(SECRET.encode()).hexdigest()}
        assert (kept["level"], kept["max_tokens"], kept["atom_set"]) == ("core", 300, ["@wiki/concept-a"])


@pytest.mark.parametrize(
    ("answer", "results"),
    [
        ({"hits": [1, 2], "total_tokens": 5, "omitted": [3]}, 2),
        ({"ok": True, "fixes": []}, 0),
        ({"ok": False, "diagnostics": [1], "compiled": None}, 1),
        ({"domain": "wiki", "terms": [1, 2]}, None),
    ],
    ids=["query", "validate", "compile", "intent"],
)
def test_what_prime_lists_is_counted(answer, results):
    calls = Calls()
    calls.note(record(tool="prime", answer=answer))
    assert calls._rows[0].results == results


def test_of_items_only_what_they_are_about_is_kept():
    item = {"item_type": "confirm", "page": "Alan Turing", "title": "Is the key hunter2?", "proposed_body": SECRET}
    kept = kept_params({"items": [item, 5]})["items"]
    assert kept[0]["item_type"] == "confirm"
    assert kept[0]["page"] == "Alan Turing"
    assert kept[0]["title"] == {"characters": 19}
    assert kept[1] == {"kind": "number"}


def test_long_texts_and_lists_are_cut():
    assert len(kept_params({"query": "x" * 5_000})["query"]) == telemetry.MAX_CHARACTERS + 1
    assert len(kept_params({"id": list(range(900))})["id"]) == telemetry.MAX_LIST
    assert set(kept_params({"id": ["x" * 150] * 900})) == {"?"}
    assert len(kept_params({f"name{number}": 1 for number in range(900)})) == 50


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from([*telemetry.KEPT, "items", "content", "\0"]), inner)
    ),
)


@given(ANY_JSON)
def test_whatever_was_sent_what_is_kept_is_json_that_a_database_can_hold(arguments):
    text = json.dumps(kept_params(arguments), allow_nan=False, ensure_ascii=False)
    text.encode()
    assert "\\u0000" not in text
    assert len(text) < 30_000


@pytest.mark.parametrize("name", ["", "x" * 80, TOKEN, "no tool", None, 5, "get_page\0"])
def test_a_name_that_could_be_anything_is_not_kept(name):
    calls = Calls()
    calls.note(record(tool=name, resolved=""))
    assert calls._rows[0].tool == "?"


@pytest.mark.django_db
def test_old_rows_are_removed_by_age_and_by_number(settings):
    now = timezone.now()
    for days in (40, 20, 10, 5, 1):
        ToolCall.objects.create(
            tool="t", profile="http", latency_ms=1, outcome="ok", tokens=1, at=now - timedelta(days)
        )
    settings.SYNAPSE_TOOL_CALLS_DAYS, settings.SYNAPSE_TOOL_CALLS_MAX = 30, 3
    assert telemetry.forget_old() == {"removed": 2}
    assert [(now - row.at).days for row in ToolCall.objects.all()] == [1, 5, 10]
    settings.SYNAPSE_TOOL_CALLS_DAYS = settings.SYNAPSE_TOOL_CALLS_MAX = 0
    assert telemetry.forget_old() == {"removed": 0}


@pytest.mark.django_db
def test_the_job_that_removes_them_is_one_that_jobs_can_run(vault_folder):
    from wiki import jobs

    jobs.enqueue(telemetry.JOB)
    assert jobs.run_due(now=True) == 1
