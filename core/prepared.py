"""Statements that the database plans once a connection: for the few that machines send all the time."""

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper


def cursor() -> CursorWrapper:
    """Return a cursor of Django's connection, counted and logged as its own cursors are.

    It sends values beside the statement, which is prepared at its first use (`env.database` says when
    not). The text of a statement has to be the same each time: values go in as parameters only.
    """
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    raw: Any = psycopg.Cursor(connection.connection)
    return connection.make_debug_cursor(raw) if connection.queries_logged else connection.make_cursor(raw)


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Send the statements inside in one go: one round trip, and each still sees what stands when it starts.

    What a cursor found is there at the end, if it is still open then; errors come at the end, too.
    """
    connection.ensure_connection()
    raw: Any = connection.connection
    with connection.wrap_database_errors, raw.pipeline():
        yield
