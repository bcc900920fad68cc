"""A night on a disk of so many kilobytes, and the next one when there is room: a script for a mount namespace of its own.

Prints as JSON the exit status of both nights, what the first said, how many runs the published file held after each, and
what an export into a full disk says.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.command import arguments, environment


def published(data: Path) -> int:
    """How many runs the published file holds; reads a table of every room."""
    query(DataDir(data), "SELECT count(*) FROM mart.value")
    return int(query(DataDir(data), "SELECT count(*) FROM ops.source_run WHERE source = 'ecb_fx'")[1][0][0])


def night(data: Path) -> subprocess.CompletedProcess[str]:
    words = ("refresh", "--sample", "--engine", "plain", "--night", 2, "--only", "ecb_fx", "--only", "newegg")
    return subprocess.run(
        arguments(*words, data=data), env=environment(), cwd="/", check=False, capture_output=True, text=True
    )


def main(original: Path, disk: Path, free_kb: int) -> None:
    """The night of `original`, copied to a disk mounted at `disk` with so much room left."""
    size_kb = sum(path.stat().st_blocks for path in original.rglob("*") if not path.is_symlink()) // 2
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_kb + free_kb}k", "tmpfs", str(disk)]
    subprocess.run(mount, check=True)
    data = disk / "data"
    shutil.copytree(original, data, symlinks=True)
    first = night(data)
    after_first = published(data)
    subprocess.run(["mount", "-o", "remount,size=1g", str(disk)], check=True)
    second = night(data)
    found = {
        "status": [first.returncode, second.returncode],
        "said": first.stderr,
        "runs": [after_first, published(data)],
    }
    subprocess.run(["mount", "-o", f"remount,size={shutil.disk_usage(disk).used // 1024 + 8}k", str(disk)], check=True)
    export = arguments("export", disk / "out", "--format", "parquet", data=data)
    found["export"] = subprocess.run(export, env=environment(), check=False, capture_output=True, text=True).stderr
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
