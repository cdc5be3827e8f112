"""Locks of machines that share a database but not a disk: a lock of PostgreSQL on top of the vault's."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.conftest import VaultFolder
from vault.errors import ErrorCode, SynapseError
from wiki.exclusive import exclusive, lock_number, try_exclusive

pytestmark = pytest.mark.django_db


def test_whoever_holds_it_may_take_it_again(vault_folder: VaultFolder) -> None:
    with try_exclusive("jobs") as one, try_exclusive("jobs") as again, try_exclusive("other") as other:
        assert one and again and other
    with try_exclusive("jobs") as after:
        assert after


def test_numbers_differ_and_fit() -> None:
    numbers = {lock_number(name) for name in ("jobs", "scan", "embedding")}
    assert len(numbers) == 3 and all(-(2**63) <= number < 2**63 for number in numbers)


def test_another_machine_that_holds_it_is_waited_for(vault_folder: VaultFolder) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is on one machine")
    import psycopg

    given = connection.get_connection_params()
    known = {name: given[name] for name in ("host", "port", "user", "password", "dbname") if given.get(name)}
    elsewhere = psycopg.connect(**known, autocommit=True)
    try:
        elsewhere.execute("SELECT pg_advisory_lock(%s::bigint)", [lock_number("jobs")])
        with try_exclusive("jobs") as ours:
            assert not ours
        with pytest.raises(SynapseError) as refused, exclusive("jobs", timeout=0.1):
            pass
        assert refused.value.code is ErrorCode.CONFLICT
    finally:
        elsewhere.close()
    # With the connection the lock went too.
    with try_exclusive("jobs", timeout=10) as ours:
        assert ours
