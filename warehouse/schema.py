"""Creates the loaded tables from the dictionary, with its comments, and says which program reads and writes a file.

That is one whose schema has the number that the file states. Every other file is refused by name and stays as it is. There
are no migrations: an older file is made anew from the archive.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import duckdb

from gpuledger import __version__
from gpuledger.extract.message import Message
from gpuledger.warehouse.dictionary import Table, dictionary
from gpuledger.warehouse.errors import NewerWarehouse, OlderWarehouse

SCHEMAS = ("core", "mart", "ops")


#: The settings of our connections. DuckDB 2.0 would draw a progress bar into the output of a query that takes two seconds.
SESSION = "SET TimeZone = 'UTC'; SET autoinstall_known_extensions = false; SET enable_progress_bar = false"


def quote(text: str) -> str:
    """`text` as an SQL string literal. COMMENT ON takes no parameters, so its text must be part of the statement."""
    return "'" + text.replace("'", "''") + "'"


#: The number of the schema: the tables and columns that a file has, and their types. It moves by one with every change of
#: them, and a test keeps it so. A file of another number is refused (`written.py`).
NUMBER = 7

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


Origin = Literal["archive", "baseline", "store"]


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


def refuse_other(found: Written, name: str, *, origin: Origin = "archive") -> None:
    """Raise NewerWarehouse or OlderWarehouse if the file `name` has another schema than this program.

    `origin` says how an older file is made anew: from its archive; as a baseline, whose pages are no longer archived, only
    by the program that wrote it; or as a file of a store, by the machine that writes there.
    """
    if found.number == NUMBER:
        return
    is_newer = found.number > NUMBER
    message = Message(
        f"warehouse.other_schema_{'newer' if is_newer else origin}", name=name, number=found.number, program=found.program,
        version=__version__, number2=NUMBER,
    )  # fmt: skip
    raise (NewerWarehouse if is_newer else OlderWarehouse)(message)


def refuse_newer_duckdb(error: duckdb.Error, name: str) -> None:
    """Raise NewerWarehouse if the file `name` could not be opened because a newer DuckDB wrote it."""
    if "newer version of DuckDB" in str(error):
        reason = str(error).splitlines()[0].removeprefix("IO Error: ").rstrip(".")
        raise NewerWarehouse(
            Message("warehouse.written_newer_duckdb_duckdb", name=name, version=duckdb.__version__, reason=reason)
        ) from None


def begin(con: duckdb.DuckDBPyConnection, run_id: str, name: str, *, origin: Origin = "archive") -> None:
    """Create this program's schema in a new file, or take a file that has it. Call it outside of a transaction.

    If only texts of comments or macros changed, they are written anew, and every model is built again. Raises NewerWarehouse
    and OlderWarehouse, and then the file is as it was.
    """
    found = written(con)
    definition = _definition()
    if found is not None:
        refuse_other(found, name, origin=origin)
        if found.definition == definition:
            return
    con.execute("BEGIN")
    try:
        create(con)
        if found is not None:
            for table in dictionary().tables.values():
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


def _definition() -> str:
    tables = [
        (table.name, table.description, [column.comment for column in table.columns])
        for table in dictionary().tables.values()
    ]
    return hash_text(repr((tables, MACROS)))
