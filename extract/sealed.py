"""Lines of JSON that tell when they were changed, swapped or lost: each ends with a sum of itself, and names the one before.

Against slips, torn writes and failing disks, and against an editor's hand: not against somebody who computes the sums anew.
Imports nothing of ours, so that every room may use it.
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
#: Bytes read from the end of a log to find its last line; a longer last line is found by reading all.
_TAIL = 1 << 16


@dataclass(frozen=True, slots=True)
class Damage:
    """One line that is not as it was written. `is_torn` where it is only a beginning, as a kill or a full disk leaves it."""

    number: int
    reason: str
    is_torn: bool = False


def line(words: Mapping[str, Any], after: str = "", default: Callable[[Any], Any] | None = None) -> bytes:
    """One sealed line of `words` that follows the line whose seal is `after`."""
    text = json.dumps({**words, "after": after}, default=default, ensure_ascii=False)
    body = text.encode("utf-8", "backslashreplace")
    return body[:-1] + f', "seal": "{_sum(body)}"}}\n'.encode()


def append(path: Path, words: Mapping[str, Any], default: Callable[[Any], Any] | None = None) -> None:
    """Put one sealed line at the end of a log, durably. Several processes may do so. Raises OSError."""
    extend(path, (words,), default)


def extend(path: Path, many: Iterable[Mapping[str, Any]], default: Callable[[Any], Any] | None = None) -> int:
    """Put sealed lines at the end of a log in one go, durably, as `append` does one; where the log then ends. Raises
    OSError.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # the line says which one it follows
        size = os.fstat(handle).st_size
        # What a full disk or a kill left of a line must not swallow this one.
        is_torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        seal, lines = _last_seal(handle, size), []
        for words in many:
            lines.append(line(words, seal, default))
            seal = _parts(lines[-1])[1]
        data = b"\n" * is_torn + b"".join(lines)
        if os.write(handle, data) != len(data):
            raise OSError(f"{path}: the line was not written whole; is the disk full?")
        os.fsync(handle)
        return size + len(data)
    finally:
        os.close(handle)


def chain(lines: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Sealed lines one after the other, for a log that is written anew."""
    after = ""
    for words in lines:
        text = line({name: value for name, value in words.items() if name not in ("after", "seal")}, after)
        after = _parts(text)[1]
        yield text


def damage(lines: Iterable[bytes]) -> Iterator[Damage]:
    """What is wrong with the lines of a log, each with its number from 1. Lines from before there were seals stand at the
    beginning and have none to break.
    """
    last, has_seals = "", False
    for number, text in enumerate(lines, start=1):
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
    """Whether a line is as it was sealed; also where it is from before there were seals."""
    _, seal, body = _parts(text)
    return not seal or _sum(body) == seal


def is_torn(text: bytes) -> bool:
    """The beginning of a line, as a kill leaves it: more is opened than closed."""
    return text.count(b"{") > text.count(b"}")


def _parts(text: bytes) -> tuple[str, str, bytes]:
    """The seal that a line follows, its own, and what that is of; empty where it has none."""
    found = _SEAL.search(text)
    if found is None:
        return "", "", text
    return found[1].decode(), found[2].decode(), text[: found.end(1)] + b'"}'


def _sum(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:16]


def _last_seal(handle: int, size: int) -> str:
    start = max(0, size - _TAIL)
    for text in reversed(os.pread(handle, size - start, start).split(b"\n")):
        if seal := _parts(text)[1]:
            return seal
    if not start:
        return ""
    with os.fdopen(os.dup(handle), "rb") as file:
        file.seek(0)
        return next((seal for text in reversed(file.read().split(b"\n")) if (seal := _parts(text)[1])), "")
