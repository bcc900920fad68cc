"""Build aside and publish: a run works on a copy, and readers only ever see a whole file behind a symlink."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from gpuledger.warehouse import migrate, schema
from gpuledger.warehouse.errors import NotAWarehouse, WarehouseError
from gpuledger.warehouse.paths import DataDir

#: The file format that DuckDB 1.5 also opens; a default 2.0 file it does not.
STORAGE_VERSION = "v1.5.0"
#: Published versions that stay, so that a long query on an old one can end and a bad night can be looked at.
KEEP_VERSIONS = 5
CATALOG = "gpuledger"


@contextmanager
def workspace(
    data: DataDir, run_id: str, *, memory_limit: str = "2GB", copy_of: Path | None = None
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A connection to a work file: a copy of the base, or of `copy_of`, with the schema in place, and its path.

    The work file is gone when the block ends, unless `publish` took it. A base of an older program is brought up to this
    one's schema. Raises NotAWarehouse where the base is not a DuckDB file, NewerWarehouse where a newer program wrote it,
    and WarehouseError where memory or disk do not suffice.
    """
    data.state.mkdir(parents=True, exist_ok=True)
    for left in data.state.glob("work-*"):
        left.unlink()  # of a killed run; the lock is ours, so nobody works on it
    work = data.state / f"work-{run_id}.duckdb"
    copied = copy_of or data.base
    if copied.exists():
        shutil.copyfile(copied, work)
    con = duckdb.connect()
    try:
        con.execute(f"{schema.SESSION}; SET memory_limit = '{memory_limit}'")
        con.execute(f"SET temp_directory = {schema.quote(str(data.state / 'spill'))}")
        try:
            attach(con, work)
        except duckdb.Error as error:
            migrate.refuse_newer_duckdb(error, str(copied))
            raise NotAWarehouse(
                f"{copied} cannot be opened by DuckDB ({str(error).splitlines()[0]}); restore it from a file in "
                f"{data.versions.name}/, or move it away and run `gpuledger replay`"
            ) from None
        migrate.bring_up(con, run_id, str(copied))
        yield con, work
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise WarehouseError(
            f"DuckDB could not go on ({str(error).splitlines()[0]}): raise memory_limit in the settings (now "
            f"{memory_limit}), or make room on the disk of {data.root}"
        ) from error
    finally:
        with suppress(duckdb.Error):
            con.close()
        for left in data.state.glob(f"work-{run_id}*"):
            left.unlink()


def attach(con: duckdb.DuckDBPyConnection, work: Path) -> None:
    """Attach a work file and use it, in a storage format that DuckDB 1.5 opens.

    No write-ahead log: a work file that is not published is thrown away, so nothing would ever read it.
    """
    con.execute(
        f"ATTACH {schema.quote(str(work))} AS {CATALOG} "
        f"(STORAGE_VERSION '{STORAGE_VERSION}', RECOVERY_MODE no_wal_writes); USE {CATALOG}"
    )


def publish(
    con: duckdb.DuckDBPyConnection, data: DataDir, work: Path, run_id: str, keep_versions: int = KEEP_VERSIONS
) -> Path:
    """Make the committed work file the published one, and keep the last versions; returns the version's path.

    In this order, so that a kill at any moment leaves a whole published file: the version is complete on disk before its
    name is, and the base and the symlink follow it. The note of the intent tells `heal` that they still have to.
    """
    checkpoint(con)
    con.execute(f"USE memory; DETACH {CATALOG}")
    data.versions.mkdir(parents=True, exist_ok=True)
    version = version_of(data, run_id)
    part = version.with_suffix(".part")
    shutil.copyfile(work, part)
    part.chmod(0o444)
    _sync(part)
    data.publishing.write_text(version.name, encoding="utf-8")
    _sync(data.publishing)
    _sync(data.state)
    part.replace(version)
    _sync(data.versions)
    _sync(work)
    work.replace(data.base)
    _sync(data.state)
    _point(data, version)
    data.publishing.unlink()
    for old in old_versions(data, keep_versions):
        remove_version(old)
    return version


def checkpoint(con: duckdb.DuckDBPyConnection) -> None:
    """Bring all that is committed into the work file itself, so that it can be copied."""
    con.execute(f"CHECKPOINT {CATALOG}")


def compact(con: duckdb.DuckDBPyConnection, work: Path) -> None:
    """Write the committed work file anew, without the room that deleted rows left; the connection goes on with it."""
    anew = work.with_suffix(".compact")
    con.execute(f"ATTACH {schema.quote(str(anew))} AS anew (STORAGE_VERSION '{STORAGE_VERSION}')")
    con.execute(f"COPY FROM DATABASE {CATALOG} TO anew; DETACH anew; USE memory; DETACH {CATALOG}")
    anew.replace(work)
    attach(con, work)


def heal(data: DataDir) -> None:
    """Finish a publish that was killed between its steps, and drop what was half written.

    A version whose name is on disk is whole, so the base and the symlink follow it. The note says which one it is: the
    newest by name may be another one, on a machine whose clock was set back. A base that was lost comes back from the
    published version. Raises NotAWarehouse where a file that is not ours has the published name: it is not written over.
    """
    if data.published.exists() and not data.published.is_symlink():
        raise NotAWarehouse(
            f"{data.published} is a file, and not the link to a version that a refresh makes: move it away, or use "
            "another --data-dir"
        )
    swaps = data.root.glob(f".{data.published.name}.*")
    for left in (*data.versions.glob("*.part"), *data.state.glob("*.part"), *swaps):
        left.unlink()
    if data.publishing.exists():
        version = data.versions / data.publishing.read_text(encoding="utf-8")
        if version.is_file():
            _restore_base(data, version)
            _point(data, version)
        data.publishing.unlink()
    elif not data.base.exists() and (found := versions(data)):
        _restore_base(data, data.published.resolve() if data.published.exists() else found[-1])


def _restore_base(data: DataDir, version: Path) -> None:
    data.state.mkdir(parents=True, exist_ok=True)
    part = data.base.with_suffix(".part")
    shutil.copyfile(version, part)
    _sync(part)
    part.replace(data.base)
    _sync(data.state)


def version_of(data: DataDir, run_id: str) -> Path:
    """Where the version is, or would be, that a run publishes."""
    return data.versions / f"gpuledger-{run_id}.duckdb"


def versions(data: DataDir) -> list[Path]:
    """Published files, oldest first. Run ids begin with the time, so the name sorts."""
    return sorted(data.versions.glob("gpuledger-*.duckdb"))


def _point(data: DataDir, version: Path) -> None:
    """Swap the symlink in one step: a reader finds the old or the new version, never none."""
    swap = data.root / f".{data.published.name}.{os.getpid()}"
    swap.unlink(missing_ok=True)
    swap.symlink_to(version.relative_to(data.root))
    swap.replace(data.published)
    _sync(data.root)


def old_versions(data: DataDir, keep_versions: int) -> list[Path]:
    """The versions beyond the newest `keep_versions`; never the published one, which a set-back clock sorts first."""
    found = versions(data)
    return [old for old in found[: max(0, len(found) - keep_versions)] if old.resolve() != data.published.resolve()]


def remove_version(version: Path) -> int:
    """Remove a version; a reader that has it open keeps it. Returns the bytes that are free when the last one closes it."""
    # An analyst's read-write session may have left a log.
    paths = [version, version.with_name(f"{version.name}.wal")]
    size = sum(path.stat().st_size for path in paths if path.exists())
    for path in paths:
        path.unlink(missing_ok=True)
    return size


def _sync(path: Path) -> None:
    """fsync a file or a folder: a rename is only durable once its folder is."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
