"""Plain SQL where the ORM would be the cost: rows by the thousand, and the many small reads of one write."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final, TypeVar

from django.db import connection, models

T = TypeVar("T")

#: Rows named in one IN list: well below what SQLite takes as parameters of one statement.
IN_LIST: Final = 400
#: Rows of one INSERT on PostgreSQL.
_ROWS_A_STATEMENT: Final = 1_000
#: The lock that index writers of one PostgreSQL database take in turn (the bytes of "synapse").
INDEX_LOCK: Final = 0x73796E61707365
_JSON: Final = json.JSONEncoder(ensure_ascii=False)
_TABLES: Final = {
    **{name: f"wiki_{name}" for name in ("page", "file", "alias", "tag", "citation", "link", "edge")},
    "atom": "wiki_atomrow",
    "relation": "wiki_atomrelation",
}


def chunks(items: Iterable[T], size: int = IN_LIST) -> Iterator[list[T]]:
    """The items in lists of at most ``size``."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def index_lock() -> None:
    """Let index writers take turns; the first statement of each transaction that writes links or edges.

    What a link resolves to and what an edge weighs depends on rows that another transaction may be about to
    commit. SQLite's IMMEDIATE transactions take turns by themselves.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [INDEX_LOCK])


def select(statement: str, items: Iterable[Any], size: int = IN_LIST) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement in which each ``{items}`` stands for the items as an IN list, a chunk at a time.

    ``{page}``, ``{file}``, ``{alias}``, ``{tag}``, ``{citation}``, ``{link}``, ``{edge}``, ``{atom}`` and
    ``{relation}`` stand for the tables. A row that two chunks find comes twice. Building a QuerySet costs several
    times what such a small statement does.
    """
    for chunk in chunks(items, size):
        places = "(" + ", ".join(["%s"] * len(chunk)) + ")"
        sql = statement.format(items=places, **_TABLES)
        with connection.cursor() as cursor:
            cursor.execute(sql, chunk * statement.count("{items}"))
            yield from cursor.fetchall()


def all_rows(statement: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement over whole tables, named as in :func:`select`, without holding them all."""
    with connection.cursor() as cursor:
        cursor.execute(statement.format(**_TABLES))
        while rows := cursor.fetchmany(5_000):
            yield from rows


def from_json(value: Any) -> Any:
    """The value of a JSON column as :func:`select` gives it: text on SQLite, read already on PostgreSQL."""
    return json.loads(value) if isinstance(value, str) else value


@contextmanager
def many_rows() -> Iterator[None]:
    """For the length of the block, expect rows by the ten thousand: SQLite copies its log back less often.

    The log grows to 16 MB or so; a page that several batches write again is then copied once.
    """
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_autocheckpoint = 4000")
        try:
            yield
        finally:
            cursor.execute("PRAGMA wal_autocheckpoint = 1000")


def insert(model: type[models.Model], names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows given as tuples in the order of ``names`` (field names; ``id`` may be among them)."""
    if not rows:
        return
    columns = ", ".join(_column(model, name) for name in names)
    places = ", ".join(["%s"] * len(names))
    table = connection.ops.quote_name(model._meta.db_table)
    start = f"INSERT INTO {table} ({columns}) VALUES "  # noqa: S608 - names of our own fields
    adapted = _adapted(model, names, rows)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.executemany(f"{start}({places})", adapted)
            return
        # Over a connection each statement is a message: many rows in one take half the time.
        for chunk in chunks(adapted, _ROWS_A_STATEMENT):
            cursor.execute(start + ", ".join([f"({places})"] * len(chunk)), [value for row in chunk for value in row])


def update(
    model: type[models.Model],
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    match: Sequence[str] = ("id",),
) -> None:
    """Update rows given as tuples in the order of ``names``, each followed by the values of ``match``."""
    if not rows:
        return
    changes = ", ".join(f"{_column(model, name)} = %s" for name in names)
    condition = " AND ".join(f"{_column(model, name)} = %s" for name in match)
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {table} SET {changes} WHERE {condition}",  # noqa: S608 - names of our own fields
            _adapted(model, (*names, *match), rows),
        )


def reserve_ids(model: type[models.Model], count: int) -> list[int]:
    """Primary keys for ``count`` rows to be inserted in this transaction, rising."""
    if not count:
        return []
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count]
            )
            return sorted(row[0] for row in cursor.fetchall())
        # AUTOINCREMENT: the sequence never falls, so a number is not given twice even after deletions.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        row = cursor.fetchone()
        first = (row[0] if row else 0) + 1
        return list(range(first, first + count))


def _column(model: type[models.Model], name: str) -> str:
    field: Any = model._meta.get_field(name)
    return connection.ops.quote_name(field.column)


def _adapted(model: type[models.Model], names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """The rows with the values that the driver can't take as they are turned into what it can."""
    adapters = [(at, adapter) for at, name in enumerate(names) if (adapter := _adapter(model._meta.get_field(name)))]
    if not adapters:
        return rows
    return [_adapt(row, adapters) for row in rows]


def _adapt(row: Sequence[Any], adapters: list[tuple[int, Callable[[Any], Any]]]) -> list[Any]:
    values = list(row)
    for at, adapter in adapters:
        if values[at] is not None:
            values[at] = adapter(values[at])
    return values


def _adapter(field: Any) -> Callable[[Any], Any] | None:
    if field.is_relation:
        return _adapter(field.target_field)
    if isinstance(field, models.JSONField):
        return _json
    if isinstance(field, models.UUIDField):
        return _hex if connection.vendor == "sqlite" else str
    if isinstance(field, models.DateTimeField):
        return connection.ops.adapt_datetimefield_value
    return None


def _json(value: Any) -> str:
    return _JSON.encode(value)


def _hex(value: uuid.UUID) -> str:
    return value.hex
