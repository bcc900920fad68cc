"""A home of Prefect with its database as the migrations leave it: they take longer than all else at a server's start."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import environment
from tests.nights import once


def prefect_home(factory: pytest.TempPathFactory, to: Path) -> None:
    """Make `to` such a home, the owner's alone as a server would."""

    def migrate(folder: Path) -> None:
        command = [sys.executable, "-m", "prefect", "server", "database", "upgrade", "--yes"]
        env = environment({"PREFECT_HOME": str(folder / "home"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"})
        subprocess.run(command, env=env, cwd=folder, check=True, capture_output=True, timeout=600)

    home = once(factory, "prefect-home", migrate) / "home"
    to.mkdir(mode=0o700, parents=True)
    for file in home.glob("prefect.db*"):
        shutil.copyfile(file, to / file.name)
        (to / file.name).chmod(0o600)
