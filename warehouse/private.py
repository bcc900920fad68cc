"""Folders and files that only their owner may open, whatever the umask is."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

#: The owner may do everything, and others nothing.
FOLDER_MODE = 0o700
FILE_MODE = 0o600


def make_folder(path: Path) -> Path:
    """Make the folder if it does not exist, and close it to all other users, also if it existed and was open to them.

    A folder that belongs to another user is left as it is. Raises OSError.
    """
    path.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    about = path.stat()
    if about.st_uid == os.geteuid() and about.st_mode & 0o077:
        path.chmod(FOLDER_MODE)
    return path


def write(path: Path, content: bytes) -> None:
    """Write a file in one step. It never has another mode, not even for a moment. Raises OSError."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), FILE_MODE)  # a umask such as 0277 takes even the owner's right away
            file.write(content)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


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
