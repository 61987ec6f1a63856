"""Rows of several tables written by one statement: all or none, in one round trip."""

import contextlib
import functools
from typing import Any

from django.db import connection, models, transaction


def insert(*rows: models.Model) -> None:
    """Write new rows that know each other's keys; raises what the database raises, and then none stands.

    A row whose key the database numbers does not learn it. References between the rows may go in any
    order: Django's foreign keys are checked when the transaction ends. Without a transaction around it
    the statement is its own, so what waits for a commit is to be asked for afterwards.
    """
    statements = []
    values: list[Any] = []
    for row in rows:
        fields = _fields(type(row))
        prepared = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in fields]
        given = tuple(value is not None for value in prepared)
        statements.append(_statement(type(row), given))
        values += [value for value in prepared if value is not None]
    *others, last = statements
    head = ", ".join(f"row_{place} AS ({sql})" for place, sql in enumerate(others))
    around = transaction.atomic() if connection.in_atomic_block else contextlib.nullcontext()
    with around, connection.cursor() as cursor:
        cursor.execute(f"WITH {head} {last}" if head else last, values)
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias


@functools.cache
def _fields(model: type[models.Model]) -> "tuple[models.Field[Any, Any], ...]":
    """Return the fields of a table, without a key that the database numbers."""
    numbered = (models.AutoField, models.BigAutoField)
    return tuple(field for field in model._meta.local_concrete_fields if not isinstance(field, numbered))


@functools.cache
def _statement(model: type[models.Model], given: tuple[bool, ...]) -> str:
    """Return the INSERT of a model with the fields that have a value; the others are null."""
    quote = connection.ops.quote_name
    columns = [quote(str(field.column)) for field, used in zip(_fields(model), given, strict=True) if used]
    marks = ", ".join(["%s"] * len(columns))
    return f"INSERT INTO {quote(model._meta.db_table)} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
