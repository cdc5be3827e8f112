"""Threads for synchronous code: bounded, patient where they must be, and without database connections left behind."""

from __future__ import annotations

import asyncio
import threading
import time

import anyio
import pytest
from django.db import connections

from mcpapi.workers import Workers
from wiki.models import Token


def test_no_more_threads_than_allowed_run_at_once():
    workers = Workers(3)
    running, most = 0, 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1

    async def go() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(12):
                tasks.start_soon(workers.run, work)
        await workers.close()

    asyncio.run(go())
    assert most == 3


def test_work_that_nobody_waits_for_holds_its_thread_and_waiting_work_is_dropped():
    workers = Workers(1)
    release, done = threading.Event(), []

    async def go() -> None:
        with anyio.move_on_after(0.05):
            await workers.run(lambda: release.wait(5) and done.append("first"))
        with anyio.move_on_after(0.05) as second:
            await workers.run(lambda: done.append("second"))
        assert second.cancelled_caught
        release.set()
        await workers.run(lambda: done.append("third"))
        await workers.close()

    asyncio.run(go())
    assert done == ["first", "third"]


def test_work_to_be_ended_is_waited_for():
    workers = Workers(1)
    done = []

    async def go() -> None:
        with anyio.move_on_after(0.01):
            await workers.run_to_end(lambda: time.sleep(0.1) or done.append("all"))
        assert done == ["all"]
        await workers.close()

    asyncio.run(go())


def test_a_failure_comes_back_to_the_caller():
    workers = Workers(1)

    async def go() -> None:
        with pytest.raises(ZeroDivisionError):
            await workers.run(lambda: 1 / 0)
        await workers.close()

    asyncio.run(go())


@pytest.mark.django_db(transaction=True)
def test_no_connection_stays_open_and_the_workers_can_be_used_again(monkeypatch):
    workers = Workers(2)
    used, closed = set(), set()
    kind = type(connections["default"])
    close = kind.close

    def note(self) -> None:
        close(self)
        closed.add(id(self))

    def work() -> None:
        Token.objects.count()
        connections["default"].close_at = None  # kept between two calls, as on PostgreSQL
        used.add(id(connections["default"]))
        time.sleep(0.02)

    async def go() -> None:
        for round_number in (1, 2):
            async with anyio.create_task_group() as tasks:
                for _ in range(4):
                    tasks.start_soon(workers.run, work)
            assert len(used - closed) == 2, round_number
            await workers.close()
            assert used <= closed

    monkeypatch.setattr(kind, "close", note)
    asyncio.run(go())


@pytest.mark.django_db(transaction=True)
def test_a_thread_that_was_busy_when_the_workers_closed_closes_its_own_connection(monkeypatch):
    workers = Workers(1)
    begun, release, closed = threading.Event(), threading.Event(), threading.Event()
    close_all = connections.close_all

    def note() -> None:
        close_all()
        closed.set()

    monkeypatch.setattr(connections, "close_all", note)

    def work() -> None:
        Token.objects.count()
        begun.set()
        release.wait(5)

    async def go() -> None:
        with anyio.move_on_after(0.1):
            await workers.run(work)
        assert begun.is_set()
        await workers.close()
        assert not closed.is_set()
        release.set()
        await anyio.to_thread.run_sync(closed.wait, 5)
        assert closed.is_set()

    asyncio.run(go())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("old", [False, True], ids=["young", "old"])
def test_a_connection_is_kept_between_two_calls_until_it_is_old(monkeypatch, old):
    workers = Workers(1)
    closed = []
    kind = type(connections["default"])
    close = kind.close

    def note(self) -> None:
        closed.append(self)
        close(self)

    def work() -> None:
        Token.objects.count()
        if old:
            connections["default"].close_at = -1e9

    async def go() -> None:
        await workers.run(work)
        await workers.run(lambda: None)
        assert bool(closed) is old
        await workers.close()

    monkeypatch.setattr(kind, "close", note)
    asyncio.run(go())
