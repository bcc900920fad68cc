"""Writes files completely or not at all, and holds the lock by which pruning and saving exclude each other."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Only the owner may read, whatever the umask: the archive has vendors' quotes, and addresses that nobody else needs.
FILE_MODE, FOLDER_MODE = 0o600, 0o700
_TEMPORARY = ".tmp-"
_LEFTOVER_AGE_S = 24 * 3600


def write(path: Path, data: bytes) -> None:
    """Write a file so that no reader ever sees half of it, and so that it survives a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_TEMPORARY)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(FILE_MODE)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the file names in a folder durable, because fsync of a file does not do that."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_leftovers(root: Path, younger_too: bool = False) -> None:
    """Remove the temporary files of processes that were killed.

    Young files may be in use, so they stay. With `younger_too` they go too: the caller knows that nobody writes.
    """
    for path in (*root.rglob(f"{_TEMPORARY}*"), *root.rglob("*.part")):
        with suppress(FileNotFoundError):
            if younger_too or path.stat().st_mtime < time.time() - _LEFTOVER_AGE_S:
                path.unlink()


@contextmanager
def shared(root: Path) -> Iterator[None]:
    """Lock the archive against pruning. Many processes may hold this lock at the same time."""
    with _locked(root, fcntl.LOCK_SH):
        yield


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Lock the archive for this process alone. Waits for the processes that are saving."""
    with _locked(root, fcntl.LOCK_EX):
        yield


@contextmanager
def _locked(root: Path, how: int) -> Iterator[None]:
    root.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    about = root.stat()
    if about.st_uid == os.geteuid() and about.st_mode & 0o077:
        root.chmod(FOLDER_MODE)
    handle = os.open(root / ".lock", os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        fcntl.flock(handle, how)  # released when the handle is closed, also by a kill
        yield
    finally:
        os.close(handle)
