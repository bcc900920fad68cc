"""Which program reads and writes a warehouse file: one whose schema has the number that the file states.

Every other file is refused by name and stays as it is. There are no migrations: an older file is made anew from the archive.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import duckdb

from gpuledger import __version__
from gpuledger.extract.message import Message
from gpuledger.warehouse import schema
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.errors import NewerWarehouse, OlderWarehouse


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


def refuse_other(found: Written, name: str, *, is_baseline: bool = False) -> None:
    """Raise NewerWarehouse or OlderWarehouse if the file `name` has another schema than this program.

    Only the program that wrote a baseline can go on from it: the pages of its runs are no longer archived.
    """
    number, program = found.number, found.program
    if number > schema.NUMBER:
        raise NewerWarehouse(
            Message(
                "warehouse.schema_written_gpuledger_gpuledger_schema",
                name=name,
                number=number,
                program=program,
                version=__version__,
                number2=schema.NUMBER,
            )
        )
    if number < schema.NUMBER and is_baseline:
        raise OlderWarehouse(
            Message(
                "warehouse.schema_written_gpuledger_gpuledger_schema_2",
                name=name,
                number=number,
                program=program,
                version=__version__,
                number2=schema.NUMBER,
            )
        )
    if number < schema.NUMBER:
        raise OlderWarehouse(
            Message(
                "warehouse.schema_written_gpuledger_gpuledger_schema_3",
                name=name,
                number=number,
                program=program,
                version=__version__,
                number2=schema.NUMBER,
            )
        )


def refuse_newer_duckdb(error: duckdb.Error, name: str) -> None:
    """Raise NewerWarehouse if the file `name` could not be opened because a newer DuckDB wrote it."""
    if "newer version of DuckDB" in str(error):
        reason = str(error).splitlines()[0].removeprefix("IO Error: ").rstrip(".")
        raise NewerWarehouse(
            Message("warehouse.written_newer_duckdb_duckdb", name=name, version=duckdb.__version__, reason=reason)
        ) from None


def begin(con: duckdb.DuckDBPyConnection, run_id: str, name: str, *, is_baseline: bool = False) -> None:
    """Create this program's schema in a new file, or take a file that has it. Call it outside of a transaction.

    If only texts of comments or macros changed, they are written anew, and every model is built again. Raises NewerWarehouse
    and OlderWarehouse, and then the file is as it was.
    """
    found = written(con)
    definition = _definition()
    if found is not None:
        refuse_other(found, name, is_baseline=is_baseline)
        if found.definition == definition:
            return
    con.execute("BEGIN")
    try:
        schema.create(con)
        if found is not None:
            for table in dictionary().tables.values():
                schema.describe(con, table)
            con.execute("UPDATE ops.model_state SET definition = '', fingerprint = ''")
        con.execute(
            "INSERT INTO ops.schema_version (run_id, version, definition, program) VALUES (?, ?, ?, ?)",
            [run_id, schema.NUMBER, definition, __version__],
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
    return schema.hash_text(repr((tables, schema.MACROS)))
