"""The most memory that a process had."""

from __future__ import annotations

from pathlib import Path


def peak_mb(pid: int | str = "self") -> float:
    """In MB, since the process began or since "5" was written to its `clear_refs`.

    Not `ru_maxrss`: that begins with what the process had that started this one.
    """
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000
