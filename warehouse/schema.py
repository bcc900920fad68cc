"""Creates the loaded tables from the dictionary, with its comments, and carries over those of an older file.

A file states the number of its schema. One with a higher number is refused by name and stays as it is. In one with a lower
number, the run that finds it brings each loaded table to its declared columns, by name. Built tables need no number: the
build makes them anew whenever their definition changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import duckdb

from gpuledger import __version__
from gpuledger.message import Message
from gpuledger.warehouse.dictionary import Table, dictionary
from gpuledger.warehouse.errors import NewerWarehouse, OlderWarehouse

SCHEMAS = ("core", "mart", "ops")


#: The settings of our connections. DuckDB 2.0 would draw a progress bar into the output of a query that takes two seconds.
SESSION = "SET TimeZone = 'UTC'; SET autoinstall_known_extensions = false; SET enable_progress_bar = false"


def quote(text: str) -> str:
    """`text` as an SQL string literal. COMMENT ON takes no parameters, so its text must be part of the statement."""
    return "'" + text.replace("'", "''") + "'"


#: The number of the schema: the loaded tables, their columns and types. It moves by one with every change of them, and a
#: test keeps it so.
NUMBER = 11

#: Loaded tables of earlier programs that nothing reads any more. An older file loses them.
_RETIRED = ("core.chart_value", "ops.source_profile")
#: Columns of earlier programs that hold nothing but what the program itself brings. An older file loses them.
_RETIRED_COLUMNS = frozenset(("core.model_weights.text_encoder_bytes",))

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
            # No PRIMARY KEY: DuckDB checks it with an index that is built in memory and slows bulk loads. The loader keeps
            # keys unique, and a test asserts that.
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


def content(con: duckdb.DuckDBPyConnection, table: str, only: Sequence[tuple[str, str]] | None = None) -> str:
    """Fingerprint of a table's rows and columns, or of the columns in `only` (names and types). It does not depend on the
    order of rows.

    It has the number of rows and the sum of DuckDB's 64-bit row hashes. XOR instead of a sum would not notice pairs of equal
    rows. Two different contents agree by chance about once in 2^64.
    """
    of = columns(con, table) if only is None else only
    listed = ", ".join(f'"{name}"' for name, _ in of) or "1"
    # All rows are fetched: a result of which one may be left keeps the connection from taking a frame.
    ((rows, hashes),) = con.execute(
        f"SELECT count(*), coalesce(sum(hash({listed})), 0)::VARCHAR FROM {table}"
    ).fetchall()
    return f"{rows}:{hashes}:{hash_text(repr([*of]))}"


def columns(con: duckdb.DuckDBPyConnection, table: str) -> list[tuple[str, str]]:
    """Names and types of a table's or a view's columns."""
    return [(name, type) for name, type, *_ in con.execute(f"DESCRIBE {table}").fetchall()]


def hash_text(text: str) -> str:
    """Short SHA-256 of a text, for fingerprints."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


Origin = Literal["archive", "baseline"]


@dataclass(frozen=True, slots=True)
class Written:
    """The record in a file about the program that wrote it: the number of its schema, the fingerprint of the comments and
    macros in the file, and the program's version.
    """

    number: int
    definition: str
    program: str


def written(con: duckdb.DuckDBPyConnection) -> Written | None:
    """The record of the file in use about its writer; None if it has no table of ours."""
    # Without listing the tables first, which takes five times as long, as every answer begins here.
    with suppress(duckdb.CatalogException):
        row = con.execute(
            "SELECT version, definition, program FROM ops.schema_version ORDER BY rowid DESC LIMIT 1"
        ).fetchone()
        if row:
            return Written(*row)
    ours = con.execute(
        """SELECT 1 FROM duckdb_tables()
           WHERE schema_name = 'ops' AND database_name = current_database() AND table_name = 'run'"""
    ).fetchone()
    return Written(0, "", "of an early day") if ours else None


def refuse_newer(found: Written, name: str) -> None:
    """Raise NewerWarehouse if the file `name` has a schema of a higher number than this program."""
    if found.number > NUMBER:
        raise NewerWarehouse(Message(
            "{name} has schema {number}, written by gpuledger {program}, and this gpuledger {version} has schema "
            "{number2}: open it with the program that wrote it, or use another --data-dir", name=name,
            number=found.number, program=found.program, version=__version__, number2=NUMBER,
        ))  # fmt: skip


def refuse_newer_duckdb(error: duckdb.Error, name: str) -> None:
    """Raise NewerWarehouse if the file `name` could not be opened because a newer DuckDB wrote it."""
    if "newer version of DuckDB" in str(error):
        reason = str(error).splitlines()[0].removeprefix("IO Error: ").rstrip(".")
        raise NewerWarehouse(Message(
            "{name} was written by a newer DuckDB, and this is DuckDB {version} ({reason}): update gpuledger and its "
            "DuckDB, or use another --data-dir", name=name, version=duckdb.__version__, reason=reason,
        )) from None  # fmt: skip


def begin(con: duckdb.DuckDBPyConnection, run_id: str, name: str, *, origin: Origin = "archive") -> None:
    """Create this program's loaded tables in a new file, or carry over those of an older one. Call it outside of a
    transaction.

    If anything differs, comments and macros are written anew too, and every model is built again. `origin` says how the file
    `name` could be made anew: from its archive, or, as a baseline whose pages are no longer archived, not at all. Raises
    NewerWarehouse, and OlderWarehouse for what cannot be carried over; then the file is as it was.
    """
    found, loaded = written(con), dictionary().tables.values()
    comments = [(table.name, table.description, [column.comment for column in table.columns]) for table in loaded]
    definition = hash_text(repr((comments, MACROS)))
    if found is not None:
        refuse_newer(found, name)
        if (found.number, found.definition) == (NUMBER, definition):
            return
    con.execute("BEGIN")
    try:
        if found is not None:
            _carry_over(con, found, name, origin)
        create(con)
        if found is not None:
            for retired in _RETIRED:
                con.execute(f"DROP TABLE IF EXISTS {retired}")
            for table in loaded:
                describe(con, table)
            con.execute("UPDATE ops.model_state SET definition = '', fingerprint = ''")
        con.execute(
            "INSERT INTO ops.schema_version (run_id, version, definition, program) VALUES (?, ?, ?, ?)",
            [run_id, NUMBER, definition, __version__],
        )
        con.execute("COMMIT")
    except BaseException:
        con.execute("ROLLBACK")
        raise


def _carry_over(con: duckdb.DuckDBPyConnection, found: Written, name: str, origin: Origin) -> None:
    """Bring every loaded table of the file to its declared columns, by name; a new one gets its declared default.

    Raises OlderWarehouse, naming the columns, if a column that is declared no more has values, or one of another type has
    values that the new type does not hold. Nothing is written before all tables are looked at.
    """
    old = _columns_in_file(con)
    lost: list[str] = []
    carried: dict[str, str] = {}
    for table in dictionary().tables.values():
        before = old.get(table.name)
        now = {column.name: column.type for column in table.columns}
        if before is None or [*before.items()] == [*now.items()]:
            continue
        lost += _lost(con, table.name, before, now)
        values = {c.name: f'"{c.name}"' if c.name in before else c.default or "NULL" for c in table.columns}
        listed = ", ".join(f'({value})::{now[column]} AS "{column}"' for column, value in values.items())
        carried[table.name] = f"CREATE OR REPLACE TABLE {table.name} AS SELECT {listed} FROM {table.name}"
    if lost:
        raise OlderWarehouse(
            Message(
                "{name} has schema {number}, written by gpuledger {program}, and this gpuledger {version} has schema "
                "{number2} and no place for the values of {columns}: nothing was changed; `gpuledger replay` makes it "
                "anew from the archive, or go back to gpuledger {program}" if origin == "archive"
                else "{name} has schema {number}, written by gpuledger {program}, and this gpuledger {version} has "
                "schema {number2} and no place for the values of {columns}: nothing was changed; a vacuum forgot its "
                "pages, so go back to gpuledger {program}", name=name, number=found.number, program=found.program,
                version=__version__, number2=NUMBER, columns=", ".join(lost),
            )
        )  # fmt: skip
    for statement in carried.values():
        con.execute(statement)
    if carried:
        # Fingerprints of batches and seeds too: what was read before may now fill the new columns.
        con.execute("DELETE FROM ops.table_content")


def _lost(con: duckdb.DuckDBPyConnection, table: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The columns of a table with values that the declared columns do not hold: those that come back as they were."""
    kept = {
        column: f'TRY_CAST(TRY_CAST("{column}" AS {now[column]}) AS {type})' if column in now else "NULL"
        for column, type in before.items() if now.get(column) != type and f"{table}.{column}" not in _RETIRED_COLUMNS
    }  # fmt: skip
    if not kept:
        return []
    counts = ", ".join(f'count(*) FILTER ("{column}" IS DISTINCT FROM {value})' for column, value in kept.items())
    row = con.execute(f"SELECT {counts} FROM {table}").fetchone()
    assert row is not None
    return [f"{table}.{column}" for column, count in zip(kept, row, strict=True) if count]


def _columns_in_file(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """The columns of each table of the file in use, with their types as the dictionary writes them."""
    found: dict[str, dict[str, str]] = {}
    for table, column, type in con.execute(
        """SELECT schema_name || '.' || table_name, column_name,
               replace(data_type, 'TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ')
           FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal ORDER BY table_oid, column_index
        """
    ).fetchall():
        found.setdefault(table, {})[column] = type
    return found
