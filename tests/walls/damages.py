"""What happens to files on a disk, by a seed: flipped bits, cuts, zeros, swapped and doubled parts, noise, lost lines."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from gpuledger.warehouse import publish
from gpuledger.warehouse.paths import DataDir

#: Bytes that a disk loses or mixes up at once.
SECTOR, PAGE = 512, 4096


def _flip(content: bytes, at: int, chance: random.Random) -> bytes:
    return content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]


def _cut(content: bytes, at: int, chance: random.Random) -> bytes:
    return content[:at]


def _zeros(content: bytes, at: int, chance: random.Random) -> bytes:
    return content[:at] + bytes(len(content[at : at + PAGE])) + content[at + PAGE :]


def _swap(content: bytes, at: int, chance: random.Random) -> bytes:
    count = max(1, len(content) // SECTOR)
    first, second = sorted((at // SECTOR, chance.randrange(count)))
    sectors = [content[start : start + SECTOR] for start in range(0, len(content), SECTOR)]
    sectors[first], sectors[second] = sectors[second], sectors[first]
    return b"".join(sectors)


def _double(content: bytes, at: int, chance: random.Random) -> bytes:
    return content + content[at:]


def _noise(content: bytes, at: int, chance: random.Random) -> bytes:
    return content[:at] + chance.randbytes(64) + content[at + 64 :]


def _lose_a_line(content: bytes, at: int, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def _empty(content: bytes, at: int, chance: random.Random) -> bytes:
    return b""


#: Flips are what is seen most, and hardest to see.
KINDS: tuple[Callable[[bytes, int, random.Random], bytes], ...] = (
    _flip, _flip, _flip, _cut, _zeros, _swap, _double, _noise, _lose_a_line, _empty,
)  # fmt: skip


def places(data: DataDir) -> dict[str, list[Path]]:
    """The files of a data directory by what they are, those that are there."""
    older, newest = (publish.versions(data)[:-1], publish.versions(data)[-1:])
    found = {
        "base": [data.base],
        "newest version": newest,
        "older version": older,
        "archive": data.snapshots.rglob("*"),
        "log of fetches": data.snapshots.glob("log/*"),
        "log of runs": [data.runs],
        "sums": [data.checksums],
        "cache": data.snapshots.glob("parsed/**/*"),
        "state": data.state.rglob("*"),
    }
    files = {name: sorted(path for path in some if path.is_file()) for name, some in found.items()}
    return {name: some for name, some in files.items() if some}


def damage(path: Path, chance: random.Random) -> str:
    """Change a file in one way or another, so that it is not as it was. Gives the way's name."""
    content = path.read_bytes()
    path.chmod(0o644)
    while True:
        kind = chance.choice(KINDS)
        changed = kind(content, chance.randrange(len(content)), chance) if content else chance.randbytes(64)
        if changed != content:
            path.write_bytes(changed)
            return kind.__name__.strip("_")
