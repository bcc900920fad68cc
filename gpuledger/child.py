"""Starts every child process of gpuledger. None of them looks for code in the current folder.

`python -c` and `python -m` search the current folder first, so a file `gpuledger.py` or `json.py` that lies in a shared or
downloaded folder would run. A child is therefore started with `-P`, and what it starts inherits PYTHONSAFEPATH.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import DEVNULL, PIPE, TimeoutExpired
from typing import Any

import gpuledger

__all__ = ["DEVNULL", "PIPE", "Process", "TimeoutExpired", "bare_environment", "run", "search", "start"]

Process = subprocess.Popen[bytes]


def search() -> dict[str, str]:
    """The environment variables that say where Python searches: where this process does, but not in the current folder."""
    folders = [folder for folder in sys.path if folder and not (Path(folder).exists() and Path(folder).samefile("."))]
    # gpuledger itself comes last, as it may be a checkout that lies in the current folder.
    folders = [*map(os.path.abspath, folders), str(Path(gpuledger.__file__).parents[1])]
    return {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(dict.fromkeys(folders))}


def bare_environment() -> dict[str, str]:
    """For a child that reads what strangers wrote: nothing but `search`, because a service has its passwords in its
    environment.
    """
    return {**search(), "LANG": "C.UTF-8"}


def start(*words: str, environment: Mapping[str, str] | None = None, **how: Any) -> Process:
    """Python with these arguments, such as `-m module`, with pipes to its standard input and output, and no other open file
    of this process. `how` is what Popen takes. Without `environment` the child gets `bare_environment`.
    """
    env = bare_environment() if environment is None else {**environment, **search()}
    pipes = {"stdin": PIPE, "stdout": PIPE}
    return subprocess.Popen([sys.executable, "-P", *words], env=env, close_fds=True, **{**pipes, **how})


def run(*words: str, content: bytes, seconds: float) -> subprocess.CompletedProcess[bytes]:
    """What Python with these arguments answers to `content` on its standard input. Raises TimeoutExpired, with the child
    killed, if that takes more than `seconds`.
    """
    with start(*words, stderr=PIPE) as process:
        try:
            out, err = process.communicate(content, timeout=seconds)
        finally:
            process.kill()
    return subprocess.CompletedProcess(words, process.returncode, out, err)
