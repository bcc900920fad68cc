"""The wheel that the tests of this folder install, built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.install.built import build
from tests.nights import once


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = once(tmp_path_factory, "wheel", lambda folder: build("wheel", folder))
    return next(folder.glob("*.whl"))
