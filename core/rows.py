"""Rows of several tables written by one statement: all or none, in one round trip."""

import functools
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, models

from core import prepared

Shape = tuple[type[models.Model], tuple[str, ...]]


def insert(*rows: models.Model) -> None:
    """Write new rows that know each other's keys; raises what the database raises, and then none stands.

    A row whose key the database numbers does not learn it. References between the rows may go in any
    order: Django's foreign keys are checked when the transaction ends. Without a transaction around it
    the statement is its own, so what waits for a commit is to be asked for afterwards. Inside one, a
    caller who goes on after an error needs a savepoint.
    """
    database = connections[DEFAULT_DB_ALIAS]
    shapes: list[Shape] = []
    values: list[Any] = []
    for row in rows:
        found = [
            field.get_db_prep_save(field.pre_save(row, add=True), database) for field in _fields(type(row))
        ]
        marks = tuple([_mark(value) for value in found])
        shapes.append((type(row), marks))
        values += [value for value, mark in zip(found, marks, strict=True) if mark == "%s"]
    with prepared.cursor() as cursor:
        cursor.execute(_statement(*shapes), values)
    for row in rows:
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def _mark(value: Any) -> str:
    """Return how a value stands in the statement: left out when null; empty text is no parameter.

    That keeps them below 50, from where on psycopg reads the statement anew each time.
    """
    if value is None:
        return ""
    return "''" if value == "" else "%s"


@functools.cache
def _fields(model: type[models.Model]) -> "tuple[models.Field[Any, Any], ...]":
    """Return the fields of a table, without a key that the database numbers."""
    numbered = (models.AutoField, models.BigAutoField)
    return tuple(field for field in model._meta.local_concrete_fields if not isinstance(field, numbered))


@functools.lru_cache(maxsize=256)
def _statement(*shapes: Shape) -> str:
    """Return one statement that inserts a row of each shape."""
    *others, last = [_insert(model, marks) for model, marks in shapes]
    head = ", ".join(f"row_{place} AS ({sql})" for place, sql in enumerate(others))
    return f"WITH {head} {last}" if head else last


def _insert(model: type[models.Model], marks: tuple[str, ...]) -> str:
    quote = connection.ops.quote_name
    given = {
        quote(str(field.column)): mark for field, mark in zip(_fields(model), marks, strict=True) if mark
    }
    table, columns, values = quote(model._meta.db_table), ", ".join(given), ", ".join(given.values())
    return f"INSERT INTO {table} ({columns}) VALUES ({values})"  # noqa: S608
