"""The environment of the processes that are started to be limited and ended: one that reads a page, a picture, a query."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import gpuledger


def environment() -> dict[str, str]:
    """Where the libraries are, and nothing else of ours: the environment of a service holds its passwords."""
    path = os.pathsep.join([str(Path(gpuledger.__file__).parents[1]), *filter(None, sys.path)])
    return {"PYTHONPATH": path, "LANG": "C.UTF-8"}
