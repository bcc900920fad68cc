"""Create the loaded tables from the dictionary and keep the comments of every table and column in step with it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

import duckdb

from gpuledger.warehouse.dictionary import Table, dictionary

SCHEMAS = ("core", "mart", "ops")


#: What every connection of ours is set to. DuckDB 2.0 draws a bar into the output of a query that takes two seconds.
SESSION = "SET TimeZone = 'UTC'; SET autoinstall_known_extensions = false; SET enable_progress_bar = false"


def quote(text: str) -> str:
    """`text` as an SQL string literal. COMMENT ON takes no parameters, so the text must be in the statement."""
    return "'" + text.replace("'", "''") + "'"


#: a / b rounded half up to `digits` decimals, exact: DuckDB divides decimals as binary fractions, and 0.00505 is not one.
#: Both are scaled to whole numbers first, so at most six decimals of each count. NULL where b is zero.
_RATIO_HALF_UP = """
CREATE OR REPLACE MACRO core.ratio_half_up(a, b, digits) AS (
    ((
        ((a::DECIMAL(38,6) * 1000000)::HUGEINT * 2 * core.power_of_ten(digits) + (b::DECIMAL(38,6) * 1000000)::HUGEINT)
        // nullif((b::DECIMAL(38,6) * 1000000)::HUGEINT * 2, 0)
    ) * core.power_of_ten(12 - digits))::DECIMAL(26,0) * 0.000000000001::DECIMAL(12,12)
)
"""
#: 10 ** n as a whole number: DuckDB's own power is a binary fraction. n from 0 to 12.
_POWER_OF_TEN = f"""
CREATE OR REPLACE MACRO core.power_of_ten(n) AS ({[10**n for n in range(13)]}::HUGEINT[])[n + 1]
"""


#: What models may call.
MACROS = _POWER_OF_TEN + ";" + _RATIO_HALF_UP


def create(con: duckdb.DuckDBPyConnection) -> None:
    """Create schemas and loaded tables where they are missing, with comments; existing rows are left alone."""
    for schema in SCHEMAS:
        con.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    con.execute(MACROS)
    existing = {
        f"{schema}.{table}"
        for schema, table in con.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()
    }
    for table in dictionary().tables.values():
        if table.name not in existing:
            _create_table(con, table)


def _create_table(con: duckdb.DuckDBPyConnection, table: Table) -> None:
    # No PRIMARY KEY: DuckDB checks it with an index that is built in memory and slows bulk loads; the loader keeps keys
    # unique by construction and a test asserts it.
    columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
    con.execute(f"CREATE TABLE {table.name} ({columns})")
    describe(con, table)


def describe(con: duckdb.DuckDBPyConnection, table: Table) -> None:
    """Set the comments of a loaded table and its columns to the dictionary's words."""
    comment(con, "TABLE", table.name, table.description, {column.name: column.comment for column in table.columns})


def comment(con: duckdb.DuckDBPyConnection, kind: str, name: str, description: str, columns: dict[str, str]) -> None:
    """Set the comment of a table or view (`kind`) and of its columns. `CREATE OR REPLACE` drops them, so set them again."""
    statements = [f"COMMENT ON {kind} {name} IS {quote(description)}"]
    statements += [f'COMMENT ON COLUMN {name}."{column}" IS {quote(text)}' for column, text in columns.items()]
    con.execute(";".join(statements))


def content(con: duckdb.DuckDBPyConnection, table: str, only: Collection[str] | None = None) -> str:
    """Fingerprint of a table's rows and columns, independent of the rows' order; of the columns in `only`, where given.

    The sum of DuckDB's 64-bit row hashes beside the number of rows: a sum, not XOR, since XOR is blind to pairs of equal
    rows. Two different contents agree by chance about once in 2^64.
    """
    return content_of(con, table, [column for column in columns(con, table) if only is None or column[0] in only])


def columns(con: duckdb.DuckDBPyConnection, table: str) -> list[tuple[str, str]]:
    """Names and types of a table's or a view's columns."""
    return [(name, type) for name, type, *_ in con.execute(f"DESCRIBE {table}").fetchall()]


def content_of(con: duckdb.DuckDBPyConnection, table: str, only: Sequence[tuple[str, str]]) -> str:
    """`content` for a caller that knows the `columns` of the table and which of them count. It begins with the number of
    rows.
    """
    listed = ", ".join(f'"{name}"' for name, _ in only) or "1"
    row = con.execute(f"SELECT count(*), coalesce(sum(hash({listed})), 0)::VARCHAR FROM {table}").fetchone()
    assert row is not None
    return f"{row[0]}:{row[1]}:{hash_text(repr([*only]))}"


def hash_text(text: str) -> str:
    """Short SHA-256 of a text, for fingerprints."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
