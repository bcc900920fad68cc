"""Reads files that people leave for the program, without trusting them, because others may write into an inbox too.

A name may lead anywhere: to a link to another user's secrets, an endless pipe or device, or a sparse file as large as the
disk. So a file is opened without following a link and without waiting. It must be a regular file, and it is read at once up
to a limit. This module imports no other module of the program, so that every package may use it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import tomllib
import zlib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO

#: Most bytes of a file that a person writes or exports: quotes, models, transcriptions. A list of 50,000 quotes has 10 MB.
MAX_BYTES = 20_000_000
#: Most bytes of a page that a person saved, compressed or not. The longest page of our sources fits.
MAX_PAGE_BYTES = 64_000_000


class Refused(OSError):
    """The program does not read this file. `strerror` says why, and what to do."""


def read_bytes(path: Path, max_bytes: int = MAX_BYTES, *, follow: bool = False) -> bytes:
    """The bytes of a regular file. Raises OSError, and Refused if it is no regular file or has more than `max_bytes`.

    `follow` follows a link. It is for a file that a person named in a command, because then the link is their own.
    """
    with opened(path, follow=follow) as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise _refused(path, _too_large(size, max_bytes))
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise _refused(path, _too_large(len(content), max_bytes))
    return content


def opened(path: Path, *, follow: bool = False) -> BinaryIO:
    """A regular file, open for reading without waiting. Raises OSError, and Refused if it is no regular file."""
    try:
        handle = os.open(path, os.O_RDONLY | (0 if follow else os.O_NOFOLLOW) | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _refused(path, "it is a link, and links are not followed: put the file itself here") from None
        if error.errno == errno.ENXIO:
            raise _refused(path, "it is a socket, and not a file: take it away") from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _refused(path, "it is a folder, a pipe or a device, and not a file: take it away")
    return os.fdopen(handle, "rb")


def read_page(path: Path) -> bytes:
    """The page that a person saved, decompressed if it is a gzip file.

    Raises OSError, and Refused, which is also raised for a damaged gzip file.
    """
    content = read_bytes(path, MAX_PAGE_BYTES, follow=True)
    try:
        return gunzipped(content, MAX_PAGE_BYTES) if content[:2] == GZIP else content
    except ValueError as error:
        raise _refused(path, f"the gzip file {error}") from None


#: How a gzip file begins.
GZIP = b"\x1f\x8b"


class TooMuch(ValueError):
    """The file has more content than the program reads."""


def gunzipped(content: bytes, most: int) -> bytes:
    """The content of all members of a gzip file (RFC 1952, 2.2). Bytes after the last member are padding.

    Raises TooMuch if there are more than `most` bytes, and ValueError if the file is damaged or incomplete.
    """
    plain = bytearray()
    while content[:2] == GZIP:
        stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            plain += stream.decompress(content, most + 1 - len(plain))
        except zlib.error as error:
            raise ValueError(f"is broken: {error}") from None
        if len(plain) > most:
            raise TooMuch(f"holds more than {most:,} bytes")
        if not stream.eof:
            raise ValueError("breaks off")
        content = stream.unused_data
    return bytes(plain)


def read_text(path: Path, *, follow: bool = False) -> str:
    """The text of a file. Raises ValueError if it is not UTF-8, and the errors of `read_bytes`."""
    try:
        # The editor of Windows begins a file with a byte order mark, and TOML 1.1 says to ignore it.
        return read_bytes(path, follow=follow).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is no text in UTF-8: save it as UTF-8") from None


def read_toml(path: Path, *, follow: bool = False) -> dict[str, Any]:
    """The tables of a TOML file. Raises ValueError if it is not TOML in UTF-8, and the errors of `read_bytes`."""
    try:
        return tomllib.loads(read_text(path, follow=follow))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def toml_table(header: str, values: Mapping[str, Any]) -> str:
    """A table of a TOML file with its `header`, `[name]` or `[[name]]`; values that are None are left out."""
    lines = [f"{name} = {_toml(value)}" for name, value in values.items() if value is not None]
    return "\n".join([header, *lines, ""])


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml(str(name))} = {_toml(inner)}' for name, inner in value.items())} }}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if "\n" in str(value) and not re.search(r"'''|'$|[\x00-\x08\x0b-\x1f\x7f]", str(value)):
        return f"'''\n{value}'''"  # as it is, in lines that a person can read
    # A JSON string is a TOML basic string, except that TOML wants DEL escaped too.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def loads(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError, also if the text is nested too deeply for Python."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def write(path: Path, content: bytes) -> Path:
    """Write a file so that nobody ever reads half of it. Creates its folder if needed. Returns the path. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        return part.replace(path)
    except OSError as error:  # of a full disk it names no file
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_text(path: Path, text: str) -> Path:
    """The same for a text, in UTF-8."""
    return write(path, text.encode())


def name_of(path: Path) -> str:
    """The file's name as text. A byte that is not UTF-8 (a name in CP949) becomes % and two digits."""
    return "".join(f"%{ord(letter) - 0xDC00:02X}" if "\udc80" <= letter <= "\udcff" else letter for letter in path.name)


def why(error: OSError) -> str:
    """The system's message about a file, with what to do if that is known."""
    message = error.strerror or str(error) or type(error).__name__
    return f"{message}: {WAYS_OUT[error.errno]}" if error.errno in WAYS_OUT else message


WAYS_OUT = {
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room, or have the quota raised",
    errno.EROFS: "mount the disk for writing",
    errno.EACCES: "mend the permissions",
    errno.EPERM: "mend the permissions",
    errno.EMFILE: "raise the number of open files (ulimit -n)",
    errno.EIO: "the disk fails: look at the system's log",
    errno.ENAMETOOLONG: "give it a shorter name",
}


def _refused(path: Path, reason: str) -> Refused:
    return Refused(errno.EINVAL, reason, str(path))


def _too_large(size: int, bound: int) -> str:
    return f"it has {size} bytes or more, the bound is {bound}: leave a smaller file, or several"
