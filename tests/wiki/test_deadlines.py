"""A call's time limit where time is spent: a statement that runs, one that would begin, a lock, a loop."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import DatabaseError, OperationalError, connection, transaction

from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from wiki import deadlines
from wiki.deadlines import deadline
from wiki.exclusive import exclusive, try_exclusive
from wiki.models import Token
from wiki.services.filing import locked

SHORT = 0.05


def slow_sql(seconds: float = 20.0) -> None:
    """A statement that the database is busy with for many times longer than any limit here."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_sleep(%s)", [seconds])
        else:
            cursor.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %s) SELECT max(i) FROM n",
                [int(seconds * 5_000_000)],
            )
        cursor.fetchall()


def settings_of_the_connection() -> object:
    """What a limit changes, as the connection has it now."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout" if connection.vendor == "postgresql" else "PRAGMA busy_timeout")
        return cursor.fetchone()


@pytest.fixture(params=["alone", "in a transaction"])
def connected(request: pytest.FixtureRequest):
    request.getfixturevalue("transactional_db" if request.param == "alone" else "db")


@pytest.mark.usefixtures("connected")
def test_a_slow_statement_is_ended_in_the_thread_that_runs_it():
    begun = time.monotonic()
    with pytest.raises(SynapseError) as caught, transaction.atomic(), deadline(SHORT):
        slow_sql()
    assert (caught.value.code, caught.value.status) == (ErrorCode.TOOL_TIMEOUT, 504)
    assert caught.value.repair == {"seconds": SHORT}
    assert time.monotonic() - begun < 10  # the statement itself takes longer


@pytest.mark.usefixtures("transactional_db")
def test_the_connection_is_as_before_and_works():
    before = settings_of_the_connection()
    with pytest.raises(SynapseError), deadline(SHORT):
        slow_sql()
    assert settings_of_the_connection() == before
    with deadline(10):
        Token.objects.count()
        assert settings_of_the_connection() != before
    assert settings_of_the_connection() == before
    slow_sql(0.1)


@pytest.mark.usefixtures("transactional_db")
def test_no_statement_begins_when_time_is_over_and_none_takes_a_new_limit_for_itself():
    with pytest.raises(SynapseError) as caught, deadline(SHORT):
        time.sleep(SHORT)
        Token.objects.count()
    assert caught.value.code is ErrorCode.TOOL_TIMEOUT
    begun = time.monotonic()
    with pytest.raises(SynapseError), deadline(0.4):
        time.sleep(0.3)
        slow_sql()
    assert time.monotonic() - begun < 10


@pytest.mark.usefixtures("transactional_db")
def test_the_time_before_the_thread_counts():
    with pytest.raises(SynapseError), deadline(5, since=time.monotonic() - 6):
        pytest.fail("it was begun")


@pytest.mark.usefixtures("transactional_db")
def test_a_write_that_is_over_time_leaves_nothing():
    with pytest.raises(SynapseError), deadline(0.3), transaction.atomic():
        Token.objects.create(name="half", scope="read", digest="d")
        slow_sql()
    assert not Token.objects.exists()
    with pytest.raises(SynapseError), deadline(0.3), transaction.atomic():
        Token.objects.create(name="half", scope="read", digest="d")
        with pytest.raises(DatabaseError), transaction.atomic():
            slow_sql()
        Token.objects.count()
    assert not Token.objects.exists()


@pytest.mark.usefixtures("transactional_db")
def test_a_change_that_has_begun_has_no_limit():
    before = settings_of_the_connection()
    with deadline(0.2):
        Token.objects.count()
        deadlines.lift()
        assert settings_of_the_connection() == before
        time.sleep(0.2)
        slow_sql(0.1)
        deadlines.check()
        assert deadlines.within(20) == 20
    with pytest.raises(SynapseError), deadline(SHORT):
        time.sleep(SHORT)
        deadlines.lift()


@pytest.mark.usefixtures("transactional_db")
def test_what_is_lifted_in_a_transaction_that_fails_is_not_there_again():
    before = settings_of_the_connection()
    with deadline(30):
        Token.objects.count()
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            deadlines.lift()
            raise ZeroDivisionError
    assert settings_of_the_connection() == before


@pytest.mark.usefixtures("transactional_db")
def test_undoing_is_let_through():
    with pytest.raises(SynapseError), deadline(SHORT):
        time.sleep(SHORT)
        with deadlines.lifted():
            assert Token.objects.count() == 0
        Token.objects.count()


@pytest.mark.usefixtures("transactional_db")
def test_a_lock_is_given_back_though_time_is_over(vault_folder):
    with pytest.raises(SynapseError), deadline(1), exclusive("work", timeout=20):
        time.sleep(1)
        Token.objects.count()
    got: list[bool] = []

    def take() -> None:
        try:
            with try_exclusive("work") as ours:
                got.append(ours)
        finally:
            connection.close()

    other = threading.Thread(target=take)
    other.start()
    other.join()
    assert got == [True]


@pytest.mark.usefixtures("transactional_db")
def test_of_two_limits_the_earlier_holds():
    with pytest.raises(SynapseError) as caught, deadline(SHORT), deadline(60):
        slow_sql()
    assert caught.value.repair["seconds"] == SHORT
    with deadline(60):
        with pytest.raises(SynapseError) as caught, deadline(SHORT):
            slow_sql()
        assert caught.value.repair["seconds"] == SHORT
        Token.objects.count()


@pytest.mark.usefixtures("transactional_db")
def test_another_failure_in_time_is_what_it_is():
    with pytest.raises(DatabaseError) as caught, deadline(30), connection.cursor() as cursor:
        cursor.execute("SELECT * FROM no_such_table")
    assert not isinstance(caught.value, SynapseError)
    assert not deadlines.was_cancelled(caught.value)
    assert deadlines.was_cancelled(deadlines.TimeOverError())
    assert not deadlines.was_cancelled(OperationalError())


def test_a_loop_asks_and_without_a_limit_nothing_is_over():
    deadlines.check()
    deadlines.lift()
    assert deadlines.within(20) == 20
    with pytest.raises(SynapseError) as caught, deadline(SHORT):
        while True:
            deadlines.check()
    assert caught.value.code is ErrorCode.TOOL_TIMEOUT


def test_waiting_for_a_lock_is_cut_to_what_is_left(vault_folder):
    taken, release = threading.Event(), threading.Event()

    def hold() -> None:
        with current_vault().lock("busy"):
            taken.set()
            release.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        taken.wait(20)
        begun = time.monotonic()
        with pytest.raises(SynapseError) as caught, deadline(SHORT), locked("busy"):
            pytest.fail("it was got")
        assert caught.value.code is ErrorCode.TOOL_TIMEOUT
        assert time.monotonic() - begun < 10  # without a limit it is waited for 20 seconds
    finally:
        release.set()
        holder.join()
    with deadline(20), locked("busy"):
        pass


@pytest.mark.usefixtures("transactional_db")
def test_waiting_for_another_writer_is_cut_too():
    if connection.vendor == "sqlite":
        # Its library waits by itself, where no handler is asked; in memory, as here, it does not wait at all.
        with deadline(0.2):
            Token.objects.count()
            (milliseconds,) = settings_of_the_connection()  # type: ignore[misc]
        assert 0 < milliseconds <= 200
        return
    taken, release = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                Token.objects.create(name="first", scope="read", digest="same")
                taken.set()
                release.wait(20)
        finally:
            connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        taken.wait(20)
        begun = time.monotonic()
        with pytest.raises(SynapseError) as caught, deadline(0.2):
            Token.objects.create(name="second", scope="read", digest="same")
        assert caught.value.code is ErrorCode.TOOL_TIMEOUT
        assert time.monotonic() - begun < 10
    finally:
        release.set()
        holder.join()
