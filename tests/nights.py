"""The three nights of the sample site, read by the real command once for all tests, and copied for each that writes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from tests.command import Outcome, gpuledger, succeeds


@dataclass(frozen=True)
class Night:
    """One night: the data directory as the command left it, and how the command ended. Copy it before you write."""

    number: int
    data: Path
    outcome: Outcome

    def copy(self, to: Path) -> Path:
        """A data directory of one's own, as it was after this night."""
        shutil.copytree(self.data, to, symlinks=True)
        return to


def once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], None]) -> Path:
    """A folder that is built once a test session, however many processes the session has."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # each worker has a folder of its own in the session's
    folder = base / name
    with FileLock(base / f"{name}.lock"):
        if not (folder / "done").exists():
            folder.mkdir()
            build(folder)
            (folder / "done").touch()
    return folder


def build_nights(folder: Path) -> None:
    data = folder / "data"
    for number in (1, 2, 3):
        outcome = gpuledger("refresh", "--sample", "--engine", "plain", "--night", number, data=data)
        shutil.copytree(data, folder / f"night{number}", symlinks=True)
        (folder / f"night{number}.json").write_text(json.dumps(asdict(outcome)))


def build_first_night(folder: Path) -> None:
    only = ("--only", "ecb_fx", "--only", "newegg")
    succeeds("refresh", "--sample", "--engine", "plain", "--night", 1, *only, data=folder / "data")


def read_nights(folder: Path) -> dict[int, Night]:
    return {
        number: Night(
            number, folder / f"night{number}", Outcome(**json.loads((folder / f"night{number}.json").read_text()))
        )
        for number in (1, 2, 3)
    }
