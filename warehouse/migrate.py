"""Bring an old warehouse file up to this program's schema, and refuse a file that a newer program wrote.

A file states its schema in ops.schema_version: a version, which grows with each script in `migrations/`, and the fingerprint
of all loaded tables, as the dictionary of the program that wrote the file describes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from gpuledger import __version__
from gpuledger.warehouse import schema
from gpuledger.warehouse.dictionary import Dictionary, Table, dictionary
from gpuledger.warehouse.errors import NewerWarehouse, NotAWarehouse

MIGRATIONS = Path(__file__).with_name("migrations")
#: Version of a file that has no ops.schema_version.
FIRST = 1


@dataclass(frozen=True, slots=True)
class Written:
    """The record in a file about the program that wrote it: schema version, fingerprint of its tables, program version."""

    version: int
    structure: str
    program: str


def scripts(folder: Path = MIGRATIONS) -> dict[int, Path]:
    """The migration scripts by the version to which they lead, ascending. Raises ValueError for a misnamed file."""
    by_version = {}
    for path in sorted(folder.glob("*.sql")):
        number = re.match(r"(\d+)_\w+\.sql$", path.name)
        if number is None or int(number[1]) <= FIRST or int(number[1]) in by_version:
            raise ValueError(
                f"{path}: a migration is named <version>_<what>.sql, each version once, from {FIRST + 1} on"
            )
        by_version[int(number[1])] = path
    return dict(sorted(by_version.items()))


def current(folder: Path = MIGRATIONS) -> int:
    """The schema version of this program."""
    return max(scripts(folder), default=FIRST)


def written(con: duckdb.DuckDBPyConnection) -> Written | None:
    """The record of the file in use about its writer; None if it has no table of ours."""
    # Without listing the tables first, which takes five times as long, as every answer begins here.
    with suppress(duckdb.CatalogException):
        row = con.execute(
            "SELECT version, definition, program FROM ops.schema_version ORDER BY version DESC, rowid DESC LIMIT 1"
        ).fetchone()
        if row:
            return Written(*row)
    ours = con.execute(
        """SELECT 1 FROM duckdb_tables()
           WHERE schema_name = 'ops' AND database_name = current_database() AND table_name = 'run'"""
    ).fetchone()
    return Written(FIRST, "", "before 0.1") if ours else None


def refuse_newer(schema_found: Written | None, name: str, folder: Path = MIGRATIONS) -> None:
    """Raise NewerWarehouse, naming both versions, if the file `name` has a schema that this program does not know."""
    if schema_found is not None and schema_found.version > current(folder):
        raise NewerWarehouse(
            _newer(name, f"schema version {schema_found.version}", schema_found, f"knows up to {current(folder)}")
        )


def _newer(name: str, has: str, schema_found: Written, knows: str) -> str:
    return (
        f"{name} has {has}, written by gpuledger {schema_found.program}, and this is gpuledger {__version__}, which "
        f"{knows}: update gpuledger, or use another --data-dir"
    )


def refuse_newer_duckdb(error: duckdb.Error, name: str) -> None:
    """Raise NewerWarehouse if the file `name` could not be opened because a newer DuckDB wrote it."""
    if "newer version of DuckDB" in str(error):
        reason = str(error).splitlines()[0].removeprefix("IO Error: ").rstrip(".")
        raise NewerWarehouse(
            f"{name} was written by a newer DuckDB, and this is DuckDB {duckdb.__version__} ({reason}): update gpuledger "
            "and its DuckDB, or use another --data-dir"
        ) from None


def is_current(schema_found: Written) -> bool:
    """Whether the file's tables are those of this program."""
    return schema_found.structure == _structure(dictionary())


def bring_up(con: duckdb.DuckDBPyConnection, run_id: str, name: str, folder: Path = MIGRATIONS) -> list[str]:
    """Bring the file in use up to this program's schema: run the scripts, create what is missing, and keep every row.

    Returns a line for each change to an old file, and none for a new one. `name` is the file's name in messages. Raises
    NewerWarehouse, and NotAWarehouse if a column has another type and no script changes it. Both leave the file as it was.
    Call it outside of a transaction.
    """
    schema_found = written(con)
    refuse_newer(schema_found, name, folder)
    if schema_found is not None and is_current(schema_found) and schema_found.version == current(folder):
        return []
    con.execute("BEGIN")
    try:
        done = [] if schema_found is None else _run_scripts(con, schema_found.version, folder)
        before = _columns(con)
        schema.create(con)
        if schema_found is not None:
            done += _add_columns(con, dictionary(), before, schema_found, name)
            _forget_builds(con)
        con.execute(
            "INSERT INTO ops.schema_version (run_id, version, definition, program) VALUES (?, ?, ?, ?)",
            [run_id, current(folder), _structure(dictionary()), __version__],
        )
        con.execute("COMMIT")
    except BaseException:
        con.execute("ROLLBACK")
        raise
    return done


def _structure(known: Dictionary) -> str:
    described = [
        (table.name, table.description, [(column.name, column.type, column.comment) for column in table.columns])
        for table in known.tables.values()
    ]
    return schema.hash_text(repr((described, schema.MACROS)))


def _run_scripts(con: duckdb.DuckDBPyConnection, since: int, folder: Path) -> list[str]:
    done = []
    for number, path in scripts(folder).items():
        if number > since:
            con.execute(path.read_text(encoding="utf-8"))
            done.append(f"{path.stem}: done")
    return done


def _columns(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """The types of the columns in the file in use, by table and column."""
    types: dict[str, dict[str, str]] = {}
    rows = con.execute(
        """SELECT schema_name || '.' || table_name, column_name, data_type FROM duckdb_columns()
           WHERE database_name = current_database() ORDER BY table_oid, column_index"""
    ).fetchall()
    for table, column, kind in rows:
        types.setdefault(table, {})[column] = kind
    return types


def _add_columns(
    con: duckdb.DuckDBPyConnection,
    known: Dictionary,
    before: Mapping[str, Mapping[str, str]],
    schema_found: Written,
    name: str,
) -> list[str]:
    types = _types(con, known)
    done = []
    if strangers := _unknown_tables(con, known):
        raise NewerWarehouse(_newer(name, f"the table {strangers[0]}", schema_found, "does not know it"))
    for table in known.tables.values():
        have, want = before.get(table.name), types[table.name]
        if have is None:
            done.append(f"{table.name}: created")
            continue
        unknown = [column for column in have if column not in want]
        if unknown:
            has = f"the column {table.name}.{unknown[0]}"
            raise NewerWarehouse(_newer(name, has, schema_found, "does not know it"))
        for column, kind in have.items():
            if kind != want[column]:
                raise NotAWarehouse(
                    f"{name}: {table.name}.{column} is {kind} and should be {want[column]}, and no migration says how to "
                    "change it; move the warehouse away and run `gpuledger replay`"
                )
        missing = [column for column in want if column not in have]
        if missing or list(have) != list(want):
            _rewrite(con, table, missing)
            done.append(
                f"{table.name}: added {', '.join(missing)}" if missing else f"{table.name}: columns put in order"
            )
        else:
            schema.describe(con, table)
    return done


def _unknown_tables(con: duckdb.DuckDBPyConnection, known: Dictionary) -> list[str]:
    """Tables that this program neither loads nor built as a model."""
    rows = con.execute(
        """SELECT schema_name || '.' || table_name AS name FROM duckdb_tables() WHERE database_name = current_database()
           EXCEPT SELECT model FROM ops.model_state ORDER BY name"""
    ).fetchall()
    return [table for (table,) in rows if table not in known.tables]


def _types(con: duckdb.DuckDBPyConnection, known: Dictionary) -> dict[str, dict[str, str]]:
    """The dictionary's types as DuckDB writes them."""
    names = sorted({column.type for table in known.tables.values() for column in table.columns})
    row = con.execute("SELECT " + ", ".join(f"typeof(NULL::{kind})" for kind in names)).fetchone()
    spelled = dict(zip(names, row or (), strict=True))
    return {
        table.name: {column.name: spelled[column.type] for column in table.columns} for table in known.tables.values()
    }


def _rewrite(con: duckdb.DuckDBPyConnection, table: Table, missing: list[str]) -> None:
    # Not ALTER TABLE ADD COLUMN, which puts the column last, as rows are loaded in the dictionary's order of columns.
    columns = ", ".join(
        f'NULL::{column.type} AS "{column.name}"' if column.name in missing else f'"{column.name}"'
        for column in table.columns
    )
    con.execute(f"CREATE OR REPLACE TABLE {table.name} AS SELECT {columns} FROM {table.name}")
    schema.describe(con, table)


def _forget_builds(con: duckdb.DuckDBPyConnection) -> None:
    """Have every model built anew, as a view over a table that was rewritten may not fit that table."""
    con.execute(
        """UPDATE ops.model_state SET definition = '', fingerprint = '';
           DELETE FROM ops.table_content WHERE table_id NOT LIKE 'batch:%'"""
    )
