"""Folders and files that only their owner may open, whatever the umask is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gpuledger.extract.archive.files import make_folder, write

__all__ = ["make_folder", "only_we_write", "write"]


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
