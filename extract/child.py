"""The environment of the child processes that read a page, read a picture or run a query under limits."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import gpuledger


def environment() -> dict[str, str]:
    """Only the paths of the libraries. Nothing else is passed on, because a service has its passwords in its environment."""
    path = os.pathsep.join([str(Path(gpuledger.__file__).parents[1]), *filter(None, sys.path)])
    return {"PYTHONPATH": path, "LANG": "C.UTF-8"}
