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

    Columns have the dictionary's types; `other_types` gives those of columns that no table keeps. Values travel as text and
    DuckDB casts them, so a Decimal arrives exactly; a value that does not fit its column raises
    duckdb.ConversionException: what was put in before it goes with the caller's transaction.
    """
    types = {column: (other_types or {}).get(column) or dictionary().columns[column].type for column in columns}
    con.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({', '.join(f'{c} {t}' for c, t in types.items())})")
    if rows:
        _insert(con, name, types, rows)


def append(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[Value]]) -> None:
    """Append rows to a loaded table, in the dictionary's order of columns; values as in `stage`."""
    if rows:
        _insert(con, table, {column.name: column.type for column in dictionary().tables[table].columns}, rows)


def _insert(
    con: duckdb.DuckDBPyConnection, table: str, types: Mapping[str, str], rows: Sequence[Sequence[Value]]
) -> None:
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
    # One list parameter a column, unnested side by side: a thousand rows in a few milliseconds, without importing pandas.
    # A column that says the same in every row is one value: of a shop's offers that is every second one.
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


#: Up to so many rows, which is most of what a night appends, a parameter a value takes half the time.
_FEW = 4
#: Rows of one statement: of each value in its parameters DuckDB makes an object of its own, over a hundred bytes large, and
#: has all of them at once.
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
