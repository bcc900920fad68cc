"""Create the loaded tables from the dictionary, with the dictionary's comments on every table and column."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

import duckdb

from gpuledger.warehouse.dictionary import Table, dictionary

SCHEMAS = ("core", "mart", "ops")


#: The settings of our connections. DuckDB 2.0 would draw a progress bar into the output of a query that takes two seconds.
SESSION = "SET TimeZone = 'UTC'; SET autoinstall_known_extensions = false; SET enable_progress_bar = false"


def quote(text: str) -> str:
    """`text` as an SQL string literal. COMMENT ON takes no parameters, so its text must be part of the statement."""
    return "'" + text.replace("'", "''") + "'"


#: The number of the schema: the tables and columns that a file has, and their types. It moves by one with every change of
#: them, and a test keeps it so. A file of another number is refused (`written.py`).
NUMBER = 4

#: a / b rounded half up to `digits` decimals, exactly. DuckDB divides decimals as binary fractions, and 0.00505 is not one.
#: So both are scaled to whole numbers first, and at most six decimals of each count. NULL if b is zero. It adds one to the
#: whole part of twice the ratio and halves that: so each argument stands in it once, and every query plans it once.
_RATIO_HALF_UP = """
CREATE OR REPLACE MACRO core.ratio_half_up(a, b, digits) AS (
    ((
        ((a::DECIMAL(38,6) * 1000000)::HUGEINT * 2 * core.power_of_ten(digits)
            // nullif((b::DECIMAL(38,6) * 1000000)::HUGEINT, 0) + 1)
        // 2
    ) * core.power_of_ten(12 - digits))::DECIMAL(26,0) * 0.000000000001::DECIMAL(12,12)
)
"""
#: 10 ** n as a whole number, for n from 0 to 12. DuckDB's own power is a binary fraction.
_POWER_OF_TEN = """
CREATE OR REPLACE MACRO core.power_of_ten(n) AS rpad('1', n + 1, '0')::HUGEINT
"""

#: Whether rows that were seen at one time still count at a later one, for as many hours as their source is fresh. NULL if a
#: time is unknown. It counts minutes as date_diff does, but from numbers: date_diff asks a calendar about times with a zone,
#: which took a quarter of a question about a past day.
_IS_FRESH = """
CREATE OR REPLACE MACRO core.is_fresh(seen_at, now_at, fresh_hours) AS (
    epoch_us(now_at) // 60000000 - epoch_us(seen_at) // 60000000 <= fresh_hours * 60
)
"""


#: Macros that models may call.
MACROS = ";".join((_POWER_OF_TEN, _RATIO_HALF_UP, _IS_FRESH))


def create(con: duckdb.DuckDBPyConnection) -> None:
    """Create missing schemas and loaded tables, with comments. Existing rows stay as they are."""
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
    # No PRIMARY KEY: DuckDB checks it with an index that is built in memory and slows bulk loads. The loader keeps keys
    # unique, and a test asserts that.
    columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
    con.execute(f"CREATE TABLE {table.name} ({columns})")
    describe(con, table)


def describe(con: duckdb.DuckDBPyConnection, table: Table) -> None:
    """Set the comments of a loaded table and its columns to the texts of the dictionary."""
    comment(con, "TABLE", table.name, table.description, {column.name: column.comment for column in table.columns})


def comment(con: duckdb.DuckDBPyConnection, kind: str, name: str, description: str, columns: dict[str, str]) -> None:
    """Set the comment of a table or view (`kind`) and of its columns. `CREATE OR REPLACE` drops them, so set them anew."""
    statements = [f"COMMENT ON {kind} {name} IS {quote(description)}"]
    statements += [f'COMMENT ON COLUMN {name}."{column}" IS {quote(text)}' for column, text in columns.items()]
    con.execute(";".join(statements))


def content(con: duckdb.DuckDBPyConnection, table: str, only: Collection[str] | None = None) -> str:
    """Fingerprint of a table's rows and columns, or of the columns in `only`. It does not depend on the order of rows.

    It has the sum of DuckDB's 64-bit row hashes and the number of rows. XOR instead of a sum would not notice pairs of equal
    rows. Two different contents agree by chance about once in 2^64.
    """
    return content_of(con, table, [column for column in columns(con, table) if only is None or column[0] in only])


def columns(con: duckdb.DuckDBPyConnection, table: str) -> list[tuple[str, str]]:
    """Names and types of a table's or a view's columns."""
    return [(name, type) for name, type, *_ in con.execute(f"DESCRIBE {table}").fetchall()]


def content_of(con: duckdb.DuckDBPyConnection, table: str, only: Sequence[tuple[str, str]]) -> str:
    """`content` for a caller that knows which columns count. The fingerprint begins with the number of rows."""
    listed = ", ".join(f'"{name}"' for name, _ in only) or "1"
    row = con.execute(f"SELECT count(*), coalesce(sum(hash({listed})), 0)::VARCHAR FROM {table}").fetchone()
    assert row is not None
    return f"{row[0]}:{row[1]}:{hash_text(repr([*only]))}"


def hash_text(text: str) -> str:
    """Short SHA-256 of a text, for fingerprints."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
