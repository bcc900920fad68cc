"""Put rows into a typed temporary table, so that the rest of a load is set-based SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import repeat
from operator import is_

import duckdb

from gpuledger.warehouse.dictionary import dictionary

Value = str | int | float | Decimal | date | datetime | bool | None


def stage(
    con: duckdb.DuckDBPyConnection,
    name: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Value]],
    other_types: Mapping[str, str] | None = None,
) -> None:
    """Create the temporary table `name` with `columns` and fill it with `rows`.

    Columns have the dictionary's types; `other_types` gives the types of columns that are in no table. Values are passed as
    text and DuckDB casts them, so a Decimal stays exact. Raises duckdb.ConversionException if a value does not fit its
    column; the caller's transaction then drops the rows before it.
    """
    types = {column: (other_types or {}).get(column) or dictionary().columns[column].type for column in columns}
    con.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({', '.join(f'{c} {t}' for c, t in types.items())})")
    if rows:
        insert(con, name, types, rows)


def count(con: duckdb.DuckDBPyConnection, statement: str, parameters: object = None) -> int:
    """Run an INSERT, UPDATE, DELETE or CREATE … AS, and return how many rows it touched."""
    row = con.execute(statement, parameters).fetchone()
    return int(row[0]) if row else 0


def empty() -> duckdb.DuckDBPyConnection:
    """A database in memory, to try whether rows fit into their columns."""
    return duckdb.connect()


def append(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[Value]]) -> None:
    """Append rows to a loaded table, with values in the dictionary's order of columns and passed as in `stage`."""
    if rows:
        insert(con, table, {column.name: column.type for column in dictionary().tables[table].columns}, rows)


def insert(
    con: duckdb.DuckDBPyConnection, table: str, types: Mapping[str, str], rows: Sequence[Sequence[Value]]
) -> None:
    """Append rows to any table, with values in the order of the columns in `types`, passed as in `stage`."""
    if len(rows) <= _FEW:
        row = ", ".join(f"?::{type}" for type in types.values())
        texts = [_text(value) for values in rows for value in values]
        con.execute(f"INSERT INTO {table} VALUES {', '.join([f'({row})'] * len(rows))}", texts)
        return
    for first in range(0, len(rows), _PART):
        _insert_part(con, table, types, rows[first : first + _PART])


def _insert_part(
    con: duckdb.DuckDBPyConnection, table: str, types: Mapping[str, str], rows: Sequence[Sequence[Value]]
) -> None:
    # A list parameter for each column, unnested side by side: a thousand rows take a few milliseconds, without pandas.
    # A column with the same value in every row is passed as one value. In a shop's offers every second column is such.
    columns = [*zip(*rows, strict=True)]
    same = [all(map(is_, column, repeat(column[0]))) for column in columns]
    if all(same):
        same[0] = False
    selected = ", ".join(
        f"?::{type} AS {name}" if is_same else f"unnest(?::VARCHAR[])::{type} AS {name}"
        for (name, type), is_same in zip(types.items(), same, strict=True)
    )
    con.execute(
        f"INSERT INTO {table} SELECT {selected}",
        [
            _text(column[0]) if is_same else [v if v is None or type(v) is str else _text(v) for v in column]
            for column, is_same in zip(columns, same, strict=True)
        ],
    )


#: For up to so many rows, a parameter for each value takes half the time. Most of a night's inserts are so small.
_FEW = 4
#: Rows of one statement. DuckDB makes an object of over a hundred bytes from each value in the parameters, and keeps all of
#: them at once.
_PART = 20_000


def _text(value: Value) -> str | None:
    if value is None or type(value) is str:
        return value
    return (
        value.isoformat()
        if isinstance(value, date | datetime)
        else format(value, "f")
        if isinstance(value, Decimal)
        else str(value)
    )
