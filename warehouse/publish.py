"""Build aside and publish: a run works on a copy, and readers only ever see a whole file behind a symlink."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from gpuledger.warehouse import integrity, migrate, schema
from gpuledger.warehouse.errors import NotAWarehouse, WarehouseError
from gpuledger.warehouse.integrity import Damaged
from gpuledger.warehouse.paths import WAREHOUSE_FILE, DataDir
from gpuledger.warehouse.shared import send

#: The file format that DuckDB 1.5 also opens; a default 2.0 file it does not.
STORAGE_VERSION = "v1.5.0"
#: Published versions that stay, so that a long query on an old one can end and a bad night can be looked at.
KEEP_VERSIONS = 5
CATALOG = "gpuledger"
#: Ends the name of what is half written or half removed.
_HALF = ".part"


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


@contextmanager
def one_thread(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Statements of this block are not shared out among threads."""
    con.execute("SET threads = 1")
    try:
        yield
    finally:
        con.execute("RESET threads")


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

    The order matters: whenever the process is killed, a whole file stays published. The version is written completely
    before it gets its name, then the base and the symlink follow. A note says that they are still due, so that `heal` can
    finish them after a kill. Where several machines share a store it is published there first, or not at all: raises
    Superseded where another has taken the lease, and StoreError.
    """
    checkpoint(con)
    con.execute(f"USE memory; DETACH {CATALOG}")
    version = version_of(data, run_id)
    part = part_of(version)
    shutil.copyfile(work, part)
    part.chmod(0o444)
    _sync(part)
    # Of the copy as it is on disk: what went wrong in copying is found here, and not when it is needed.
    with ThreadPoolExecutor(2) as both:
        sha256, original = both.map(integrity.digest, (part, work))
    if sha256 != original:
        raise Damaged(f"{part} is not what was copied there: the disk fails; nothing was published")
    if data.store:
        send.commit(data, version, part, sha256, keep_versions)
    integrity.note(data, version, sha256)
    data.publishing.write_text(integrity.name_of(version), encoding="utf-8")
    _sync(data.publishing)
    _sync(data.state)
    _sync(part.parent)
    part.parent.replace(version.parent)
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


def heal(data: DataDir) -> list[str]:
    """Finish a publish that was killed between its steps, drop what was half written, and bring back a damaged base.

    Returns what was damaged and what stands in its place, in words; mostly nothing. Raises Damaged where nothing does.

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
    for left in (*data.versions.glob(f"*{_HALF}"), *data.state.glob("*.part"), *swaps):
        _remove(left)
    if data.publishing.exists():
        name = data.publishing.read_bytes()
        version = next((one for one in versions(data) if integrity.name_of(one).encode() == name), None)
        if version is not None and integrity.is_whole(data, version) is not False:
            _restore_base(data, version)
            _point(data, version)
        data.publishing.unlink()
    elif not data.base.exists() and (published := versions(data)):
        newest = data.published.resolve() if data.published.exists() else published[-1]
        if integrity.is_whole(data, newest) is not False:
            _restore_base(data, newest)
    return _mend_base(data)


def _mend_base(data: DataDir) -> list[str]:
    """Put the newest whole version in the place of a base that is not what was written; says so. Raises Damaged."""
    sums = integrity.noted(data)
    if not sums or (data.base.exists() and integrity.digest(data.base) in sums.values()):
        return []
    is_lost = not data.base.exists()
    if is_lost and not versions(data):
        return []
    newest = data.published.resolve() if data.published.exists() else None
    is_noted = newest is not None and integrity.name_of(newest) in sums
    if not is_lost and not is_noted and newest is not None and newest.is_file() and _are_equal(data.base, newest):
        # Two files of which each was written on its own, and no note that is whole: it is the note that was damaged.
        integrity.note(data, newest, integrity.digest(newest))
        return []
    version = newest_whole(data)
    seen = f"{data.base} {'is lost' if is_lost else 'is not what was written: the disk fails, or somebody changed it'}"
    if version is None:
        raise Damaged(
            f"{seen}, and no version is whole: restore {data.root} from a backup, or move {data.state} and {data.versions} "
            "away and run `gpuledger replay`, which makes the warehouse anew from the archive"
        )
    _restore_base(data, version)
    lost = (
        ""
        if version == newest
        else "; what later runs had loaded is in the archive: `gpuledger replay` takes it in again"
    )
    return [f"{seen}; {integrity.name_of(version)} stands in its place{lost}"]


def _are_equal(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and integrity.digest(one) == integrity.digest(other)


def newest_whole(data: DataDir) -> Path | None:
    """The newest version that is what was written: the published one first, as its name may not sort so."""
    newest = [data.published.resolve()] if data.published.exists() else []
    for version in [*newest, *reversed(versions(data))]:
        if version.is_file() and integrity.is_whole(data, version):
            return version
    return None


def restore(data: DataDir) -> list[str]:
    """Bring back the newest whole version, as base and as what is published; says what it did, nothing where all is whole.

    The caller holds the writer's lock. Raises Damaged where no version is whole.
    """
    done = heal(data)
    published = data.published.resolve() if data.published.exists() else None
    if published is not None and published.is_file() and integrity.is_whole(data, published) is not False:
        return done
    version = newest_whole(data)
    if version is None:
        raise Damaged(
            f"no version in {data.versions} is whole: restore {data.root} from a backup, or run `gpuledger replay`, which "
            "makes the warehouse anew from the archive"
        )
    _restore_base(data, version)
    _point(data, version)
    was = integrity.name_of(published) if published is not None else "nothing"
    return [*done, f"{integrity.name_of(version)} is published again, in the place of {was}"]


def part_of(version: Path) -> Path:
    """Where a version is written before it is whole; the folder is made."""
    folder = _half(version.parent)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / version.name


def adopt(data: DataDir, version: Path, *, with_base: bool) -> None:
    """Publish a whole file that came from elsewhere to `part_of` the version; with the base, the next run begins with it."""
    part = part_of(version)
    _sync(part)
    _sync(part.parent)
    if version.parent.exists():
        shutil.rmtree(version.parent)  # left by a kill: what is published is another one
    part.parent.replace(version.parent)
    _sync(data.versions)
    if with_base:
        _restore_base(data, version)
    _point(data, version)


def _restore_base(data: DataDir, version: Path) -> None:
    data.state.mkdir(parents=True, exist_ok=True)
    part = data.base.with_suffix(".part")
    shutil.copyfile(version, part)
    _sync(part)
    part.replace(data.base)
    _sync(data.state)


def version_of(data: DataDir, run_id: str) -> Path:
    """Where the version is, or would be, that a run publishes.

    Each has a folder of its own, since DuckDB takes the name of a catalog from the file at the end of the link: a query
    that says `gpuledger.mart.value` must mean every night's.
    """
    return data.versions / run_id / WAREHOUSE_FILE


def versions(data: DataDir) -> list[Path]:
    """Published files, oldest first. Run ids begin with the time, so the name sorts."""
    named_by_run = data.versions.glob("gpuledger-*.duckdb")  # as programs before 0.2 wrote them
    whole = (one for one in data.versions.glob(f"*/{WAREHOUSE_FILE}") if one.parent.suffix != _HALF)
    return sorted([*named_by_run, *whole], key=_run_of)


def _run_of(version: Path) -> str:
    """The run that published a version."""
    return version.parent.name if version.name == WAREHOUSE_FILE else version.stem.removeprefix("gpuledger-")


def is_published(data: DataDir, run_id: str) -> bool:
    """Whether the run's version has its name on disk, which it gets when it is whole."""
    return any(_run_of(version) == run_id for version in versions(data))


def _half(folder: Path) -> Path:
    return folder.with_name(folder.name + _HALF)


def _point(data: DataDir, version: Path) -> None:
    """Swap the symlink in one step: a reader finds the old or the new version, never none."""
    swap = data.root / f".{data.published.name}.{os.getpid()}"
    swap.unlink(missing_ok=True)
    swap.symlink_to(version.relative_to(data.root))
    swap.replace(data.published)
    _sync(data.root)


def old_versions(data: DataDir, keep_versions: int) -> list[Path]:
    """The versions beyond the newest `keep_versions`; never the published one, which a set-back clock sorts first."""
    all_versions = versions(data)
    return [
        old
        for old in all_versions[: max(0, len(all_versions) - keep_versions)]
        if old.resolve() != data.published.resolve()
    ]


def remove_version(version: Path) -> int:
    """Remove a version; a reader that has it open keeps it. Returns the bytes that are free when the last one closes it."""
    # An analyst's read-write session may have left a log.
    paths = [version, version.with_name(f"{version.name}.wal")]
    size = sum(path.stat().st_size for path in paths if path.exists())
    if version.name != WAREHOUSE_FILE:
        for path in paths:
            path.unlink(missing_ok=True)
        return size
    # In one step, so that a kill leaves no version without its file: what is half removed, the next run removes.
    half = _half(version.parent)
    version.parent.replace(half)
    shutil.rmtree(half)
    return size


def _remove(left: Path) -> None:
    shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()


def _sync(path: Path) -> None:
    """fsync a file or a folder: a rename is only durable once its folder is."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
