"""A query that every request makes, turned into SQL once: what it costs is then the round trip."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from django.db import connection, models
from django.db.models.query import get_related_populators

from core import prepared

Row = TypeVar("Row", bound=models.Model)
_VALUE = "\x02value"  # stands for the value while the query is compiled


@dataclass(frozen=True, slots=True)
class _Compiled:
    compiler: Any
    sql: str
    params: tuple[Any, ...]
    converters: dict[int, Any]
    model: type[models.Model]
    names: list[str]
    span: slice
    related: list[Any]


class Lookup(Generic[Row]):
    """Finds a row by one text, with the rows that the query's ``select_related`` names."""

    def __init__(self, query: Callable[[str], models.QuerySet[Row]]) -> None:
        self._query = query
        self._compiled: _Compiled | None = None

    def first(self, value: str) -> Row | None:
        """Return the first row of the query for this value, or None."""
        compiled = self._compiled = self._compiled or _compile(self._query(_VALUE)[:1])
        with prepared.cursor() as cursor:
            cursor.execute(compiled.sql, [value if part == _VALUE else part for part in compiled.params])
            found = cursor.fetchone()
        if found is None:
            return None
        if compiled.converters:
            (found,) = compiled.compiler.apply_converters([found], compiled.converters)
        row = compiled.model.from_db(connection.alias, compiled.names, found[compiled.span])
        for one in compiled.related:
            one.populate(found, row)
        return cast(Row, row)


def _compile(query: models.QuerySet[Any]) -> _Compiled:
    compiler = query.query.get_compiler(connection=connection)
    sql, params = compiler.as_sql()
    select, info = compiler.select, compiler.klass_info
    columns = info["select_fields"]
    span = slice(columns[0], columns[-1] + 1)
    return _Compiled(
        compiler=compiler,
        sql=sql,
        params=tuple(params),
        converters=compiler.get_converters([expression for expression, *_ in select]),
        model=info["model"],
        names=[expression.target.attname for expression, *_ in select[span]],
        span=span,
        # the stubs describe the Django after ours
        related=get_related_populators(info, select, connection.alias),  # type: ignore[call-arg]
    )
