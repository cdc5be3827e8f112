"""Queries whose SQL is made once for a thread: for reads so frequent that making it costs more than running it.

The query is still written as a query set, so what counts as a live page is said in one place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from django.db import connection
from django.db.models import QuerySet

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Sql:
    """Statement and parameters (the names of those that change are at ``slots``), and how a row is read."""

    text: str
    params: list[Any]
    slots: list[tuple[int, str]]
    converters: list[tuple[int, list[Callable[..., Any]], Any]]
    made: Callable[[list[Any]], Any]


class Prepared(Generic[T]):
    """``build`` makes the query set of its parameters: of rows of one model, or of a ``values_list``.

    ``examples`` are values for the parameters, as the database takes them (whole numbers, texts), that nothing else
    in the query equals; where they turn up in its SQL, other values go later.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], **examples: int | str) -> None:
        self._build: Final = build
        self._examples: Final = examples
        self._local = threading.local()

    def rows(self, **values: int | str) -> list[T]:
        """What the query set of these values gives. Raises what it would raise."""
        sql: _Sql | None = getattr(self._local, "sql", None)
        if sql is None:
            sql = self._local.sql = self._made()
        params = [*sql.params]
        for at, name in sql.slots:
            params[at] = values[name]
        with connection.cursor() as cursor:
            cursor.execute(sql.text, params)
            found = cursor.fetchall()
        return [sql.made(_converted(row, sql.converters)) for row in found]

    def _made(self) -> _Sql:
        query_set = self._build(**self._examples)
        compiler = query_set.query.get_compiler(connection=connection)
        text, params = compiler.as_sql()
        slots = [(at, name) for at, param in enumerate(params) if (name := self._name_of(param))]
        missing = set(self._examples) - {name for _, name in slots}
        if missing:
            raise ValueError(f"not in the SQL as they were given: {', '.join(sorted(missing))}")
        selected = [column[0] for column in compiler.select]
        converters = [(at, functions, column) for at, (functions, column) in compiler.get_converters(selected).items()]
        made: Callable[[list[Any]], Any] = tuple
        if query_set.query.default_cols:
            names = [column.target.attname for column in selected]
            model = query_set.model

            def made(row: list[Any]) -> Any:
                return model.from_db(connection.alias, names, row)

        return _Sql(text, list(params), slots, converters, made)

    def _name_of(self, param: Any) -> str:
        same = (name for name, example in self._examples.items() if type(param) is type(example) and param == example)
        return next(same, "")


def _converted(row: Any, converters: list[tuple[int, list[Callable[..., Any]], Any]]) -> list[Any]:
    values = list(row)
    for at, functions, column in converters:
        for function in functions:
            values[at] = function(values[at], column, connection)
    return values
