"""Lines of JSON that show if they were changed, swapped or lost. Each line ends with its checksum and names the line before.

This protects against mistakes, torn writes, failing disks and edits by hand, but not against somebody who computes the
checksums anew. This module imports no other module of the program, so that every package may use it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SEAL = re.compile(rb', "after": "([0-9a-f]{0,16})", "seal": "([0-9a-f]{16})"\}\s*\Z')
#: Bytes that are read from the end of a log to find its last line. If the last line is longer, the whole log is read.
_TAIL = 1 << 16
#: Most bytes of a line and of a log that are read. A run's line has some kilobytes, and a log grows by a few lines a night.
LONGEST, MOST = 1 << 24, 1 << 28


@dataclass(frozen=True, slots=True)
class Damage:
    """One line that is not as it was written. `is_torn` if it is only a beginning, left by a kill or a full disk."""

    number: int
    reason: str
    is_torn: bool = False


def line(record: Mapping[str, Any], after: str = "", default: Callable[[Any], Any] | None = None) -> bytes:
    """The record as one sealed line, which follows the line whose seal is `after`."""
    text = json.dumps({**record, "after": after}, default=default, ensure_ascii=False)
    body = text.encode("utf-8", "backslashreplace")
    return body[:-1] + f', "seal": "{_sum(body)}"}}\n'.encode()


def append(path: Path, record: Mapping[str, Any], default: Callable[[Any], Any] | None = None) -> None:
    """Append one sealed line to a log durably. Safe for several processes. Raises OSError."""
    extend(path, (record,), default)


def extend(path: Path, records: Iterable[Mapping[str, Any]], default: Callable[[Any], Any] | None = None) -> None:
    """Append sealed lines to a log durably in one write, like `append`. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # no other line may come in between, as a line names the one before
        size = os.fstat(handle).st_size
        # A torn line, left by a full disk or a kill, must not swallow this line.
        is_torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        seal, added = _last_seal(path, handle, size), []
        for record in records:
            added.append(line(record, seal, default))
            seal = _parts(added[-1])[1]
        data = b"\n" * is_torn + b"".join(added)
        if os.write(handle, data) != len(data):
            raise OSError(f"{path}: the line was not written whole; is the disk full?")
        os.fsync(handle)
    finally:
        os.close(handle)


def lines(path: Path) -> Iterator[bytes]:
    """The lines of a log; none if there is no log. A line that is too long comes in pieces, of which none has a seal."""
    if not path.exists():
        return
    with path.open("rb") as file:
        while file.tell() < MOST and (text := file.readline(LONGEST)):
            yield text


def chain(records: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """The records as sealed lines that follow each other, for a log that is written anew."""
    after = ""
    for record in records:
        text = line({name: value for name, value in record.items() if name not in ("after", "seal")}, after)
        after = _parts(text)[1]
        yield text


def damage(texts: Iterable[bytes]) -> Iterator[Damage]:
    """The damaged lines of a log, with their numbers from 1.

    Old lines at the beginning, from before there were seals, have no seal to check.
    """
    last, has_seals = "", False
    for number, text in enumerate(texts, start=1):
        if not text.strip():
            continue
        after, seal, body = _parts(text)
        if not seal:
            if has_seals or is_torn(text):
                yield Damage(number, "it has no seal", is_torn(text))
            continue
        if _sum(body) != seal:
            yield Damage(number, "it was changed after it was written")
        elif after != last:
            yield Damage(number, "the line that was written before it is gone, was changed, or stands elsewhere")
        last, has_seals = seal, True


def is_whole(text: bytes) -> bool:
    """Whether a line is as it was sealed. Also true for a line from before there were seals."""
    _, seal, body = _parts(text)
    return not seal or _sum(body) == seal


def is_torn(text: bytes) -> bool:
    """Whether this is only the beginning of a line, as a kill leaves it: it opens more braces than it closes."""
    return text.count(b"{") > text.count(b"}")


def _parts(text: bytes) -> tuple[str, str, bytes]:
    """The seal of the line before, the line's own seal, and the bytes that it seals. Both seals are empty if it has none."""
    match = _SEAL.search(text)
    if match is None:
        return "", "", text
    return match[1].decode(), match[2].decode(), text[: match.end(1)] + b'"}'


def _sum(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]


def _last_seal(path: Path, handle: int, size: int) -> str:
    start = max(0, size - _TAIL)
    for text in reversed(os.pread(handle, size - start, start).split(b"\n")):
        if seal := _parts(text)[1]:
            return seal
    last = ""
    if start:
        for text in lines(path):
            last = _parts(text)[1] or last
    return last
