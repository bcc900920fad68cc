"""Read the published file: one read-only statement in, column names and rows out."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import duckdb

from gpuledger.message import Message
from gpuledger.warehouse import schema
from gpuledger.warehouse.errors import BadQuery, NotAWarehouse, NoWarehouse, OlderWarehouse, WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.schema import SESSION, quote

#: The connection over which a block of questions is asked, and the data directory that it reads.
_together: ContextVar[tuple[DataDir, duckdb.DuckDBPyConnection] | None] = ContextVar("together", default=None)


@contextmanager
def together(data: DataDir, writes_to: Path | None = None) -> Iterator[None]:
    """Every question in the block is asked of one version, over one connection, which may write to the folder `writes_to`.

    Raises what `reader` raises.
    """
    with reader(data, writes_to) as con:
        token = _together.set((data, con))
        try:
            yield
        finally:
            _together.reset(token)


@contextmanager
def reader(data: DataDir, writes_to: Path | None = None, *, spills: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to the version that is published now; it keeps that version until it is closed.

    It reaches no network and no other file, except in the folder `writes_to`, and in a folder to spill to if it `spills`.
    Otherwise a view in a file from a store could read any file with the rights of the user.

    Raises NoWarehouse if nothing is published, NotAWarehouse if the file is not one of ours, NewerWarehouse if a newer
    program or DuckDB wrote it, OlderWarehouse if an older program did and the block asks for a column or table that came
    later, WarehouseError if the memory does not suffice, and OSError if the disk does not.
    """
    held = _together.get()
    if held is not None and held[0] == data:
        yield held[1]
        return
    if not data.published.exists():
        raise NoWarehouse(data.root)
    try:
        con = duckdb.connect()
    except duckdb.OutOfMemoryException:
        raise _too_little_memory(data) from None
    try:
        _open(con, data, writes_to, spills=spills)
        yield con
    except duckdb.OutOfMemoryException:
        raise _too_little_memory(data) from None
    except duckdb.PermissionException as error:
        reason = str(error).splitlines()[0]
        raise NotAWarehouse(Message(
            "{path} asks for a file outside of it ({reason}), which no gpuledger writes: do not trust it; pull it "
            "from a store that you know, or restore it from a backup", path=data.published, reason=reason,
        )) from None  # fmt: skip
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        found = schema.written(con)
        assert found is not None, "it was one of ours when it was opened"
        reason = str(error).splitlines()[0].partition(": ")[2].rstrip("!")
        raise OlderWarehouse(Message(
            "{published} was written by gpuledger {program} and lacks what this asks ({reason}): the next refresh brings "
            "it, and `gpuledger rebuild` brings it now; if it still lacks then, the question is wrong: report it",
            published=data.published, program=found.program, reason=reason,
        )) from None  # fmt: skip
    except duckdb.Error as error:
        if (full := os.strerror(errno.ENOSPC)) in str(error):
            raise OSError(errno.ENOSPC, full, str(writes_to or data.root)) from None
        if not is_damage(error):
            raise
        raise NotAWarehouse(damaged(str(data.published), error)) from None
    finally:
        con.close()


def _open(con: duckdb.DuckDBPyConnection, data: DataDir, writes_to: Path | None, *, spills: bool) -> None:
    """Attach the published version, and shut the connection; see `reader`."""
    # Resolved first, because a write-ahead log that an analyst left belongs to the version's own path.
    path = data.published.resolve()
    try:
        con.execute(SESSION)
        con.execute(f"ATTACH {quote(str(path))} AS gpuledger (READ_ONLY); USE gpuledger")
        if not spills:
            con.execute("SET temp_directory = ''")
        _shut(con, writes_to)
        found = schema.written(con)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        schema.refuse_newer_duckdb(error, str(data.published))
        reason = str(error).splitlines()[0]
        raise NotAWarehouse(Message(
            "{published} cannot be opened as a warehouse: {reason}; `gpuledger restore` publishes the newest whole one",
            published=data.published, reason=reason,
        )) from None  # fmt: skip
    if found is None:
        raise NotAWarehouse(Message(
            "{published} is a DuckDB file, but not a gpuledger warehouse: it has no table ops.run",
            published=data.published,
        ))  # fmt: skip
    schema.refuse_newer(found, str(data.published))


def _too_little_memory(data: DataDir) -> WarehouseError:
    return WarehouseError(
        Message("{published} cannot be read: too little memory is left; end other programs", published=data.published)
    )


def _shut(con: duckdb.DuckDBPyConnection, writes_to: Path | None = None) -> None:
    """From now on the connection reads and writes only the files that it has open, and those in one folder."""
    if writes_to is not None:
        con.execute(f"SET allowed_directories = [{quote(str(writes_to.resolve()))}]")
    con.execute("SET enable_external_access = false")


def is_damage(error: duckdb.Error) -> bool:
    """Whether DuckDB met a part of a file that differs from what was written, or that it cannot read."""
    classes = (duckdb.IOException, duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)
    # DuckDB has no class for a block with a wrong checksum. Only the beginning counts, as it quotes the query further on.
    return isinstance(error, classes) or str(error).startswith("Corrupt database file")


def damaged(name: str, error: Exception) -> Message:
    """The message about a file of which a part cannot be read."""
    reason = str(error).splitlines()[0]
    return Message(
        "{name} is damaged ({reason}); `gpuledger restore` brings back the newest whole version", name=name,
        reason=reason,
    )  # fmt: skip


def file_query(path: Path, sql: str, name: str | None = None) -> list[tuple[Any, ...]]:
    """The rows of one of our own statements in a warehouse file other than the published one. Raises NotAWarehouse.

    If it has a `name`, as a file of a store has, one with the schema of a newer program raises NewerWarehouse with it.
    """
    con = duckdb.connect()
    try:
        con.execute(SESSION)
        con.execute(f"ATTACH {quote(str(path))} AS gpuledger (READ_ONLY); USE gpuledger")
        _shut(con)
        if name is not None and (found := schema.written(con)):
            schema.refuse_newer(found, name)
        return con.execute(sql).fetchall()
    except duckdb.Error as error:
        schema.refuse_newer_duckdb(error, str(path))
        raise NotAWarehouse(Message(
            "{path} cannot be read ({reason}); restore it from a backup", path=path, reason=str(error).splitlines()[0],
        )) from None  # fmt: skip
    finally:
        con.close()


def formats(data: DataDir) -> tuple[str, str]:
    """The storage format of the published file, and the version of the DuckDB that reads it."""
    ((storage, library),) = query(
        data,
        """SELECT coalesce(tags['storage_version'], '?'), version() FROM duckdb_databases()
           WHERE database_name = 'gpuledger'""",
    )[1]
    return storage, library


def query(
    data: DataDir, sql: str, parameters: Sequence[object] | dict[str, object] | None = None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns and rows of one of our own statements. Raises what `reader` raises, and BadQuery for an invalid text."""
    with reader(data) as con:
        try:
            result = con.execute(sql, parameters)
        except (duckdb.InvalidInputException, RuntimeError):  # what DuckDB 2.0 and 1.5 raise for such a text
            try:
                json.dumps(parameters, ensure_ascii=False, default=str).encode()
            except UnicodeEncodeError:  # a terminal in CP949 gives such parameters
                raise BadQuery(
                    Message("what was typed is no UTF-8: set the terminal and the locale to UTF-8 (LC_ALL=C.UTF-8)")
                ) from None
            raise
        return [column[0] for column in result.description or []], result.fetchall()


def columns_where(con: duckdb.DuckDBPyConnection, table: str, where: str) -> dict[str, list[Any]]:
    """The rows of a table for which a condition holds, each as a mapping by column."""
    answer = con.execute(f"SELECT * FROM {table} WHERE {where}")
    names = [column[0] for column in answer.description]
    rows = answer.fetchall()
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
