"""Scripts of `docs/`, which are no part of the program, as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"


def script_of_docs(name: str) -> ModuleType:
    """`docs/<name>.py`, run as an import."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up by name
    spec.loader.exec_module(module)
    return module
