"""The same pages give the same files, whatever the seed of hashes, the time zone and the locale of the machine.

`SAME=all` for every zone, seed and installed locale; the two engines and the two DuckDBs are compared in
`tests/flows/test_engines.py` and `tests/history/test_portability.py`. For `make test` the first of these has one of each.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.command import csv_files, python_path, succeeds
from tests.nights import Night

ALL = "SAME" in os.environ
SEEDS = [{"PYTHONHASHSEED": str(seed)} for seed in ((1, 2, 3, 1066, 4294967295) if ALL else (1066,))]
ZONES = [
    {"TZ": zone}
    for zone in ("Pacific/Kiritimati", "Pacific/Marquesas", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe",
                 "Asia/Seoul", "Europe/Berlin", "America/New_York")[: None if ALL else 1]
]  # fmt: skip


def locales() -> list[dict[str, str]]:
    """The locales of this machine: C, and those that `make prove` makes in LOCPATH."""
    found = subprocess.run(["locale", "-a"], check=True, capture_output=True, text=True).stdout.split()
    made = (
        sorted(path.name for path in Path(os.environ["LOCPATH"]).iterdir() if path.is_dir())
        if "LOCPATH" in os.environ
        else []
    )
    chosen = [name for name in (*made, *found) if name not in ("POSIX", "C.utf8")]
    return [{"LC_ALL": name} for name in (chosen if ALL else chosen[-1:])]


#: Each by itself, or all at once: what one of them changes is seen then too, in one night.
AT_ONCE = {**SEEDS[0], **ZONES[0], **locales()[0]}
EVERYWHERE = [*SEEDS, *ZONES, *locales()] if ALL else [AT_ONCE]


@pytest.mark.slow_combination
@pytest.mark.parametrize("where", EVERYWHERE, ids=lambda where: "-".join(map("=".join, where.items())))
def test_a_night_gives_the_same_files(nights: dict[int, Night], tmp_path: Path, where: Mapping[str, str]) -> None:
    # With a PYTHONPATH of its own the command is a new process, and not the fork of one that has read these already.
    env = {**where, "PYTHONPATH": python_path()}
    succeeds("refresh", "--sample", "--engine", "plain", data=tmp_path / "data", env=env)
    assert csv_files(tmp_path / "data" / "exports") == csv_files(nights[1].data / "exports")
