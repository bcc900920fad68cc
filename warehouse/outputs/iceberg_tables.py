"""The history and the marts as Apache Iceberg tables, for readers that have nothing of ours: Spark, Trino, Polars, DuckDB.

A night adds a snapshot to each table that changed, and writes only those of its partitions whose rows changed. What a
partition holds is remembered in the table's own properties, as a sum over its rows, so nothing is read back to compare. A
table's commit is whole or not at all; which states of all tables are of one night says `tables.json`, written last.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import duckdb

from gpuledger.extract import objects
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.outputs.tables import HISTORIES, names
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

#: All prices, those that hold and those that ended. When a row was confirmed last moves with the clock, and is its source's.
HISTORY = "core.price_history"
_WITHOUT = {HISTORY: ("last_seen_at",)}
#: The column that the tables of many days are divided by: a month, or `open` for prices that hold.
PARTITION = "partition"
_SUMS = "gpuledger.partitions"
INDEX = "tables.json"
#: Types that Iceberg has no word for, and what their values become.
_CASTS = {
    "HUGEINT": "DECIMAL(38, 0)", "UHUGEINT": "DECIMAL(38, 0)", "UBIGINT": "DECIMAL(20, 0)", "UINTEGER": "BIGINT",
    "USMALLINT": "INTEGER", "UTINYINT": "INTEGER", "SMALLINT": "INTEGER", "TINYINT": "INTEGER", "UUID": "VARCHAR",
    "JSON": "VARCHAR", "ENUM": "VARCHAR",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """Where the tables lie (a store's address), which catalogue names them (as SQLAlchemy writes it), and what the library
    that reads and writes files has to know, by its own names.
    """

    location: str
    catalog: str
    properties: Mapping[str, str]

    @property
    def tables(self) -> str:
        """The location as the library writes it, which knows a container of Azure by another word."""
        scheme, _, place = self.location.partition("://")
        return f"{'abfs' if scheme == 'az' else scheme}://{place}"


@dataclass(frozen=True, slots=True)
class Written:
    """What one publish did with a table: of how many partitions how many were written or removed, and the rows in them."""

    table: str
    partitions: int
    changed: int
    rows: int


def publish(data: DataDir, target: Target) -> list[Written]:
    """Bring the Iceberg tables up to what is published. Raises WarehouseError, with the table, where that cannot be done;
    the tables before it are of the new night then, and `tables.json` still names the old one.
    """
    written, places = [], {}
    with _catalog(target) as catalog, reader(data) as con:
        night = data.published.resolve().parent.name
        for table in [HISTORY, *names(con)]:
            with _told(table):
                done = _publish(con, catalog, table)
            if done is not None:
                written.append(done[0])
                places[table] = done[1]
        _name(target, night, places)
    return written


def expire(target: Target, before: datetime) -> int:
    """Forget the snapshots from before that time, but for the newest of each table, and remove the files that no other has;
    the number of files.
    """
    store = objects.of(target.location)
    assert store is not None
    removed = 0
    with _catalog(target) as catalog:
        for name in [name for space in catalog.list_namespaces() for name in catalog.list_tables(space)]:
            table = catalog.load_table(name)
            with _told(".".join(name)):
                table.maintenance.expire_snapshots().older_than(before.replace(tzinfo=None)).commit()
                table = catalog.load_table(name)
                needed = {_key(target, path) for path in _files(table)}
                folder = _key(target, table.metadata.location) + "/"
                gone = [one.key for one in store.listed(folder) if one.key not in needed and one.modified < before]
                store.delete(gone)
                removed += len(gone)
    return removed


@contextmanager
def _catalog(target: Target) -> Iterator[Catalog]:
    from pyiceberg.catalog.sql import SqlCatalog

    # pyarrow reads and writes the files, whatever else is installed.
    files = {"py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO"}
    catalog = SqlCatalog("gpuledger", uri=target.catalog, warehouse=target.tables, **files, **target.properties)
    try:
        yield catalog
    finally:
        catalog.engine.dispose()


@contextmanager
def _told(table: str) -> Iterator[None]:
    from pyiceberg.exceptions import (
        CommitFailedException,
        CommitStateUnknownException,
        NoSuchTableError,
        ValidationError,
    )

    try:
        yield
    except (CommitFailedException, CommitStateUnknownException, NoSuchTableError, ValidationError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise WarehouseError(
            f"the Iceberg table {table} could not be written ({reason[:300]}): `gpuledger iceberg` writes what is missing"
        ) from error


def _publish(con: duckdb.DuckDBPyConnection, catalog: Catalog, name: str) -> tuple[Written, str] | None:
    """What was written, and where the table's state stands; None for a table whose types nobody knows yet."""
    from pyiceberg.exceptions import NoSuchTableError
    from pyiceberg.expressions import AlwaysTrue, In

    rows = _rows(con, name)
    sums = dict(
        con.execute(
            f"SELECT {PARTITION}, count(*) || ' ' || sum(hash(one)::HUGEINT) FROM ({rows}) one GROUP BY ALL ORDER BY 1"
        ).fetchall()
    )
    empty = con.sql(f"{rows} LIMIT 0").to_arrow_table()
    try:
        table = catalog.load_table(name)
    except NoSuchTableError:
        if any(str(column.type) == "null" for column in empty.schema):
            # A table that Python makes has columns without a type until its first row, and Iceberg takes none.
            return None
        table = _create(catalog, name, empty.schema)
    was: dict[str, str] = json.loads(table.properties.get(_SUMS, "{}"))
    is_other = not _is_of(table, empty.schema)
    changed = sorted(part for part in sums.keys() | was.keys() if is_other or sums.get(part) != was.get(part))
    if not changed:
        return Written(name, len(sums), 0, 0), table.metadata_location
    new = con.sql(
        f"SELECT * FROM ({rows}) WHERE list_contains($parts, {PARTITION}) ORDER BY ALL", params={"parts": changed}
    ).to_arrow_table()
    with table.transaction() as change:
        if is_other:
            with change.update_schema(allow_incompatible_changes=True) as columns:
                columns.union_by_name(empty.schema)
        if was:
            change.delete(AlwaysTrue() if is_other else In(PARTITION, changed))
        if new.num_rows:
            change.append(new)
        change.set_properties({_SUMS: json.dumps(sums)})
    return Written(name, len(sums), len(changed), new.num_rows), table.metadata_location


def _create(catalog: Catalog, name: str, schema: Any) -> Table:
    catalog.create_namespace_if_not_exists(name.partition(".")[0])
    table = catalog.create_table(name, schema=schema, properties={"write.parquet.compression-codec": "zstd"})
    with table.update_spec() as spec:
        spec.add_identity(PARTITION)
    return table


def _is_of(table: Table, schema: Any) -> bool:
    """Whether the table has just these columns."""
    return bool([field.name for field in table.schema().fields] == schema.names)


def _rows(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """The query of a table as Iceberg can hold it: with its partition, and types that Iceberg has."""
    columns = []
    for column, kind, *_ in con.execute(f"DESCRIBE {name}").fetchall():
        if column in _WITHOUT.get(name, ()):
            continue
        cast = _CASTS.get(kind.partition("(")[0])
        columns.append(f'"{column}"::{cast} AS "{column}"' if cast else f'"{column}"')
    if name == HISTORY:
        part = "coalesce(strftime(valid_to, '%Y-%m'), 'open')"
    elif name in HISTORIES:
        part = f"strftime({HISTORIES[name][0]}, '%Y-%m')"
    else:
        part = "'all'"
    return f"SELECT {part} AS {PARTITION}, {', '.join(columns)} FROM {name}"


def _name(target: Target, night: str, places: Mapping[str, str]) -> None:
    """Say which state of each table is of this night, in one write."""
    store = objects.of(target.location)
    assert store is not None
    found = store.get(INDEX)
    content = json.dumps({"night": night, "tables": places}, indent=1).encode()
    if (found is None or found[0] != content) and store.replace(INDEX, content, found[1] if found else None) is None:
        raise WarehouseError(
            f"{target.location}/{INDEX}: another machine writes it; nothing is lost, look at who publishes"
        )


def _files(table: Table) -> Iterator[str]:
    yield table.metadata_location
    yield from (entry.metadata_file for entry in table.metadata.metadata_log)
    yield from (snapshot.manifest_list for snapshot in table.metadata.snapshots)
    yield from table.inspect.all_manifests()["path"].to_pylist()
    yield from table.inspect.all_files()["file_path"].to_pylist()


def _key(target: Target, path: str) -> str:
    return str(PurePosixPath(path.removeprefix(target.tables).lstrip("/")))
