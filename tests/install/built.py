"""Build the project as a user's pip does, without a build environment of its own, and ask the commands of what was built."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.command import ROOT, Outcome, environment
from tests.test_architecture import WORDS, reading_commands

#: Reading commands that look at the sources themselves, and so import what reads them.
ASKS_THE_SOURCES = {"sources"}

#: Beside the commands with `--format`, what the README names for reading.
MORE = {
    "export": ["export", "csv"],
    "export xlsx": ["export", "xlsx", "--format", "xlsx"],
    "export parquet": ["export", "parquet", "--format", "parquet"],
    "report": ["report", "report"],
    "resolve": ["resolve", "GeForce RTX 4090 Gaming OC 24G", "--explain"],
    "value in Korean": ["--lang", "ko", "value", "sd-512-image-generation"],
}


def build(target: str, folder: Path, source: Path = ROOT) -> None:
    """Write the `wheel` or `sdist` of `source` into `folder`."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=600)


def questions() -> dict[str, list[str]]:
    """Every reading command with the words that it needs, by name: those with `--format`, however many there will be, and
    those in `MORE`.
    """
    asked = {name: [name, *WORDS.get(name, [])] for name in reading_commands()}
    return {**asked, **MORE}


def ask(command: list[str], words: list[str], data: Path, folder: Path, env: Mapping[str, str]) -> Outcome:
    """The answer of `command`, a gpuledger that is installed somewhere, asked in `folder`."""
    done = subprocess.run(
        [*command, *words], env=environment({"GPULEDGER_DATA_DIR": str(data), **env}), cwd=folder, check=False,
        capture_output=True, text=True, encoding="utf-8", timeout=600,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)
