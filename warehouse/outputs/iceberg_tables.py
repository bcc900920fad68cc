"""The history and the marts as Apache Iceberg tables, for readers without this program: Spark, Trino, Polars, DuckDB.

A night adds a snapshot to each table that changed, and writes only the partitions whose rows changed. The properties of a
table hold a sum over the rows of each partition, so nothing is read back to compare. A table's commit happens as a whole or
not at all. `tables.json`, written last, names the states of all tables that belong to one night.
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

from gpuledger.extract.archive import objects
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.outputs.tables import HISTORIES, names
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

#: All prices, open and ended. `last_seen_at` is left out, as it changes every night and belongs to the source of the row.
HISTORY = "core.price_history"
_WITHOUT = {HISTORY: ("last_seen_at",)}
#: The column by which tables of many days are partitioned: a month, or `open` for open prices.
PARTITION = "partition"
_SUMS = "gpuledger.partitions"
INDEX = "tables.json"
#: Types that Iceberg lacks, and the types to which their values are cast.
_CASTS = {
    "HUGEINT": "DECIMAL(38, 0)", "UHUGEINT": "DECIMAL(38, 0)", "UBIGINT": "DECIMAL(20, 0)", "UINTEGER": "BIGINT",
    "USMALLINT": "INTEGER", "UTINYINT": "INTEGER", "SMALLINT": "INTEGER", "TINYINT": "INTEGER", "UUID": "VARCHAR",
    "JSON": "VARCHAR", "ENUM": "VARCHAR",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """Where the tables are: a store's address, the catalogue that lists them (as SQLAlchemy writes it), and the properties
    of the library that reads and writes the files, under the library's names.
    """

    location: str
    catalog: str
    properties: Mapping[str, str]

    @property
    def tables(self) -> str:
        """The location as the library writes it: it has another scheme for a container of Azure."""
        scheme, _, place = self.location.partition("://")
        return f"{'abfs' if scheme == 'az' else scheme}://{place}"


@dataclass(frozen=True, slots=True)
class Written:
    """What one publish did with a table: its partitions, how many of them were written or removed, and the rows in these."""

    table: str
    partitions: int
    changed: int
    rows: int


def publish(data: DataDir, target: Target) -> list[Written]:
    """Bring the Iceberg tables up to the published version.

    Raises WarehouseError, naming the table, if a table cannot be written. The tables before it then have the new night's
    rows, and `tables.json` still names the old night.
    """
    written, places = [], {}
    with _catalog(target) as catalog, reader(data) as con:
        night = data.published.resolve().parent.name
        for table in [HISTORY, *names(con)]:
            with _errors_naming(table):
                done = _publish(con, catalog, table)
            if done is not None:
                written.append(done[0])
                places[table] = done[1]
        _name(target, night, places)
    return written


def expire(target: Target, before: datetime) -> int:
    """Delete the snapshots from before that time, except the newest of each table, and the files that no other snapshot
    needs. Returns the number of files.
    """
    store = objects.store_at(target.location)
    assert store is not None
    removed = 0
    with _catalog(target) as catalog:
        for name in [name for space in catalog.list_namespaces() for name in catalog.list_tables(space)]:
            table = catalog.load_table(name)
            with _errors_naming(".".join(name)):
                table.maintenance.expire_snapshots().older_than(before.replace(tzinfo=None)).commit()
                table = catalog.load_table(name)
                needed = {_key(target, path) for path in _files(table)}
                folder = _key(target, table.metadata.location) + "/"
                gone = [file.key for file in store.listed(folder) if file.key not in needed and file.modified < before]
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
def _errors_naming(table: str) -> Iterator[None]:
    """Turn the library's errors in the block into a WarehouseError that names the table."""
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
    """What was written, and the location of the table's state; None for a table whose types are not known yet."""
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
            # A table that Python makes has columns without a type until its first row, and Iceberg refuses such columns.
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
    """Whether the table has exactly these columns."""
    return bool([field.name for field in table.schema().fields] == schema.names)


def _rows(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """The query that gives a table in a form that Iceberg can hold: with its partition, and in types that Iceberg has."""
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
    """Record which state of each table belongs to this night, in a single write."""
    store = objects.store_at(target.location)
    assert store is not None
    index = store.get(INDEX)
    content = json.dumps({"night": night, "tables": places}, indent=1).encode()
    if (index is None or index[0] != content) and store.replace(INDEX, content, index[1] if index else None) is None:
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
