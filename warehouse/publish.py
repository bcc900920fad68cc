"""Builds aside and publishes: a run works on a copy, and readers only ever see a complete file behind a symlink."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeVar

import duckdb

from gpuledger.extract.archive.files import sync
from gpuledger.message import Message
from gpuledger.warehouse import integrity, read, schema
from gpuledger.warehouse.errors import NewerWarehouse, NotAWarehouse, WarehouseError
from gpuledger.warehouse.integrity import Damaged
from gpuledger.warehouse.paths import WAREHOUSE_FILE, DataDir

#: The file format that DuckDB 1.5 opens too. It does not open the default format of 2.0.
STORAGE_VERSION = "v1.5.0"
#: How many published versions stay, so that a long query on an old one can end and somebody can look at a bad night.
KEEP_VERSIONS = 5
CATALOG = "gpuledger"
Fault = Literal["lost", "older", "changed"]
_Part = TypeVar("_Part")
#: What is said of a base with a fault.
_SAID: dict[Fault, str] = {
    "lost": "is lost",
    "older": "is an older one that somebody put back",
    "changed": "is not what was written: the disk fails, or somebody changed it",
}
#: How lost nights come back.
REPLAY = "`gpuledger replay` takes it in again from the archive"
#: The end of the names of files and folders that are half written or half removed.
_HALF = ".part"


@contextmanager
def workspace(
    data: DataDir, run_id: str, *, memory_limit: str = "2GB", copy_of: Path | None = None
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A connection to a work file, and the path of that file: a copy of the base, or of `copy_of`, with the schema in place.

    The work file is removed when the block ends, unless `publish` took it. Raises NotAWarehouse if the base is not a DuckDB
    file, NewerWarehouse and OlderWarehouse as `schema.begin` does, and WarehouseError if memory or disk do not suffice.
    """
    data.state.mkdir(parents=True, exist_ok=True)
    for left in data.state.glob("work-*"):
        left.unlink()  # from a killed run; we hold the lock, so nobody works on it
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
            schema.refuse_newer_duckdb(error, str(copied))
            raise NotAWarehouse(Message(
                "{copied} cannot be opened by DuckDB ({reason}); restore it from a file in {versions}/, or move it "
                "away and run `gpuledger replay`", copied=copied, reason=str(error).splitlines()[0],
                versions=data.versions.name,
            )) from None  # fmt: skip
        schema.begin(con, run_id, str(copied), origin="baseline" if copy_of else "archive")
        yield con, work
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise WarehouseError(Message(
            "DuckDB could not go on ({reason}): raise memory_limit in the settings (now {memory_limit}), or make "
            "room on the disk of {root}", reason=str(error).splitlines()[0], memory_limit=memory_limit, root=data.root,
        )) from error  # fmt: skip
    finally:
        with suppress(duckdb.Error):
            con.close()
        for left in data.state.glob(f"work-{run_id}*"):
            left.unlink()


def refuse_newer(data: DataDir) -> None:
    """Raise NewerWarehouse if a newer program or DuckDB wrote the newest version or the base, before anybody writes here.

    A run that begins with neither, such as a replay, would otherwise publish an older warehouse over it.
    """
    for path in (_newest(data), data.base):
        if path is not None and path.is_file():
            try:
                read.file_query(path, "SELECT 1", str(path))
            except NewerWarehouse:
                raise
            except NotAWarehouse:
                continue  # it is damaged, which is for `heal` and `restore`


@contextmanager
def one_thread(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Runs the statements of this block in one thread."""
    con.execute("SET threads = 1")
    try:
        yield
    finally:
        con.execute("RESET threads")


def committed(con: duckdb.DuckDBPyConnection, parts: Iterable[_Part]) -> Iterator[_Part]:
    """Yields the parts of long work, and commits the open transaction after each: a longer one keeps every overwritten
    version in memory.
    """
    for part in parts:
        yield part
        con.commit()
        con.begin()


def attach(con: duckdb.DuckDBPyConnection, work: Path) -> None:
    """Attach a work file and use it, in a storage format that DuckDB 1.5 opens.

    It has no write-ahead log: a work file that is not published is thrown away, so nobody would ever read the log.
    """
    con.execute(
        f"ATTACH {schema.quote(str(work))} AS {CATALOG} "
        f"(STORAGE_VERSION '{STORAGE_VERSION}', RECOVERY_MODE no_wal_writes); USE {CATALOG}"
    )


def publish(
    con: duckdb.DuckDBPyConnection, data: DataDir, work: Path, run_id: str, keep_versions: int = KEEP_VERSIONS
) -> Path:
    """Make the committed work file the published one, and keep the last versions; returns the version's path.

    The order matters: a complete file stays published, whenever the process is killed. The version is written completely
    before it gets its name. The base and the symlink follow, and a note says that they are still due, so that `heal` can
    finish them after a kill.
    """
    con.execute(f"CHECKPOINT {CATALOG}; USE memory; DETACH {CATALOG}")
    version = version_of(data, run_id)
    part = _half(version.parent) / version.name
    part.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(work, part)
    part.chmod(0o444)
    sync(part)
    # The copy is read back from the disk, so that a fault of copying is found now and not when somebody needs the file.
    with ThreadPoolExecutor(2) as threads:
        sha256, original = threads.map(integrity.digest, (part, work))
    if sha256 != original:
        raise Damaged(Message("{part} is not what was copied there: the disk fails; nothing was published", part=part))
    integrity.note(data, version, sha256)
    data.publishing.write_text(integrity.name_of(version), encoding="utf-8")
    sync(data.publishing)
    sync(data.state)
    sync(part.parent)
    part.parent.replace(version.parent)
    sync(data.versions)
    sync(work)
    work.replace(data.base)
    sync(data.state)
    _point(data, version)
    data.publishing.unlink()
    for old in old_versions(data, keep_versions):
        remove_version(old)
    return version


def compact(con: duckdb.DuckDBPyConnection, work: Path) -> None:
    """Write the committed work file anew, without the space of deleted rows. The connection continues with the new file."""
    anew = work.with_suffix(".compact")
    con.execute(f"ATTACH {schema.quote(str(anew))} AS anew (STORAGE_VERSION '{STORAGE_VERSION}')")
    con.execute(f"COPY FROM DATABASE {CATALOG} TO anew; DETACH anew; USE memory; DETACH {CATALOG}")
    anew.replace(work)
    attach(con, work)


def heal(data: DataDir) -> list[str]:
    """Finish a publish that was killed between its steps, remove half-written files, and restore a damaged base.

    Returns sentences that say what was damaged and what replaced it. Mostly there are none. Raises Damaged if nothing can
    replace it.

    A version that has its final name is complete, so the base and the symlink follow it. The note says which version that
    is: on a machine whose clock was set back, the newest by name may be another one. A lost base is restored from the
    published version. Raises NotAWarehouse if a file that is not ours has the published name, which is never overwritten.
    """
    if data.published.exists() and not data.published.is_symlink():
        raise NotAWarehouse(Message(
            "{published} is a file, and not the link to a version that a refresh makes: move it away, or use another "
            "--data-dir", published=data.published,
        ))  # fmt: skip
    swaps = data.root.glob(f".{data.published.name}.*")
    for left in (*data.versions.glob(f"*{_HALF}"), *data.state.glob("*.part"), *swaps):
        shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
    if data.publishing.exists():
        name = data.publishing.read_bytes()
        version = next((file for file in versions(data) if integrity.name_of(file).encode() == name), None)
        if version is not None and integrity.is_whole(data, version) is not False:
            _restore_base(data, version)
            _point(data, version)
        data.publishing.unlink()
    elif not data.base.exists() and (newest := _newest(data)) and integrity.is_whole(data, newest) is not False:
        _restore_base(data, newest)
    return _mend_base(data)


def base_fault(data: DataDir) -> Fault | None:
    """What is wrong with the base; None if it is the newest version, or if `heal` is yet to finish a publish."""
    newest = _newest(data)
    if not data.base.exists():
        return "lost" if newest is not None else None
    if newest is None or data.publishing.exists():
        return None
    sums, sha256 = integrity.noted(data), integrity.digest(data.base)
    if sha256 == (sums.get(integrity.name_of(newest)) or integrity.digest(newest)):
        return None
    return "older" if sha256 in sums.values() else "changed"


def _newest_first(data: DataDir) -> list[Path]:
    """The versions in the order in which they were published, by the notes and not by the link, which may have been set back
    together with the base.

    A published version without a note comes first: its note is damaged, or was lost with an older state/ that somebody put
    back. Other versions without a note come last.
    """
    by_name = {integrity.name_of(version): version for version in versions(data)}
    order = [*reversed(integrity.noted(data))]
    if data.published.exists() and (published := integrity.name_of(data.published.resolve())) not in order:
        order.insert(0, published)
    order += reversed(by_name)
    return [by_name[name] for name in dict.fromkeys(order) if name in by_name]


def _newest(data: DataDir) -> Path | None:
    return next(iter(_newest_first(data)), None)


def _mend_base(data: DataDir) -> list[str]:
    """Replace a base that is not the newest published version by the newest intact version, and say so. Raises Damaged."""
    fault = base_fault(data)
    newest = _newest(data)
    if fault is None:
        if newest is not None and data.base.exists() and integrity.name_of(newest) not in integrity.noted(data):
            integrity.note(data, newest, integrity.digest(newest))
        return []
    version = newest_whole(data)
    if version is None:
        raise Damaged(Message(
            "{base} is not the newest published version, and no version is whole: restore {root} from a backup, or "
            "move {state} and {versions} away and run `gpuledger replay`, which makes the warehouse anew from the "
            "archive", base=data.base, root=data.root, state=data.state, versions=data.versions,
        ))  # fmt: skip
    aside = ""
    if data.base.exists():
        data.base.replace(data.base_aside)
        aside = f" (it is {data.base_aside.name} now)"
    _restore_base(data, version)
    if fault == "older":
        _point(data, version)
    lost = "" if version == newest else f"; what was published after that is not in it: {REPLAY}"
    return [f"{data.base} {_SAID[fault]}{aside}; {integrity.name_of(version)} stands in its place{lost}"]


def newest_whole(data: DataDir) -> Path | None:
    """The newest intact version. The published one needs no known sum."""
    for version in _newest_first(data):
        whole = integrity.is_whole(data, version)
        if whole or (whole is None and version.resolve() == data.published.resolve()):
            return version
    return None


def restore(data: DataDir) -> list[str]:
    """Restore base and published version from the newest intact version. Returns what it did, nothing if all is intact.

    The caller holds the writer's lock. Raises Damaged if no version is intact.
    """
    done = heal(data)
    published = data.published.resolve() if data.published.exists() else None
    if published is not None and published.is_file() and integrity.is_whole(data, published) is not False:
        return done
    version = newest_whole(data)
    if version is None:
        raise Damaged(Message(
            "no version in {versions} is whole: restore {root} from a backup, or run `gpuledger replay`, which makes "
            "the warehouse anew from the archive", versions=data.versions, root=data.root,
        ))  # fmt: skip
    _restore_base(data, version)
    _point(data, version)
    integrity.note(data, version, integrity.digest(version))  # again: it is the newest now
    was = integrity.name_of(published) if published is not None else "nothing"
    return [*done, f"{integrity.name_of(version)} is published again, in the place of {was}"]


def _restore_base(data: DataDir, version: Path) -> None:
    data.state.mkdir(parents=True, exist_ok=True)
    part = data.base.with_suffix(".part")
    shutil.copyfile(version, part)
    sync(part)
    part.replace(data.base)
    sync(data.state)


def version_of(data: DataDir, run_id: str) -> Path:
    """The path of the version that a run publishes, whether it exists or not.

    Each version has a folder of its own and the same file name, since DuckDB names the catalog after the file at the end of
    the link: a query that says `gpuledger.mart.value` must work on every night's version.
    """
    return data.versions / run_id / WAREHOUSE_FILE


def versions(data: DataDir) -> list[Path]:
    """The published files, oldest first. Run ids begin with the time, so names sort by it."""
    return sorted(file for file in data.versions.glob(f"*/{WAREHOUSE_FILE}") if file.parent.suffix != _HALF)


def is_published(data: DataDir, run_id: str) -> bool:
    """Whether the run's version has its final name on disk. It gets the name when it is complete."""
    return version_of(data, run_id).exists()


def _half(folder: Path) -> Path:
    return folder.with_name(folder.name + _HALF)


def _point(data: DataDir, version: Path) -> None:
    """Swap the symlink in one step, so that a reader always finds the old or the new version."""
    swap = data.root / f".{data.published.name}.{os.getpid()}"
    swap.unlink(missing_ok=True)
    swap.symlink_to(version.relative_to(data.root))
    swap.replace(data.published)
    sync(data.root)


def old_versions(data: DataDir, keep_versions: int) -> list[Path]:
    """The versions older than the newest `keep_versions`, but never the published one, which may sort first."""
    all_versions = versions(data)
    return [
        old
        for old in all_versions[: max(0, len(all_versions) - keep_versions)]
        if old.resolve() != data.published.resolve()
    ]


def remove_version(version: Path) -> None:
    """Remove a version; a reader that has it open keeps it."""
    # One rename first, so that a kill leaves no version without its file. The next run removes what is left of it.
    half = _half(version.parent)
    version.parent.replace(half)
    shutil.rmtree(half)
