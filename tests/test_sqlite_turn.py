"""Those who want to write to SQLite take turns, so that nobody waits until the time is up."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from synapse.sqlite import base


@pytest.fixture
def database(tmp_path: Path, django_db_blocker: Any) -> Iterator[base.DatabaseWrapper]:
    given = connections["default"].settings_dict | {
        "ENGINE": "synapse.sqlite",
        "NAME": str(tmp_path / "index.sqlite3"),
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 0.05},
    }
    made = base.DatabaseWrapper(given, "turns")
    with django_db_blocker.unblock():
        yield made
        made.close()


def free(folder: Path) -> bool:
    """Whether nobody has the turn."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def begin(database: base.DatabaseWrapper, around: Callable[..., Any]) -> None:
    database.ensure_connection()
    with database.execute_wrapper(around):
        database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def test_the_turn_is_held_while_it_begins_and_no_longer(database: base.DatabaseWrapper, tmp_path: Path) -> None:
    seen: list[tuple[str, bool]] = []

    def around(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        seen.append((sql, free(tmp_path)))
        return execute(sql, *rest)

    begin(database, around)
    assert seen == [("BEGIN IMMEDIATE", False)]
    assert free(tmp_path)


def test_the_turn_is_given_back_when_it_does_not_begin(database: base.DatabaseWrapper, tmp_path: Path) -> None:
    def around(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        raise RuntimeError(sql)

    with pytest.raises(RuntimeError, match="BEGIN IMMEDIATE"):
        begin(database, around)
    assert free(tmp_path)


def test_who_gets_no_turn_asks_anyway(database: base.DatabaseWrapper, tmp_path: Path) -> None:
    """Someone holds it for longer than SQLite would wait."""
    said: list[str] = []

    def around(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        said.append(sql)
        return execute(sql, *rest)

    holder = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        begin(database, around)
        assert said == ["BEGIN IMMEDIATE"]
        assert database.connection.in_transaction
    finally:
        os.close(holder)
    database.connection.rollback()
