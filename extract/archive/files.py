"""Makes folders and files that are their owner's alone, whole or not at all, and holds the lock of the archive.

By that lock pruning and saving exclude each other. This module imports no other module of the program, so that every package
may use it.
"""

from __future__ import annotations

import fcntl
import os
import stat
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
    sync(path.parent)


def sync(path: Path) -> None:
    """fsync a file or a folder: a name is only durable once its folder is."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(path: Path) -> Path:
    """Make the folder if it does not exist, and close it to all other users, also if it existed and was open to them.

    A folder that belongs to another user is left as it is. Raises OSError.
    """
    path.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    about = path.stat()
    if about.st_uid == os.geteuid() and about.st_mode & 0o077:
        path.chmod(FOLDER_MODE)
    return path


def only_we_write(path: Path) -> bool:
    """Whether nobody but this user and root can change or exchange the file `path`: it, every folder above it, and where
    links lead. In a folder with the sticky bit, such as /tmp, others cannot exchange what is ours. Raises OSError.
    """
    for part in (path.absolute(), *path.absolute().parents):
        about = part.lstat()
        if about.st_uid not in (0, os.geteuid()):
            return False
        if stat.S_ISLNK(about.st_mode):
            if not only_we_write(part.parent / part.readlink()):
                return False
        elif about.st_mode & 0o022 and not (stat.S_ISDIR(about.st_mode) and about.st_mode & stat.S_ISVTX):
            return False
    return True


def remove_leftovers(root: Path, younger_too: bool = False) -> None:
    """Remove the temporary files of processes that were killed.

    Young files may be in use, so they stay. With `younger_too` they go too: the caller knows that nobody writes.
    """
    for path in (*root.rglob(f"{_TEMPORARY}*"), *root.rglob("*.part")):
        with suppress(FileNotFoundError):
            if younger_too or path.stat().st_mtime < time.time() - _LEFTOVER_AGE_S:
                path.unlink()


@contextmanager
def locked(root: Path, *, alone: bool = False) -> Iterator[None]:
    """Lock the archive against pruning, which many processes may do at the same time. To prune it, a process locks it
    `alone`, and waits for those that are saving.
    """
    make_folder(root)
    handle = os.open(root / ".lock", os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        fcntl.flock(
            handle, fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        )  # released when the handle is closed, also by a kill
        yield
    finally:
        os.close(handle)
