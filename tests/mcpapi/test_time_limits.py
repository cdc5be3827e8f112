"""Each tool's time limit: a read is ended and its thread freed; a write is refused before it begins, or finished."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import anyio
import pytest
from django.db import connection

from mcpapi import calls
from mcpapi.callers import LOCAL, Caller
from mcpapi.calls import Calls, seconds_of
from mcpapi.profiles import Profile
from mcpapi.registry import BY_NAME, TOOLS
from reviews.models import ReviewItem, Status
from reviews.services import deciding
from vault import writer
from wiki import deadlines
from wiki.models import Page
from wiki.search import retrieval
from wiki.services import composing
from wiki.sync import scan

#: Statements that take a minute.
SLOW_SQL = {
    "postgresql": "SELECT pg_sleep(60)",
    "sqlite": (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900000000) SELECT max(i) FROM n"
    ),
}
PAGE = {
    "title": "Tides",
    "content": "The moon pulls the sea.",
    "frontmatter": {"type": "concept", "title": "Tides", "sources": ["raw/sources/sea.txt"], "lang": "en"},
}


def answers(*asked: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What calls that are made at the same time answer, in the order in which they are made."""
    bodies: list[dict[str, Any]] = [{} for _ in asked]

    async def run() -> None:
        running = Calls(Profile.STDIO, "true")

        async def one(number: int, name: str, arguments: dict[str, Any]) -> None:
            bodies[number] = (await running.answer(name, arguments, LOCAL)).structured_content or {}

        try:
            async with anyio.create_task_group() as tasks:
                for number, (name, arguments) in enumerate(asked):
                    tasks.start_soon(one, number, name, arguments)
        finally:
            await running.close()

    asyncio.run(run())
    return bodies


def test_the_defaults_are_what_they_should_be(settings):
    settings.SYNAPSE_TIMEOUTS = {}
    assert {tool.name: seconds_of(tool) for tool in TOOLS} == {
        "search_wiki": 15,
        "get_page": 5,
        "list_pages": 5,
        "get_graph_neighborhood": 10,
        "read_source_file": 5,
        "list_reviews": 5,
        "prime_query": 10,
        "prime_resolve": 15,
        "prime_intent": 10,
        "prime_validate": 10,
        "prime_compile": 10,
        "write_page": 30,
        "trigger_source_rescan": 5,
        "resolve_review": 30,
        "propose_review": 30,
        "surface_health": 5,
    }
    settings.SYNAPSE_TIMEOUTS = {"get_page": 0.5}
    assert (seconds_of(BY_NAME["get_page"]), seconds_of(BY_NAME["list_pages"])) == (0.5, 5)


@pytest.mark.usefixtures("transactional_db")
def test_slow_reads_are_ended_and_their_threads_are_free_for_others(monkeypatch, settings):
    """As many slow calls as there are threads, and behind them one that could not be begun if they went on."""
    settings.SYNAPSE_TIMEOUTS = {"get_page": 0.5, "list_pages": 60.0}

    def slow(caller: Caller, **_: Any) -> dict[str, Any]:
        with connection.cursor() as cursor:
            cursor.execute(SLOW_SQL[connection.vendor])
            cursor.fetchall()
        return {}

    tools = {"get_page": replace(BY_NAME["get_page"], handler=slow), "list_pages": BY_NAME["list_pages"]}
    monkeypatch.setattr(calls, "tool_for", lambda name, *_: tools[name])
    many = [("get_page", {"title": "t"})] * calls._READ_THREADS
    begun = time.monotonic()
    *slow_ones, other = answers(*many, ("list_pages", {}))
    assert {body["error_code"] for body in slow_ones} == {"tool_timeout"}
    assert {body["seconds"] for body in slow_ones} == {0.5}
    assert other["result"] == []
    assert time.monotonic() - begun < 40  # one such statement takes longer


@pytest.mark.usefixtures("transactional_db")
def test_a_search_whose_time_is_over_is_no_search_without_words(monkeypatch, settings):
    """It degrades when a kind of search fails; one that is cut off has not failed."""
    settings.SYNAPSE_TIMEOUTS = {"search_wiki": 0.5}

    def slow(*_: Any) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(SLOW_SQL[connection.vendor])
            return cursor.fetchall()

    monkeypatch.setattr(retrieval, "word_candidates", slow)
    (body,) = answers(("search_wiki", {"query": "moon"}))
    assert body["error_code"] == "tool_timeout"


@pytest.fixture
def vault(vault_folder, transactional_db):
    vault_folder.write("raw/sources/sea.txt", "The moon pulls the sea.\n")
    scan()
    return vault_folder


class Clock:
    """The clock by which limits are kept: the machine's, and what a test puts on top."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def takes_long(monkeypatch):
    """Have a function of a module take 1,000 seconds, by the clock of the limits."""
    clock = Clock()
    monkeypatch.setattr(deadlines, "time", clock)

    def slow_down(module: Any, name: str) -> None:
        real = getattr(module, name)

        def slow(*args: Any, **kwargs: Any) -> Any:
            clock.ahead += 1_000
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, slow)

    return slow_down


def test_a_write_that_is_late_before_it_begins_changes_nothing(vault, takes_long):
    takes_long(composing, "new_file")
    files = vault.files()
    (body,) = answers(("write_page", PAGE))
    assert body["error_code"] == "tool_timeout" and "before anything was changed" in body["error"]
    assert vault.files() == files
    assert not Page.objects.filter(title="Tides").exists()


def test_a_write_that_has_begun_is_finished_and_indexed(vault, takes_long):
    takes_long(writer, "create")
    (body,) = answers(("write_page", PAGE))
    assert body["created"] is True
    assert Page.objects.get(title="Tides").content_hash == body["content_hash"]


def test_a_decision_that_is_late_leaves_the_item_pending_and_free(vault, takes_long, monkeypatch):
    (filed,) = answers(
        (
            "propose_review",
            {
                "items": [
                    {
                        "item_type": "suggestion",
                        "title": "Tides should have a page",
                        "proposed_title": "Tides",
                        "proposed_page_type": "concept",
                        "proposed_body": "The moon pulls the sea.",
                        "proposed_frontmatter": PAGE["frontmatter"],
                    }
                ]
            },
        )
    )
    item = ReviewItem.objects.get(pk=filed["result"][0]["id"])
    takes_long(composing, "new_file")
    (body,) = answers(("resolve_review", {"id": str(item.pk), "action": "create"}))
    assert body["error_code"] == "tool_timeout"
    item.refresh_from_db()
    assert (item.status, item.claim) == (Status.PENDING, None)
    assert "30 seconds" in item.failure
    monkeypatch.undo()
    (body,) = answers(("resolve_review", {"id": str(item.pk), "action": "create"}))
    assert body["changed"] is True


def test_a_decision_that_has_begun_is_made(vault, takes_long):
    (filed,) = answers(("propose_review", {"items": [{"item_type": "confirm", "title": "Is it so?"}]}))
    takes_long(deciding, "_record")
    (body,) = answers(("resolve_review", {"id": filed["result"][0]["id"], "action": "skip"}))
    assert body["changed"] is True
    assert ReviewItem.objects.get().status == Status.SKIPPED
