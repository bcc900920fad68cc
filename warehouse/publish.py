"""Build aside and publish: a run works on a copy, and readers only ever see a whole file behind a symlink."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from warehouse import schema
from warehouse.errors import NotAWarehouse
from warehouse.paths import DataDir

#: The file format that DuckDB 1.5 also opens; a default 2.0 file it does not.
STORAGE_VERSION = "v1.5.0"
#: Published versions that stay, so that a long query on an old one can end and a bad night can be looked at.
KEEP_VERSIONS = 5
CATALOG = "gpuledger"


@contextmanager
def workspace(
    data: DataDir, run_id: str, *, memory_limit: str = "2GB"
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A connection to a work file: a copy of the base, with the schema in place, and its path.

    The work file is gone when the block ends, unless `publish` took it. Raises NotAWarehouse where the base is not a
    DuckDB file.
    """
    data.state.mkdir(parents=True, exist_ok=True)
    for left in data.state.glob("work-*"):
        left.unlink()  # of a killed run; the lock is ours, so nobody works on it
    work = data.state / f"work-{run_id}.duckdb"
    if data.base.exists():
        shutil.copyfile(data.base, work)
    con = duckdb.connect()
    try:
        con.execute(
            f"SET memory_limit = '{memory_limit}'; SET TimeZone = 'UTC'; SET autoinstall_known_extensions = false"
        )
        con.execute(f"SET temp_directory = {schema.quote(str(data.state / 'spill'))}")
        try:
            con.execute(f"ATTACH {schema.quote(str(work))} AS {CATALOG} (STORAGE_VERSION '{STORAGE_VERSION}')")
        except duckdb.Error as error:
            raise NotAWarehouse(
                f"{data.base} cannot be opened by DuckDB ({str(error).splitlines()[0]}); restore it from a file in "
                f"{data.versions.name}/, or move it away and run `gpuledger replay`"
            ) from None
        con.execute(f"USE {CATALOG}")
        schema.create(con)
        yield con, work
    finally:
        with suppress(duckdb.Error):
            con.close()
        for left in data.state.glob(f"work-{run_id}*"):
            left.unlink()


def publish(con: duckdb.DuckDBPyConnection, data: DataDir, work: Path, run_id: str) -> Path:
    """Make the committed work file the published one; returns the version's path.

    In this order, so that a kill at any moment leaves a whole published file: the version is complete on disk before the
    base moves, and the base moves before the symlink does. Where the last step is missing, `heal` does it.
    """
    con.execute(f"CHECKPOINT {CATALOG}")
    con.execute(f"USE memory; DETACH {CATALOG}")
    data.versions.mkdir(parents=True, exist_ok=True)
    version = data.versions / f"gpuledger-{run_id}.duckdb"
    part = version.with_suffix(".part")
    shutil.copyfile(work, part)
    part.chmod(0o444)
    _sync(part)
    part.replace(version)
    _sync(data.versions)
    _sync(work)
    work.replace(data.base)
    _sync(data.state)
    _point(data, version)
    _prune(data)
    return version


def heal(data: DataDir) -> None:
    """Finish a publish that was killed between its steps: drop half-written versions and point at the newest whole one."""
    for part in data.versions.glob("*.part"):
        part.unlink()
    versions = _versions(data)
    if versions and data.base.exists() and data.published.resolve() != versions[-1].resolve():
        _point(data, versions[-1])


def _versions(data: DataDir) -> list[Path]:
    """Published files, oldest first. Run ids begin with the time, so the name sorts."""
    return sorted(data.versions.glob("gpuledger-*.duckdb"))


def _point(data: DataDir, version: Path) -> None:
    """Swap the symlink in one step: a reader finds the old or the new version, never none."""
    swap = data.root / f".{data.published.name}.{os.getpid()}"
    swap.unlink(missing_ok=True)
    swap.symlink_to(version.relative_to(data.root))
    swap.replace(data.published)
    _sync(data.root)


def _prune(data: DataDir) -> None:
    for old in _versions(data)[:-KEEP_VERSIONS]:
        old.unlink()
        # An analyst's read-write session may have left one.
        old.with_name(f"{old.name}.wal").unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """fsync a file or a folder: a rename is only durable once its folder is."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
